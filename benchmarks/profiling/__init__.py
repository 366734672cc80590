"""What the collection of problems is made of, and how solvers are judged on it."""
