"""The collection: small and medium problems of every kind that `auto` is judged on.

    python collection.py            # list names, halves and sizes

Each problem is a name and a function that builds its arrays, with fixed seeds. A hash of the name puts it
into one of two halves: "open", which one looks at while working, and "held-out", which is only run at the
end. So a problem never changes sides, and nobody chose which side it is on. Whoever has looked at both draws
others: first those that are "set aside", and when they had been looked at, those that are "drawn last". Since
then draws have numbers, and whoever wants to know how things stand takes numbers that nobody has looked at.
"""

import argparse
from collections.abc import Callable
from functools import partial
from typing import NamedTuple
from zlib import crc32

from profiling import bundled, generators, stored, tables
from profiling.draws import drawn
from profiling.generators import Recipe
from profiling.pieces import Pieces

HALVES = ("open", "held-out")
ASIDE, LAST, RANDOM = "set aside", "drawn last", "drawn at random"
TARGET = 1e-6  # of the gap, relative to that of the first feasible point


class Record(NamedTuple):
    """A problem by name."""

    name: str
    build: Callable[[], Pieces]
    target: float = TARGET
    quick: bool = False  # belongs to the small subset
    part: str = ""  # it came when both halves had been looked at

    @property
    def half(self) -> str:
        """The half that the hash of the name decides, or the part that came later."""
        return self.part or HALVES[crc32(self.name.encode()) % 2]


def _bundled() -> list[Record]:
    cancer, odd, ten = bundled.breast_cancer, bundled.odd_digits, bundled.ten_digits
    diabetes, survey = bundled.diabetes, bundled.survey
    return [
        Record("breast cancer raw", partial(cancer, False, 1.0, 0), quick=True),
        Record("breast cancer raw, mu 0.01/N, 3 equations", partial(cancer, False, 0.01, 3)),
        Record("breast cancer scaled", partial(cancer, True, 1.0, 0), quick=True),
        Record("breast cancer scaled, 15 equations", partial(cancer, True, 0.1, 15)),
        Record("digits odd/even", partial(odd, False, 1.0, 0), quick=True),
        Record("digits odd/even, 10 equations, mu 0.01/N", partial(odd, False, 0.01, 10)),
        Record("digits odd/even scaled, 32 equations", partial(odd, True, 1.0, 32)),
        Record("digits, classes sum to 0", partial(ten, 1.0, True)),
        Record("digits, 20 equations", partial(ten, 1.0, False)),
        Record("iris", partial(bundled.flowers, 1.0, 0), quick=True),
        Record("iris, 5 equations, mu 0.1/N", partial(bundled.flowers, 0.1, 5)),
        Record("wine raw", partial(bundled.wine, False, 1.0, False)),
        Record("wine scaled, classes sum to 0", partial(bundled.wine, True, 0.1, True), quick=True),
        Record("diabetes raw squared", partial(diabetes, "squared", False, 0.0, 0)),
        Record("diabetes scaled squared, 5 equations", partial(diabetes, "squared", True, 1.0, 5)),
        Record("diabetes scaled huber", partial(diabetes, "huber", True, 1.0, 0), quick=True),
        Record("diabetes raw huber, 2 equations", partial(diabetes, "huber", False, 0.1, 2)),
        Record("diabetes scaled poisson, 2 equations", partial(diabetes, "poisson", True, 1.0, 2)),
        Record("fair logistic", partial(survey, "fair", "logistic", 1.0)),
        Record("fair poisson scaled, mu 0", partial(survey, "fair", "poisson", 0.0, scale=True)),
        Record("randhie poisson raw", partial(survey, "randhie", "poisson", 0.1)),
        Record("randhie poisson, 2 sums", partial(survey, "randhie", "poisson", 1.0, scale=True, groups=2)),
        Record("spector logistic raw", partial(survey, "spector", "logistic", 1.0)),
        Record("star98 squared raw", partial(survey, "star98", "squared", 1.0)),
        Record("star98 huber, 4 sums", partial(survey, "star98", "huber", 1.0, scale=True, groups=4)),
        Record("anes96 multinomial", partial(survey, "anes96", "multinomial", 1.0)),
        Record("longley squared raw, mu 0", partial(survey, "longley", "squared", 0.0)),
        Record("ccard squared, 2 sums", partial(survey, "ccard", "squared", 0.1, groups=2)),
    ]


