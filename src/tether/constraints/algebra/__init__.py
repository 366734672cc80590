"""The linear algebra behind the sets: row spaces of dense and sparse matrices and of operators."""
