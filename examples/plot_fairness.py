"""
What a fairness band costs
==========================

A model of who repays a loan is fitted to applications from two groups. It never sees the group, but
income and postcode tell it. Bounding the covariance between the score and the group,

    -c <= mean((group - mean) * score) <= c,

is a pair of linear inequalities on the coefficients: a band that can be made as narrow as one
likes. Each width is one model, certified to be the best within its band; together they are the
price list.

References
----------
Zafar, Valera, Rodriguez, Gummadi, "Fairness constraints: mechanisms for fair classification" (AISTATS, 2017).
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.model_selection import train_test_split

from tether.estimators import FairLogisticRegression

# %%
# Applications: what decides is how steady and how large the income is; the groups differ in wealth
# and in where they live, and some answers are worth more in one of them.

rng = np.random.default_rng(0)
n = 4_000
group = rng.integers(0, 2, n)
ability = rng.standard_normal(n)
income = ability + 0.9 * group + 0.7 * rng.standard_normal(n)
postcode = 1.6 * group + rng.standard_normal(n)
savings = 0.6 * ability + 0.3 * group + rng.standard_normal(n)
noise = rng.standard_normal((n, 3))
X = np.column_stack([income, postcode, savings, noise])
repaid = (1.2 * ability + 0.5 * group + 0.8 * rng.standard_normal(n) > 0.3).astype(int)
X, X_test, repaid, repaid_test, group, group_test = train_test_split(
    X, repaid, group, test_size=0.5, random_state=0
)


def looked_at(model):
    """Return the accuracy on new applications, and the difference between the groups' shares of loans."""
    granted = model.predict(X_test)
    apart = granted[group_test == 1].mean() - granted[group_test == 0].mean()
    return 100 * (granted == repaid_test).mean(), 100 * apart


# %%
# One model for each width of the band.

widths = [*np.linspace(0.0, 0.35, 15), 10.0]
models = [
    FairLogisticRegression(covariance_threshold=c).fit(X, repaid, sensitive_features=group) for c in widths
]
accuracy, apart = np.array([looked_at(model) for model in models]).T
fair, free = models[0], models[-1]
for name, k in (("free", -1), ("fair", 0)):
    print(f"{name}: {accuracy[k]:.1f} % right, {apart[k]:.1f} points between the groups")

# %%
# The scores of both groups, and the price list.

figure, axes = plt.subplot_mosaic(
    [["free", "price"], ["fair", "price"]], figsize=(9, 4.4), width_ratios=[1, 1.3], layout="constrained"
)
bins = np.linspace(-6, 6, 41)
for name, model in (("free", free), ("fair", fair)):
    axis = axes[name]
    for value, colour in ((0, "tab:orange"), (1, "tab:blue")):
        scores = model.decision_function(X_test[group_test == value])
        axis.hist(scores, bins, color=colour, alpha=0.55, label=f"group {value}")
    axis.axvline(0.0, color="0.2", linewidth=0.8)
    axis.set(yticks=[], ylabel=name)
axes["free"].legend(frameon=False, fontsize=9)
axes["fair"].set_xlabel("score; loans are granted to the right of 0")
price = axes["price"]
price.plot(apart, accuracy, "-", color="0.7", zorder=0)
points = price.scatter(apart, accuracy, c=[*widths[:-1], 0.4], cmap="viridis", s=45)
price.annotate("no band", (apart[-1], accuracy[-1]), xytext=(0, -20), textcoords="offset points", ha="center")
price.annotate("covariance 0", (apart[0], accuracy[0]), xytext=(8, -4), textcoords="offset points")
price.set(xlabel="points between the groups' shares of loans", ylabel="new applications judged right, %")
figure.colorbar(points, ax=price, label="width of the band c")
for axis in axes.values():
    axis.spines[["top", "right"]].set_visible(False)
figure.savefig("plot_fairness.png", dpi=110)
