"""OpenML: tables by name, over its REST interface."""

import json
import os
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

import numpy as np

from tether.arrays import Array
from tether.datasets import arff
from tether.datasets.data import Data
from tether.datasets.download import UnavailableError, download, text
from tether.datasets.places import cached, given

SERVER = "https://www.openml.org"
NOTHING_FOUND = 412  # what OpenML answers where there is no such data set


def openml(name: str, version: int | None = None) -> Data:
    """Return a data set of OpenML as numbers.

    Columns of numbers stay as they are, a column of categories becomes a column of zeros and ones for each
    of them. The target becomes class numbers in the order of its categories, or stays a number. What is
    missing is nan.

    Parameters
    ----------
    name : str
        As on OpenML, for example "mnist_784".
    version : int, optional
        By default the first that is active.

    Notes
    -----
    TETHER_DATA's folder may hold it as openml/name.npz with arrays X and y. TETHER_OPENML names a mirror.

    Examples
    --------
    >>> X, y = openml("iris", version=1)  # doctest: +SKIP
    >>> X.shape  # doctest: +SKIP
    (150, 4)
    """
    stored = given("openml", f"{name}.npz")
    if stored is not None:
        return Data.stored(stored)
    kept = cached("openml", f"{name}-{'active' if version is None else version}.npz")
    if not kept.exists():
        description = _description(name, version)
        raw = cached("openml", f"{name}-{description['id']}.arff")
        download(_address(urlsplit(description["url"]).path), raw, md5=description.get("md5_checksum"))
        _store(_table(raw, description), kept)
        raw.unlink()
    X, y = Data.stored(kept)
    return Data(X.astype(np.float64), y)


def _address(path: str) -> str:
    return os.environ.get("TETHER_OPENML", SERVER).rstrip("/") + path


def _description(name: str, version: int | None) -> dict[str, Any]:
    which = "status/active/" if version is None else f"data_version/{version}"
    search = _address(f"/api/v1/json/data/list/data_name/{quote(name)}/limit/2/{which}")
    try:
        found = json.loads(text(search))["data"]["dataset"][0]["did"]
    except UnavailableError as error:
        if error.code != NOTHING_FOUND:
            raise
        wanted = "" if version is None else f" in version {version}"
        raise ValueError(f"OpenML has no data set named {name!r}{wanted}; look it up on {SERVER}.") from error
    return dict(json.loads(text(_address(f"/api/v1/json/data/{found}")))["data_set_description"])


def _table(raw: Path, description: dict[str, Any]) -> Data:
    with raw.open(encoding="utf-8") as file:
        table = arff.read(file)
    target = description.get("default_target_attribute") or ""
    names = [column.name for column in table.columns]
    if target not in names:
        raise ValueError(f"{description['name']} on OpenML has no single target, but {target or 'none'!r}.")
    dropped = {
        target,
        *_names(description.get("row_id_attribute")),
        *_names(description.get("ignore_attribute")),
    }
    kept = [place for place, name in enumerate(names) if name not in dropped]
    X = np.hstack([_numbers(table.columns[place], table.numbers[:, place]) for place in kept])
    y, kind = table.numbers[:, names.index(target)], table.columns[names.index(target)]
    return Data(X, y.astype(np.int64) if kind.categories and not np.isnan(y).any() else y)


def _names(words: Any) -> list[str]:
    """Return the columns that a description names: in a list, or in one text with commas."""
    listed = words if isinstance(words, list) else (words or "").split(",")
    return [word.strip() for word in listed]


def _numbers(column: arff.Column, values: Array) -> Array:
    if column.categories is None:
        return values[:, None]
    indicators = (values[:, None] == np.arange(len(column.categories))).astype(float)
    indicators[np.isnan(values)] = np.nan
    return indicators


def _store(data: Data, path: Path) -> None:
    """Write a table whole or not at all; pixels and the like as bytes."""
    bytes_do = np.all((data.X >= 0) & (data.X <= 255) & (np.rint(data.X) == data.X))
    part = path.with_suffix(f".{os.getpid()}.npz")
    Data(data.X.astype(np.uint8) if bytes_do else data.X, data.y).store(part)
    os.replace(part, path)
