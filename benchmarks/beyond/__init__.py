"""Problems with bounds, inequalities and l1 terms, each with the libraries that solve it."""