def _stored() -> list[Record]:
    people, text, mnist, pair = stored.people, stored.text, stored.mnist, stored.mnist_pair
    program, traffic = stored.program, stored.traffic
    return [
        Record("a8a, mu 1/N", partial(people, 1.0, 0, False)),
        Record("a8a, unit rows, 10 equations, mu 0.1/N", partial(people, 0.1, 10, True)),
        Record("a8a, 60 equations, mu 0.01/N", partial(people, 0.01, 60, False)),
        Record("a8a squared, 20 equations", partial(people, 0.1, 20, True, "squared")),
        Record("text, 200 equations", partial(text, 1.0, 63_620, {"count": 200})),
        Record("text, mu 0.01/N", partial(text, 0.01, 63_620, {})),
        Record(
            "text 5,000 rows, 100 sparse equations", partial(text, 0.1, 5_000, {"count": 100, "each": 20})
        ),
        Record("text 10,000 rows huber", partial(text, 1.0, 10_000, {"count": 20}, "huber")),
        Record("text 20,000 rows counts, mu 0.1/N", partial(text, 0.1, 20_000, {"count": 50}, unit=False)),
        Record("mnist 2,000 images, l2 1e-3", partial(mnist, 2_000, 1e-3, 50)),
        Record("mnist 1,000 images, classes sum to 0", partial(mnist, 1_000, 1e-3, 0, True)),
        Record("mnist 5,000 images, l2 1e-4", partial(mnist, 5_000, 1e-4, 200)),
        Record("mnist small digits logistic", partial(pair, 10_000, "logistic", 1.0, 20)),
        Record("mnist digit squared, 100 equations", partial(pair, 5_000, "squared", 0.1, 100)),
        Record("program HS51", partial(program, "HS51", more=False)),
        Record("program GENHS28", partial(program, "GENHS28", more=False)),
        Record("program DTOC3", partial(program, "DTOC3", more=False)),
        Record("program AUG2DC", partial(program, "AUG2DC", more=False)),
        Record("program AUG3DC", partial(program, "AUG3DC", more=False)),
        Record("program CVXQP1_M", partial(program, "CVXQP1_M", shift=1.0)),
        Record("program CVXQP3_S", partial(program, "CVXQP3_S", shift=1.0)),
        Record("program DUAL1", partial(program, "DUAL1")),
        Record("program STCQP2", partial(program, "STCQP2", shift=1.0)),
        Record("program DUAL3", partial(program, "DUAL3")),
        Record("traffic Sioux Falls quadratic", partial(traffic, "SiouxFalls", "quadratic")),
        Record("traffic Sioux Falls huber", partial(traffic, "SiouxFalls", "huber", 30.0)),
        Record("traffic Anaheim quadratic", partial(traffic, "Anaheim", "quadratic")),
        Record("traffic Anaheim poisson", partial(traffic, "Anaheim", "poisson", 3.0)),
    ]


