"""The benchmark's data sets and solvers, loaded from their files as benchopt does, one instance a setting."""

import importlib.util
from itertools import product
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]


def catalogue(folder: str, kind: str) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the instances of a folder by name, and why some files could not be imported."""
    found, missing = {}, {}
    for path in sorted((ROOT / folder).glob("*.py")):
        try:
            instances = _instances(getattr(_module(folder, path), kind))
        except ImportError as error:
            missing[path.stem] = str(error)
            continue
        found.update({_name(instance): instance for instance in instances})
    return found, missing


def _module(folder: str, path: Path) -> Any:
    spec = importlib.util.spec_from_file_location(f"bench_{folder}_{path.stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def _instances(kind: Any) -> list[Any]:
    names = list(kind.parameters)
    settings = product(*kind.parameters.values())
    return [kind.get_instance(**dict(zip(names, values, strict=True))) for values in settings]


def _name(instance: Any) -> str:
    """Return for example "tether skip", from tether[method=skip]."""
    return " ".join([instance.name, *map(str, instance._parameters.values())])
