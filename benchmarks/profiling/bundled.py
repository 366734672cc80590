"""Data that scikit-learn and statsmodels bring along."""

from importlib import import_module
from typing import Any

import numpy as np
from sklearn import datasets

from profiling.equations import class_sums, dense_rows, grouped_sums
from profiling.pieces import Pieces


def scaled(X: np.ndarray) -> np.ndarray:
    """Return columns of mean 0 and standard deviation 1; constant columns stay as they are."""
    spread = X.std(axis=0)
    fixed = spread == 0.0
    return (X - np.where(fixed, 0.0, X.mean(axis=0))) / np.where(fixed, 1.0, spread)


def with_ones(X: np.ndarray) -> np.ndarray:
    """Append a column of ones."""
    return np.hstack([X, np.ones((len(X), 1))])


def assembled(X: Any, y: Any, loss: str, mu: float, equations: dict[str, Any]) -> Pieces:
    """Return the pieces, with l2 = mu / N."""
    y = np.asarray(y)
    y = y.astype(int) if loss == "multinomial" else y.astype(float)
    return Pieces(
        loss=loss,
        X=np.ascontiguousarray(X, dtype=float),
        y=np.ascontiguousarray(y),
        l2=mu / len(y),
        **equations,
    )


def breast_cancer(scale: bool, mu: float, equations: int) -> Pieces:
    """569 tumours, 30 measures and a constant, in their own units or standardised."""
    X, y = datasets.load_breast_cancer(return_X_y=True)
    X = with_ones(scaled(X) if scale else X)
    return assembled(X, y, "logistic", mu, dense_rows(equations, X.shape[1], 1))


def odd_digits(scale: bool, mu: float, equations: int) -> Pieces:
    """Tell odd from even digits by 64 pixels."""
    X, y = datasets.load_digits(return_X_y=True)
    X = scaled(X) if scale else X
    return assembled(X, y % 2, "logistic", mu, dense_rows(equations, X.shape[1], 2))


def ten_digits(mu: float, sums: bool) -> Pieces:
    """Ten digits by 64 pixels and a constant; a pixel's coefficients sum to 0, or 20 equations hold."""
    X, y = datasets.load_digits(return_X_y=True)
    X = with_ones(X / 16.0)
    equations = class_sums(65, 10) if sums else dense_rows(20, 650, 3)
    return assembled(X, y, "multinomial", mu, equations)


def flowers(mu: float, equations: int) -> Pieces:
    """Three kinds of iris by four lengths and a constant."""
    X, y = datasets.load_iris(return_X_y=True)
    return assembled(with_ones(X), y, "multinomial", mu, dense_rows(equations, 15, 4))


def wine(scale: bool, mu: float, sums: bool) -> Pieces:
    """Three cultivars by 13 measures and a constant."""
    X, y = datasets.load_wine(return_X_y=True)
    X = with_ones(scaled(X) if scale else X)
    return assembled(X, y, "multinomial", mu, class_sums(14, 3) if sums else {})


def diabetes(loss: str, scale: bool, mu: float, equations: int) -> Pieces:
    """442 patients, ten measures and a constant, disease progression or, for "poisson", its tens."""
    X, y = datasets.load_diabetes(return_X_y=True, scaled=False)
    X = with_ones(scaled(X) if scale else X)
    y = np.round(y / 10.0) if loss == "poisson" else y / 10.0
    return assembled(X, y, loss, mu, dense_rows(equations, X.shape[1], 5))


def _statsmodels(name: str, *dropped: str) -> tuple[np.ndarray, Any]:
    try:
        module = import_module(f"statsmodels.datasets.{name}")
    except ImportError as error:
        raise FileNotFoundError("statsmodels is needed: pip install statsmodels") from error
    data = module.load_pandas()
    return data.exog.drop(columns=list(dropped), errors="ignore").to_numpy(float), data.endog.to_numpy()


def survey(name: str, loss: str, mu: float, *, scale: bool = False, groups: int = 0) -> Pieces:
    """A data set of statsmodels with a constant; the coefficients of each group of columns sum to 0."""
    X, y = _statsmodels(name)
    if y.ndim == 2:  # successes and failures
        y = y[:, 0] / y.sum(axis=1)
    X = with_ones(scaled(X) if scale else X)
    if loss == "logistic":
        y = y > 0
    dim = X.shape[1] * (int(y.max()) + 1 if loss == "multinomial" else 1)
    return assembled(X, y, loss, mu, grouped_sums(groups, dim) if groups else {})
