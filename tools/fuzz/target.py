"""What is fuzzed: targets, the cases that they run, and what counts as a finding."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Final

from remembrancer.errors import RemembrancerError

Check = Callable[[bytes], None]
"""Runs one case. Raises RemembrancerError, as documented, for input that is not allowed; anything else is a finding."""

SLOW_S: Final = 2.0
"""The CPU seconds that one case may take, also on a slow machine."""
PACKAGE: Final = "src/remembrancer/"
"""A part of the path of every file of the package."""


@dataclass(frozen=True, slots=True)
class Target:
    """A parser or a door.

    `opened`: sets up what the cases share, and cleans up. `seeds`: valid inputs to begin with. `words`: parts of the
    input's grammar that mutation inserts. `cases`: of a run of `make fuzz`. `fresh`: new cases in the test suite. `max_bytes`: the longest
    input.
    """

    name: str
    opened: Callable[[], AbstractContextManager[Check]]
    seeds: Sequence[bytes]
    words: Sequence[str] = ()
    cases: int = 30_000
    fresh: int = 300
    max_bytes: int = 4096


def pure(check: Check) -> Callable[[], AbstractContextManager[Check]]:
    """`opened` of a target whose cases share nothing."""
    return lambda: nullcontext(check)


class Defect(Exception):
    """A finding of a door that answers errors itself. `key`: as of a Finding."""

    def __init__(self, key: str, report: str) -> None:
        super().__init__(report)
        self.key = key


@dataclass(frozen=True, slots=True)
class Finding:
    """A case that failed. `key`: the same for the same defect: the kind of error, and the line that raised it."""

    key: str
    report: str


def run_case(check: Check, data: bytes) -> Finding | None:
    """Run one case; its finding, or None."""
    began = time.process_time()
    try:
        check(data)
    except RemembrancerError:
        pass
    except Defect as defect:
        return Finding(defect.key, str(defect))
    except Exception as error:  # noqa: BLE001  whatever it is, it is the finding
        return Finding(key_of(type(error).__name__, error), "".join(traceback.format_exception(error, limit=-12)))
    took = time.process_time() - began
    return Finding("slow", f"the case took {took:.1f} s of CPU time") if took > SLOW_S else None


def key_of(kind: str, error: BaseException) -> str:
    """The kind of an error, and the last line of the package in its traceback, or the last line."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [frame for frame in frames if PACKAGE in frame.filename] or frames
    return f"{kind} at {ours[-1].filename.rpartition('/src/')[2]}:{ours[-1].lineno}" if ours else kind


def minimised(check: Check, data: bytes, finding: Finding) -> bytes:
    """A shorter input with the same finding: parts are left out as long as it stays."""
    size = len(data) // 2
    while size:
        start = 0
        while start < len(data):
            shorter = data[:start] + data[start + size :]
            found = run_case(check, shorter)
            if found is not None and found.key == finding.key:
                data = shorter
            else:
                start += size
        size //= 2
    return data
