"""The options of `tether solve`, in the order in which one thinks of a problem."""

import argparse
import math
from pathlib import Path
from typing import Any

from tether.cli.words import whole
from tether.methods import NAMES
from tether.objectives.losses import LOSSES

DESCRIPTION = """\
Minimise the loss of a linear model over the rows of a file, under linear constraints on its coefficients.

The data is svmlight, .npz (X, y and perhaps names, or what scipy.sparse.save_npz writes), .npy,
Matrix Market, CSV with a header, or Parquet. Columns without names are called x1, x2, ...; in svmlight
files by their number. Progress goes to stderr, the result to stdout."""

EXAMPLES = """\
examples:
  coefficients that sum to one and are not negative:
    tether solve --data train.svm --loss logistic --l2 1e-4 --expr "sum == 1" --expr "all >= 0"

  a tariff that rises with age, with an intercept, written for a machine and for a reader:
    tether solve --data claims.csv --target n --offset log_years --loss poisson --intercept \\
        --expr "age_30 <= age_40 <= age_50" --out tariff.npz --report tariff.html --json

  many equations from a file, neighbours pulled together, ten seconds at most:
    tether solve --data X.mtx --target y.txt --loss squared --constraints A.mtx --rhs b.txt \\
        --penalty fused=0.1 --max-seconds 10

  four processes, each with its rows:
    mpiexec -n 4 tether solve --data train.svm --l2 1e-4

exit codes: 0 solved, 2 bad input, 3 infeasible or unbounded, 4 stopped before the accuracy asked for was
reached (by a budget, by rounding, or by Ctrl-C, with the best point so far), 130 interrupted before that."""


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add all options to the parser of the command."""
    _data(parser.add_argument_group("data"))
    _model(parser.add_argument_group("model"))
    _constraints(
        parser.add_argument_group(
            "constraints", "All of them hold together. An intercept is constrained only by name."
        )
    )
    _run(parser.add_argument_group("run"))
    _output(parser.add_argument_group("output"))


def _data(group: Any) -> None:
    group.add_argument("--data", type=Path, required=True, metavar="FILE", help="the rows of the model")
    group.add_argument(
        "--target", metavar="COLUMN|FILE", help="y: a column of the data, or a file with an entry a row"
    )
    group.add_argument("--weights", metavar="COLUMN|FILE", help="how much each row counts")
    group.add_argument(
        "--offset",
        metavar="COLUMN|FILE",
        help="what is added to each prediction, as the logarithm of the time at risk",
    )
    group.add_argument(
        "--columns", type=names, metavar="A,B,C*", help="the columns to use (default: all others)"
    )
    group.add_argument("--drop", type=names, default=(), metavar="A,B,C*", help="columns to leave out")
    group.add_argument("--names", metavar="A,B,C|FILE", help="names for columns that have none")


def _model(group: Any) -> None:
    group.add_argument("--loss", choices=tuple(LOSSES), default="logistic", help="default: logistic")
    group.add_argument(
        "--l2", type=number, default=0.0, metavar="NUMBER", help="l2/2 ||x||^2 is added (default 0)"
    )
    group.add_argument(
        "--intercept", action="store_true", help="one more coefficient, which no penalty counts"
    )
    group.add_argument(
        "--penalty",
        action="append",
        default=[],
        metavar="KIND=NUMBER",
        help="l1 (of each coefficient), fused (of neighbours' differences) or trend (of second differences), "
        'of all columns or of some: l1=1e-3, "fused(age_*)=0.1"; commas separate several',
    )


def _constraints(group: Any) -> None:
    group.add_argument(
        "--expr",
        action="append",
        default=[],
        metavar="TEXT",
        help='by name: "x1 + x2 == 1", "sum == 0", "age_30 <= age_40", "0 <= rate_* <= 1"; may be repeated',
    )
    group.add_argument(
        "--expr-file", type=Path, metavar="FILE", help="expressions, one a line; # begins a comment"
    )
    group.add_argument("--constraints", type=Path, metavar="FILE", help="A of A x = b")
    group.add_argument("--rhs", type=Path, metavar="FILE", help="b of A x = b (default: zeros)")
    group.add_argument("--inequalities", type=Path, metavar="FILE", help="G of lo <= G x <= hi")
    group.add_argument("--at-least", metavar="NUMBER|FILE", help="lo of lo <= G x <= hi")
    group.add_argument("--at-most", metavar="NUMBER|FILE", help="hi of lo <= G x <= hi")
    group.add_argument("--lower", metavar="NUMBER|FILE", help="no coefficient is below this")
    group.add_argument("--upper", metavar="NUMBER|FILE", help="no coefficient is above this")


def _run(group: Any) -> None:
    group.add_argument("--method", choices=tuple(NAMES), default="auto", help="default: auto", metavar="NAME")
    group.add_argument("--tol", type=number, metavar="NUMBER", help="accuracy, in units of F")
    group.add_argument("--rtol", type=number, metavar="NUMBER", help="accuracy relative to F (default 1e-6)")
    group.add_argument("--max-seconds", type=number, metavar="NUMBER", help="time it may take")
    group.add_argument(
        "--max-passes", type=number, metavar="NUMBER", help="passes over the data (default 1000)"
    )
    group.add_argument(
        "--max-rounds", type=whole, metavar="NUMBER", help="projections, or rounds of messages"
    )
    group.add_argument(
        "--seed", type=whole, default=0, metavar="NUMBER", help="of what is random (default 0)"
    )
    group.add_argument(
        "--checkpoint",
        type=Path,
        metavar="FILE",
        help="keep the run there; if the file exists, go on from it",
    )


def _output(group: Any) -> None:
    group.add_argument(
        "--out",
        type=Path,
        metavar="FILE",
        help="the solution as .npz (tether.load reads it), or names and numbers as .csv",
    )
    group.add_argument("--report", type=Path, metavar="FILE", help="a page about the run, .html")
    group.add_argument("--json", action="store_true", help="print one JSON object instead of a text")
    group.add_argument("--quiet", action="store_true", help="no progress on stderr")


def number(text: str) -> float:
    """Return a finite number."""
    try:
        found = float(text)
    except ValueError:
        found = math.nan
    if not math.isfinite(found):
        raise argparse.ArgumentTypeError(f"{text!r} is not a finite number")
    return found


def names(text: str) -> tuple[str, ...]:
    """Return names that commas separate."""
    return tuple(name.strip() for name in text.split(","))
