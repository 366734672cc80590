"""Matrix Market's coordinate and array files."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from scipy.io import mmread

from tether.io.data import require_finite
from tether.io.opening import opened


def read_matrix_market(path: Path) -> Any:
    """Return the matrix of a file, a csr_array or an ndarray."""
    try:
        with opened(path) as file:
            found = mmread(file)
    except (ValueError, OverflowError, IndexError, MemoryError) as error:
        if str(error).startswith(str(path)):
            raise
        said = str(error).split("\n")[0].rstrip(".")
        raise ValueError(
            f"{path} is no complete Matrix Market file: {said[:1].lower() + said[1:]}."
        ) from error
    matrix = sparse.csr_array(found) if sparse.issparse(found) else np.asarray(found)
    if matrix.dtype.kind == "c":
        raise ValueError(f"{path} holds complex numbers; real ones are needed.")
    require_finite(path, matrix)
    return matrix.astype(float)
