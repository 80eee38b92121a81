"""Foreign questions: questions taken from other conversations, to test abstention.

Participants' names are replaced by those of the conversation that is asked, so that a name gives nothing away. A
foreign question may have an answer there by chance, so a system need not abstain on all of them.
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
from remembrancer.evaluation.dataset import ASKED_AFTER, Conversation, Dataset, DatasetQuestion, Transcript

MAX_FOREIGN: Final = 10_000
"""The most foreign questions per conversation."""


def with_foreign(chosen: Dataset, whole: Dataset, count: int, *, seed: int) -> Dataset:
    """Copy `chosen` and give each conversation `count` foreign questions, drawn at random from all others of `whole`.

    The draw depends on the seed and on `whole` only, not on which other conversations are chosen. Raises InvalidInput
    when the other conversations have fewer than `count` questions.
    """
    if not validation.whole("foreign", count, 0, MAX_FOREIGN):
        return chosen
    speaking = {one.id: participants(one.transcript) for one in whole.conversations}
    return replace(
        chosen,
        conversations=tuple(
            replace(one, foreign=_draw(one, whole.conversations, speaking, count, seed)) for one in chosen.conversations
        ),
    )


def participants(transcript: Transcript) -> tuple[str, ...]:
    """The speakers, without repeats: those with the user role first, otherwise in order of appearance."""
    turns = sorted(transcript.turns, key=lambda turn: turn.role != Role.USER)
    return tuple(dict.fromkeys(turn.actor for turn in turns if turn.actor is not None))


def replace_names(text: str, name_of: Mapping[str, str]) -> str:
    """Replace each name in the text, if it is a whole word; all replacements happen at once.

    >>> replace_names("What did Ann tell Anna of Bo's boat?", {"Ann": "Bo", "Bo": "Ann"})
    "What did Bo tell Anna of Ann's boat?"
    """
    if not name_of:
        return text
    # Longest first, because one name may be the beginning of another.
    names = "|".join(re.escape(name) for name in sorted(name_of, key=len, reverse=True))
    return re.sub(rf"(?<!\w)(?:{names})(?!\w)", lambda found: name_of[found[0]], text)


def _draw(
    here: Conversation,
    all_of_them: Sequence[Conversation],
    speaking: Mapping[str, tuple[str, ...]],
    count: int,
    seed: int,
) -> tuple[DatasetQuestion, ...]:
    """`count` questions of other conversations for `here`. `speaking`: the participants of each conversation, by its
    id.
    """
    own = {question.text.casefold() for question in here.questions}
    offered = {
        question.text.casefold(): question
        for one in all_of_them
        if one.id != here.id
        for question in foreign_questions(one, here, speaking)
        if question.text.casefold() not in own
    }
    if count > len(offered):
        raise InvalidInput("foreign", count, f"at most the {len(offered)} questions that others have for {here.id}")
    rng = np.random.default_rng([seed, int.from_bytes(sha256(here.id.encode()).digest()[:8])])
    several = tuple(offered.values())
    places: list[int] = rng.permutation(len(several))[:count].tolist()
    return tuple(several[place] for place in places)


def foreign_questions(
    other: Conversation, here: Conversation, speaking: Mapping[str, tuple[str, ...]]
) -> Iterator[DatasetQuestion]:
    """The other conversation's answerable questions, rewritten for `here`: names replaced, no evidence,
    not answerable.
    """
    ours, asked_at = speaking[here.id], here.transcript.ends + ASKED_AFTER
    name_of = {name: ours[place % len(ours)] for place, name in enumerate(speaking[other.id]) if ours}
    for question in other.questions:
        if question.answerable:
            yield replace(
                question,
                id=f"{other.id}: {question.id}",
                text=replace_names(question.text, name_of),
                asked_at=asked_at,
                evidence=(),
                sessions=(),
                answerable=False,
                foreign=other.id,
            )
