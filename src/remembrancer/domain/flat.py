"""Conversion of nested values to flat rows of fields, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any, Generic, TypeVar

T = TypeVar("T")


class Flat(Generic[T]):
    """Conversion between a value of type T and a row of its fields, each named by its path ("strength.usage.shown").

    `makers`: the constructor of each nested value by path, "" for the root. Constructors get keyword arguments named by
    the last part of each path.

    >>> from remembrancer.domain.strength import Strength, Usage
    >>> flat = Flat[Strength](("usage.shown", "priority", "usage.used"), {"": Strength, "usage": Usage})
    >>> flat.fields_of(Strength(priority=7, usage=Usage(shown=2)))
    (2, 7, 0)
    >>> flat.value_of((2, 7, 0)) == Strength(priority=7, usage=Usage(shown=2))
    True
    """

    def __init__(self, paths: Sequence[str], makers: Mapping[str, Callable[..., object]]) -> None:
        """`paths`: the fields of a row, in order; two or more."""
        self.fields_of: Callable[[T], tuple[object, ...]] = attrgetter(*paths)
        """The value's fields, in the order of the paths."""
        self.value_of: Callable[[Sequence[object]], T] = _compiled(paths, makers)
        """The value with these fields, in the order of the paths. Raises the errors of its constructors."""


def _compiled(paths: Sequence[str], makers: Mapping[str, Callable[..., object]]) -> Callable[[Sequence[object]], Any]:
    """Compile the nested constructor calls as one expression, because a loop over the parts would take twice as long
    per row.
    """

    def call(owner: str) -> str:
        places = {path: f"fields[{place}]" for place, path in enumerate(paths)}
        inner = {path: call(path) for path in makers if path and path.rpartition(".")[0] == owner}
        parts = (
            f"{path.rpartition('.')[2]}={value}"
            for path, value in {**places, **inner}.items()
            if path.rpartition(".")[0] == owner
        )
        return f"{names[owner]}({', '.join(parts)})"

    names = {owner: f"make_{number}" for number, owner in enumerate(makers)}
    called = {name: makers[owner] for owner, name in names.items()}
    return eval(f"lambda fields: {call('')}", called)  # noqa: S307  of names in this package only
