"""
A tariff that rises, with standard errors
=========================================

How many times a year does a patient see the doctor? The RAND health insurance experiment, which
comes with statsmodels, has thousands of answers. A Poisson model with a level for each stage of an
index of chronic diseases follows the noise where patients are few: some levels fall, and a tariff
that falls cannot be explained to anybody.

A chain of inequalities, level after level, is one expression. Where it holds as an equation
neighbours are pooled, and given which are pooled the model is one under linear equations: its
standard errors come from the Hessian on the plane that these leave, robust against the spread of
counts.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import statsmodels.api as sm

import tether

# %%
# Visits, the number of chronic diseases (the index counts 3.4 or so for each), and what else is
# known of the patients. Where the index was not known the data holds the mean of a group, with more
# than one decimal; these rows are left out.

table = sm.datasets.randhie.load_pandas().data
tenths = 10.0 * table["disea"]
table = table[np.isclose(tenths, tenths.round())].reset_index(drop=True)
level = np.minimum((table["disea"] / 3.43).round(), 13).astype(int)
names = [f"level_{k}" for k in range(1, level.max() + 1)]
levels = pd.DataFrame({name: level == k for k, name in enumerate(names, start=1)}, dtype=float)
others = table[["lncoins", "idp", "lpi", "physlm", "hlthf", "hlthp"]]
X, visits = pd.concat([levels, others], axis=1), table["mdvis"].to_numpy()

# %%
# The free model; the one that rises; and the same with the neighbours pooled that the inequalities
# hold together.

rising = "0 <= " + " <= ".join(names)
free = tether.ConstrainedPoisson(alpha=0.0).fit(X, visits)
tariff = tether.ConstrainedPoisson(alpha=0.0, constraints=[rising]).fit(X, visits)
pooled = [row.replace("<=", "==") for row in tariff.active_]
final = tether.ConstrainedPoisson(alpha=0.0, constraints=pooled).fit(X, visits)
print(final.summary("HC1"))

# %%
# Both tariffs relative to the healthiest, with 95 % intervals.


def relative(model):
    """Return the tariff of each level and its interval, the healthiest level being 1."""
    low, high = model.inference("HC1").conf_int()[: len(names)].T
    ends = np.array([low, model.coef_[: len(names)], high])
    return np.exp(np.column_stack([np.zeros(3), ends]))


places, walls = np.arange(len(names) + 1), np.arange(len(names) + 2) - 0.5
figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 5), height_ratios=[4, 1], sharex=True, layout="constrained"
)
for model, name, colour, shift in ((free, "free", "tab:red", -0.12), (final, "rising", "tab:blue", 0.12)):
    low, middle, high = relative(model)
    above.errorbar(
        *(places + shift, middle, (middle - low, high - middle)),
        fmt="o",
        color=colour,
        markersize=4,
        linewidth=1,
        capsize=2,
        label=name,
    )
steps = relative(final)[1]
above.stairs(steps, walls, baseline=None, color="tab:blue", alpha=0.4)
above.set(ylabel="visits, relative to the healthiest", yscale="log")
above.set_yticks([1, 2, 4, 8], ["1", "2", "4", "8"])
above.minorticks_off()
above.set_title(f"{len(pooled)} of {len(names)} steps are pooled, so that none falls", loc="left")
above.legend(frameon=False, loc="upper left")
below.stairs(np.bincount(level), walls, fill=True, color="0.8")
below.set(yscale="log", ylabel="patients", xlabel="chronic diseases")
for axis in (above, below):
    axis.spines[["top", "right"]].set_visible(False)
figure.savefig("plot_monotone_tariff.png", dpi=110)
