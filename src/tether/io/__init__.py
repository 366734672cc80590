"""Files of data, matrices and vectors: one format a file, read by one process or a share by each of several.

What is wrong with a file is said in a sentence that names the file and, where it has lines, the line.
"""

from tether.io.columns import Choice
from tether.io.data import Data, Facts
from tether.io.opening import Share
from tether.io.reading import Matrix, columns_in, read_data, read_matrix, read_vector

__all__ = [
    "Choice",
    "Data",
    "Facts",
    "Matrix",
    "Share",
    "columns_in",
    "read_data",
    "read_matrix",
    "read_vector",
]
