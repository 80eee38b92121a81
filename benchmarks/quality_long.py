"""The same conversations with turns joined into long ones: nothing was tuned on them, and they test long texts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby
from typing import Final

from remembrancer.domain.event import Role
from remembrancer.evaluation.dataset import Conversation, Dataset, DatasetQuestion, DatasetTurn, Transcript

JOINED: Final = 8
"""Turns per joined turn, which gives the length of an assistant's answer."""


def in_long_turns(dataset: Dataset) -> Dataset:
    """Join each session's turns in groups of JOINED, each text preceded by its speaker; evidence refers to the joined
    turns.

    Joined turns have the roles user and assistant alternately, and no actor, because each contains several speakers.
    """
    return replace(dataset, conversations=tuple(_joined(one) for one in dataset.conversations))


def _joined(conversation: Conversation) -> Conversation:
    joins: list[DatasetTurn] = []
    join_of: dict[str, str] = {}
    for _, session in groupby(conversation.transcript.turns, key=lambda turn: turn.session):
        turns = list(session)
        for start in range(0, len(turns), JOINED):
            part = turns[start : start + JOINED]
            role = (Role.USER, Role.ASSISTANT)[len(joins) % 2]
            text = "\n".join(f"{turn.actor or turn.role}: {turn.text}" for turn in part)
            joins.append(replace(part[0], text=text, actor=None, role=role))
            join_of |= {turn.id: part[0].id for turn in part}
    return replace(
        conversation,
        transcript=Transcript(id=conversation.id, turns=tuple(joins)),
        questions=tuple(_asked_of(question, join_of) for question in conversation.questions),
    )


def _asked_of(question: DatasetQuestion, join_of: Mapping[str, str]) -> DatasetQuestion:
    return replace(question, evidence=tuple(dict.fromkeys(join_of[turn] for turn in question.evidence)))
