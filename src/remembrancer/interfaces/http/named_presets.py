"""Presets as clients of a server name them: by name alone. What is a file's path to a program on this machine must not
be one to them.
"""

from __future__ import annotations

from collections.abc import Iterable

from remembrancer.errors import InvalidInput
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.spec import Preset


def named_presets(in_use: Preset, names: Iterable[str]) -> list[Preset]:
    """Those of these names, of the ones that are shipped or `in_use`. Raises InvalidInput."""
    there = {**PRESETS, in_use.name: in_use}
    chosen: list[Preset] = []
    for name in names:
        if name not in there:
            raise InvalidInput("presets", name, "one of " + ", ".join(there))
        chosen.append(there[name])
    return chosen
