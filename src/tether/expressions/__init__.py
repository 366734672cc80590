"""Linear equations and inequalities as people write them, by the names of the variables.

    "x1 + x2 == x3"        "0 <= x <= 1"        "age_30 <= age_40 <= age_50"
    "sum == 0"             "sum(north, south) <= 1"        "age_* >= 0"

A statement goes through four files: `tokens` cuts the text into words, `grammar` reads them as linear forms
(`form`) of the variables that `lookup` finds, `statement` makes rows of the comparisons, and `constraint`
puts the rows of all statements into one constraint that remembers their texts.
"""

from tether.expressions.constraint import Expressed, constraints_of, spelled_out

__all__ = ["Expressed", "constraints_of", "spelled_out"]
