"""The integer codes by which kernels know what they sum; importing them does not import a compiler."""

LOGISTIC, SQUARED, MULTINOMIAL, HUBER, POISSON = range(5)
FACTOR = 5  # z^2, the sample of a finite-sum quadratic

CODES = frozenset(range(6))
