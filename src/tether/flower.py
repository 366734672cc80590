"""A federation with Flower, as its apps are written.

client_app(load)     answers for one node; load(context) returns its objective
server_app(...)      an ordinary run of `tether.solve` whose workers are the nodes
"""

import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from flwr.app import Context
from flwr.serverapp import Grid, ServerApp

from tether.constraints import Constraint
from tether.engines.flower.client import client_app
from tether.engines.flower.engine import Flower
from tether.engines.flower.messages import Privacy
from tether.engines.flower.privacy import Releases
from tether.methods import Method
from tether.solve import solve

__all__ = ["client_app", "server_app"]

log = logging.getLogger("tether")


def server_app(method: str | Method | None = None, constraint: Constraint | None = None) -> ServerApp:
    """Return the app of the server.

    Settings are read from the run configuration (``[tool.flwr.app.config]``, ``flwr run --run-config``):
    workers, quorum, timeout, method, tol, rtol, seed, max-rounds, max-passes, max-seconds, audit, checkpoint,
    output, max-change, clip, noise, delta, float32.

    Parameters
    ----------
    method : str or Method, optional
        Instead of the name in the run configuration.
    constraint : Constraint, optional
        What the common model must satisfy.
    """
    app = ServerApp()

    @app.main()
    def main(grid: Grid, context: Context) -> None:
        _listen()
        config = context.run_config
        checkpoint = str(config["checkpoint"]) if config.get("checkpoint") else None
        engine = _engine(grid, config, checkpoint)
        solution = solve(
            engine.introduce(),
            constraint,
            method or str(config.get("method", "auto")),
            tol=_accuracy(config, "tol"),
            rtol=_accuracy(config, "rtol"),
            seed=int(config.get("seed", 0)),
            checkpoint=checkpoint,
            engine=engine,
            callback=_say,
            **_limits(config),
        )
        log.info("%s", solution)
        if engine.releases is not None:
            _say_epsilon(engine.releases, float(config.get("delta", 1e-5)))
        if config.get("output"):
            solution.save(Path(str(config["output"])))

    return app


def _engine(grid: Grid, config: Mapping[str, Any], checkpoint: str | None) -> Flower:
    """Return the engine that the run configuration describes."""
    clip, noise = float(config.get("clip", 0.0)), float(config.get("noise", 0.0))
    workers = int(config["workers"])
    return Flower(
        grid,
        workers,
        int(config.get("quorum", 0)) or None,
        float(config.get("timeout", 120.0)),
        Privacy(clip, noise, bool(config.get("float32", False))),
        Releases(workers, noise, checkpoint) if noise else None,
        max_change=float(config.get("max-change", 0.0)),
    )


def _accuracy(config: Mapping[str, Any], name: str) -> float | None:
    return float(config[name]) if name in config else None


def _limits(config: Mapping[str, Any]) -> dict[str, Any]:
    """Return the budgets of the run and when it is audited; 0: no limit, no audit before the end."""
    return {
        "max_rounds": int(config.get("max-rounds", 1000)),
        "max_passes": float(config.get("max-passes", 0.0)) or None,
        "max_seconds": float(config.get("max-seconds", 0.0)) or None,
        "audit": float(config.get("audit", 1.0)) or None,
    }


def _listen() -> None:
    """Show our own lines only: at this level other packages would report every message they send."""
    if not log.handlers:
        log.addHandler(logging.StreamHandler())
        log.setLevel(logging.INFO)


def _say(intermediate: Any) -> None:
    """Print a line a round."""
    counts, seen = intermediate.counts, np.isfinite(intermediate.fun)
    log.info(
        "round %d: %s, %.3g MB up, %.3g MB down, %.1f s",
        intermediate.nit,
        f"F = {intermediate.fun:.9g}, gap <= {intermediate.gap:.2g}" if seen else "F is not measured",
        counts.sent / 1e6,
        counts.received / 1e6,
        intermediate.seconds,
    )


def _say_epsilon(releases: Releases, delta: float) -> None:
    """Print what the nodes have given away."""
    log.info(
        "privacy: epsilon = %.3g at delta = %g for each node's data, which was asked for up to %d uploads",
        releases.epsilon(delta),
        delta,
        max(releases.counts),
    )
