"""The JSON shapes of presets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import JsonValue

from remembrancer.interfaces.wire.shape import Wire
from remembrancer.policies.ranking.scoring import signal_names
from remembrancer.policies.ranking.signals import MEANINGS
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.text import table_of

if TYPE_CHECKING:
    from remembrancer.presets.spec import Preset


class PresetLineOut(Wire):
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
    """`choices`: the content of its TOML file. `signals`: the meaning of each signal that its score
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
