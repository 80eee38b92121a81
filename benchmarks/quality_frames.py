"""Ask questions within frames: how to answer, where to look, and manners, as people put around a question."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Final

from remembrancer.evaluation.dataset import Conversation, Dataset

FRAMES: Final = Path(__file__).parent / "frames.txt"
"""One frame a line. `{q}`: the question; `{l}`: the question in small letters, without its question mark."""


def frames() -> tuple[str, ...]:
    return tuple(line.replace("\\n", "\n") for line in FRAMES.read_text(encoding="utf-8").splitlines())


def framed(question: str, frame: str) -> str:
    """The question within a frame.

    >>> framed("Which port?", "Based on our chats, {l}? Be brief.")
    'Based on our chats, which port? Be brief.'
    """
    plain = question.strip().rstrip("?")
    first, _, rest = plain.partition(" ")
    small = plain if first == "I" or "'" in first else f"{first.lower()} {rest}".strip()
    return frame.replace("{q}", question.strip()).replace("{l}", small)


def asked_in_frames(dataset: Dataset) -> Dataset:
    """Every question in one of the frames, in turn."""
    return replace(dataset, conversations=tuple(_framed(one) for one in dataset.conversations))


def _framed(conversation: Conversation) -> Conversation:
    around = frames()
    asked = tuple(
        replace(question, text=framed(question.text, around[place % len(around)]))
        for place, question in enumerate(conversation.questions)
    )
    return replace(conversation, questions=asked)
