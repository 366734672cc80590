"""
A neural network that knows a symmetry, in PyTorch
==================================================

A lens bends light alike on both sides of its axis, but all measurements were taken on one side. A
network that is fitted to them knows nothing of the other. Linear equations between its parameters
teach it the symmetry: hidden units come in pairs that see the input mirrored, and both members of a
pair count the same, so that f(-u) = f(u) exactly, whatever is learned.

`tether.from_torch` takes any smooth module, and constraints its parameters by their place. It is
not convex, so there is no certificate of a global minimum, and the solution says so; the equations
hold to rounding all the same.
"""

import matplotlib.pyplot as plt
import numpy as np
import torch

import tether

# %%
# Few measurements with noise, none of them left of the axis.

rng = np.random.default_rng(3)
place = rng.uniform(0.0, 2.0, 50)


def truth(u):
    """Return what is measured, without noise."""
    return np.cos(3.2 * u) * np.exp(-0.6 * u**2) + 0.15 * u**2


seen = truth(place) + 0.08 * rng.standard_normal(len(place))
inputs, targets = torch.tensor(place[:, None]), torch.tensor(seen[:, None])

# %%
# A network with one hidden layer. Its parameters stand end to end: weights and biases of the hidden
# units, weights of the output, its bias. Unit i + 8 is to be the mirror image of unit i.

half = 8
torch.manual_seed(0)
network = torch.nn.Sequential(
    torch.nn.Linear(1, 2 * half), torch.nn.Tanh(), torch.nn.Linear(2 * half, 1)
).double()
objective = tether.from_torch(network, torch.nn.MSELoss(), (inputs, targets), l2=1e-4, convex=False)

expressions = []
for i in range(half):
    weight, bias, output = (f"x[{start + i}]" for start in (0, 2 * half, 4 * half))
    twin_weight, twin_bias, twin_output = (f"x[{start + half + i}]" for start in (0, 2 * half, 4 * half))
    expressions += [f"{weight} + {twin_weight} == 0", f"{bias} == {twin_bias}", f"{output} == {twin_output}"]

free = tether.solve(objective, method="lbfgs", rtol=1e-4, max_rounds=2000)
mirrored = tether.solve(objective, expressions, method="lbfgs", rtol=1e-4, max_rounds=2000)
print(mirrored)

# %%
# Each solution comes back as a module of its own.

grid = torch.linspace(-2.0, 2.0, 400, dtype=torch.float64)[:, None]


def curve(sol):
    """Return the predictions of a solution on the grid."""
    with torch.no_grad():
        return objective.unpack(sol.x)(grid).ravel().numpy()


u = grid.ravel().numpy()
figure, axis = plt.subplots(figsize=(8, 4.2), layout="constrained")
axis.plot(u, truth(u), color="0.4", linestyle="--", linewidth=1, label="true")
axis.plot(u, curve(free), color="tab:red", linewidth=1.5, label="free network")
axis.plot(u, curve(mirrored), color="tab:blue", linewidth=2.5, label=f"under {len(expressions)} equations")
axis.plot(place, seen, ".", color="0.25", markersize=7, label="measured")
axis.axvline(0.0, color="0.85", linewidth=1, zorder=0)
axis.set(xlabel="distance from the axis", ylabel="what is measured", ylim=(-1.2, 1.5))
axis.spines[["top", "right"]].set_visible(False)
axis.legend(frameon=False, ncols=2, loc="lower left")
figure.savefig("plot_torch_symmetric.png", dpi=110)
