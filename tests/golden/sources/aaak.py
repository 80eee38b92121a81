"""Texts in AAAK by the tables of docs/aaak.md, word by word: at each word the longest phrase that begins there."""

from __future__ import annotations

import re
from pathlib import Path

from plain import table

PAGE = (Path(__file__).parents[3] / "docs" / "aaak.md").read_text(encoding="utf-8")
CASES = (
    "",
    "   ",
    "Deploys to production fail because the database is full",
    "The user prefers dark mode and large type.",
    "user",
    "the user, and the users",
    "superuser and user-defined and user's",
    "to and from",
    "standard, handover, order, together: and/or for tea or coffee",
    "at least 3 messages, at most 5; more than that is too much",
    "instead of the repository (the pull request) on Monday",
    "see /production/database.yml and production.example.com",
    "a message.\n\nAnd another message!",
    "PREFERENCE: tea with milk, without sugar",
    "continuous integration is not automation",
    "already → prod ∵ DB",
    "May and March and April",
)


def phrases(heading: str) -> dict[str, str]:
    part = PAGE.partition(f"## {heading}\n")[2].partition("\n## ")[0]
    return dict(re.findall(r"^\| `([^`]+)` \| `([^`]+)` \|$", part, re.MULTILINE))


def compress(text: str) -> str:
    words = text.split()
    alone, abbreviated = phrases("Between blanks"), phrases("Whole words")
    done: list[str] = []
    while words:
        for size in range(min(3, len(words)), 0, -1):
            told = " ".join(words[:size])
            begin = told[: len(told) - len(told.lstrip("(["))]
            end = told[len(told.rstrip(",;:!?)].")) :]
            inside = told[len(begin) : len(told) - len(end)]
            if told in alone:
                done.append(alone[told])
            elif len(begin) <= 1 and inside in abbreviated and (end == "." or "." not in end):
                done.append(begin + abbreviated[inside] + end)
            else:
                continue
            words = words[size:]
            break
        else:
            done.append(words.pop(0))
    return " ".join(done)


if __name__ == "__main__":
    table(("text", "expected"), ({"text": case, "expected": compress(case)} for case in CASES))
