"""The default's order, asked "How often did I see deploys of checkout in January?" on 4 March 2026 at 9:00.

A sum of what is known of a candidate, each times its weight. The weights have three columns: for questions whose words
are compared too, for those that have one vector, and for those that are words alone.

- late_interaction: of two vectors of 64 components, the one with equal components of length 1, the other known by its
  signs: the sum of the products of signs over 64, divided by the square root of 2 / pi, within [0, 1]
- passage_words: the same of a text's closest passage; here each has a single one
- session_words: the greatest of that of all turns of its session; in no session its own
- statement: not there, as the question's "I" says who speaks by the role
- time: 2^(-d / h) at a distance of d days from January, h = sqrt(31), three times that after it
- retention: 0.5^(age / 30), the age from birth or, if that came later, the last use

- self_contained: the mean of coverage and session, times 1 less twice the greatest nearby of all that were found; where
  that is not above 0 it counts for nobody

Below similarity / 0.3 + coverage / 0.35 = 1 nothing is returned, a missing vector counting as half of its mark. Of the
signals from late_interaction to time, what a candidate has of what they could add at most is its evidence; when is
asked about here, and who speaks by the role, which is no evidence. Where none has 0.2 of it, 0.14 where no words are
compared, nothing is returned but what has no vector and is not below the marks; else that, and what has half of the
evidence of the one that has most.
"""

from __future__ import annotations

from decimal import Decimal

from candidates import BOUND, CANDIDATES, COLUMNS, SIGNS, Candidate, ranked
from plain import exact, power, table

READ, UNREAD, WORDS_ALONE = range(3)
WEIGHTS = {
    "late_interaction": ("0.115", "0", "0"),
    "passage_words": ("0.125", "0", "0"),
    "session_words": ("0.075", "0", "0"),
    "similarity": ("0.14", "0.25", "0"),
    "coverage": ("0.02", "0.17", "0.27"),
    "nearby": ("0.085", "0.125", "0.18"),
    "session": ("0.07", "0.1", "0.17"),
    "self_contained": ("0.085", "0.06", "0.06"),
    "speaker": ("0.07", "0.075", "0.085"),
    "time": ("0.095", "0.08", "0.08"),
    "answer_kind": ("0.04", "0.06", "0.07"),
    "statement": ("0.025", "0.025", "0.03"),
    "importance": ("0.02", "0.02", "0.02"),
    "confidence": ("0.02", "0.02", "0.02"),
    "retention": ("0.002", "0.002", "0.002"),
}
EVIDENCE = tuple(name for name in tuple(WEIGHTS)[:10] if name != "speaker")
LEAST = exact("0.2"), exact("0.14"), exact("0")
PI = Decimal("3.14159265358979323846264338327950288419716939937511")
JANUARY = Decimal("62.375"), Decimal("31.375")
"""When it began and ended, in days before the question."""
THEN = Decimal("0.5")


def within_one(value: Decimal) -> Decimal:
    return max(Decimal(0), min(Decimal(1), value))


def closeness(one: Candidate) -> Decimal:
    """0 where no vectors of its words are kept: what is absent adds nothing."""
    if not one.signs:
        return Decimal(0)
    return within_one((2 * exact(one.signs) / SIGNS - 1) / (2 / PI).sqrt())


def in_session(one: Candidate) -> Decimal:
    """What has no words itself has none of its session's."""
    if not one.signs:
        return Decimal(0)
    return max(closeness(other) for other in CANDIDATES if other is one or (one.stream and other.stream == one.stream))


def nearness(one: Candidate) -> Decimal:
    began, ended = JANUARY
    half = (began - ended).sqrt()
    before, after = max(Decimal(0), exact(one.days) - began), max(Decimal(0), ended - exact(one.days))
    return power(2, -(before / half + after / (3 * half)))


def alone(found: list[Candidate]) -> Decimal:
    return max(Decimal(0), 1 - 2 * max(exact(one.nearby) for one in found))


def known(one: Candidate, found: list[Candidate]) -> dict[str, Decimal]:
    """What each weight is for: all in [0, 1]."""
    marks = one.marks.split()
    session = within_one(exact(one.session) / BOUND)
    return {
        "late_interaction": closeness(one),
        "passage_words": closeness(one),
        "session_words": in_session(one),
        "similarity": within_one(exact(one.similarity or 0)),
        "coverage": exact(one.coverage),
        "nearby": exact(one.nearby),
        "session": session,
        "self_contained": alone(found) * (exact(one.coverage) + session) / 2,
        "speaker": exact(one.spoken),
        "time": nearness(one),
        "answer_kind": Decimal("number" in marks),
        "statement": Decimal(0),
        "importance": exact(one.importance),
        "confidence": exact(one.confidence),
        "retention": power(2, -one.since(one.used_days) / 30),
    }


def score(one: Candidate, found: list[Candidate], column: int) -> Decimal:
    return added(known(one, found), tuple(WEIGHTS), column)


def added(values: dict[str, Decimal], names: tuple[str, ...], column: int) -> Decimal:
    return sum((exact(WEIGHTS[name][column]) * values[name] for name in names), Decimal(0))


def evidence(one: Candidate, found: list[Candidate], column: int) -> Decimal:
    could = [name for name in EVIDENCE if name != "self_contained" or alone(found)]
    most = sum((exact(WEIGHTS[name][column]) for name in could), Decimal(0))
    return added(known(one, found), EVIDENCE, column) / most


def answers(one: Candidate, *, words_alone: bool) -> bool:
    compared = one.similarity and not words_alone
    alike = within_one(exact(one.similarity)) / Decimal("0.3") if compared else Decimal("0.5")
    return alike + exact(one.coverage) / Decimal("0.35") >= 1


def returned(found: list[Candidate], column: int) -> list[Candidate]:
    words_alone = column == WORDS_ALONE
    answering = [one for one in found if answers(one, words_alone=words_alone)]
    unproven = [one for one in answering if words_alone or not one.similarity]
    best = max(evidence(one, found, column) for one in found)
    if not answering or best < LEAST[column]:
        return unproven
    return [one for one in found if one in unproven or evidence(one, found, column) >= THEN * best]


def rows(column: int) -> list[dict[str, str]]:
    words_alone = column == WORDS_ALONE
    found = [one for one in CANDIDATES if one.lexical or not words_alone]
    kept = returned(found, column)
    return ranked(
        "",
        lambda one: score(one, found, column),
        words_alone=words_alone,
        keep=lambda one: one in kept,
    )


if __name__ == "__main__":
    table(COLUMNS, [row for column in (READ, WORDS_ALONE) for row in rows(column)])
