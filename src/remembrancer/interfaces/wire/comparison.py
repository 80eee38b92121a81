"""The JSON shapes of presets, and of their comparison on one question."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self
from uuid import UUID

from pydantic import AwareDatetime, JsonValue

from remembrancer.domain.recall import Stage
from remembrancer.interfaces.wire.memories import CueOut, MemoryOut
from remembrancer.interfaces.wire.recall import PartOut
from remembrancer.interfaces.wire.shape import Derived, Wire
from remembrancer.policies.ranking.groups import by_group
from remembrancer.policies.ranking.scoring import signal_names
from remembrancer.policies.ranking.signals import MEANINGS
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.text import table_of

if TYPE_CHECKING:
    from remembrancer.domain.memory import Cue
    from remembrancer.engine.compare import ComparedMemory, Comparison, Overlap, PresetAnswer, RankUnderPreset
    from remembrancer.presets.spec import Preset


class PresetLineOut(Wire):
    """A preset in a list."""

    name: str
    description: str
    in_use: bool


class PresetsOut(Wire):
    presets: list[PresetLineOut]

    @classmethod
    def of(cls, in_use: Preset) -> Self:
        """The shipped presets, and the one in use if it is not shipped."""
        every = {**PRESETS, in_use.name: in_use}
        lines = [
            PresetLineOut(name=name, description=preset.description, in_use=name == in_use.name)
            for name, preset in every.items()
        ]
        return cls(presets=lines)


class PresetOut(Wire):
    """A preset. `choices`: the content of its TOML file. `signals`: the meaning of each signal that its score
    expressions read.
    """

    in_use: bool
    choices: dict[str, JsonValue]
    signals: dict[str, str]

    @classmethod
    def of(cls, preset: Preset, *, in_use: bool) -> Self:
        read = frozenset[str]().union(*map(signal_names, preset.expressions()))
        meanings = {name: meaning for name, meaning in MEANINGS.items() if name in read}
        return cls(in_use=in_use, choices=table_of(preset), signals=meanings)


class PlaceOut(Derived):
    """The outcome for a memory under one preset. `rank`: among the hits, or among the candidates if it was not
    `returned`; null if no search found it. `groups`: what each group of signals adds to its score; null if no search
    found it. `leading`: the two groups that add the most.
    """

    preset: str
    returned: bool
    rank: int | None
    score: float | None
    stage: Stage | None
    reason: str | None
    leading: str | None
    groups: dict[str, float] | None
    parts: PartOut | None

    @classmethod
    def of(cls, place: RankUnderPreset) -> Self:
        return cls.copied(
            place,
            reason=place.reason or None,
            groups=None if place.parts is None else by_group(place.parts),
            parts=None if place.parts is None else PartOut.of(place.parts),
        )


class ComparedOut(Wire):
    """A memory that at least one preset returned, its outcome under each preset, and why the outcomes differ
    (`why`).
    """

    memory: MemoryOut
    cue: CueOut
    places: list[PlaceOut]
    why: str

    @classmethod
    def of(cls, compared: ComparedMemory, cue: Cue) -> Self:
        return cls.copied(compared, cue=cue)


class AnswerOut(Derived):
    """The hits of one preset, best first, at most `limit`."""

    preset: str
    limit: int
    hits: list[UUID]
    degraded: dict[str, str]

    @classmethod
    def of(cls, answer: PresetAnswer) -> Self:
        return cls.copied(answer, hits=[hit.id for hit in answer.hits])


class OverlapOut(Derived):
    """The overlap of two presets. `share`: the memories that both presets return, as a share of those that either
    returns.
    """

    presets: tuple[str, str]
    share: float

    @classmethod
    def of(cls, overlap: Overlap) -> Self:
        return cls.copied(overlap, presets=(overlap.first, overlap.second))


class ComparisonOut(Wire):
    """The comparison of presets on one question. `memories`: all that any preset returned, by mean rank, best first."""

    query: str
    asked_at: AwareDatetime
    answers: list[AnswerOut]
    memories: list[ComparedOut]
    overlaps: list[OverlapOut]

    @classmethod
    def of(cls, comparison: Comparison) -> Self:
        cues = {hit.id: hit.cue for answer in reversed(comparison.answers) for hit in answer.hits}
        return cls.copied(
            comparison, memories=[ComparedOut.of(one, cues[one.memory.id]) for one in comparison.memories]
        )
