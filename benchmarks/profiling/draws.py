"""Problems drawn at random, as many as one likes: a draw's number is its seed, so nobody knows those to come.

Kinds, sizes and settings are drawn as well as numbers: which loss, dense or sparse, tables, curves, documents
or networks, how conditioned, how scaled, how many equations, how much convexity.
"""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from profiling import generators, tables
from profiling.generators import Recipe
from profiling.pieces import Pieces

DENSE_NUMBERS, SPARSE_NUMBERS = 6e6, 3e6  # at most, so that a draw takes seconds
LOSSES = ("logistic", "squared", "huber", "poisson", "multinomial")
SHARES = (0.35, 0.12, 0.13, 0.2, 0.2)
MUS = (1.0, 1.0, 0.3, 0.1, 0.1, 0.01)  # times 1/N


class Draw(NamedTuple):
    """A problem in words, and how to build it."""

    name: str
    build: Callable[[], Pieces]


def drawn(number: int) -> Draw:
    """Return the problem of a number."""
    rng = np.random.default_rng([99, number])
    kinds = (_dense, _sparse, _table, _program, _network)
    kind = kinds[rng.choice(len(kinds), p=(0.35, 0.2, 0.25, 0.1, 0.1))]
    words, build = kind(rng, int(rng.integers(1_000_000)))
    return Draw(f"draw {number}: {words}", build)


def _dense(rng: np.random.Generator, seed: int) -> tuple[str, Callable[[], Pieces]]:
    loss, n, p = _loss(rng), _size(rng, 100, 300_000), _size(rng, 4, 1_500)
    n = min(n, int(DENSE_NUMBERS / p))
    classes = int(rng.integers(3, 11)) if loss == "multinomial" else 1
    conditioning = float(np.round(10.0 ** rng.uniform(1.0, 8.0))) if rng.random() < 0.35 else 1.0
    recipe = Recipe(
        loss,
        n,
        p,
        seed,
        mu=float(rng.choice(MUS)),
        conditioning=conditioning if p > 1 else 1.0,
        decades=float(np.round(rng.uniform(1.0, 5.0), 1)) if rng.random() < 0.3 else 0.0,
        heavy=bool(rng.random() < 0.25),
        equations=_equations(rng, p * classes),
        classes=classes,
    )
    return _words("dense", recipe), recipe


