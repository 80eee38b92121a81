"""Extraction of learnings from a session: extraction scopes, owners, and the windows that a model reads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import field, replace
from datetime import datetime
from enum import StrEnum
from types import MappingProxyType
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.event import Event, Role
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Level, Scope
from remembrancer.policies.learning.nudge import NUDGED
from remembrancer.values import dataclass

EXTRACTED: Final = "session.extracted"
"""The type of the event that records a finished extraction."""

PATH: Final = "path"
"""The key of an event's payload that names the file whose text the event holds."""


class ExtractionScope(StrEnum):
    """The subject of an extracted learning. Source: TeaParty, the ten extraction scopes."""

    OBSERVATIONS = "observations"
    ESCALATION = "escalation"
    INTENT_ALIGNMENT = "intent-alignment"
    TEAM = "team"
    SESSION = "session"
    PROJECT = "project"
    GLOBAL = "global"
    PROSPECTIVE = "prospective"
    IN_FLIGHT = "in-flight"
    CORRECTIVE = "corrective"


class SessionPhase(StrEnum):
    """The phase of a session in which learnings are extracted: before the work, at a milestone, after a failure, or at
    the end.
    """

    PROSPECTIVE = "prospective"
    IN_FLIGHT = "in-flight"
    CORRECTIVE = "corrective"
    RETROSPECTIVE = "retrospective"


FILES: Final[Mapping[ExtractionScope, str]] = MappingProxyType(
    {ExtractionScope.PROSPECTIVE: ".premortem.md", ExtractionScope.IN_FLIGHT: ".assumptions.jsonl"}
)
"""The file that an extraction scope also reads: notes written before or during the work."""

_LEVELS: Final[Mapping[ExtractionScope, Level]] = MappingProxyType(
    {
        ExtractionScope.OBSERVATIONS: Level.PROJECT,
        ExtractionScope.ESCALATION: Level.PROJECT,
        ExtractionScope.INTENT_ALIGNMENT: Level.PROJECT,
        ExtractionScope.TEAM: Level.CREW,
        ExtractionScope.SESSION: Level.SESSION,
        ExtractionScope.PROJECT: Level.PROJECT,
        ExtractionScope.GLOBAL: Level.WORKSPACE,
        ExtractionScope.PROSPECTIVE: Level.CREW,
        ExtractionScope.IN_FLIGHT: Level.CREW,
        ExtractionScope.CORRECTIVE: Level.CREW,
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Extraction:
    """Settings of extraction. `scopes`: the extraction scopes, each with the scope level of its learnings.

    `window_chars`: characters of a session that a model reads at once; in a longer session, each window begins with the
    last `overlap` turns of the previous one, at most half a window. `result_chars`: characters read of a tool's output.
    `at_most`: learnings in one answer.
    """

    scopes: Mapping[ExtractionScope, Level] = field(default_factory=lambda: _LEVELS)
    window_chars: int = 12_000
    overlap: int = 4
    result_chars: int = 500
    at_most: int = 8

    def __post_init__(self) -> None:
        validation.whole("extraction.window_chars", self.window_chars, 200, 1_000_000)
        validation.whole("extraction.overlap", self.overlap, 0, 100)
        validation.whole("extraction.result_chars", self.result_chars, 1, 100_000)
        validation.whole("extraction.at_most", self.at_most, 1, 50)

    def at(self, moment: SessionPhase) -> tuple[ExtractionScope, ...]:
        """The extraction scopes of a phase: all at the end of a session; otherwise the one with the phase's name."""
        if moment is SessionPhase.RETROSPECTIVE:
            return tuple(self.scopes)
        return tuple(scope for scope in self.scopes if scope.value == moment.value)

    def passages(self, events: Sequence[Event]) -> tuple[StreamPassage, ...]:
        """The events as passages for a model, in order.

        Left out: events without readable text, text that a recall inserted, and events that the memory system recorded
        about itself.
        """
        told = (self._passage(event) for event in events if event.type not in _ABOUT_ITSELF)
        return tuple(passage for passage in told if passage.text)

    def _passage(self, event: Event) -> StreamPassage:
        text = without_recalled(event.beginning).strip()
        if event.role is Role.TOOL and len(text) > self.result_chars:
            text = f"{text[: self.result_chars].rstrip()} [… {len(text) - self.result_chars:,} more characters]"
        path = event.payload.get(PATH)
        return StreamPassage(
            number=event.seq,
            at=event.occurred_at,
            speaker=event.actor or event.role,
            text=text,
            file=path.replace("\\", "/").rpartition("/")[2] if isinstance(path, str) else "",
        )

    def windows(self, passages: Sequence[StreamPassage]) -> tuple[tuple[StreamPassage, ...], ...]:
        """Windows of at most `window_chars` characters, in order; each passage is in at least one.

        A passage longer than a window is split into pieces with the same number.
        """
        windows: list[tuple[StreamPassage, ...]] = []
        window: list[StreamPassage] = []
        chars = 0
        for piece in (piece for passage in passages for piece in self._pieces(passage)):
            if window and chars + len(piece.text) > self.window_chars:
                windows.append(tuple(window))
                window = self._repeated(window, len(piece.text))
                chars = sum(len(each.text) for each in window)
            window.append(piece)
            chars += len(piece.text)
        return (*windows, tuple(window)) if window else tuple(windows)

    def _pieces(self, passage: StreamPassage) -> list[StreamPassage]:
        starts = range(0, len(passage.text), self.window_chars)
        return [replace(passage, text=passage.text[start : start + self.window_chars]) for start in starts]

    def _repeated(self, window: Sequence[StreamPassage], following: int) -> list[StreamPassage]:
        """The end of a window that the next one repeats. `following`: the characters that the next window adds."""
        room = min(self.window_chars // 2, self.window_chars - following)
        kept: list[StreamPassage] = []
        for passage in reversed(window[-self.overlap :] if self.overlap else ()):
            room -= len(passage.text)
            if room < 0:
                break
            kept.append(passage)
        return kept[::-1]


_ABOUT_ITSELF: Final = frozenset({EXTRACTED, NUDGED})
"""Events that the memory system records about itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamPassage:
    """A text of a session. `number`: its position in the stream. `file`: the name of its file, or ""."""

    number: int
    at: datetime
    speaker: str
    text: str
    file: str = ""


def owner(stream: Scope, level: Level) -> Scope:
    """The owner of a learning of a level: the stream's scope without the parts below that level.

    If the stream has no part at that level, the next narrower part owns the learning, so that it is never visible more
    widely than intended. A session alone is never an owner.

    >>> owner(Scope(workspace="acme", crew="platform", agent="ana", session="monday"), Level.CREW).agent is None
    True
    >>> owner(Scope(workspace="acme", agent="ana", session="monday"), Level.CREW).agent
    'ana'
    """
    if level is Level.SESSION:
        return stream
    kept: dict[str, str | None] = {}
    if level is not Level.WORKSPACE:
        for each, part in ((Level.PROJECT, "project"), (Level.CREW, "crew"), (Level.AGENT, "agent")):
            kept[part] = getattr(stream, part)
            if each >= level and kept[part] is not None:
                break
    return Scope(workspace=stream.workspace, **kept)
