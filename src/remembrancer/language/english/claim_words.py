"""Words that decide what a text claims: numbers, units, dates, negations, opposites. English, except for
the negations.
"""

from __future__ import annotations

from typing import Final

NUMBERS: Final = {
    word: str(value)
    for value, word in enumerate(
        "zero . two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen"
        " eighteen nineteen twenty".split()
    )
    if word != "."  # "one" is often a pronoun
} | dict(
    zip(
        "thirty forty fifty sixty seventy eighty ninety hundred hundreds thousand thousands million millions billion"
        " billions dozen dozens half twice double triple third quarter first".split(),
        "30 40 50 60 70 80 90 100 100 1000 1000 1e6 1e6 1e9 1e9 12 12 ½ ×2 ×2 ×3 3. ¼ 1.".split(),
        strict=True,
    )
)

UNITS: Final = {
    spelling: unit
    for unit, spellings in {
        "%": "% percent pct",
        "ns": "ns nanosecond nanoseconds",
        "µs": "us µs μs microsecond microseconds",
        "ms": "ms millisecond milliseconds",
        "s": "s sec secs second seconds",
        "min": "min mins minute minutes",
        "h": "h hr hrs hour hours",
        "d": "d day days",
        "week": "w wk wks week weeks",
        "month": "month months",
        "year": "y yr yrs year years",
        "bit": "bit bits",
        "b": "b byte bytes",
        "kb": "kb kilobyte kilobytes",
        "mb": "mb megabyte megabytes",
        "gb": "gb gigabyte gigabytes",
        "tb": "tb terabyte terabytes",
        "kib": "kib",
        "mib": "mib",
        "gib": "gib",
        "tib": "tib",
        "hz": "hz hertz",
        "khz": "khz",
        "mhz": "mhz",
        "ghz": "ghz",
        "mm": "mm millimetre millimetres millimeter millimeters",
        "cm": "cm centimetre centimetres centimeter centimeters",
        "m": "m metre metres meter meters",
        "km": "km kilometre kilometres kilometer kilometers",
        "mile": "mi mile miles",
        "ft": "ft foot feet",
        "in": "inch inches",
        "mg": "mg milligram milligrams",
        "g": "g gram grams",
        "kg": "kg kilo kilos kilogram kilograms",
        "lb": "lb lbs pound pounds",
        "ml": "ml millilitre millilitres milliliter milliliters",
        "l": "l litre litres liter liters",
        "°c": "°c celsius",
        "°f": "°f fahrenheit",
        "k": "k",
        "v": "v volt volts",
        "w": "watt watts",
        "usd": "usd dollar dollars",
        "eur": "eur euro euros",
        "cent": "cent cents",
        "px": "px pixel pixels",
        "am": "am",
        "pm": "pm",
        "rps": "rps qps",
        "req": "request requests",
        "token": "token tokens",
        "x": "x times",
    }.items()
    for spelling in spellings.split()
}

DATES: Final = frozenset(
    """
    monday tuesday wednesday thursday friday saturday sunday mon tue tues wed thu thur thurs fri sat
    january february april june july august september october november december
    jan feb apr jun jul aug sep sept oct nov dec
    today tonight yesterday tomorrow morning noon afternoon evening midnight weekend weekday weekdays
    last next previous current past future earlier later before after since until till
    daily weekly monthly yearly annually hourly nightly quarterly
    spring summer autumn winter christmas easter
    """.split()
)
DATES_BY_CAPITAL: Final = frozenset({"may", "march", "sun"})
"""Ambiguous words: they count as dates only if capitalised or next to a number."""

CALENDAR: Final = frozenset("mon tue wed thu fri sat sun jan feb apr jun jul aug sep oct nov dec".split())

