"""Regular expressions that are compiled when they are first used, so that a short program compiles only its own."""

from __future__ import annotations

import re
from functools import cached_property
from typing import Any, cast


def pattern(source: str, flags: int = 0) -> re.Pattern[str]:
    """As `re.compile`, which takes up to two milliseconds for an expression of many letters, when it is first used."""
    return cast("re.Pattern[str]", _Pattern(source, flags))


class _Pattern:
    """A compiled pattern's attributes, each looked up there once."""

    def __init__(self, source: str, flags: int) -> None:
        self._given = source, flags

    @cached_property
    def _compiled(self) -> re.Pattern[str]:
        return re.compile(*self._given)

    def __getattr__(self, name: str) -> Any:
        value = vars(self)[name] = getattr(self._compiled, name)
        return value
