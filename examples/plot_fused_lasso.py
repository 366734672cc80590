"""
Steps out of noise: the fused lasso
===================================

A signal that stays constant and jumps now and then is buried in noise. The fused lasso finds the
steps by charging for every jump,

    minimise  1/(2n) sum_i (x_i - y_i)^2  +  lam sum_i |x_{i+1} - x_i|,

and because the charge is an l1 term, most differences are exactly zero: the answer is a staircase,
not a curve that nearly is one.

Its multipliers show why. The subgradient of the penalty is a path between -lam and lam, the running
sum of the residuals; a jump can only be where the path touches a wall, and there it must: up on one
side, down on the other.
"""

import matplotlib.pyplot as plt
import numpy as np

import tether

# %%
# A signal with five levels, and noise as large as the steps.

rng = np.random.default_rng(4)
levels = np.repeat([0.0, 2.0, 1.2, 3.0, 0.6], [90, 110, 60, 80, 100])
n = len(levels)
y = levels + 0.8 * rng.standard_normal(n)

# %%
# The data is the identity: one coefficient for each point in time. The total is known beforehand,
# from another instrument, and is kept exactly by an equation; the signal is never negative.

lam = 0.02
sol = tether.solve(
    tether.GLM(np.eye(n), y, loss="squared"),
    [tether.Affine(np.full((1, n), 1.0 / n), [levels.mean()]), tether.NonNegative()],
    penalty=tether.L1(lam, tether.differences(n)),
    rtol=1e-10,
)
print(sol)

# %%
# The staircase above, the multipliers of the jumps below.

price = sol.multipliers.penalty
jumps = np.flatnonzero(~sol.active.penalty)

figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 5.2), height_ratios=[2.2, 1], sharex=True, layout="constrained"
)
above.plot(y, ".", color="0.75", markersize=4, label="observed")
above.step(np.arange(n), levels, where="mid", color="0.3", linewidth=1, linestyle="--", label="true")
above.step(np.arange(n), sol.x, where="mid", color="tab:blue", linewidth=2, label="fused lasso")
above.set_ylabel("signal")
above.legend(frameon=False, ncols=3, loc="upper left")
above.set_title(
    f"{len(jumps)} jumps left of {n - 1}; the mean is {levels.mean():.3f}, as asked for", loc="left"
)
below.axhspan(-lam, lam, color="tab:orange", alpha=0.12, linewidth=0)
below.plot(price, color="tab:orange", linewidth=1.5)
below.plot(jumps, price[jumps], "o", color="tab:blue", markersize=5)
below.set_ylabel("multiplier")
below.set_xlabel("time")
below.set_yticks([-lam, 0.0, lam], ["−λ", "0", "λ"])
for axis in (above, below):
    axis.spines[["top", "right"]].set_visible(False)
figure.savefig("plot_fused_lasso.png", dpi=110)
