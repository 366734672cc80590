"""How claims about curves are decided: each judge says whether it holds, and with which numbers.

Curves are compared in F, as the paper plots it, at equal numbers of projections, as means over seeds.
"""

import math
from collections.abc import Sequence

import numpy as np
from scipy import stats

from tether.arrays import Array
from tether.reproduce.curves import Curve
from tether.reproduce.experiment import Judgement

SAME = 0.05  # of F: curves that stay within it look the same
TYPICAL = 0.9  # of all comparisons: what holds in so many holds typically
MUCH = 2.0  # times the gap is much
STILL = 1.2  # times the gap at most, over the second half of a run that stands still


def budgets(*curves: Curve) -> Array:
    """Return the numbers of projections at which curves can be compared: looks of the shortest after E."""
    end = min(curve.rounds[-1] for curve in curves)
    coarsest = max(curves, key=lambda curve: float(np.median(np.diff(curve.rounds))))
    looks = coarsest.rounds[(coarsest.rounds <= end) & (coarsest.rounds > coarsest.rounds[0])]
    return looks if len(looks) else np.array([end])


def always_below(low: Curve, high: Curve, of: str = "iterate") -> Judgement:
    """Judge whether a curve is below another at any number of projections."""
    places = budgets(low, high)
    wins = [np.mean(low.at(place, of)) < np.mean(high.at(place, of)) for place in places]
    end = places[-1]
    numbers = (
        f"{low.label} below {high.label} at {sum(wins)} of {len(wins)} budgets; after {end:,.0f} projections "
        f"F = {_loss(low, end, of):.4f} against {_loss(high, end, of):.4f}"
    )
    return Judgement(all(wins), numbers)


def ends_below(low: Curve, high: Curve, of: str = "iterate") -> Judgement:
    """Judge whether a curve ends below another, by more than seeds can explain."""
    end = budgets(low, high)[-1]
    differences = low.at(end, of) - high.at(end, of)
    mean, error = float(np.mean(differences)), half_width(differences)
    numbers = (
        f"{low.label} {_loss(low, end, of):.4f}, {high.label} {_loss(high, end, of):.4f} after {end:,.0f} "
        f"projections; difference {mean:+.1e} ± {error:.1e} over {len(differences)} seeds"
    )
    return Judgement(None if abs(mean) <= error else mean < 0, numbers)


def calmer(calm: Curve, wild: Curve, of: str = "iterate") -> Judgement:
    """Judge whether a curve fluctuates less than another over the second half of a run."""
    ours, theirs = roughness(calm, of), roughness(wild, of)
    numbers = f"{calm.label} {ours:.1e}, {wild.label} {theirs:.1e} (relative, from look to look)"
    return Judgement(None if math.isnan(ours + theirs) else ours < theirs, numbers)


def slow_then_fast(late: Curve, early: Curve, share: float = 0.1, of: str = "iterate") -> Judgement:
    """Judge whether a curve is above another after a share of the budget and below it at the end."""
    places = budgets(late, early)
    first, end = places[np.searchsorted(places, share * places[-1])], places[-1]
    begins = _loss(late, first, of) > _loss(early, first, of)
    ends = _loss(late, end, of) < _loss(early, end, of)
    numbers = (
        f"{late.label} / {early.label}: {_loss(late, first, of):.4f} / {_loss(early, first, of):.4f} after "
        f"{first:,.0f} projections, {_loss(late, end, of):.4f} / {_loss(early, end, of):.4f} after {end:,.0f}"
    )
    return Judgement(begins and ends, numbers)


def much_slower_then_below(late: Curve, early: Curve, within: float, of: str = "iterate") -> Judgement:
    """Judge whether a curve has twice another's gap within its first stage and is below it at the end."""
    places = budgets(late, early)
    middle, end = within / 2, places[-1]
    ratio = float(np.mean(late.at(middle, of)) / np.mean(early.at(middle, "iterate")))
    ours, theirs = _loss(late, end, of), _loss(early, end, "iterate")
    numbers = (
        f"in the middle of the first stage the gap of {late.label} is {ratio:.2f} times that of "
        f"{early.label}; after {end:,.0f} projections F = {ours:.4f} against {theirs:.4f}"
    )
    return Judgement(ratio >= MUCH and ours < theirs, numbers)


