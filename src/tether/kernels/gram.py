"""Sums of c_i a_i a_i^T over sparse rows, one pair of non-zeros at a time, and of its diagonal alone.

The sum is its lower triangle, row by row. Columns of a row are in order, so a pair is met once, below.
"""

import numpy as np

from tether.kernels.options import kernel


@kernel
def add_products(data, indices, indptr, ones, rows, factors, triangle):
    """Add the products of some rows to a triangle; ``factors`` has one number for each of them."""
    width = 0  # of the rows, before the 1 behind them
    while ones and (width + 1) * (width + 2) // 2 < len(triangle):
        width += 1
    edge = width * (width + 1) // 2
    for s in range(len(rows)):
        i, factor = rows[s], factors[s]
        begin, end = indptr[i], indptr[i + 1]
        for j in range(begin, end):
            row, share = indices[j], factor * data[j]
            base = row * (row + 1) // 2
            for k in range(begin, j + 1):
                triangle[base + indices[k]] += share * data[k]
        if ones:
            for k in range(begin, end):
                triangle[edge + indices[k]] += factor * data[k]
            triangle[edge + width] += factor


@kernel
def add_squares(data, indices, indptr, rows, factors, sums):
    """Add the squares of the entries of some rows, times their factors, to the sums of their columns.

    There is a factor for every output, and so is there a sum.
    """
    for s in range(len(rows)):
        i = rows[s]
        for k in range(indptr[i], indptr[i + 1]):
            square = np.float64(data[k]) * data[k]
            for output in range(factors.shape[1]):
                sums[indices[k], output] += factors[s, output] * square
