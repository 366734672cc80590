"""
Digits by a classifier that cannot see the exposure
===================================================

A linear classifier of pictures scores each class by a picture of its own, the weights of the
pixels. If somebody turns up the light, every pixel gains the same constant, and the score of a
class moves by the sum of its weights: a model that was right in the dark is wrong in the sun.

Ten equations forbid that: the weights of each class sum to zero. A fused penalty on neighbouring
pixels, for each class apart, makes the weights pictures that one can read.
"""

import matplotlib.pyplot as plt
import numpy as np
from scipy import sparse
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

import tether

# %%
# Pictures of eight by eight pixels, and the same pictures taken with more light.

digits = load_digits()
pixels, numbers = digits.data / 16.0, digits.target
X, X_test, y, y_test = train_test_split(pixels, numbers, test_size=0.4, random_state=0)
side, classes = 8, 10

# %%
# W has a row for each pixel and a column for each class, and x is W.ravel(). The equations: the
# columns of W sum to zero. The penalty: differences of neighbouring pixels, for each class.

same_light = tether.Affine(sparse.kron(np.ones((1, side**2)), sparse.eye(classes)).tocsr())
neighbours = sparse.kron(tether.grid_differences((side, side)), sparse.eye(classes)).tocsr()
objective = tether.GLM(X, y, loss="multinomial", l2=1e-3)

free = tether.solve(objective, rtol=1e-4)
blind = tether.solve(objective, same_light, penalty=tether.L1(5e-4, neighbours), rtol=1e-4)
print(blind)


def accuracy(x, light):
    """Return the share of test pictures that are recognised with more light."""
    scores = (X_test + light) @ x.reshape(side**2, classes)
    return float((scores.argmax(axis=1) == y_test).mean())


# %%
# Both sets of weights as pictures, red for and blue against the digit; on the right what light does
# to them.

light = np.linspace(0.0, 1.0, 21)
figure = plt.figure(figsize=(9, 4.6), layout="constrained")
left, right = figure.subfigures(1, 2, width_ratios=[2.1, 1])
kinds = {"free": (free, "tab:red"), "blind to light, fused": (blind, "tab:blue")}
for part, (name, (sol, _)) in zip(left.subfigures(2, 1, hspace=0.04), kinds.items(), strict=True):
    W = sol.x.reshape(side, side, classes)
    limit = np.abs(W).max()
    part.suptitle(name, x=0.01, ha="left", fontsize=10)
    for k, axis in enumerate(part.subplots(2, 5).flat):
        axis.imshow(W[:, :, k], cmap="RdBu_r", vmin=-limit, vmax=limit)
        axis.text(-0.3, -0.3, str(k), fontsize=8, va="top", color="0.35")
        axis.set(xticks=[], yticks=[])
axis = right.subplots()
for name, (sol, colour) in kinds.items():
    axis.plot(light, [100 * accuracy(sol.x, more) for more in light], color=colour, linewidth=2, label=name)
axis.set(xlabel="light added to every pixel", ylabel="test pictures recognised, %", ylim=(50, 100))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, loc="lower left")
figure.savefig("plot_digits.png", dpi=110)
