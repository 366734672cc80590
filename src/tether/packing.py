"""Named tuples as arrays, numbers and one table of kinds: how states travel and are kept, without pickle.

A value is a named tuple of arrays, numbers, strings, None and other such tuples. Each leaf is stored under
the path of its field; the kinds say how to put it together again.
"""

from typing import Any, get_args, get_type_hints

import numpy as np


def flatten(name: str, value: Any, arrays: dict[str, Any]) -> dict[str, str]:
    """Store the leaves of a named tuple and return their kinds."""
    if hasattr(value, "_fields"):
        kinds = {name: "tuple"}
        for field in value._fields:
            kinds |= flatten(f"{name}.{field}", getattr(value, field), arrays)
        return kinds
    if isinstance(value, tuple):
        kinds = {name: f"list {len(value)}"}
        for place, item in enumerate(value):
            kinds |= flatten(f"{name}.{place}", item, arrays)
        return kinds
    if value is None:
        return {name: "none"}
    arrays[name] = np.asarray(value)
    return {name: "array" if isinstance(value, np.ndarray) else type(value).__name__}


def restore(name: str, kinds: dict[str, str], arrays: dict[str, Any], template: Any, kind: Any) -> Any:
    """Rebuild a value; a named tuple takes its class from the template or the field's type."""
    stored = kinds[name]
    if stored == "none":
        return None
    if stored == "tuple":
        cls = type(template) if hasattr(template, "_fields") else _tuple_in(kind)
        hints = get_type_hints(cls)
        parts = {
            field: restore(f"{name}.{field}", kinds, arrays, getattr(template, field, None), hints[field])
            for field in cls._fields
        }
        return cls(**parts)
    if stored.startswith("list "):  # all of one kind
        item = template if hasattr(template, "_fields") else next(iter(template or ()), None)
        inner = next(iter(get_args(kind)), None)
        count = int(stored.removeprefix("list "))
        return tuple(restore(f"{name}.{place}", kinds, arrays, item, inner) for place in range(count))
    return arrays[name] if stored == "array" else arrays[name].item()


def _tuple_in(kind: Any) -> Any:
    """Return the named tuple among the members of an optional type."""
    return next(member for member in (kind, *get_args(kind)) if hasattr(member, "_fields"))
