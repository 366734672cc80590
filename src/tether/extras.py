"""Parts of the package that need packages of their own: found by name when they are asked for.

So importing Tether imports none of them, and rooms below can call on rooms above without knowing them.
"""

from importlib import import_module
from types import ModuleType


class MissingExtra(ImportError):  # noqa: N818, because it is read aloud
    """A package that an extra of Tether brings is not installed."""


def extra(name: str, module: str) -> ModuleType:
    """Return a module that needs an extra, or say how to install it.

    Examples
    --------
    >>> extra("report", "tether.report").__name__
    'tether.report'
    """
    try:
        return import_module(module)
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] == "tether":
            raise
        raise MissingExtra(
            f"{error.name} is missing; pip install 'tether[{name}]'.", name=error.name
        ) from error
