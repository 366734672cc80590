"""Theorems 3.1 to 5.2: their error bounds as functions of T, eta and E, against measured errors."""
