"""The figures of section 7, with yardsticks that the paper does not have."""
