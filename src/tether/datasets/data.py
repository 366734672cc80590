"""What a loader returns."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Data(NamedTuple):
    """Samples and what is to be predicted of them: ``X, y = mnist()``."""

    X: Any  # an array or a CSR array, a row a sample
    y: NDArray[Any]

    def first(self, count: int) -> "Data":
        """Return the first samples."""
        if not 1 <= count <= len(self.y):
            raise ValueError(
                f"count must be between 1 and {len(self.y):,}, the samples there are, got {count}."
            )
        return Data(self.X[:count], self.y[:count])

    @classmethod
    def stored(cls, path: Any) -> "Data":
        """Read what `store` wrote."""
        with np.load(path, allow_pickle=False) as file:
            return cls(file["X"], file["y"])

    def store(self, path: Any) -> None:
        """Write arrays to an .npz file."""
        np.savez_compressed(path, X=self.X, y=self.y)
