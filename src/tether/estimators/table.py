"""What an estimator is given, checked once: the table, its names, weights and offsets."""

from collections import Counter
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import _check_sample_weight, validate_data

from tether.arrays import Array
from tether.estimators.sensitive import Sensitive
from tether.inputs import numbers, vector
from tether.names import Names

PRECISIONS = (np.float64, np.float32)
DATES = "mM"  # kinds of arrays: times and spans of time


class Table(NamedTuple):
    """Rows with labels."""

    X: Any  # ndarray or sparse matrix
    y: NDArray[Any]
    columns: Names
    weights: Array | None = None
    offset: Array | None = None
    classes: Names = ()  # of labels that name one of several
    sensitive: Sensitive | None = None
    response: str = "y"  # what the labels are called

    @property
    def mass(self) -> float:
        """The sum of the weights, or N."""
        return float(self.n_samples if self.weights is None else self.weights.sum())

    def with_numbers(self) -> "Table":
        """Return the table with labels as numbers, or refuse them."""
        return self._replace(y=numeric(self.y, "a regressor"))

    @property
    def n_samples(self) -> int:
        """N, the rows."""
        return int(self.X.shape[0])


def checked_table(estimator: BaseEstimator, X: Any, y: Any, sample_weight: Any = None) -> Table:
    """Return rows and labels that fit together; the estimator learns the columns and their names."""
    _require_different(X)
    try:
        data, labels = validate_data(
            estimator, X, y, accept_sparse="csr", dtype=PRECISIONS, multi_output=False, y_numeric=False
        )
    except (ValueError, TypeError):
        _require_no_text(X)
        raise
    _require_known(labels)
    weights = None
    if sample_weight is not None:
        weights = _check_sample_weight(sample_weight, data, dtype=np.float64, ensure_non_negative=True)
    response = str(getattr(y, "name", None) or "y")
    return Table(data, labels, columns_of(estimator), weights, response=response)


def checked_rows(estimator: BaseEstimator, X: Any) -> Any:
    """Return rows to predict for, which have the columns that were learned."""
    return validate_data(estimator, X, accept_sparse="csr", dtype=PRECISIONS, reset=False)


def columns_of(estimator: BaseEstimator) -> Names:
    """Return the names of the columns: those of a data frame, else x0, x1, ..."""
    names = getattr(estimator, "feature_names_in_", None)
    return tuple(f"x{j}" for j in range(estimator.n_features_in_)) if names is None else tuple(names)


def checked_offset(offset: Any, exposure: Any, n_samples: int, log_link: bool) -> Array | None:
    """Return what is added to predictions: the offset and the logarithm of the exposure."""
    if exposure is not None and not log_link:
        raise ValueError(
            "exposure must be left out for a family without a logarithmic link; give an offset instead."
        )
    shifts = None if offset is None else _of_length("offset", offset, n_samples)
    if exposure is None:
        return shifts
    times = _of_length("exposure", exposure, n_samples)
    if times.min() <= 0.0:
        raise ValueError(f"exposure must be > 0, got {times.min():g}; drop rows without any.")
    return np.log(times) if shifts is None else shifts + np.log(times)


def shifted(z: Array, offset: Array | None) -> Array:
    """Return predictions with their offset."""
    if offset is None:
        return z
    if z.ndim > 1:
        raise ValueError(
            f"offset must be left out for a model with {z.shape[1]} outputs, of which it would move all "
            "alike."
        )
    return z + offset


def weights_of(sample_weight: Any, n_samples: int) -> Array | None:
    """Return weights as numbers, one for each row."""
    return None if sample_weight is None else _of_length("sample_weight", sample_weight, n_samples)


def numeric(y: NDArray[Any], whom: str) -> Array:
    """Return labels as floats, or refuse them."""
    try:
        return y.astype(np.float64)
    except (TypeError, ValueError):
        raise ValueError(f"Unknown label type: y must hold numbers for {whom}, got {y.dtype}.") from None


def _of_length(name: str, value: Any, n_samples: int) -> Array:
    found = numbers(name, value)
    if found.shape != (n_samples,):
        raise ValueError(
            f"{name} must have one entry for each of the {n_samples} rows of X, got shape {found.shape}."
        )
    return vector(name, found)


def _require_known(y: NDArray[Any]) -> None:
    """Refuse labels that are dates, or not there."""
    if y.dtype.kind in DATES:
        raise ValueError(f"y must hold numbers or classes, got {y.dtype}; count days or years instead.")
    if y.dtype.kind == "O" and any(label is None for label in y.tolist()):
        raise ValueError("y must be known of every row, got None; drop such rows.")


def _require_different(X: Any) -> None:
    """Refuse columns of one name."""
    doubles = [name for name, count in Counter(getattr(X, "columns", ())).items() if count > 1]
    if doubles:
        raise ValueError(f"X must have columns of different names, got {doubles[0]!r} twice; rename one.")


def _require_no_text(X: Any) -> None:
    """Refuse a data frame with a column of words or dates, and say which."""
    for name in getattr(X, "columns", ()):
        column = np.asarray(X[name])
        if column.dtype.kind in DATES:
            raise ValueError(
                f"X must hold numbers, and its column {name!r} holds {column.dtype}; count days or years "
                "instead."
            ) from None
        words = (value for value in column.tolist() if isinstance(value, str))
        word = next(words, None)
        if word is not None:
            raise ValueError(
                f"X must hold numbers, and its column {name!r} holds words such as {word!r}; encode it, for "
                "example by scikit-learn's OneHotEncoder in a pipeline."
            ) from None
