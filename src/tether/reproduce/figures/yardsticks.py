"""What the paper does not compare with, and intervals far beyond 10. Each runs alone, for its seconds."""

from tether.methods import Method, ProxSkip, as_method
from tether.reproduce.experiment import Series
from tether.reproduce.task import Budget, Looks, Problem, Task

TARGET = 1e-6  # gap at which a yardstick has arrived
LOOKS = Looks(every=1, share=0.05)

#: Methods with all their defaults, and the rounds that are plenty for each.
YARDSTICKS: dict[str, tuple[Method, float]] = {
    "ProxSkip, E = 20": (ProxSkip(interval=20), 1e9),
    "Tether's flagship": (as_method("skip"), 1e9),
    "Nesterov": (as_method("nesterov"), 1e9),
    "L-BFGS": (as_method("lbfgs"), 1e9),
    "Newton": (as_method("newton"), 60),
}


def yardsticks(panel: str, problem: Problem, passes: float, own: dict[str, Method]) -> list[Series]:
    """Return methods of one's own and the yardsticks, each with the same passes over the data."""
    lines = {label: (method, Budget(passes=passes)) for label, method in own.items()}
    for label, (method, rounds) in YARDSTICKS.items():
        # Newton's passes include second derivatives, which have a price of their own: rounds limit it.
        lines[label] = method, Budget(rounds=rounds) if rounds < 1e9 else Budget(passes=passes)
    return [_series(panel, problem, label, *line) for label, line in lines.items()]


def _series(panel: str, problem: Problem, label: str, method: Method, budget: Budget) -> Series:
    task = Task(problem=problem, method=method, budget=budget, looks=LOOKS, target=TARGET, timed=True)
    return Series(f"{panel}/{label}", label, task)
