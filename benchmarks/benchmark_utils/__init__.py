"""What the benchmark's objective, data sets and solvers share; benchopt fixes the name of this package."""
