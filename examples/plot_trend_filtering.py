"""
Fifty years of growth in straight lines: trend filtering
========================================================

An l1 term on second differences makes a trend of straight lines with a few kinks, where a quadratic
one (the filter of Hodrick and Prescott) makes a curve that bends a little everywhere,

    minimise  1/(2n) sum_t (x_t - y_t)^2  +  lam sum_t |x_{t-1} - 2 x_t + x_{t+1}|.

The series is the real gross domestic product of the United States, quarter by quarter from 1959 to
2009, which comes with statsmodels. On the logarithm a straight line is constant growth: each kink
is a time when growth changed for good.

References
----------
Kim, Koh, Boyd, Gorinevsky, "l1 trend filtering" (SIAM Review, 2009).
"""

import matplotlib.pyplot as plt
import numpy as np
import statsmodels.api as sm
from statsmodels.tsa.filters.hp_filter import hpfilter

import tether

# %%
# The series, in per cent above the line through its ends so that one can see anything.

table = sm.datasets.macrodata.load_pandas().data
year = table["year"].to_numpy() + (table["quarter"].to_numpy() - 1) / 4
series = 100 * np.log(table["realgdp"].to_numpy())
n = len(series)
line = np.linspace(series[0], series[-1], n)

# %%
# The trend. Forecasts begin at the last point, so it has to agree with the series there: one
# expression.

sol = tether.solve(
    tether.GLM(np.eye(n), series, loss="squared"),
    f"x[{n - 1}] == {series[-1]:.10f}",
    penalty=tether.L1(0.35, tether.differences(n, order=2)),
    rtol=1e-9,
)
trend = sol.x
kinks = 1 + np.flatnonzero(~sol.active.penalty)
_, smooth = hpfilter(series, lamb=1600)
print(f"{len(kinks)} kinks in {n} quarters; the gap is at most {sol.gap:.1e}")

# %%
# Growth a year is four times the slope: constant between kinks.

figure, (above, below) = plt.subplots(
    2, 1, figsize=(8, 5.2), height_ratios=[1.6, 1], sharex=True, layout="constrained"
)
above.plot(year, series - line, color="0.7", linewidth=1.2, label="log GDP")
above.plot(year, smooth - line, color="tab:green", linewidth=1.2, label="Hodrick–Prescott")
above.plot(year, trend - line, color="tab:blue", linewidth=2, label="trend filtering")
above.plot(year[kinks], (trend - line)[kinks], "o", color="tab:blue", markersize=5)
above.set_ylabel("% above a line")
above.legend(frameon=False, ncols=3, loc="lower center")
above.set_title("Real GDP of the United States: a trend of straight lines", loc="left")
below.plot(year[1:], 4 * np.diff(smooth), color="tab:green", linewidth=1.2)
below.step(year[1:], 4 * np.diff(trend), where="pre", color="tab:blue", linewidth=2)
below.set_ylabel("growth, % a year")
for axis in (above, below):
    axis.spines[["top", "right"]].set_visible(False)
    axis.margins(x=0.01)
figure.savefig("plot_trend_filtering.png", dpi=110)