def _dense() -> list[Record]:
    return [
        Record("dense 100 x 5", Recipe("logistic", 100, 5, 1), quick=True),
        Record(
            "dense 200 x 50, 25 equations", Recipe("logistic", 200, 50, 2, equations=25, size=1.0), quick=True
        ),
        Record("dense 100,000 x 50, 5 equations", Recipe("logistic", 100_000, 50, 3, equations=5)),
        Record("dense 20,000 x 1,000", Recipe("logistic", 20_000, 1_000, 4, equations=50)),
        Record("dense 500,000 x 10", Recipe("logistic", 500_000, 10, 5, equations=2, decades=3)),
        Record(
            "dense 5,000 x 100, conditioning 1e6",
            Recipe("logistic", 5_000, 100, 6, conditioning=1e6, mu=0.01, equations=10),
        ),
        Record(
            "dense 5,000 x 100, conditioning 1e10",
            Recipe("logistic", 5_000, 100, 7, conditioning=1e10, mu=0.01),
        ),
        Record(
            "dense 2,000 x 30, raw columns",
            Recipe("logistic", 2_000, 30, 8, decades=5, equations=3),
            quick=True,
        ),
        Record(
            "dense 10,000 x 200, heavy rows", Recipe("logistic", 10_000, 200, 9, heavy=True, equations=20)
        ),
        Record(
            "dense 2,000 x 500, 250 equations", Recipe("logistic", 2_000, 500, 10, equations=250, l2=1e-3)
        ),
        Record("dense 300 x 2,000", Recipe("logistic", 300, 2_000, 11, l2=1e-3, equations=20)),
        Record(
            "squared 10,000 x 100, conditioning 1e8",
            Recipe("squared", 10_000, 100, 12, conditioning=1e8, mu=0.01, equations=10),
        ),
        Record(
            "squared 200,000 x 40, mu 0", Recipe("squared", 200_000, 40, 13, mu=0.0, equations=4, size=1.0)
        ),
        Record("squared 3,000 x 1,500", Recipe("squared", 3_000, 1_500, 14, mu=1.0)),
        Record(
            "huber 50,000 x 60, raw columns", Recipe("huber", 50_000, 60, 15, decades=4, mu=0.1, equations=6)
        ),
        Record("huber 1,000 x 20, heavy rows", Recipe("huber", 1_000, 20, 16, heavy=True), quick=True),
        Record(
            "huber 5,000 x 300, conditioning 1e4",
            Recipe("huber", 5_000, 300, 17, conditioning=1e4, mu=0.1, equations=30),
        ),
        Record("poisson 100,000 x 20", Recipe("poisson", 100_000, 20, 18, equations=2)),
        Record(
            "poisson 2,000 x 100, conditioning 1e4",
            Recipe("poisson", 2_000, 100, 19, conditioning=1e4, mu=0.1, equations=50),
        ),
        Record("poisson 500 x 10, raw columns", Recipe("poisson", 500, 10, 20, decades=4), quick=True),
        Record("multinomial 5,000 x 40 x 5", Recipe("multinomial", 5_000, 40, 21, classes=5, equations=20)),
        Record(
            "multinomial 20,000 x 20 x 3, raw columns",
            Recipe("multinomial", 20_000, 20, 22, classes=3, decades=3, mu=0.1),
        ),
        Record(
            "multinomial 2,000 x 100 x 10, conditioning 1e4",
            Recipe("multinomial", 2_000, 100, 23, classes=10, conditioning=1e4, equations=100),
        ),
        Record(
            "multinomial 1,000 x 30 x 4, heavy rows",
            Recipe("multinomial", 1_000, 30, 24, classes=4, heavy=True, equations=60),
        ),
        Record("dense 1,000 x 20, mu 0", Recipe("logistic", 1_000, 20, 25, mu=0.0, equations=1), quick=True),
    ]


def _sparse() -> list[Record]:
    return [
        Record("sparse 20,000 x 50,000", Recipe("logistic", 20_000, 50_000, 31, each=20)),
        Record(
            "sparse 100,000 x 20,000, 50 equations",
            Recipe("logistic", 100_000, 20_000, 32, each=15, equations=50),
        ),
        Record("sparse 500,000 x 1,000", Recipe("logistic", 500_000, 1_000, 33, each=8, equations=10)),
        Record(
            "sparse 5,000 x 2,000, raw columns",
            Recipe("logistic", 5_000, 2_000, 34, each=20, decades=3, equations=20),
        ),
        Record("sparse web 50,000 x 300, mu 1/N", Recipe("logistic", 50_000, 300, 35, each=8, heavy=True)),
        Record(
            "sparse web 20,000 x 300, mu 0.01/N",
            Recipe("logistic", 20_000, 300, 36, each=8, heavy=True, mu=0.01, equations=30),
        ),
        Record(
            "sparse web 10,000 x 5,000",
            Recipe(
                "logistic", 10_000, 5_000, 37, each=20, heavy=True, mu=0.1, equations=100, each_equation=10
            ),
        ),
        Record(
            "sparse squared 50,000 x 5,000",
            Recipe("squared", 50_000, 5_000, 38, each=10, mu=1.0, equations=20),
        ),
        Record(
            "sparse squared 20,000 x 10,000, 3,000 equations",
            Recipe("squared", 20_000, 10_000, 39, each=10, mu=0.1, equations=3_000, each_equation=3),
        ),
        Record(
            "sparse huber 30,000 x 3,000, heavy rows",
            Recipe("huber", 30_000, 3_000, 40, each=10, heavy=True, equations=10),
        ),
        Record(
            "sparse poisson 50,000 x 2,000",
            Recipe("poisson", 50_000, 2_000, 41, each=5, mu=1.0, equations=10),
        ),
        Record(
            "sparse multinomial 10,000 x 1,000 x 4",
            Recipe("multinomial", 10_000, 1_000, 42, classes=4, each=10, equations=20),
        ),
    ]


