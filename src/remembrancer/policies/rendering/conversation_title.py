"""The title of a conversation, for people."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from typing import Final

from remembrancer.language.english.dates import spoken_date
from remembrancer.patterns import pattern
from remembrancer.policies.rendering.safe import one_line

MOST_NAMED: Final = 3
_MACHINE_MADE: Final = pattern(
    r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|(?=[0-9]*[a-f])[0-9a-f]{12,}", re.IGNORECASE
)


def is_readable(session: str) -> bool:
    """Whether the name of a session was made for people: it contains no UUID and no long hexadecimal number.

    >>> is_readable("2026-03-14-outage"), is_readable("67a1c8f0-1b2c-8000-9d3e-4f5a6b7c8d9e")
    (True, False)
    """
    return _MACHINE_MADE.search(session) is None


def derived_title(first: datetime, speakers: Iterable[str]) -> str:
    """A title made from the time of the first turn and who spoke: "Saturday 14 March 2026, Ana and Tomasz".

    `speakers`: those who said the most first.
    """
    names = [one_line(name) for name in speakers]
    if len(names) > MOST_NAMED:
        names[MOST_NAMED - 1 :] = [f"{len(names) - MOST_NAMED + 1} others"]
    who = " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))
    return f"{spoken_date(first)}, {who}" if who else spoken_date(first)
