"""Attributes that are computed when they are first asked for.

`functools.cached_property` of Python 3.11 holds one lock per attribute and class while it computes. A process
that forks meanwhile leaves its child a lock that nobody will ever release. Here there is none: two threads
that ask at the same time both compute, and the first to finish is believed by both.
"""

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

Value = TypeVar("Value")

if TYPE_CHECKING:
    from functools import cached_property as lazy  # which type checkers know
else:

    class lazy(Generic[Value]):  # noqa: N801, because it is used as a decorator
        """A property that is computed once an object and then is a plain attribute.

        Examples
        --------
        >>> from tether.lazy import lazy
        >>> class Circle:
        ...     def __init__(self, radius):
        ...         self.radius = radius
        ...     @lazy
        ...     def area(self):
        ...         print("computing")
        ...         return 3 * self.radius**2
        >>> circle = Circle(2)
        >>> circle.area, circle.area
        computing
        (12, 12)
        """

        def __init__(self, compute: Callable[[Any], Value]) -> None:
            self.compute = compute
            self.__doc__ = compute.__doc__

        def __set_name__(self, owner: type, name: str) -> None:
            self.name = name

        def __get__(self, instance: Any, owner: type | None = None) -> Value:
            if instance is None:
                return self
            return instance.__dict__.setdefault(self.name, self.compute(instance))


class Once(Generic[Value]):
    """A function of nothing that is called once at most, when its value is first asked for.

    Examples
    --------
    >>> from tether.lazy import Once
    >>> answer = Once(lambda: print("computing") or 42)
    >>> answer(), answer()
    computing
    (42, 42)
    """

    def __init__(self, find: Callable[[], Value]) -> None:
        self._find = find

    @lazy
    def _found(self) -> Value:
        return self._find()

    def __call__(self) -> Value:
        """Return the value."""
        return self._found


__all__ = ["Once", "lazy"]
