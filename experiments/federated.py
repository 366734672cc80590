"""Rounds and megabytes to a gap: 10 workers, a8a and MNIST, random and by-label splits.

    TETHER_DATA=/folder/with/data python experiments/federated.py a8a mnist --limit 60

Prints the tables of docs/federated.md. The gap is F(x) - F*, with F* from L-BFGS on the pooled data.
"""

import argparse
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

import tether
from tether.methods import Anderson, DelayedASVRG, DelayedSGD, DelayedSVRG, ProxSkip, Scaffold

GAPS = (1e-2, 1e-4, 1e-6)
WORKERS = 10
METHODS: dict[str, Any] = {
    "Local SGD, E = 10": DelayedSGD(interval=10, output="last"),
    "SCAFFOLD, full local gradients": Scaffold(interval=10, full_gradients=True),
    "Local SVRG": "dp-svrg",
    "Local ASVRG": "dp-asvrg",
    "Scaffnew, full local gradients": ProxSkip(),
    "Local SVRG + Anderson": Anderson(DelayedSVRG()),
    "Local ASVRG + Anderson": Anderson(DelayedASVRG()),
    "ProxSkip-SVRG + Anderson": "skip",
    "distributed L-BFGS": "lbfgs",
    "distributed Nesterov": "nesterov",
}
HEAD = "| method | gap 1e-02 | gap 1e-04 | gap 1e-06 |\n|---|---:|---:|---:|"
Data = tuple[Any, Any, dict[str, Any]]


def main() -> None:
    """Measure every method on every split of the problems asked for."""
    words = _arguments()
    for name in words.problems:
        X, y, model = PROBLEMS[name]()
        for split in words.splits:
            parts = _parts(split, y)
            federation = tether.Federation([tether.GLM(X[part], y[part], **model) for part in parts])
            best = tether.solve(tether.GLM(X, y, **model), method="lbfgs", tol=1e-9, max_passes=5000).fun
            print(f"\n### {name}, {split}\n\n{HEAD}")
            for label in words.methods or METHODS:
                method = METHODS[label]
                sol = tether.solve(federation, method=method, tol=1e-8, max_seconds=words.limit)
                print(f"| {label} | {' | '.join(_cells(sol, best))} |", flush=True)


def _cells(sol: tether.Solution, best: float) -> list[str]:
    history = sol.history
    gap = history["value"] - best
    lowest = np.nanmin(gap)
    cells = []
    for target in GAPS:
        reached = np.flatnonzero(gap <= target)
        if len(reached):
            row = reached[0]
            megabytes = (history["sent"][row] + history["received"][row]) / 1e6
            cells.append(f"{int(history['rounds'][row])} · {megabytes:.3g} MB")
        else:
            cells.append(f"{lowest:.0e} after {sol.counts.rounds}")
    return cells


def _parts(split: str, y: Any) -> list[Any]:
    if split == "iid":
        return tether.splits.iid(len(y), WORKERS)
    return tether.splits.by_label(y, WORKERS)


def a8a() -> Data:
    """Return rows of unit length, labels and the model."""
    X, y = tether.datasets.a8a()
    return normalize(X), y, {"loss": "logistic", "l2": 0.1 / X.shape[0]}


def a8a_easy() -> Data:
    """Return a8a with more regularisation."""
    X, y, model = a8a()
    return X, y, {**model, "l2": 1e-3}


def mnist() -> Data:
    """Return the 50,000 training images of the paper."""
    X, y = tether.datasets.mnist().first(50_000)
    return X, y, {"loss": "multinomial", "n_classes": 10, "l2": 1e-4, "fit_intercept": True}


def mnist_easy() -> Data:
    """Return fewer images and more regularisation, so that methods with full local gradients can finish."""
    X, y, model = mnist()
    return X[:5_000], y[:5_000], {**model, "l2": 3e-2}


PROBLEMS = {"a8a": a8a, "a8a-easy": a8a_easy, "mnist": mnist, "mnist-easy": mnist_easy}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("problems", nargs="*", default=["a8a"], choices=list(PROBLEMS))
    parser.add_argument("--splits", nargs="*", default=["iid", "by label"], choices=["iid", "by label"])
    parser.add_argument("--methods", nargs="*", choices=list(METHODS), help="rows of the table; default: all")
    parser.add_argument("--limit", type=float, default=60.0, help="seconds for one run")
    return parser.parse_args()


if __name__ == "__main__":
    main()
