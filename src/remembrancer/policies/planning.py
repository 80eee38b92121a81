"""A question to what is searched."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from remembrancer.domain.query import LexicalQuery
from remembrancer.policies.lexical import lexical_query

LONG_QUESTION_WORDS: Final = 80
"""Longer than people ask: a pasted prompt with the question at its end."""

_SENTENCE: Final = re.compile(r"(?<=[.!?。！？])\s+|\n+")


@dataclass(frozen=True, slots=True)
class Plan:
    """`searched` is the part of the question that both legs look for."""

    searched: str
    lexical: LexicalQuery


def plan(question: str) -> Plan:
    searched = salient_part(question)
    return Plan(searched, lexical_query(searched))


def salient_part(question: str) -> str:
    """A question as it is; of a long prompt, its last sentences that ask, else its last ones.

    An agent that puts its instructions before the question would otherwise search for its instructions.
    """
    if len(question.split()) <= LONG_QUESTION_WORDS:
        return question.strip()
    sentences = [sentence.strip() for sentence in _SENTENCE.split(question) if sentence.strip()]
    asking = [sentence for sentence in sentences[-8:] if sentence.endswith(("?", "？"))]
    kept: list[str] = []
    words = 0
    for sentence in reversed(asking or sentences):
        length = len(sentence.split())
        if kept and words + length > LONG_QUESTION_WORDS:
            break
        kept.append(sentence)
        words += length
    return " ".join(" ".join(reversed(kept)).split()[-LONG_QUESTION_WORDS:])
