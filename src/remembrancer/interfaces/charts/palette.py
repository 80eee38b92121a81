"""Colours of Okabe and Ito, which people who see colours differently can tell apart, and which signal has which."""

from __future__ import annotations

from typing import Final

ORANGE, SKY, GREEN, YELLOW, BLUE, VERMILLION, PURPLE = (
    "#e69f00",
    "#56b4e9",
    "#009e73",
    "#f0e442",
    "#0072b2",
    "#d55e00",
    "#cc79a7",
)
NAMES: Final = {
    ORANGE: "orange",
    SKY: "sky",
    GREEN: "green",
    YELLOW: "yellow",
    BLUE: "blue",
    VERMILLION: "vermillion",
    PURPLE: "purple",
}
"""For what has its own shades of them, one for light and one for dark ground."""
SIGNALS: Final = {
    "similarity": BLUE,
    "dense_leg": BLUE,
    "late_interaction": BLUE,
    "passage_words": BLUE,
    "lexical": ORANGE,
    "lexical_leg": ORANGE,
    "bm25": ORANGE,
    "coverage": ORANGE,
    "retention": GREEN,
    "time": GREEN,
    "importance": PURPLE,
    "priority": VERMILLION,
    "speaker": VERMILLION,
    "confidence": SKY,
    "session_words": SKY,
}
"""By the name of a signal: meaning is blue, words are orange. Of one colour, the first has its plainest shade."""
OTHER: Final = YELLOW