def _quadratics() -> list[Record]:
    return [
        Record("calibration 100,000 x 50", partial(generators.calibration, 100_000, 50, 51)),
        Record("calibration 2,000 x 10", partial(generators.calibration, 2_000, 10, 52), quick=True),
        Record("portfolio 300", partial(generators.portfolio, 300, 20, 53), quick=True),
        Record("portfolio 1,200", partial(generators.portfolio, 1_200, 40, 54)),
        Record("program 400, conditioning 1e6", partial(generators.dense_program, 400, 100, 1e6, 55)),
        Record("program 1,000, conditioning 1e2", partial(generators.dense_program, 1_000, 10, 1e2, 56)),
        Record("grid flow 60 quadratic", partial(generators.grid_flow, "quadratic", 60, 57)),
        Record("grid flow 200 quadratic", partial(generators.grid_flow, "quadratic", 200, 58)),
        Record("grid flow 50 huber", partial(generators.grid_flow, "huber", 50, 59)),
        Record("grid flow 40 poisson", partial(generators.grid_flow, "poisson", 40, 60)),
    ]


def _aside() -> list[Record]:
    survey, text, program = bundled.survey, stored.text, stored.program
    drawn = {
        "logistic 700 x 12": Recipe("logistic", 700, 12, 101),
        "logistic 3,000 x 25, 5 equations, raw columns": Recipe(
            "logistic", 3_000, 25, 102, decades=4, equations=5
        ),
        "logistic 40,000 x 30, heavy rows": Recipe("logistic", 40_000, 30, 103, heavy=True),
        "logistic 8,000 x 400, conditioning 1e5": Recipe(
            "logistic", 8_000, 400, 104, conditioning=1e5, mu=0.1, equations=10
        ),
        "logistic 1,500 x 800": Recipe("logistic", 1_500, 800, 105, equations=100),
        "logistic 300,000 x 25": Recipe("logistic", 300_000, 25, 106, mu=0.1),
        "squared 30,000 x 80, 8 equations": Recipe("squared", 30_000, 80, 107, mu=0.1, equations=8),
        "squared 500 x 6": Recipe("squared", 500, 6, 108, decades=2),
        "huber 800 x 15, 3 equations": Recipe("huber", 800, 15, 109, equations=3),
        "huber 20,000 x 120, raw columns": Recipe("huber", 20_000, 120, 110, decades=3, mu=0.1),
        "poisson 1,200 x 8": Recipe("poisson", 1_200, 8, 111),
        "poisson 30,000 x 60, 6 equations": Recipe("poisson", 30_000, 60, 112, equations=6),
        "poisson 4,000 x 250, conditioning 1e3": Recipe("poisson", 4_000, 250, 113, conditioning=1e3),
        "multinomial 900 x 9 x 4": Recipe("multinomial", 900, 9, 114, classes=4),
        "multinomial 8,000 x 60 x 6, 30 equations": Recipe(
            "multinomial", 8_000, 60, 115, classes=6, equations=30
        ),
        "multinomial 3,000 x 300 x 5": Recipe("multinomial", 3_000, 300, 116, classes=5, mu=1.0),
        "sparse 30,000 x 8,000, 25 equations": Recipe("logistic", 30_000, 8_000, 117, each=12, equations=25),
        "sparse 200,000 x 500, mu 0.1/N": Recipe("logistic", 200_000, 500, 118, each=6, mu=0.1, equations=5),
        "sparse 8,000 x 15,000, mu 0.1/N": Recipe("logistic", 8_000, 15_000, 119, each=25, mu=0.1),
        "sparse web 30,000 x 1,000": Recipe("logistic", 30_000, 1_000, 120, each=10, heavy=True),
        "sparse poisson 20,000 x 600": Recipe("poisson", 20_000, 600, 121, each=6, equations=4),
        "sparse huber 15,000 x 2,500": Recipe("huber", 15_000, 2_500, 122, each=8, equations=20),
        "sparse squared 40,000 x 3,000": Recipe("squared", 40_000, 3_000, 123, each=9, mu=0.5, equations=30),
        "sparse multinomial 5,000 x 400 x 3": Recipe("multinomial", 5_000, 400, 124, classes=3, each=8),
    }
    others = {
        "cpunish poisson": partial(survey, "cpunish", "poisson", 0.1, scale=True),
        "scotland squared, 2 sums": partial(survey, "scotland", "squared", 0.1, scale=True, groups=2),
        "statecrime huber": partial(survey, "statecrime", "huber", 1.0, scale=True),
        "engel huber raw": partial(survey, "engel", "huber", 0.1),
        "stackloss squared raw": partial(survey, "stackloss", "squared", 0.01),
        "copper squared": partial(survey, "copper", "squared", 1.0, scale=True),
        "modechoice logistic": partial(survey, "modechoice", "logistic", 0.1, scale=True),
        "text 15,000 rows, 60 equations": partial(text, 1.0, 15_000, {"count": 60}),
        "text 40,000 rows, mu 0.1/N, 30 sparse equations": partial(
            text, 0.1, 40_000, {"count": 30, "each": 50}
        ),
        "mnist pair logistic, 5 equations": partial(stored.mnist_pair, 4_000, "logistic", 0.1, 5),
        "program DUAL2": partial(program, "DUAL2"),
        "program CONT-050": partial(program, "CONT-050", shift=1.0),
        "calibration 30,000 x 12": partial(generators.calibration, 30_000, 12, 125),
        "portfolio 100": partial(generators.portfolio, 100, 8, 126),
        "program 150, conditioning 1e4": partial(generators.dense_program, 150, 20, 1e4, 127),
        "grid flow 100 quadratic": partial(generators.grid_flow, "quadratic", 100, 128),
        "grid flow 30 huber": partial(generators.grid_flow, "huber", 30, 129),
        "grid flow 70 poisson": partial(generators.grid_flow, "poisson", 70, 130),
    }
    return [Record(f"aside: {name}", build, part=ASIDE) for name, build in (drawn | others).items()]