def alike(curves: Sequence[Curve], after: float, of: str = "iterate") -> Judgement:
    """Judge whether curves stay within 5% of F of each other after some projections."""
    places = [place for place in budgets(*curves) if place >= after]
    if not places:
        return Judgement(None, f"the runs end before {after:,.0f} projections")
    table = np.array([[_loss(curve, place, of) for place in places] for curve in curves])
    spread = (table.max(axis=0) - table.min(axis=0)) / table.mean(axis=0)
    gaps = table - curves[0].best
    apart = (gaps.max(axis=0) - gaps.min(axis=0)) / gaps.mean(axis=0)
    numbers = (
        f"F differs by at most {spread.max():.1%} (F - F* by {apart.max():.0%}) at {len(places)} budgets "
        f"from {places[0]:,.0f} projections on"
    )
    return Judgement(bool(spread.max() <= SAME), numbers)


def faster_with_more(curves: Sequence[Curve], after: float, of: str = "iterate") -> Judgement:
    """Judge whether each curve is typically below those before it, at equal projections."""
    wins = total = 0
    for place, slow in enumerate(curves):
        for fast in curves[place + 1 :]:
            looks = [look for look in budgets(slow, fast) if look >= after]
            wins += sum(_loss(fast, look, of) < _loss(slow, look, of) for look in looks)
            total += len(looks)
    ends = ", ".join(f"{curve.label} {curve.best + np.mean(curve.end(of)):.4f}" for curve in curves)
    numbers = f"in {wins} of {total} comparisons; F at the ends: {ends}"
    return Judgement(wins >= TYPICAL * total if total else None, numbers)


def spread_more(wide: Sequence[Curve], narrow: Sequence[Curve], of: str = "iterate") -> Judgement:
    """Judge whether some curves lie further apart than others, as ratios of their gaps."""
    ours, theirs = _ratio(wide, of), _ratio(narrow, of)
    numbers = f"largest over smallest gap, mean over budgets: {ours:.2f} against {theirs:.2f}"
    return Judgement(ours > theirs, numbers)


def stalls(stuck: Curve, goes_on: Curve, of: str = "iterate") -> Judgement:
    """Judge whether one curve stands still over the second half of its run while another goes on."""
    ours, theirs = _fall(stuck, of), _fall(goes_on, of)
    ends = stuck.mean_gap(of)[-1], goes_on.mean_gap(of)[-1]
    numbers = (
        f"over the second half the gap of {stuck.label} falls by a factor {ours:.2f} to {ends[0]:.1e}, "
        f"that of {goes_on.label} by {theirs:,.1f} to {ends[1]:.1e}"
    )
    return Judgement(ours < STILL < theirs, numbers)


def half_width(sample: Array) -> float:
    """Return the half width of the 95% interval of a mean; infinite for a single number."""
    if len(sample) < 2:
        return math.inf
    quantile = float(stats.t.ppf(0.975, len(sample) - 1))
    return quantile * float(np.std(sample, ddof=1)) / math.sqrt(len(sample))


def roughness(curve: Curve, of: str) -> float:
    """Return the relative size of what is no smooth fall, from look to look, over the second half."""
    gaps = curve.gaps(of)
    second = np.diff(np.log(gaps[:, gaps.shape[1] // 2 :]), n=2, axis=1)
    if second.size == 0:
        return math.nan
    return float(np.sqrt(np.mean(second**2) / 6.0))  # a second difference of noise has six times its variance


def _loss(curve: Curve, rounds: float, of: str) -> float:
    return curve.best + float(np.mean(curve.at(rounds, of)))


def _ratio(curves: Sequence[Curve], of: str) -> float:
    places = budgets(*curves)
    table = np.array([[np.mean(curve.at(place, of)) for place in places] for curve in curves])
    return float(np.mean(table.max(axis=0) / table.min(axis=0)))


def _fall(curve: Curve, of: str) -> float:
    gap = curve.mean_gap(of)
    return float(gap[len(gap) // 2] / gap[-1])
