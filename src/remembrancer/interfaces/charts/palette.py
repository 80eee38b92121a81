"""The hues of charts, by the names that the style sheet has light and dark colours for, and which signal has which."""

from __future__ import annotations

from typing import Final

HUES: Final = ("blue", "vermillion", "green", "purple", "orange", "sky", "yellow")
"""Those of Okabe and Ito, which people with any kind of colour vision can tell apart."""
SIGNALS: Final = {
    "similarity": "blue",
    "dense_leg": "blue",
    "late_interaction": "blue",
    "passage_words": "blue",
    "lexical": "orange",
    "lexical_leg": "orange",
    "bm25": "orange",
    "coverage": "orange",
    "retention": "green",
    "time": "green",
    "importance": "purple",
    "priority": "vermillion",
    "speaker": "vermillion",
    "confidence": "sky",
    "session_words": "sky",
}
"""Meaning is blue, words are orange. The first signal of a hue has its plainest shade."""
OTHER: Final = "yellow"
"""The hue of every other signal."""
