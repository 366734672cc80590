"""
Parts of a whole: the path of a log-contrast regression
=======================================================

A sequencing machine counts reads of forty genera of bacteria, and how many reads there are in all
says more about the machine than about the sample: only ratios mean anything. Regression on the
logarithms with coefficients that sum to zero sees ratios only, and an l1 penalty chooses among the
genera,

    minimise  1/(2n) ||y - log(X) b||^2  +  alpha ||b||_1    subject to    sum(b) == 0.

The path shows which genera enter as alpha falls: never one alone. A plain lasso on the same
logarithms has no such law, and takes a machine that ran for a shorter time for a different patient.

References
----------
Lin, Shi, Feng, Li, "Variable selection in regression with compositional covariates" (Biometrika, 2014).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import Lasso

from tether.estimators import LogContrastRegressor

# %%
# Samples whose answer depends on ratios of six genera, all of them read at one depth.

rng = np.random.default_rng(7)
n, parts = 120, 40
truth = np.zeros(parts)
truth[[2, 8, 15, 21, 30, 36]] = [1.2, -0.8, 0.7, -1.2, 0.5, -0.4]
correlated = rng.standard_normal((n, 8)) @ rng.standard_normal((8, parts)) * 0.4
abundance = np.exp(correlated + 0.7 * rng.standard_normal((n, parts)))
reads = 1.0 + rng.poisson(100_000 * abundance / abundance.sum(axis=1, keepdims=True))
y = np.log(abundance) @ truth + 0.4 * rng.standard_normal(n)

# %%
# The models along alpha, each begun where the one before ended, and a plain lasso on the same logarithms.

alphas = np.geomspace(4.0, 0.01, 60)
path = LogContrastRegressor().path(reads, y, alphas).coefs
plain = np.array([Lasso(alpha).fit(np.log(reads), y).coef_ for alpha in alphas])
for name, coefficients in (("log-contrast", path), ("plain lasso", plain)):
    print(f"{name}: the coefficients sum up to {np.abs(coefficients.sum(axis=1)).max():.1g} at most")

# %%
# The path; and by how much all predictions move when the machine runs a tenth of the time:
# log(1/10) times the sum of the coefficients.

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.3), width_ratios=[1.5, 1], layout="constrained")
colours = iter(plt.get_cmap("tab10").colors)
for j in range(parts):
    if truth[j]:
        colour = next(colours)
        left.plot(alphas, path[:, j], color=colour, linewidth=2, zorder=3)
        left.plot(alphas[-1] * 0.88, truth[j], marker="<", color=colour, clip_on=False)
    else:
        left.plot(alphas, path[:, j], color="0.8", linewidth=0.8)
left.set(xscale="log", xlabel="alpha", ylabel="coefficient", xlim=(alphas[0], alphas[-1] * 0.88))
left.set_title("six genera that matter (true: triangles), 34 that do not", loc="left", fontsize=11)
for name, coefficients, colour in (("plain lasso", plain, "tab:red"), ("log-contrast", path, "tab:blue")):
    right.plot(alphas, np.log(0.1) * coefficients.sum(axis=1), color=colour, linewidth=2, label=name)
right.set(xscale="log", xlabel="alpha", xlim=(alphas[0], alphas[-1]))
right.set_title("shift of predictions at 1/10 of the depth", loc="left", fontsize=11)
right.legend(frameon=False)
for axis in (left, right):
    axis.spines[["top", "right"]].set_visible(False)
figure.savefig("plot_log_contrast.png", dpi=110)
