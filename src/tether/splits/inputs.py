"""What splits are made from, checked at the border: labels, sample numbers, sizes and seeds."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tether.arrays import Indices
from tether.inputs import plain_array, positive_integer, shown, whole_number


def number_of_workers(n_workers: int, n_samples: int) -> int:
    """Return n, which must leave a sample for everybody."""
    n_workers = positive_integer("n_workers", n_workers)
    if n_workers > n_samples:
        raise ValueError(
            f"n_workers must not exceed the number of samples, "
            f"got {n_workers} workers for {n_samples} samples; use fewer workers."
        )
    return n_workers


def generator(seed: int) -> np.random.Generator:
    """Return the generator of a seed."""
    return np.random.default_rng(whole_number("seed", seed))


def coded(name: str, value: Any) -> tuple[NDArray[Any], Indices]:
    """Return the distinct values in sorted order and, for each sample, the number of its value."""
    array = plain_array(name, value)
    if array.ndim != 1:
        raise ValueError(f"{name} must be one-dimensional, got shape {array.shape}; pass a single column.")
    if not len(array):
        raise ValueError(f"{name} must hold one value a sample, got none; pass at least one sample.")
    for i, entry in enumerate(value.tolist() if hasattr(value, "tolist") else value):
        if _is_missing(entry):
            raise ValueError(f"{name}[{i}] is missing ({entry}); drop the sample or fill in a value.")
    try:
        labels, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise ValueError(f"{name} mixes kinds that have no order; convert it to strings.") from error
    return labels, codes


def index_arrays(parts: Any) -> list[Indices]:
    """Return the sample numbers of each worker."""
    if not isinstance(parts, Iterable):
        raise ValueError(f"parts must be a list of index arrays, one a worker, got {shown(parts)}.")
    groups = [plain_array(f"parts[{k}]", part) for k, part in enumerate(parts)]
    if not groups:
        raise ValueError("parts must hold at least one worker's index array, got none.")
    for k, group in enumerate(groups):
        if group.ndim != 1 or not group.size or group.dtype.kind not in "iu":
            raise ValueError(
                f"parts[{k}] must be a one-dimensional, non-empty array of sample numbers, "
                f"got shape {group.shape} of {group.dtype}; pass one index array a worker."
            )
    return groups


def _is_missing(entry: Any) -> bool:
    try:
        return entry is None or bool(entry != entry)
    except TypeError:  # pandas.NA answers neither yes nor no
        return True
