"""Pairs made from one sentence by putting another word in one place: its kind says what the two differ in."""

from __future__ import annotations

from plain import table

FRAME = "the {} build of the checkout service needs {} and was {} released by {} on {} as it was planned in {}"
USUAL = ("official", "2 GiB", "finally", "Ana", "Friday", "stage.yml")
ELSEWHERE = (
    (0, "weekly", "a date"),
    (0, "stable", ""),
    (1, "3 GiB", "a number"),
    (1, "2 MiB", "a number"),
    (1, "two GiB", ""),
    (1, "2GiB", ""),
    (1, "> 2 GiB", "a number"),
    (1, "-2 GiB", "a number"),
    (1, "v2.1", "a number"),
    (2, "not", "a negation"),
    (2, "never", "a negation"),
    (2, "only", "a negation"),
    (2, "quickly", ""),
    (3, "Ben", "a name"),
    (3, "Ana Lopez", "a name"),
    (4, "Monday", "a date"),
    (4, "Fri", ""),
    (4, "4 March", "a number"),
    (4, "friday", ""),
    (5, "prod.yml", "an identifier"),
    (5, "`stage.yml`", "a quoted word"),
    (5, "April", "a date"),
)
PAIRS = (
    ("from 3 to 5", "from 5 to 3", "a number"),
    ("Ana paid Ben", "Ben paid Ana", "a name"),
    ("Ana likes tea", "Ben likes tea", "a name"),
    ("We retry", "We do not retry", "a negation"),
    ("we don't retry", "We do not retry.", ""),
    ("the flag is enabled", "the flag is disabled", "opposites"),
    ("it is supported there", "it is unsupported there", "opposites"),
    ("1,000 users", "1000 users", ""),
    ("30s", "30 seconds", ""),
    ("x < 5", "x > 5", "a number"),
    ("x <= y", "x >= y", "a number"),
    ("due 2026-03-04", "due 2026-03-05", "a number"),
    ("it sees ana@example.com", "it sees ben@example.com", "an identifier"),
    ('the mode is "strict"', 'the mode is "lax"', "a quoted word"),
    ("plan A works", "plan B works", "a name"),
    ("on 3 May we met", "on 3 March we met", "a date"),
    ("it may rain", "it will rain", ""),
    ("端口是八零八零", "端口是九零九零", "words of a script without capitals"),
    ("مرحبا بكم", "مرحبا بكم", ""),
    ("Er kommt", "Er kommt nicht", "a negation"),
    ("она пьёт чай", "она не пьёт чай", "a negation"),
    ("", "", ""),
    ("", "a word", ""),
    ("The deploy failed", "the DEPLOY failed!", ""),
)


def swapped(place: int, word: str) -> str:
    words: list[str] = list(USUAL)
    words[place] = word
    return FRAME.format(*words)


if __name__ == "__main__":
    made = [(FRAME.format(*USUAL), swapped(place, word), differs) for place, word, differs in ELSEWHERE]
    table(
        ("one", "other", "difference"),
        ({"one": one, "other": other, "difference": differs} for one, other, differs in (*made, *PAIRS)),
    )
