"""Foreign questions: those of other conversations, asked where nothing answers them.

A plain test of saying nothing. Participants are called by the names of those here, so that a name gives nothing away.
A foreign question may be answered here by chance, so that silence on all of them is not to be expected.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from typing import Final

import numpy as np

from remembrancer.domain import validation
from remembrancer.domain.event import Role
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.dataset import ASKED_AFTER, Conversation, Dataset, Question, Transcript

MOST: Final = 10_000
"""Foreign questions of one conversation."""


def with_foreign(chosen: Dataset, whole: Dataset, count: int, *, seed: int) -> Dataset:
    """`chosen` with `count` foreign questions for each of its conversations, drawn from all others of `whole`.

    What a conversation is asked depends on the seed and on `whole` alone, not on what else is chosen. Raises
    InvalidInput where the others have not so many questions.
    """
    if not validation.whole("foreign", count, 0, MOST):
        return chosen
    speaking = {one.id: participants(one.transcript) for one in whole.conversations}
    return replace(
        chosen,
        conversations=tuple(
            replace(one, foreign=_drawn(one, whole.conversations, speaking, count, seed))
            for one in chosen.conversations
        ),
    )


def participants(transcript: Transcript) -> tuple[str, ...]:
    """Who speaks, each once: who has the role of the user first, then as they come."""
    turns = sorted(transcript.turns, key=lambda turn: turn.role != Role.USER)
    return tuple(dict.fromkeys(turn.actor for turn in turns if turn.actor is not None))


def renamed(text: str, name_of: Mapping[str, str]) -> str:
    """The text with each name, where it stands as a whole word, replaced by another; all at once.

    >>> renamed("What did Ann tell Anna of Bo's boat?", {"Ann": "Bo", "Bo": "Ann"})
    "What did Bo tell Anna of Ann's boat?"
    """
    if not name_of:
        return text
    # The longest first: a name may begin with another.
    names = "|".join(re.escape(name) for name in sorted(name_of, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: name_of[found[0]], text)


def _drawn(
    here: Conversation,
    all_of_them: Sequence[Conversation],
    speaking: Mapping[str, tuple[str, ...]],
    count: int,
    seed: int,
) -> tuple[Question, ...]:
    """`speaking`: the participants of each conversation, by its id."""
    own = {question.text.casefold() for question in here.questions}
    offered = {
        question.text.casefold(): question
        for one in all_of_them
        if one.id != here.id
        for question in _asked(one, here, speaking)
        if question.text.casefold() not in own
    }
    if count > len(offered):
        raise InvalidInput("foreign", count, f"at most the {len(offered)} questions that others have for {here.id}")
    rng = np.random.default_rng([seed, int.from_bytes(sha256(here.id.encode()).digest()[:8])])
    several = tuple(offered.values())
    places: list[int] = rng.permutation(len(several))[:count].tolist()
    return tuple(several[place] for place in places)


def _asked(other: Conversation, here: Conversation, speaking: Mapping[str, tuple[str, ...]]) -> Iterator[Question]:
    """The other's answerable questions, as they are asked here."""
    ours, asked_at = speaking[here.id], here.transcript.ends + ASKED_AFTER
    name_of = {name: ours[place % len(ours)] for place, name in enumerate(speaking[other.id]) if ours}
    for question in other.questions:
        if question.answerable:
            yield replace(
                question,
                id=f"{other.id}: {question.id}",
                text=renamed(question.text, name_of),
                asked_at=asked_at,
                evidence=(),
                sessions=(),
                answerable=False,
                foreign=other.id,
            )
