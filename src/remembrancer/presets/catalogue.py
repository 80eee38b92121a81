"""The shipped presets, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.engram import ENGRAM
from remembrancer.presets.mnemosyne import MNEMOSYNE
from remembrancer.presets.plastmem import PLASTMEM
from remembrancer.presets.spec import Preset
from remembrancer.presets.teaparty import TEAPARTY

PRESETS: Final[Mapping[str, Preset]] = {
    preset.name: preset for preset in (DEFAULT, CREWSHIP, TEAPARTY, PLASTMEM, ENGRAM, MNEMOSYNE)
}


def preset_named(name: str) -> Preset:
    if name not in PRESETS:
        raise InvalidInput("preset", name, "one of " + ", ".join(sorted(PRESETS)) + ", or a file such as ./my.toml")
    return PRESETS[name]
