"""What results say: times to the target, ratios of them, profiles, and whether goals are met."""

import math
from collections.abc import Iterable
from typing import Any, NamedTuple

AUTO, LBFGS = "tether auto", "tether lbfgs"
Entry = dict[str, Any]


def entries(results: dict[str, Any], half: str = "both") -> dict[str, Entry]:
    """Return the problems of a half that were measured."""
    return {
        name: entry
        for name, entry in results["problems"].items()
        if entry["solvers"] and half in ("both", entry["half"])
    }


def by_clock(results: dict[str, Any], clock: str) -> dict[str, Any]:
    """Return the results with processor time as seconds, if that is the clock."""
    if clock == "cpu":
        for entry in results["problems"].values():
            for record in entry["solvers"].values():
                record["seconds"] = record.get("cpu", math.nan)
    return results


def families(entry: Entry, family: str) -> list[str]:
    """Return the solvers of a family that took the problem."""
    return [
        name for name, one in entry["solvers"].items() if one["family"] == family and one["end"] != "refused"
    ]


def cost(entry: Entry, solver: str, what: str = "seconds") -> float:
    """Return what a solver took to the target: infinite if it did not get there, nan if it was not asked."""
    record = entry["solvers"].get(solver)
    if record is None or record["end"] == "refused":
        return math.nan
    return float(record.get(what, math.nan)) if record["end"] == "reached" else math.inf


def best(entry: Entry, solvers: Iterable[str], what: str = "seconds") -> tuple[float, str]:
    """Return the least cost among solvers and whose it is."""
    costs = [(cost(entry, solver, what), solver) for solver in solvers]
    return min((pair for pair in costs if not math.isnan(pair[0])), default=(math.nan, ""))


def ratio(mine: float, other: float) -> float:
    """Return mine / other: infinite if mine failed, 0 if only the other did, nan if one was not asked."""
    if math.isnan(mine) or math.isnan(other):
        return math.nan
    if math.isinf(mine):
        return math.inf
    return 0.0 if math.isinf(other) else mine / max(other, 1e-12)


def against(entry: Entry, rivals: Iterable[str], what: str = "seconds") -> tuple[float, str]:
    """Return auto's ratio to the best of its rivals, and which that is."""
    least, who = best(entry, rivals, what)
    return ratio(cost(entry, AUTO, what), least), who


def explicit(entry: Entry) -> list[str]:
    """Return Tether's methods without auto."""
    return [name for name in families(entry, "tether") if name != AUTO]


def peers(entry: Entry) -> list[str]:
    """Return other libraries' solvers that took the problem."""
    return families(entry, "peer")


def profile(problems: dict[str, Entry], what: str) -> dict[str, list[float]]:
    """Return for each solver its ratios to the best on the problems it took, sorted (Dolan and More)."""
    found: dict[str, list[float]] = {}
    for entry in problems.values():
        names = [*families(entry, "tether"), *families(entry, "yardstick"), *peers(entry)]
        least, _ = best(entry, names, what)
        if not math.isfinite(least):
            continue
        for name in names:
            if not math.isnan(cost(entry, name, what)):
                found.setdefault(name, []).append(cost(entry, name, what) / max(least, 1e-12))
    return {name: sorted(ratios) for name, ratios in found.items()}


FELT = 0.01  # seconds: below, calls in Python are what is timed


class Goal(NamedTuple):
    """A promise, whether it is kept, and the numbers."""

    words: str
    met: bool | None  # None: nothing was measured
    numbers: str


def goals(problems: dict[str, Entry]) -> list[Goal]:
    """Check the promises on some problems."""
    to_explicit = _known(against(entry, explicit(entry))[0] for entry in problems.values())
    to_lbfgs = _known(against(entry, [LBFGS])[0] for entry in problems.values())
    to_peers = _known(against(entry, peers(entry))[0] for entry in problems.values())
    felt = [entry for entry in problems.values() if best(entry, peers(entry))[0] >= FELT]
    where_felt = _known(against(entry, peers(entry))[0] for entry in felt)
    return [
        _share("auto at most 1.2x the best explicit method on 90%", to_explicit, 1.2, 0.90),
        _worst("auto never above 2x the best explicit method", to_explicit, 2.0),
        _share("auto at most 1.1x L-BFGS on 95%", to_lbfgs, 1.1, 0.95),
        _share("auto ahead of every peer on 85%", to_peers, 1.0, 0.85),
        _worst("auto never more than 1.5x behind a peer", to_peers, 1.5),
        _share("where the quickest peer takes 10 ms or more: ahead on 85%", where_felt, 1.0, 0.85),
        _worst("where the quickest peer takes 10 ms or more: never 1.5x behind", where_felt, 1.5),
        _newton(problems),
    ]


def _known(ratios: Iterable[float]) -> list[float]:
    return [one for one in ratios if not math.isnan(one)]


def _share(words: str, ratios: list[float], most: float, share: float) -> Goal:
    if not ratios:
        return Goal(words, None, "not measured")
    kept = sum(one <= most for one in ratios)
    return Goal(words, kept >= share * len(ratios), f"{kept} of {len(ratios)} ({kept / len(ratios):.0%})")


def _worst(words: str, ratios: list[float], most: float) -> Goal:
    if not ratios:
        return Goal(words, None, "not measured")
    above = sum(one > most for one in ratios)
    return Goal(words, above == 0, f"worst {max(ratios):.3g}x, {above} above")


def _newton(problems: dict[str, Entry]) -> Goal:
    words = "newton reaches 1e-10 in at most 15 iterations for p <= 500"
    records = [entry["newton precise"] for entry in problems.values() if "newton precise" in entry]
    if not records:
        return Goal(words, None, "not measured")
    kept = sum(iterations(record) <= 15 for record in records)
    most = max(iterations(record) for record in records)
    return Goal(words, kept == len(records), f"{kept} of {len(records)}, most {most:g}")


def iterations(record: dict[str, Any]) -> float:
    """Return Newton's iterations to the target; infinite if it did not get there."""
    return float(record.get("stages", math.inf)) if record["end"] == "reached" else math.inf
