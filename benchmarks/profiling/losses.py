"""The losses in plain NumPy: values, slopes and curvatures of predictions, independent of Tether's code."""

import numpy as np
from scipy.special import expit, log_softmax, softmax

DELTA = 1.35  # of the Huber loss


def mean_loss(loss: str, z: np.ndarray, y: np.ndarray) -> float:
    """Return the mean loss of predictions z."""
    if loss == "logistic":
        return float(np.mean(np.logaddexp(0.0, z) - y * z))
    if loss == "squared":
        return float(np.mean((z - y) ** 2) / 2.0)
    if loss == "huber":
        inside = np.minimum(np.abs(z - y), DELTA)
        return float(np.mean(inside * (np.abs(z - y) - inside / 2.0)))
    if loss == "poisson":
        return float(np.mean(np.exp(z) - y * z))
    assert loss == "multinomial", loss
    return float(-np.mean(log_softmax(z, axis=1)[np.arange(len(y)), y]))


def slopes(loss: str, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the derivatives of the losses in their predictions."""
    if loss == "logistic":
        return expit(z) - y
    if loss == "squared":
        return z - y
    if loss == "huber":
        return np.clip(z - y, -DELTA, DELTA)
    if loss == "poisson":
        return np.exp(z) - y
    chances = softmax(z, axis=1)
    chances[np.arange(len(y)), y] -= 1.0
    return chances


def curvatures(loss: str, z: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Return the second derivatives of losses of one prediction."""
    if loss == "logistic":
        return expit(z) * expit(-z)
    if loss == "squared":
        return np.ones_like(z)
    if loss == "huber":
        return (np.abs(z - y) <= DELTA).astype(float)
    assert loss == "poisson", loss
    return np.exp(z)


def bend(loss: str, z: np.ndarray, y: np.ndarray, u: np.ndarray) -> np.ndarray:
    """Return the second derivatives times a change u of the predictions."""
    if loss != "multinomial":
        return curvatures(loss, z, y) * u
    chances = softmax(z, axis=1)
    return chances * (u - (chances * u).sum(axis=1, keepdims=True))
