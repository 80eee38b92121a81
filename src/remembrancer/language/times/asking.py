"""Whether a question asks for a time, and whether a text contains one."""

from __future__ import annotations

import re
from datetime import datetime
from typing import Final

from remembrancer.language.times.expressions import expressions
from remembrancer.language.times.line import Line
from remembrancer.language.times.vocabulary import NUMBERS, PARTS, SEASONS, UNITS, VAGUE, WEEKDAYS
from remembrancer.patterns import pattern

_UNIT: Final = r"(?:day|date|week|weekday|weekend|month|year|decade|century|season|quarter|time|hour)"
_VERB: Final = (
    r"(?:did|does|do|was|were|is|are|am|will|shall|has|have|had|can|could|would|should|might|may|must|exactly|else)"
)
_KNOWING: Final = (
    r"(?:know|knows|knew|remember|remembers|recall|recalls|remind(?:\ (?:me|us))?|tell(?:\ (?:me|us))?|idea"
    r"|sure|wonder|wondering|out|check|forgot|forget|asked?|since|until|till|by|from)"
)
_NOT_OF_A_NAME: Final = r"(?!-|\ (?:job|trip|off|zone|slot|planner|tracker))"
_ASKS: Final = pattern(
    rf"""
      \b(?:{_KNOWING},?\ when)\b                                      # do you remember when, since when, what and when
    | \bwhen(?:['’]s|\ {_VERB}\b|\s*\?)                               # when did, when's, and when?
    | \b(?:what|which)(?:['’]s\ the|\ (?:is|was)\ the|\ exact)?\ {_UNIT}\b{_NOT_OF_A_NAME}
    | \bhow\ (?:long\ ago|recently|long\ (?:has|have|had|did|does|do|will|since|until|before|after|for)\b)
    | \bhow\ many\ (?:minute|hour|day|week|month|year|decade)s\b(?!\ (?:a|per)\b)
    """,
    re.IGNORECASE | re.VERBOSE,
)
_BEGINS: Final = pattern(
    r"\W*when\b(?![^?]*,\s*(?:what|who|whom|where|which|why|how|did|do|does|was|were|is|are)\b)", re.IGNORECASE
)
_ASKING_WORDS: Final = pattern(r"\b(?:when|what|which|how)\b", re.IGNORECASE)

_SOME_DAY: Final = datetime(2024, 1, 1)  # noqa: DTZ001  only whether words name a time is asked, not which one
_CLOCK: Final = pattern(r"[0-9](?::[0-9]{2}(?![0-9])|\ ?[ap]\.?m\b)", re.IGNORECASE)
_LASTING: Final = frozenset(
    "for in within after before take takes took lasts lasted spend spent over about almost nearly half under".split()
)
_WHICH: Final = frozenset("all every each same next following previous whole entire that half more full many".split())
_LONGER: Final = frozenset("more full whole long straight".split())
_WITHOUT_A_UNIT: Final = ("long ago", "while ago", "time ago", "ever since", "for ages", "at noon", "at midnight")
_MAY_LAST: Final = frozenset({*UNITS, *PARTS, *SEASONS, *(f"{name}s" for name in (*PARTS, *WEEKDAYS))})


def asks_for_time(question: str) -> bool:
    """Whether the question asks for a time or a duration: when, what date, which year, how long ago, since when.

    A "when" that only joins two clauses does not count ("What did she say when we met?").

    >>> asks_for_time("When did we move to Rome?"), asks_for_time("Who was there when we moved?")
    (True, False)
    """
    return bool(_ASKING_WORDS.search(question) and (_ASKS.search(question) or _BEGINS.match(question)))


def unresolved(text: str) -> Line:
    """The words of a text for `tells_time`, which does not ask which time they name."""
    return Line(text, _SOME_DAY)


def tells_time(line: Line) -> bool:
    """Whether a text contains a time of any kind: a date, a relative or clock time, a duration, a repetition, also
    one that `spans` cannot resolve.

    "Recently", "soon", "now" and the like do not count: they do not answer a question for a time.

    >>> tells_time(unresolved("I have played the piano for three years.")), tells_time(unresolved("I may march on."))
    (True, False)
    """
    if _CLOCK.search(line.text):
        return True
    lower = line.text.lower()
    for phrase in _WITHOUT_A_UNIT:  # each turn is searched: `any` of a generator takes three times as long
        if phrase in lower:
            return True
    if not line.may_tell():
        return False
    if not _MAY_LAST.isdisjoint(line.words):
        may_last = [at for at, word in enumerate(line.words) if word in _MAY_LAST]
        if any(_lasts_or_repeats(line, at) for at in may_last):
            return True
    return next(expressions(line), None) is not None


def _lasts_or_repeats(line: Line, at: int) -> bool:
    """Whether a duration or repetition is at this word: three years, a couple of days, all summer, every month, on
    Mondays.
    """
    word = line.words[at]
    if word in UNITS:
        return _lasts(line, at)
    if word.removesuffix("s") in PARTS:
        before = line.before(at)
        return before in {"at", "all", "every", "each", "that"} or (before == "the" and line.before(at - 1) == "in")
    if word in SEASONS:
        return line.before(at) in {"all", "every", "each"}
    return word.endswith("days") and word[:-1] in WEEKDAYS


def _lasts(line: Line, at: int) -> bool:
    before, farther = line.before(at), line.before(at - 1)
    if before in {"-", "of"} or before in _LONGER:
        before, farther = farther, line.before(at - 2)
    if before in {"a", "an"}:
        return farther in _LASTING or farther == "once"
    number = before in NUMBERS or before in VAGUE or before in _WHICH or (before[:1].isdecimal() and before.isdecimal())
    return number or (before == "for" and line.words[at].endswith("s"))
