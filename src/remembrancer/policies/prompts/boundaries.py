"""Prompt: where episodes begin in a window of turns, or whether the last turn begins one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import Final

from remembrancer.domain.validation import MAX_TITLE_CHARS
from remembrancer.policies.prompts import fields
from remembrancer.policies.prompts.episode import MAX_SUMMARY_CHARS, TELLING, title_problem
from remembrancer.policies.prompts.fence import fenced, transcript
from remembrancer.policies.segmentation.segments import BY_MODEL, Boundaries, BoundaryQuestion, Segment, StreamTurn

SURPRISE: Final[Mapping[str, float]] = MappingProxyType({"low": 0.2, "high": 0.6, "extremely_high": 0.9})
"""The surprise, in [0, 1], for each word of the model's answer; used for turns without vectors. Source: PlastMem, batch
segmentation.
"""

PURPOSE: Final = "segment"
MAX_TOKENS: Final = 4_096
MAX_ABOUT_CHARS: Final = 1_000

WHOLE: Final = (
    "You are given numbered turns of one conversation, and in another block, where there is one, what came before them."
    " Divide the turns into segments: each a stretch about one thing. A new segment begins where the topic or the"
    " intent changes, or where a turn surprises: it breaks with what went before. Where you are unsure, prefer the"
    " finer division; a conversation that stays with one thing is one segment. The segments are in order and hold"
    " every turn: the first begins with the first turn, each other with the turn after the last of the one before it."
    " For each give the numbers of its first and last turn, its title and summary, and how surprising the turn is that"
    " begins it, held against what came before: low, high or extremely_high. The very first is low where nothing is"
    f" told of what came before. {TELLING}"
)

LAST: Final = (
    "You are given numbered turns of one conversation, and in another block, where there is one, what it has been about"
    " so far. Say whether the last turn begins something new: another topic, another intent, or a turn of phrase that"
    " closes the old and opens the new. If it does not, tell in at most 50 words what the conversation is about now,"
    " the last turn included; if it does, leave that empty."
)

WHOLE_SCHEMA: Final[fields.Object] = fields.object_of(
    segments=fields.list_of(
        fields.object_of(
            first=fields.INTEGER,
            last=fields.INTEGER,
            title=fields.TEXT,
            summary=fields.TEXT,
            surprise=fields.one_of(SURPRISE),
        ),
        minItems=1,
    )
)

LAST_SCHEMA: Final[fields.Object] = fields.object_of(begins_something_new={"type": "boolean"}, about=fields.TEXT)


def instructions(question: BoundaryQuestion) -> str:
    return WHOLE if question.whole else LAST


def schema(question: BoundaryQuestion) -> fields.Object:
    return WHOLE_SCHEMA if question.whole else LAST_SCHEMA


def material(turns: Sequence[StreamTurn], question: BoundaryQuestion) -> str:
    """The turns of the question, numbered from 1, after the summary of the conversation before them."""
    asked = fenced(transcript(turns[question.start : question.end]), "turns")
    return f"{fenced(question.before, 'before')}\n{asked}" if question.before else asked


def read(value: fields.Object, question: BoundaryQuestion) -> Boundaries | str:
    """The answer as Boundaries, or a text that says what is wrong with it."""
    return _segments(value, question) if question.whole else _verdict(value, question)


def _segments(value: fields.Object, question: BoundaryQuestion) -> Boundaries | str:
    given = fields.objects(value, "segments")
    if not given:
        return "segments is not a list of at least one segment"
    asked = question.end - question.start
    found: list[Segment] = []
    next_turn = 1
    for number, one in enumerate(given, start=1):
        first, last = fields.whole(one, "first"), fields.whole(one, "last")
        if first != next_turn or last is None or not next_turn <= last <= asked:
            return (
                f"segment {number} goes from turn {first} to turn {last}: it must begin with turn {next_turn}"
                f" and end with one of the turns {next_turn} to {asked}"
            )
        surprise = one.get("surprise")
        if not isinstance(surprise, str) or surprise not in SURPRISE:
            return f"the surprise of segment {number} is not one of {', '.join(SURPRISE)}"
        title = fields.words(one, "title", max_chars=MAX_TITLE_CHARS)
        summary = fields.words(one, "summary", max_chars=MAX_SUMMARY_CHARS)
        if not title or not summary:
            return f"segment {number} lacks a title or a summary"
        found.append(
            Segment(
                start=question.start + next_turn - 1,
                end=question.start + last,
                surprise=SURPRISE[surprise],
                reason=BY_MODEL,
                # The engine asks for the missing title alone; the boundaries are kept.
                title=None if title_problem(title) else title,
                summary=summary,
            )
        )
        next_turn = last + 1
    if next_turn <= asked:
        return f"turns {next_turn} to {asked} are in no segment: the last segment must end with turn {asked}"
    return Boundaries(segments=tuple(found))


def _verdict(value: fields.Object, question: BoundaryQuestion) -> Boundaries | str:
    new = value.get("begins_something_new")
    if not isinstance(new, bool):
        return "begins_something_new is neither true nor false"
    last = question.end - 1
    if not new:
        all_of_it = Segment(start=question.start, end=question.end, surprise=0.0, reason=BY_MODEL)
        return Boundaries(segments=(all_of_it,), about=fields.words(value, "about", max_chars=MAX_ABOUT_CHARS))
    return Boundaries(
        segments=(
            Segment(start=question.start, end=last, surprise=0.0, reason=BY_MODEL),
            Segment(start=last, end=question.end, surprise=0.0, reason=BY_MODEL),
        )
    )
