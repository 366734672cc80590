"""What a sample of a Hessian costs, in gradients of a sample of a full pass.

A pass reads a row, for each output, and takes some time for a sample whatever its length. A sum of products
takes the square of a row's length: for dense rows in BLAS, which takes some dozen products while a pass reads
a number, for sparse ones in a kernel that finds one place after the other, the longer the larger the triangle
is. To that comes a copy of each dense row, times its factor. The triangle of all samples together is no
matter of samples: `tether.methods.prices` counts it with its factorisation.

The constants below are nanoseconds of one core that was measured. Only their ratios count, and those hold
elsewhere about as well as operations can be counted.
"""

import math

from tether.objectives.design import COMPILE_FROM, Design, SparseDesign, WithOnes
from tether.objectives.gram import is_sparse, pairs_of

LARGEST_FULL = 5000  # variables up to which a Hessian is kept in full: a triangle of 100 MB

_READ, _READ_OUTPUT = 0.5, 0.15  # a number of a dense row in a pass; for each of several outputs
_FIND = 2.2  # a number of a sparse row, for each output
_SAMPLE, _OUTPUT = 25.0, 30.0  # what else a sample takes, and each of several outputs
_PRODUCT, _COPY = 0.026, 1.2  # a product of two numbers in BLAS; a number of a row that BLAS gets
_PAIR = 0.8  # a product that a place is found for
_CACHED, _FAR = 1300.0, 14.0  # columns whose triangle slows that down, and by how much at most
_INTERPRETED_PAIR = 6.0  # the same where there is too little data to compile for
_FACTOR, _FILL = 9.0, 2.2  # the factor of a sample; a number of a sparse row that is made dense
_BLOCK = 8.0  # a number of the matrix of second derivatives of one sample's outputs
_MIXED = 0.034  # a product of rows for all pairs of outputs
_PROBABILITY = 30.0  # an output of a sample whose matrix is made of its probabilities
_DENSE_SQUARES, _SPARSE_SQUARES = 2.0, 1.25  # the diagonal: a pass without kernels, and with one


def price_of_hessian(design: Design, outputs: int = 1, mixed: bool = False) -> float:
    """Return the price of the full Hessian: one sum of products for each pair of outputs, or for all pairs.

    One for all is enough where mixed derivatives are products, see `tether.Loss.mixed`, and rows are dense.
    """
    dim = design.width * outputs
    if dim > LARGEST_FULL:
        return math.inf
    if mixed and not is_sparse(design):
        sums = _MIXED * dim**2 + _COPY * dim
        return 1.0 + (sums + _PROBABILITY * outputs) / work_of_gradient(design, outputs)
    pairs = outputs * (outputs + 1) / 2
    return 1.0 + (pairs * _products(design) + _blocks(outputs)) / work_of_gradient(design, outputs)


def price_of_dense_hessian(width: int) -> float:
    """Return the price of the full Hessian of a linear model with many dense rows of so many columns."""
    return 1.0 + (_FACTOR + _COPY * width + _PRODUCT * width**2) / (_SAMPLE + _READ * width)


def price_of_kronecker(design: Design, outputs: int, mixed: bool = False) -> float:
    """Return the price of G and S: one sum of products, and the mean of the samples' matrices."""
    if design.width > LARGEST_FULL or outputs > LARGEST_FULL:
        return math.inf
    means = _PROBABILITY * outputs if mixed else _blocks(outputs)
    return 1.0 + (_products(design) + means) / work_of_gradient(design, outputs)


def price_of_diagonal(design: Design) -> float:
    """Return the price of the diagonal: the predictions, and squares instead of slopes times rows."""
    return _SPARSE_SQUARES if _stored(design) is not None else _DENSE_SQUARES


def work_of_gradient(design: Design, outputs: int) -> float:
    """Return what the gradient of a sample takes, in nanoseconds."""
    matrix, sample = _stored(design), _SAMPLE + (_OUTPUT * outputs if outputs > 1 else 0.0)
    if matrix is not None:
        return sample + _FIND * outputs * matrix.n_entries / matrix.n_samples
    return sample + design.width * max(_READ, _READ_OUTPUT * outputs)


def work_of_product(stored: int, dense: bool) -> float:
    """Return what a product with a matrix of so many stored numbers takes, in nanoseconds."""
    return _SAMPLE + stored * (_READ if dense else _FIND)


def _products(design: Design) -> float:
    """Return what a sample of the sum of products takes."""
    n, width, stored = design.n_samples, design.width, _stored(design) is not None
    if stored and is_sparse(design):
        find = _PAIR * min(1.0 + (width / _CACHED) ** 3, _FAR)
        one = (find if design.n_entries >= COMPILE_FROM else _INTERPRETED_PAIR) * pairs_of(design) / n
    else:
        one = _PRODUCT * width**2 + (_COPY + _FILL * stored) * width
    return _FACTOR + one


def _blocks(outputs: int) -> float:
    return _BLOCK * outputs**2 if outputs > 1 else 0.0


def _stored(design: Design) -> SparseDesign | None:
    """Return the sparse matrix that is stored; None if it is dense."""
    inner = design.design if isinstance(design, WithOnes) else design
    return inner if isinstance(inner, SparseDesign) else None