def _last() -> list[Record]:
    tariff, series, curve, survey = tables.tariff, tables.series, tables.curve, bundled.survey
    documents, roads = tables.documents, tables.roads
    drawn = {
        "tariff poisson 100,000, 60 levels": partial(tariff, 100_000, (30, 20, 10), "poisson", 1),
        "tariff poisson 30,000, 400 levels, sums": partial(
            tariff, 30_000, (250, 100, 50), "poisson", 2, mu=0.1, sums=True
        ),
        "tariff logistic 60,000, 3,000 levels": partial(tariff, 60_000, (2_500, 400, 100), "logistic", 3),
        "tariff squared 20,000, 1,200 levels, sums": partial(
            tariff, 20_000, (1_000, 150, 50), "squared", 4, mu=0.1, sums=True
        ),
        "tariff huber 8,000, 90 levels": partial(tariff, 8_000, (50, 25, 15), "huber", 5, mu=0.1),
        "series logistic 4,000 x 60": partial(series, 4_000, 60, 0.95, "logistic", 6),
        "series poisson 25,000 x 40, 4 equations": partial(
            series, 25_000, 40, 0.9, "poisson", 7, equations=4
        ),
        "series huber 1,500 x 200, 20 equations": partial(
            series, 1_500, 200, 0.98, "huber", 8, mu=0.1, equations=20
        ),
        "series multinomial 6,000 x 50": partial(series, 6_000, 50, 0.9, "multinomial", 9, mu=0.1),
        "series squared 2,000 x 900": partial(series, 2_000, 900, 0.99, "squared", 10),
        "series logistic 12,000 x 600": partial(series, 12_000, 600, 0.8, "logistic", 11),
        "series logistic 3,000 x 2,500": partial(series, 3_000, 2_500, 0.9, "logistic", 12),
        "curve poisson 20,000, 80 knots": partial(curve, 20_000, 80, "poisson", 13, mu=0.1),
        "curve logistic 50,000, 500 knots, 1 sum": partial(curve, 50_000, 500, "logistic", 14, sums=1),
        "curve huber 3,000, 1,000 knots": partial(curve, 3_000, 1_000, "huber", 15, mu=0.1),
        "powers logistic 5,000, 3 inputs": partial(tables.powers, 5_000, 3, 2, "logistic", 16, mu=0.1),
        "powers poisson 800, 2 inputs": partial(tables.powers, 800, 2, 3, "poisson", 17),
        "documents 30,000 x 20,000, 100 equations": partial(documents, 30_000, 20_000, 20, 18, equations=100),
        "documents 50,000 x 40,000, mu 0.1/N": partial(documents, 50_000, 40_000, 30, 19, mu=0.1),
        "documents 12,000 x 8,000, 200 sparse equations": partial(
            documents, 12_000, 8_000, 15, 20, mu=0.3, equations=200, words=20
        ),
        "documents 40,000 x 5,000, mu 0.01/N": partial(documents, 40_000, 5_000, 12, 21, mu=0.01),
        "roads 1,500 quadratic": partial(roads, 1_500, "quadratic", 24),
        "roads 20,000 quadratic": partial(roads, 20_000, "quadratic", 25),
        "roads 800 huber": partial(roads, 800, "huber", 26),
        "roads 3,000 huber": partial(roads, 3_000, "huber", 27),
        "portfolio 600": partial(generators.portfolio, 600, 30, 28),
        "program 800, conditioning 1e5": partial(generators.dense_program, 800, 200, 1e5, 29),
        "committee poisson": partial(survey, "committee", "poisson", 0.1, scale=True),
        "fair poisson raw, 3 sums": partial(survey, "fair", "poisson", 0.1, groups=3),
    }
    return [Record(f"last: {name}", build, part=LAST) for name, build in drawn.items()]