NEGATIONS: Final = frozenset(
    """
    not no never none nobody nothing nowhere neither nor without cannot cant wont dont doesnt didnt isnt arent wasnt
    werent shouldnt couldnt wouldnt hasnt havent hadnt non
    nicht kein keine keinen keinem keiner keines nie niemals ohne weder
    ne pas jamais sans aucun aucune rien ni
    nunca jamás sin tampoco nada ningún ninguno ninguna
    non mai senza nessun nessuno nessuna
    não nunca sem nenhum nenhuma
    niet geen nooit zonder
    inte aldrig utan ikke aldri uten aldrig uden ei
    nie bez żaden żadna nigdy
    не нет ни без никогда нельзя никто ничего
    değil yok asla
    """.split()
)
"""Words that negate a claim."""

LIMITS: Final = frozenset(
    """
    hardly barely rarely seldom scarcely almost nearly except excluding unless unlike instead rather only formerly
    previously former deprecated obsolete maybe perhaps might probably allegedly supposedly planned
    avoid avoids avoided refuse refuses refused forbid forbids forbidden prohibit prohibited lack lacks lacking missing
    absent stop stops stopped fail fails failed failing
    """.split()
)
"""Words that restrict a claim or cast doubt on it."""

OPPOSITES: Final = tuple(
    tuple(frozenset(side.split("/")) for side in pair.split("|"))
    for pair in (
        "enable/enables/enabled|disable/disables/disabled",
        "allow/allows/allowed/permit/permits/permitted|deny/denies/denied/block/blocks/blocked/disallow/disallows",
        "increase/increases/increased/raise/raises/raised|decrease/decreases/decreased/reduce/reduces/reduced/lowered",
        "open/opens/opened|close/closes/closed/shut",
        "start/starts/started/begin/begins/began|end/ends/ended/finish/finishes/finished",
        "add/adds/added|remove/removes/removed/delete/deletes/deleted/drop/drops/dropped",
        "create/creates/created|delete/deletes/deleted/destroy/destroys/destroyed",
        "accept/accepts/accepted/approve/approves/approved|reject/rejects/rejected/decline/declines/declined",
        "pass/passes/passed/succeed/succeeds/succeeded/success/works/worked|fail/fails/failed/failure/breaks/broke/broken",
        "win/wins/won|lose/loses/lost",
        "like/likes/liked/love/loves/loved/prefer/prefers|hate/hates/hated/dislike/dislikes/disliked",
        "buy/buys/bought|sell/sells/sold",
        "agree/agrees/agreed|disagree/disagrees/disagreed",
        "on|off",
        "up|down",
        "in|out",
        "to|from",
        "into|from",
        "before|after",
        "above/over|below/under",
        "with|without",
        "always|never/sometimes",
        "all/every/each|none/some/few",
        "more|less/fewer",
        "most|least",
        "max/maximum/maximal|min/minimum/minimal",
        "first|last",
        "early/earlier|late/later",
        "true|false",
        "yes|no",
        "left|right",
        "high/higher/highest|low/lower/lowest",
        "fast/faster/fastest|slow/slower/slowest",
        "large/larger/big/bigger|small/smaller",
        "old/older|new/newer",
        "good/better/best|bad/worse/worst",
        "public|private",
        "internal|external",
        "inside|outside",
        "required/mandatory|optional",
        "must|may/might",
        "sync/synchronous|async/asynchronous",
        "read|write/writes/wrote",
        "upload|download",
        "upgrade/upgrades/upgraded|downgrade/downgrades/downgraded",
        "push|pull",
        "input|output",
        "north|south",
        "east|west",
        "morning|evening",
        "production/prod|staging/development/dev/test",
        "he/his/him|she/her/hers",
    )
)

OPPOSITE_OF: Final = {
    word: frozenset(
        opposite for pair in OPPOSITES for here, there in (pair, reversed(pair)) if word in here for opposite in there
    )
    for pair in OPPOSITES
    for side in pair
    for word in side
}

REVERSING: Final = ("un", "in", "im", "ir", "il", "dis", "non", "mis", "de", "anti", "ab")
"""Prefixes that turn a word into its opposite."""
