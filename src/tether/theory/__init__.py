"""What is proved about the methods: step sizes, momenta, complexities, and the choice between them.

Four entries: `step_size` for a safe step, `complexity` for the work to an accuracy, `error_bound` for the
gap after some work, `recommend` for the method and parameters that save projections or gradients. All of them
work on plain numbers; `heterogeneity` and `worker_heterogeneity` measure those that depend on the data.

The paper is Li & Zhang, "Delayed Projection Techniques for Linearly Constrained Problems".
"""

from tether.theory.acceleration import (
    drift,
    first_momentum,
    momentum,
    momentum_sequence,
    next_momentum,
    restart_length,
)
from tether.theory.choice import Recommendation, Row, comparison_table, recommend
from tether.theory.errors import ErrorBound, error_bound
from tether.theory.rates import Complexity, complexity
from tether.theory.setting import Setting
from tether.theory.steps import asvrg_step_size, horizon_step_size, sgd_step_size, step_size, svrg_step_size
from tether.theory.variance import Heterogeneity, WorkerHeterogeneity, heterogeneity, worker_heterogeneity

__all__ = [
    "Complexity",
    "ErrorBound",
    "Heterogeneity",
    "Recommendation",
    "Row",
    "Setting",
    "WorkerHeterogeneity",
    "asvrg_step_size",
    "comparison_table",
    "complexity",
    "drift",
    "error_bound",
    "first_momentum",
    "heterogeneity",
    "horizon_step_size",
    "momentum",
    "momentum_sequence",
    "next_momentum",
    "recommend",
    "restart_length",
    "sgd_step_size",
    "step_size",
    "svrg_step_size",
    "worker_heterogeneity",
]
