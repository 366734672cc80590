"""A node: replace `load` by your own data. Only vectors like the model and a few numbers leave it."""

from flwr.app import Context
from sklearn.datasets import load_digits

from tether import GLM, splits
from tether.flower import client_app


def load(context: Context) -> GLM:
    """Return this node's share of the handwritten digits, cut by label: no node sees all ten."""
    X, y = load_digits(return_X_y=True)
    parts = splits.by_label(y, int(context.run_config["workers"]))
    mine = parts[int(context.node_config["partition-id"])]
    return GLM(X[mine] / 16.0, y[mine], "multinomial", n_classes=10, l2=1e-3, fit_intercept=True)


app = client_app(load)
