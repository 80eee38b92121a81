"""Prompt: the title and summary of an episode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.domain.validation import MAX_TITLE_CHARS
from remembrancer.language.lexical import word_ends
from remembrancer.policies.consolidation.extractive import TITLE_WORDS
from remembrancer.policies.prompts.fence import fenced, transcript
from remembrancer.policies.prompts.fields import TEXT, Object, object_of, words
from remembrancer.policies.segmentation.segments import StreamTurn
from remembrancer.values import dataclass

PURPOSE: Final = "tell"
MAX_SUMMARY_CHARS: Final = 2_000

TELLING: Final = (
    f"A title has {TITLE_WORDS[0]} to {TITLE_WORDS[1]} words and says what the talk is about, concretely: names,"
    " things, what was decided."
    " A summary has at most 50 words, tells in the third person what was said, done, decided and by whom, and keeps"
    " names, numbers and dates as they were said. Both are in the language of the turns and hold nothing that the turns"
    " do not say."
)
"""Requirements for titles and summaries, shared by all prompts that ask for them."""

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
    """The title and summary, or what is wrong with the answer, for the model's next attempt."""
    title = words(value, "title", max_chars=MAX_TITLE_CHARS)
    summary = words(value, "summary", max_chars=MAX_SUMMARY_CHARS)
    if not title:
        return "title is empty"
    if problem := title_problem(title):
        return problem
    return EpisodeText(title=title, summary=summary) if summary else "summary is empty"


def title_problem(title: str) -> str:
    """The problem with the length of a title, for the model's next attempt; "" if it has 5 to 15 words."""
    count, (fewest, most) = len(word_ends(title)), TITLE_WORDS
    return "" if fewest <= count <= most else f"the title has {count} words: it must have {fewest} to {most}"