RECORDS = [*_bundled(), *_stored(), *_dense(), *_sparse(), *_quadratics(), *_aside(), *_last()]


def chosen(half: str = "both", *, only: list[str] | None = None, quick: bool = False) -> list[Record]:
    """Return the problems of a half, those whose names contain one of some words, or the small subset."""
    return [
        record
        for record in RECORDS
        if half in ("both", record.half)
        and (record.quick or not quick)
        and (not only or any(word in record.name for word in only))
    ]


def random_records(first: int, end: int) -> list[Record]:
    """Return the draws with these numbers."""
    draws = [drawn(number) for number in range(first, end)]
    return [Record(draw.name, draw.build, part=RANDOM) for draw in draws]


def record_of(name: str) -> Record:
    """Return the problem of a name; that of a draw begins with its number."""
    if name.startswith("draw "):
        number = int(name.removeprefix("draw ").partition(":")[0])
        return random_records(number, number + 1)[0]
    (record,) = [one for one in RECORDS if one.name == name]
    return record


def main() -> None:
    """List the collection."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--half", choices=[*HALVES, ASIDE, LAST, "both"], default="both")
    for record in chosen(parser.parse_args().half):
        try:
            pieces = record.build()
        except FileNotFoundError as error:
            print(f"{record.half:9} {record.name:52} {error}")
            continue
        kind = f"{pieces.loss}, {'sparse' if pieces.is_sparse else 'dense'}, l2 {pieces.l2:.2g}"
        size = f"N {pieces.n_samples:,} p {pieces.dim:,} m {len(pieces.equations[1]):,}"
        print(f"{record.half:9} {record.name:52} {kind:36} {size:36} {pieces.digest()}", flush=True)


if __name__ == "__main__":
    main()
