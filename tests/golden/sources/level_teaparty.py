"""The scope factor of TeaParty's text by the narrowest part of a scope that is set: team 1.5, project 1.2, global 1.0.

A crew is the team; what belongs to an agent or a session is narrower than a team and counts as the team's.
"""

from __future__ import annotations

from itertools import product

from plain import table

PARTS = ("project", "crew", "agent", "session")


def factor(given: tuple[str, ...]) -> str:
    if {"crew", "agent", "session"} & set(given):
        return "1.5"
    return "1.2" if "project" in given else "1"


if __name__ == "__main__":
    table(
        ("scope", "expected"),
        (
            {"scope": " ".join(given), "expected": factor(given)}
            for chosen in product((False, True), repeat=4)
            for given in [tuple(part for part, there in zip(PARTS, chosen, strict=True) if there)]
        ),
    )
