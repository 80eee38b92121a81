"""Presets that clients of a server choose: by name only. A program on this machine may also give a file's path; a
client must not, because it could probe the server's file system.
"""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.errors import InvalidInput
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.spec import Preset


def named_presets(in_use: Preset, names: Iterable[str]) -> list[Preset]:
    """The presets of these names, among the shipped ones and `in_use`. Raises InvalidInput for another name."""
    there = {**PRESETS, in_use.name: in_use}
    chosen: list[Preset] = []
    for name in names:
        if name not in there:
            raise InvalidInput("presets", name, "one of " + ", ".join(there))
        chosen.append(there[name])
    return chosen
