"""Rewrite questions as an agent asks them: "I" and "you" become "the user" and "the assistant"."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from remembrancer.evaluation.dataset import Conversation, Dataset

# Contractions come before the words that they begin with.
_IN_THIRD: Final = tuple(
    (re.compile(rf"\b(?:{said})\b"), meant)
    for said, meant in (
        ("I'm", "the user is"),
        ("(?:I|[Ww]e)'ve", "the user has"),
        ("(?:I|[Ww]e)'d", "the user would"),
        ("(?:I|[Ww]e)'ll", "the user will"),
        ("[Ww]e're", "the user is"),
        ("I|[Ww]e|[Mm]e|us|[Mm]yself|[Oo]urselves", "the user"),
        ("[Mm]y|[Mm]ine|[Oo]urs?", "the user's"),
        ("[Yy]ou'd", "the assistant would"),
        ("[Yy]ou", "the assistant"),
        ("[Yy]ours?", "the assistant's"),
    )
)


def in_third_person(text: str) -> str:
    """Replace the pronouns only; verbs stay as they are.

    >>> in_third_person("What did you tell me about my trip?")
    "What did the assistant tell the user about the user's trip?"
    """
    for said, meant in _IN_THIRD:
        text = said.sub(meant, text)
    return text[:1].upper() + text[1:]


def asked_in_third_person(dataset: Dataset) -> Dataset:
    return replace(dataset, conversations=tuple(_asked(one) for one in dataset.conversations))


def _asked(conversation: Conversation) -> Conversation:
    questions = tuple(replace(one, text=in_third_person(one.text)) for one in conversation.questions)
    return replace(conversation, questions=questions)
