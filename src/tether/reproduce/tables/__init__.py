"""Tables 1 to 4: predicted complexities beside counted ones, on problems with exactly these constants."""
