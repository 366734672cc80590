"""What `tether.GLM` is given, checked, and what it gives back: weights, names of columns, coefficients."""

from typing import Any, NamedTuple

from numpy.typing import NDArray

from tether.arrays import Array, Indices
from tether.inputs import LARGEST_DIMENSION, vector
from tether.names import INTERCEPT, PER_OUTPUT, Labels, Names, as_names, counted


class Called(NamedTuple):
    """The names of columns and of classes, where they have any."""

    columns: Names | None = None
    classes: Names | None = None

    @classmethod
    def checked(cls, columns: Any, classes: Any, width: int, n_outputs: int) -> "Called":
        """Return names of as many columns and classes as there are, or refuse others."""
        own = as_names("columns", columns)
        if len(own) != width:
            raise ValueError(f"columns must be {width} names, one for each column of X, got {len(own)}.")
        if classes is None:
            return cls(own)
        outputs = as_names("classes", classes)
        if len(outputs) != n_outputs or n_outputs == 1:
            raise ValueError(
                f"classes must be {n_outputs} names, one for each class of a model of several, got "
                f"{len(outputs)}."
            )
        return cls(own, outputs)


class Coefficients(NamedTuple):
    """The parameters of a linear model, taken apart."""

    coef: Array  # (d,) or (d, K)
    intercept: float | Array | None  # a number, (K,), or None without an intercept


def require_length(name: str, array: NDArray[Any], length: int) -> None:
    """Refuse an array that has not one entry a row of X."""
    if array.ndim == 0 or len(array) != length:
        got = "a number" if array.ndim == 0 else f"{len(array)} entries"
        raise ValueError(f"{name} must have one entry for each of the {length} rows of X, got {got}.")


def fitting(n_outputs: int, n_columns: int) -> int:
    """Return how many numbers predict a sample, or refuse so many that no memory holds the coefficients."""
    if n_columns * n_outputs > LARGEST_DIMENSION:
        raise ValueError(
            f"n_classes must be at most {LARGEST_DIMENSION // n_columns} for {n_columns} columns, because "
            f"all coefficients are kept in memory, got {n_outputs}."
        )
    return n_outputs


def weights_and_mass(sample_weight: Any, n_samples: int) -> tuple[Array | None, float]:
    """Return weights >= 0 with mean 1, one a sample, and their sum before; None and N if there are none."""
    if sample_weight is None:
        return None, float(n_samples)
    weights = vector("sample_weight", sample_weight)
    require_length("sample_weight", weights, n_samples)
    if weights.min() < 0.0 or weights.max() == 0.0:
        raise ValueError(
            f"sample_weight must be >= 0 and not all zero, got {weights.min():g} to {weights.max():g}."
        )
    return weights / weights.mean(), float(weights.sum())


def as_offset(offset: Any, n_samples: int, n_outputs: int) -> Array | None:
    """Return what is added to the predictions, one number a sample; None if nothing is."""
    if offset is None:
        return None
    if n_outputs > 1:
        raise ValueError(
            f"offset must be left out for a model with {n_outputs} outputs, of which it would move all alike."
        )
    shifts = vector("offset", offset)
    require_length("offset", shifts, n_samples)
    return shifts


def shifted(predictions: Array, offset: Array | None) -> Array:
    """Return predictions with their offset."""
    return predictions if offset is None else predictions + offset


def variable_names(columns: Names | None, fit_intercept: bool, n_outputs: int) -> Names | None:
    """Return the names of the coefficients of columns, "intercept" last where there is one; None without.

    With several outputs a name would stand for several variables, so that named columns name none of them.
    """
    if columns is None:
        return None
    if n_outputs > 1:
        return None if counted(columns) else PER_OUTPUT
    return (*columns, INTERCEPT) if fit_intercept else columns


def variable_labels(called: Called, fit_intercept: bool, n_outputs: int, dim: int) -> Labels:
    """Return what coefficients are called where they are shown, also with several outputs a column."""
    columns, classes = called
    if columns is None or counted(columns):
        return Labels("x", dim, None, n_outputs, fit_intercept, classes=classes)
    names = (*columns, INTERCEPT) if fit_intercept else columns
    return Labels("x", dim, names, n_outputs, classes=classes)


def chosen(numbers: NDArray[Any] | None, batch: Indices | None) -> Any:
    """Return what belongs to the samples of a batch, or to all samples."""
    return numbers if numbers is None or batch is None else numbers.take(batch, axis=0)


def column(weights: Array, numbers: Array) -> Array:
    """Return one weight a sample in a shape that multiplies the numbers of its outputs."""
    return weights if numbers.ndim == 1 else weights[:, None]
