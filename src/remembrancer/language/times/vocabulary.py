"""English words of time expressions, in lower case, with their meaning."""

from __future__ import annotations

from types import MappingProxyType
from typing import Final

MONTHS: Final = MappingProxyType(
    {
        name: number
        for number, names in enumerate(
            (
                "january jan",
                "february feb",
                "march mar",
                "april apr",
                "may",
                "june jun",
                "july jul",
                "august aug",
                "september sept sep",
                "october oct",
                "november nov",
                "december dec",
            ),
            start=1,
        )
        for name in names.split()
    }
)
FORENAMES: Final = frozenset("april may june jan".split())
"""Months that are also first names."""
CAPITALISED: Final = frozenset("may mon tue tues wed thu thur thurs fri sat sun".split()) | {
    name for name in MONTHS if len(name) < 4
}
"""Names that count only with a capital: in lower case they are other words ("may", "sat", "mar"), or rare."""

WEEKDAYS: Final = MappingProxyType(
    {
        name: number
        for number, names in enumerate(
            (
                "monday mon",
                "tuesday tue tues",
                "wednesday wed",
                "thursday thu thur thurs",
                "friday fri",
                "saturday sat",
                "sunday sun",
            )
        )
        for name in names.split()
    }
)
"""Monday is 0, as in `datetime.weekday` (ISO 8601 counts from 1)."""

SEASONS: Final = MappingProxyType({"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12})
"""The month with which a season begins: meteorological, three whole months, northern hemisphere."""

UNITS: Final = MappingProxyType(
    {
        name: unit
        for unit, names in {
            "minute": "minute minutes min mins",
            "hour": "hour hours hrs",
            "day": "day days",
            "week": "week weeks",
            "fortnight": "fortnight fortnights",
            "weekend": "weekend weekends",
            "month": "month months",
            "quarter": "quarter quarters",
            "year": "year years",
            "decade": "decade decades",
        }.items()
        for name in names.split()
    }
)

PARTS: Final = MappingProxyType({"morning": (6, 12), "afternoon": (12, 18), "evening": (18, 24), "night": (18, 30)})
"""Parts of a day, in hours from its midnight. A night ends on the next morning."""

_SMALL: Final = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
    " eighteen nineteen twenty"
)
NUMBERS: Final = MappingProxyType(
    {word: number for number, word in enumerate(_SMALL.split(), start=1)}
    | {"thirty": 30, "forty": 40, "fifty": 50, "sixty": 60, "seventy": 70, "eighty": 80, "ninety": 90, "hundred": 100}
)
VAGUE: Final = MappingProxyType({"couple": (2, 3), "few": (2, 5), "several": (3, 7)})
"""The least and the greatest count that a vague word means."""
MANY: Final = (2, 10)
"""The count where no number is given: "years ago"."""

_ORDINAL_WORDS: Final = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
ORDINALS: Final = MappingProxyType({word: number for number, word in enumerate(_ORDINAL_WORDS.split(), start=1)})

EARLIER: Final = frozenset("last past previous".split())
LATER: Final = frozenset("next coming upcoming".split())
THIRDS: Final = MappingProxyType(
    {"early": 0, "beginning": 0, "start": 0, "mid": 1, "middle": 1, "late": 2, "end": 2, "ending": 2}
)
"""The third of a period that a word means."""

HABITUAL: Final = frozenset("every each most any".split())
"""Words that are followed by a repetition, not by a time."""

CUES: Final = frozenset(
    "in on at of by during since until till before after through throughout over around between from to for and or"
    " circa about within early mid late".split()
)
"""Next to these words a bare month, season or short weekday is a time."""
SURE_CUES: Final = CUES - frozenset("of by on at from to for and or over about".split())
"""Next to these words even a first name is a month."""
YEAR_CUES: Final = CUES | frozenset("year summer winter spring autumn fall".split())

RANGE_WORDS: Final = frozenset({"to", "until", "till", "through", "thru", "-", "–", "—"})

RELATIVE_DAYS: Final = MappingProxyType({"today": 0, "yesterday": -1, "tomorrow": 1, "tonight": 0})
QUARTERS: Final = frozenset("q1 q2 q3 q4 h1 h2".split())
HOLIDAY_WORDS: Final = frozenset(
    "christmas xmas easter halloween thanksgiving valentine valentines new boxing good black cyber".split()
)
TRIGGERS: Final = (
    frozenset(
        {*MONTHS, *WEEKDAYS, *SEASONS, *UNITS, *PARTS, *RELATIVE_DAYS, *(f"{name}s" for name in (*WEEKDAYS, *PARTS))}
    )
    | (HOLIDAY_WORDS - {"new", "good", "black", "cyber", "boxing"})
    | QUARTERS
)
"""Each expression contains one of these words, or a date in digits."""
