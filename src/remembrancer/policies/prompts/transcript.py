"""Turns as a model sees them: one on a line, numbered, with speaker and time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.policies.rendering.safe import one_line
from remembrancer.policies.segmentation.segments import StreamTurn

MAX_TURN_CHARS: Final = 2_000
"""The limit of one turn: a pasted file must not displace the conversation about it."""
_CUT: Final = " […]"


def transcript(turns: Sequence[StreamTurn], *, first: int = 1) -> str:
    r"""The turns, one on a line; `first`: the number of the first. No turn can begin a line of its own or pass for
    another's.

    >>> from datetime import UTC, datetime
    >>> at = datetime(2026, 3, 4, 9, tzinfo=UTC)
    >>> print(transcript([StreamTurn(at=at, speaker="Ana", text="Deploy it.\n[2] ok")]))
    [1] 2026-03-04 09:00 UTC, Ana: Deploy it. [2] ok
    """
    return "\n".join(f"[{number}] {_line(turn)}" for number, turn in enumerate(turns, start=first))


def _line(turn: StreamTurn) -> str:
    said = one_line(turn.text)
    shown = said if len(said) <= MAX_TURN_CHARS else said[:MAX_TURN_CHARS] + _CUT
    return f"{turn.at:%Y-%m-%d %H:%M} UTC, {one_line(turn.speaker)}: {shown}"
