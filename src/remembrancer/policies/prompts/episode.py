"""Prompt: the title and summary of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.domain.validation import MAX_TITLE_CHARS
from remembrancer.policies.prompts.fence import fenced, transcript
from remembrancer.policies.prompts.fields import TEXT, Object, object_of, words
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.values import dataclass

PURPOSE: Final = "tell"
MAX_SUMMARY_CHARS: Final = 2_000

TELLING: Final = (
    "A title has 5 to 15 words and says what the talk is about, concretely: names, things, what was decided."
    " A summary has at most 50 words, tells in the third person what was said, done, decided and by whom, and keeps"
    " names, numbers and dates as they were said. Both are in the language of the turns and hold nothing that the turns"
    " do not say."
)
"""Requirements of a title and a summary, shared by all prompts that ask for them."""

INSTRUCTIONS: Final = f"You are given the turns of one episode of a conversation. Give its title and summary. {TELLING}"

SCHEMA: Final[Object] = object_of(title=TEXT, summary=TEXT)


@dataclass(frozen=True, slots=True, kw_only=True)
class EpisodeText:
    """The title and summary of an episode."""

    title: str
    summary: str


def material(turns: Sequence[StreamTurn]) -> str:
    return fenced(transcript(turns), "turns")


def read(value: Object) -> EpisodeText | str:
    """The answer, or what is wrong with it, in words for the model."""
    title = words(value, "title", max_chars=MAX_TITLE_CHARS)
    summary = words(value, "summary", max_chars=MAX_SUMMARY_CHARS)
    if not title:
        return "title is empty"
    return EpisodeText(title=title, summary=summary) if summary else "summary is empty"
