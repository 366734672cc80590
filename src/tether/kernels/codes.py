"""The integer codes by which kernels know what they sum; importing them does not import a compiler."""

LOGISTIC, SQUARED, MULTINOMIAL, HUBER, POISSON = range(5)
FACTOR = 5  # z^2, the sample of a finite-sum quadratic
BINOMIAL, GAMMA, TWEEDIE, QUANTILE = range(6, 10)

CODES = frozenset(range(10))
NO_PARAMETERS = (0.0, 0.0)  # of a loss that has none
