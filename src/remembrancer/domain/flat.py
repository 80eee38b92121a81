"""Values that hold other values, taken apart into one flat row of fields and put together again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from operator import attrgetter
from typing import Generic, TypeVar, cast

T = TypeVar("T")


class Flat(Generic[T]):
    """The fields of a value of type T, in the order of a row, each named by its path ("strength.usage.shown").

    `makers`: the constructor of each value by its path, "" for the whole one. A constructor is called with the last
    part of each path as a keyword.

    >>> from remembrancer.domain.strength import Strength, Usage
    >>> flat = Flat[Strength](("usage.shown", "priority", "usage.used"), {"": Strength, "usage": Usage})
    >>> flat.fields_of(Strength(priority=7, usage=Usage(shown=2)))
    (2, 7, 0)
    >>> flat.value_of((2, 7, 0)) == Strength(priority=7, usage=Usage(shown=2))
    True
    """

    def __init__(self, paths: Sequence[str], makers: Mapping[str, Callable[..., object]]) -> None:
        """`paths`: two or more."""
        self.fields_of: Callable[[T], tuple[object, ...]] = attrgetter(*paths)
        """The value's fields, in the order of the paths."""
        # Inner values are made first. Each is put behind the row's fields, where the value around it finds it.
        places = {path: place for place, path in enumerate(paths)}
        self._steps: list[tuple[Callable[..., object], list[tuple[str, int]]]] = []
        for owner in sorted(makers, key=_depth, reverse=True):
            inside = [(path.rpartition("."), place) for path, place in places.items()]
            self._steps.append((makers[owner], [(name, place) for (above, _, name), place in inside if above == owner]))
            places[owner] = len(places)

    def value_of(self, fields: Iterable[object]) -> T:
        """The value that has these fields. Raises what a constructor raises."""
        held = list(fields)
        for make, parts in self._steps:
            held.append(make(**{name: held[place] for name, place in parts}))
        return cast("T", held[-1])


def _depth(path: str) -> int:
    return path.count(".") + bool(path)
