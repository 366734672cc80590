"""Run the collection and write performance profiles, ratios, and which goals are met.

    python profiles.py --half open                    # while working
    python profiles.py --quick --methods tether       # minutes
    python profiles.py --only digits --methods auto lbfgs newton
    python profiles.py --draws 1000 1040              # problems drawn at random by these numbers
    python profiles.py --docs ../docs                 # everything, into the documentation
    python profiles.py --render --compare before.json # two results side by side

Raw results go to a JSON file (--store), so that two versions can be compared.
"""

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from collection import ASIDE, HALVES, LAST, RANDOM, Record, chosen, random_records
from profiling.contestants import contestants
from profiling.contestants.base import Contestant
from profiling.foreman import ROOT, Foreman
from profiling.measure import REPEATS
from profiling.pages import compared, page, printed
from profiling.pages import table as csv_table
from profiling.ratios import by_clock
from profiling.surroundings import surroundings

STORE = ROOT / ".cache" / "profiles.json"
FIRST = ("null-space newton", "tether lbfgs")  # quick ones first: they set the limit of the others
HOPELESS = 10.0  # a run ends at this many times the best time so far
SHORTEST = 3.0  # seconds that every run may take
PRECISE = 1e-10  # the gap to which Newton's iterations are counted
SMALL = 500  # variables up to which they are


def main() -> None:
    """Measure what was asked for and report all that is known."""
    words = _arguments()
    solvers, missing = contestants()
    for name, reason in missing.items():
        print(f"{name}: left out, {reason}", file=sys.stderr)
    store = Path(words.store)
    results = json.loads(store.read_text()) if store.exists() and words.keep else {"problems": {}}
    results["surroundings"] = surroundings()
    foreman = Foreman(words.cores, words.repeats)
    try:
        for record in [] if words.render else _records(words):
            entry = results["problems"].setdefault(record.name, {"solvers": {}})
            _measure(foreman, record, entry, _wanted(solvers, words.methods), words.limit)
            store.parent.mkdir(parents=True, exist_ok=True)
            store.write_text(json.dumps(results, indent=1))
    finally:
        foreman.dismiss()
    results = by_clock(results, words.clock)
    print(printed(results, words.half))
    if words.compare:
        print(compared(by_clock(json.loads(Path(words.compare).read_text()), words.clock), results))
    if words.docs:
        _document(results, Path(words.docs))


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=[*HALVES, ASIDE, LAST, RANDOM, "both"], default="both")
    parser.add_argument(
        "--draws",
        nargs=2,
        type=int,
        metavar=("FIRST", "END"),
        help="draws by number, instead of the collection",
    )
    parser.add_argument("--quick", action="store_true", help="a dozen small problems")
    parser.add_argument("--only", nargs="+", metavar="WORD", help="problems whose names contain a word")
    parser.add_argument("--methods", nargs="+", metavar="WORD", help="solvers whose names contain a word")
    parser.add_argument("--limit", type=float, default=30.0, help="seconds for one run")
    parser.add_argument("--repeats", type=int, default=REPEATS, help="runs of which the best counts, at most")
    parser.add_argument("--cores", type=int, help="cores to use, all if left out")
    parser.add_argument(
        "--clock", choices=["wall", "cpu"], default="wall", help="cpu on a busy machine, with --cores 1"
    )
    parser.add_argument("--store", default=str(STORE), help="the file of raw results")
    parser.add_argument("--keep", action="store_true", help="add to the results of earlier calls")
    parser.add_argument("--render", action="store_true", help="measure nothing, report earlier results")
    parser.add_argument("--compare", help="raw results of another version")
    parser.add_argument("--docs", help="folder to write profiles.md, the table and the figures to")
    words = parser.parse_args()
    words.keep = words.keep or words.render
    return words


def _records(words: argparse.Namespace) -> list[Record]:
    """Return the problems that were asked for."""
    if words.draws:
        return random_records(*words.draws)
    return chosen(words.half, only=words.only, quick=words.quick)


def _wanted(solvers: dict[str, Contestant], words: list[str] | None) -> list[Contestant]:
    """Return the solvers that were asked for."""
    found = [solver for name, solver in solvers.items() if not words or any(word in name for word in words)]
    return sorted(found, key=lambda solver: FIRST.index(solver.name) if solver.name in FIRST else len(FIRST))


def _measure(
    foreman: Foreman, record: Record, entry: dict[str, Any], solvers: list[Contestant], limit: float
) -> None:
    facts = foreman.order(record.name, "", limit)["facts"]
    if facts is None or "missing" in facts:
        entry["missing"] = "it could not be built" if facts is None else facts["missing"]
        print(f"{record.name}: {entry['missing']}", file=sys.stderr)
        return
    entry.update(facts)
    for solver in solvers:
        within = min(limit, max(SHORTEST, HOPELESS * best_time(entry)))
        answer = foreman.order(record.name, solver.name, within)["record"]
        entry["solvers"][solver.name] = answer | {"family": solver.family}
        if answer["end"] != "refused":
            print(f"{record.name}: {solver.name} {_said(answer)}", file=sys.stderr, flush=True)
    if any(solver.name == "tether newton" for solver in solvers) and facts["dim"] <= SMALL:
        entry["newton precise"] = foreman.order(record.name, "tether newton", limit, PRECISE)["record"]


def best_time(entry: dict[str, Any]) -> float:
    """Return the best time to the target so far; infinite without any."""
    ends = entry["solvers"].values()
    return min((one["seconds"] for one in ends if one["end"] == "reached"), default=float("inf"))


def _said(answer: dict[str, Any]) -> str:
    if answer["end"] != "reached":
        return f"{answer['end']} {answer.get('reason', '')}"
    return f"{answer['seconds']:.4g} s, {answer.get('projections', '-')} projections"


def _document(results: dict[str, Any], folder: Path) -> None:
    from profiling.drawing import draw

    folder.mkdir(parents=True, exist_ok=True)
    (folder / "profiles.md").write_text(page(results))
    (folder / "profiles.csv").write_text(csv_table(results))
    draw(results, folder)


if __name__ == "__main__":
    try:
        main()
    except subprocess.SubprocessError as error:
        sys.exit(str(error))
