"""MNIST and Fashion-MNIST: 28 x 28 pixels, ten classes, 60,000 images to train on and 10,000 to test."""

import gzip
from pathlib import Path

import numpy as np

from tether.datasets.data import Data
from tether.datasets.openml import openml
from tether.datasets.places import given

TRAINING = 60_000
HEADERS = {"images-idx3": 16, "labels-idx1": 8}  # bytes before the numbers
FILES = {"train": "train", "test": "t10k"}


def mnist(part: str = "train") -> Data:
    """Return images of handwritten digits, pixels between 0 and 1, and the digits they show.

    Parameters
    ----------
    part : {"train", "test"}
        60,000 images, or 10,000 others.

    Examples
    --------
    >>> X, y = mnist()  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (60000, 784)

    References
    ----------
    LeCun, Bottou, Bengio & Haffner, Gradient-based learning applied to document recognition, 1998.
    """
    return _images("mnist", "mnist_784", part)


def fashion_mnist(part: str = "train") -> Data:
    """Return images of clothes, pixels between 0 and 1, and the kinds of clothes; otherwise as `mnist`.

    Examples
    --------
    >>> X, y = fashion_mnist("test")  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (10000, 784)

    References
    ----------
    Xiao, Rasul & Vollgraf, Fashion-MNIST: a novel image dataset, 2017.
    """
    return _images("fashion_mnist", "Fashion-MNIST", part)


def _images(folder: str, published: str, part: str) -> Data:
    if part not in FILES:
        raise ValueError(f"part must be 'train' or 'test', got {part!r}.")
    paths = [given(folder, f"{FILES[part]}-{kind}-ubyte.gz") for kind in HEADERS]
    images, labels = paths
    if images is not None and labels is not None:
        pixels, y = _numbers(images, HEADERS["images-idx3"]), _numbers(labels, HEADERS["labels-idx1"])
        return Data(pixels.reshape(len(y), -1) / 255.0, y.astype(np.int64))
    whole = openml(published, version=1)
    cut = slice(None, TRAINING) if part == "train" else slice(TRAINING, None)
    return Data(whole.X[cut] / 255.0, whole.y[cut])


def _numbers(path: Path, header: int) -> np.ndarray:
    with gzip.open(path) as file:
        return np.frombuffer(file.read(), dtype=np.uint8, offset=header)
