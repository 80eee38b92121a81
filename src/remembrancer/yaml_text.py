"""Reading YAML that others wrote: one error for whatever is wrong with it."""

from __future__ import annotations

import math
from itertools import chain
from typing import Final, cast

import yaml

MAX_DEPTH: Final = 100
"""The deepest nesting that is read. The C reader has no limit: tens of thousands of brackets overflow its stack, which
ends the process.
"""
MAX_VALUES: Final = 100_000
"""The most values of a document that has aliases, each alias counted as all that it stands for: a few lines of aliases
of aliases stand for more than any memory holds.
"""
UNFIT: Final = (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError)
"""PyYAML raises these for a value that does not fit its tag (`!!int ''`, `!!bool maybe`), or a date that is none.
"""


def require_shallow(text: str) -> None:
    """Raises YAMLError for a text that is nested too deeply, or no YAML."""
    if sum(map(text.count, "[{-?:")) <= MAX_DEPTH:  # each level has one of these
        return
    depth = 0
    for event in yaml.parse(text, Loader=yaml.CSafeLoader):
        if isinstance(event, yaml.CollectionStartEvent):
            depth += 1
            if depth > MAX_DEPTH:
                raise yaml.YAMLError(f"nested more than {MAX_DEPTH} levels deep")
        elif isinstance(event, yaml.CollectionEndEvent):
            depth -= 1


def loaded(text: str) -> object:
    """The value of a document. Raises YAMLError."""
    require_shallow(text)
    try:
        value: object = yaml.load(text, Loader=yaml.CSafeLoader)
        too_many = "*" in text and _values(value, {}) > MAX_VALUES
    except UNFIT as error:
        raise yaml.YAMLError(str(error) or type(error).__name__) from error
    if too_many:
        raise yaml.YAMLError(f"its aliases stand for more than {MAX_VALUES:,} values")
    return value


def _values(value: object, known: dict[int, float]) -> float:
    """The number of values in a value and itself; infinite for one that contains itself."""
    if not isinstance(value, dict | list):
        return 1
    parts = cast("dict[object, object] | list[object]", value)
    place = id(parts)
    if place not in known:
        known[place] = math.inf  # while it is counted
        inner = chain(parts.keys(), parts.values()) if isinstance(parts, dict) else parts
        known[place] = 1 + sum(_values(part, known) for part in inner)
    return known[place]
