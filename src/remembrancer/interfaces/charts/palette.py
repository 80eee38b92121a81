"""The names of hues, whose light and dark colours are in the style sheet, and the hue of each signal of a score."""

from __future__ import annotations

from typing import Final

HUES: Final = ("blue", "vermillion", "green", "purple", "orange", "sky", "yellow")
"""The colours of Okabe and Ito, which can be told apart with any kind of colour vision."""
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
"""Signals that share a hue have different shades; the first one has the hue itself."""
OTHER: Final = "yellow"
"""The hue of every other signal."""
