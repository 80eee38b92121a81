"""The lines of the package that an input reaches, and the fewest inputs that reach all lines."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from types import FrameType
from typing import Any, Final

from fuzz.target import PACKAGE, Check, run_case

_Lines = set[tuple[str, int]]
MOST_BYTES: Final = 16_384
"""The size of the kept inputs of a target."""


def lines_of(check: Check, data: bytes) -> _Lines:
    """The lines of the package that run in this thread."""
    found: _Lines = set()

    def local(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            found.add((frame.f_code.co_filename, frame.f_lineno))
        return local

    def called(frame: FrameType, _event: str, _: Any) -> Any:
        return local if PACKAGE in frame.f_code.co_filename else None

    before = sys.gettrace()
    sys.settrace(called)
    try:
        run_case(check, data)
    finally:
        sys.settrace(before)
    return found


def fewest(check: Check, inputs: Iterable[bytes], known: Iterable[bytes]) -> list[bytes]:
    """Of the inputs those that reach a line that neither the `known` ones nor a shorter one does."""
    reached: _Lines = set()
    for data in known:
        reached |= lines_of(check, data)
    chosen: list[bytes] = []
    left = MOST_BYTES
    for data in sorted(set(inputs), key=lambda one: (len(one), one)):
        lines = lines_of(check, data)
        if not lines <= reached and len(data) <= left:
            reached |= lines
            left -= len(data)
            chosen.append(data)
    return chosen