def _sparse(rng: np.random.Generator, seed: int) -> tuple[str, Callable[[], Pieces]]:
    loss, p = _loss(rng), _size(rng, 100, 60_000)
    each = min(_size(rng, 3, 80), p // 4)
    n = min(_size(rng, 1_000, 400_000), int(SPARSE_NUMBERS / each))
    classes = int(rng.integers(3, 7)) if loss == "multinomial" else 1
    p = min(p, 60_000 // classes)
    equations = _equations(rng, p * classes, most=300)
    recipe = Recipe(
        loss,
        n,
        p,
        seed,
        each=each,
        mu=float(rng.choice(MUS)),
        decades=float(np.round(rng.uniform(1.0, 4.0), 1)) if rng.random() < 0.2 else 0.0,
        heavy=bool(rng.random() < 0.35),
        equations=equations,
        each_equation=min(10, p) if equations and rng.random() < 0.4 else None,
        classes=classes,
    )
    return _words("sparse", recipe), recipe


def _words(kind: str, recipe: Recipe) -> str:
    shape = f"{recipe.n:,} x {recipe.p:,}" + (f" x {recipe.classes}" if recipe.classes > 1 else "")
    more = {
        f"{recipe.each} a row": recipe.each,
        "heavy rows": recipe.heavy,
        f"conditioning {recipe.conditioning:.0e}": recipe.conditioning > 1.0,
        f"{recipe.decades} decades": recipe.decades,
        f"{recipe.equations} equations": recipe.equations,
        f"mu {recipe.mu:g}/N": recipe.mu != 1.0,
    }
    return ", ".join([f"{kind} {recipe.loss} {shape}", *(words for words, there in more.items() if there)])


def _table(rng: np.random.Generator, seed: int) -> tuple[str, Callable[[], Pieces]]:
    name = str(rng.choice(["tariff", "series", "curve", "powers", "documents"]))
    mu = float(rng.choice(MUS))
    loss = str(rng.choice(["logistic", "poisson", "huber", "squared", "multinomial"]))
    if name == "tariff":
        n = _size(rng, 1_000, 200_000)
        levels = tuple(_size(rng, 3, 1_000) for _ in range(int(rng.integers(2, 6))))
        loss, sums = ("poisson" if loss == "multinomial" else loss), bool(rng.random() < 0.4)
        build = partial(tables.tariff, n, levels, loss, seed, mu=mu, sums=sums)
        return f"tariff {loss} {n:,}, {sum(levels):,} levels{', sums' if sums else ''}, mu {mu:g}/N", build
    if name == "series":
        p, memory = _size(rng, 10, 1_200), float(rng.choice([0.5, 0.8, 0.9, 0.95, 0.99]))
        n = min(_size(rng, 500, 100_000), int(DENSE_NUMBERS / p))
        m = _equations(rng, p, most=100) if loss != "multinomial" else 0
        build = partial(tables.series, n, p, memory, loss, seed, mu=mu, equations=m)
        return f"series {loss} {n:,} x {p}, memory {memory}, {m} equations, mu {mu:g}/N", build
    if name == "curve":
        n, knots = _size(rng, 500, 200_000), _size(rng, 10, 2_000)
        loss, sums = ("logistic" if loss == "multinomial" else loss), int(rng.integers(0, 3))
        build = partial(tables.curve, n, knots, loss, seed, mu=mu, sums=sums)
        return f"curve {loss} {n:,}, {knots} knots, {sums} sums, mu {mu:g}/N", build
    if name == "powers":
        n, inputs, degree = _size(rng, 300, 50_000), int(rng.integers(2, 5)), int(rng.integers(2, 4))
        loss = "logistic" if loss == "multinomial" else loss
        build = partial(tables.powers, n, min(inputs, 5 - degree + 1), degree, loss, seed, mu=mu)
        return f"powers {loss} {n:,}, {min(inputs, 6 - degree)} inputs to {degree}, mu {mu:g}/N", build
    n, p, each = _size(rng, 3_000, 80_000), _size(rng, 1_000, 50_000), _size(rng, 6, 60)
    m = int(rng.choice([0, 0, 10, 100, 200]))
    build = partial(
        tables.documents, n, p, each, seed, mu=mu, equations=m, words=20 if rng.random() < 0.4 else 0
    )
    return f"documents {n:,} x {p:,}, {each} words, {m} equations, mu {mu:g}/N", build


def _program(rng: np.random.Generator, seed: int) -> tuple[str, Callable[[], Pieces]]:
    name = str(rng.choice(["calibration", "portfolio", "program"]))
    if name == "calibration":
        n, m = _size(rng, 500, 100_000), _size(rng, 3, 60)
        return f"calibration {n:,} x {m}", partial(generators.calibration, n, m, seed)
    p = _size(rng, 30, 1_200)
    if name == "portfolio":
        return f"portfolio {p}", partial(generators.portfolio, p, max(2, p // 20), seed)
    m, conditioning = _size(rng, 1, max(2, p // 2)), 10.0 ** rng.uniform(1.0, 6.0)
    words = f"program {p}, {m} equations, conditioning {conditioning:.0e}"
    return words, partial(generators.dense_program, p, m, conditioning, seed)


def _network(rng: np.random.Generator, seed: int) -> tuple[str, Callable[[], Pieces]]:
    loss = str(rng.choice(["quadratic", "huber", "poisson"]))
    if rng.random() < 0.5:
        width = _size(rng, 8, 90)
        return f"grid flow {width} {loss}", partial(generators.grid_flow, loss, width, seed)
    nodes = _size(rng, 60, 8_000)
    return f"roads {nodes:,} {loss}", partial(tables.roads, nodes, loss, seed)


def _loss(rng: np.random.Generator) -> str:
    return str(rng.choice(LOSSES, p=SHARES))


def _size(rng: np.random.Generator, least: int, most: int) -> int:
    """Return a size, of which every order of magnitude is as likely."""
    size = float(np.exp(rng.uniform(np.log(least), np.log(most))))
    step = 10.0 ** max(0, int(np.log10(size)) - 1)
    return max(least, int(size / step) * int(step))


def _equations(rng: np.random.Generator, dim: int, most: int = 10**9) -> int:
    """Return how many equations: none, a few, a tenth or half of the variables."""
    few = int(rng.integers(1, 21))
    return min(int(rng.choice([0, 0, few, few, dim // 10, dim // 2])), dim // 2, most, 400)
