"""Random problems of every kind: does each answer of `tether.solve` keep what it claims?

A seed is a whole problem: objective, data, constraint, method, starting point, accuracy and budgets.
`problems.random_problem` draws it, `reference` solves it independently (formulas of its own, extended
precision, Newton's method in the null space of A), and `claims` compares: no exception, no warning, x
feasible, F and its gap true, success earned, multipliers right, counts growing, budgets kept, the same bits
again.

`make test` takes the first few hundred seeds and some that once failed. More, on all cores, until the first
failure:

    make fuzz N=10000              # seeds 0 to 9,999
    make fuzz N=10000 SEED=10000   # the next 10,000
    make fuzz N=10000 FUZZ=--all   # do not stop; list every failure at the end

A failure names its seed. To see that problem alone, in words and with every claim it breaks:

    make fuzz N=1 SEED=1234

or by hand, from the folder of the repository:

    from tests.fuzz.claims import run, violations
    from tests.fuzz.problems import random_problem
    problem = random_problem(1234)   # .drawn.objective, .bound.constraint, .method, .settings
    solution = run(problem)
    print(*violations(1234))

Seeds belong to the code that draws: a change of the generator gives them other problems, so a failure that
is worth keeping becomes a small test of its own.
"""
