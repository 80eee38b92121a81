"""AAAK: a text in fewer characters, by a dictionary of whole words and phrases, still readable.

Each phrase has one code and each code one phrase. What is not in the dictionary stays letter by letter, but for blanks,
of which one is left. `docs/aaak.md` tells it to readers.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

CONNECTIVES: Final[Mapping[str, str]] = MappingProxyType(
    {
        "and": "+",
        "or": "/",
        "to": "→",
        "from": "←",
        "because": "∵",
        "therefore": "∴",
        "with": "w/",
        "without": "w/o",
        "instead of": "!>",
        "at least": "≥",
        "at most": "≤",
        "more than": ">",
        "less than": "<",
        "approximately": "≈",
        "for example": "e.g.",
        "and so on": "etc.",
    }
)
"""Between blanks only: nothing grows together."""

ABBREVIATIONS: Final[Mapping[str, str]] = MappingProxyType(
    {
        "user prefers": "U.pref",
        "user wants": "U.want",
        "user likes": "U.like",
        "user dislikes": "U.dislike",
        "user": "U.",
        "Monday": "Mon",
        "Tuesday": "Tue",
        "Wednesday": "Wed",
        "Thursday": "Thu",
        "Friday": "Fri",
        "Saturday": "Sat",
        "Sunday": "Sun",
        "January": "Jan",
        "February": "Feb",
        "April": "Apr",
        "August": "Aug",
        "September": "Sep",
        "October": "Oct",
        "November": "Nov",
        "December": "Dec",
        "administrator": "admin",
        "application": "app",
        "authentication": "authn",
        "authorization": "authz",
        "automation": "autom",
        "configuration": "config",
        "continuous integration": "CI",
        "database": "DB",
        "databases": "DBs",
        "deployment": "depl",
        "development": "devel",
        "directory": "dir",
        "documentation": "docs",
        "environment": "env",
        "implementation": "impl",
        "information": "info",
        "infrastructure": "infra",
        "maximum": "max",
        "message": "msg",
        "messages": "msgs",
        "minimum": "min",
        "parameter": "param",
        "parameters": "params",
        "performance": "perf",
        "production": "prod",
        "pull request": "PR",
        "real-time": "RT",
        "repository": "repo",
        "requirement": "req",
        "requirements": "reqs",
        "response": "resp",
        "specification": "spec",
        "temporary": "temp",
        "PREFERENCE": "PREF",
        "INSTRUCTION": "INST",
        "PROJECT": "PROJ",
        "LOCATION": "LOC",
        "FAMILY": "FAM",
        "OCCUPATION": "OCC",
        "DECISION": "DEC",
        "EVENT": "EVT",
        "OPINION": "OPN",
    }
)
"""Whole words, also before a comma, a stop or a colon."""

DICTIONARY: Final[Mapping[str, str]] = MappingProxyType({**CONNECTIVES, **ABBREVIATIONS})


def compress(text: str) -> str:
    """The text with each phrase of the dictionary as its code, the longest first. Twice is as once.

    >>> compress("Deploys to production fail because the database is full")
    'Deploys → prod fail ∵ the DB is full'
    """
    return _SHORTER.sub(lambda found: DICTIONARY[found.group()], " ".join(text.split()))


def expand(text: str) -> str:
    """The text with each code as its phrase: what `compress` was given, blanks apart, where that held no code itself.

    >>> expand("Deploys → prod fail ∵ the DB is full")
    'Deploys to production fail because the database is full'
    """
    return _LONGER.sub(lambda found: _PHRASES[found.group()], text)


_PHRASES: Final = {code: phrase for phrase, code in DICTIONARY.items()}


def _pattern(connectives: list[str], abbreviations: list[str]) -> re.Pattern[str]:
    """Connectives between blanks; abbreviations between blanks or brackets, before a mark that ends a word.

    Not inside what marks hold together: a path, an address, a compound.
    """

    def among(several: list[str]) -> str:
        return "|".join(re.escape(one) for one in sorted(several, key=lambda one: (-len(one), one)))

    return re.compile(
        rf"(?<!\S)(?:{among(connectives)})(?!\S)|(?<![^\s(\[])(?:{among(abbreviations)})(?=[,;:!?)\]]*(?:\s|$)|\.?(?:\s|$))"
    )


_SHORTER: Final = _pattern(list(CONNECTIVES), list(ABBREVIATIONS))
_LONGER: Final = _pattern(list(CONNECTIVES.values()), list(ABBREVIATIONS.values()))
