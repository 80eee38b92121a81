"""Presets as TOML text: conversion to and from tables."""

from __future__ import annotations

from typing import Final

import tomli_w

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.expressions import NO_NAMES
from remembrancer.policies.ranking.scoring import Const, Signal
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.forms import TomlTable, form_of
from remembrancer.presets.spec import Fading, Preset

BASED_ON: Final = "based_on"
"""The key for the preset whose choices a file inherits."""

STRENGTH: Final = "strength"
"""The name by which scores may refer to the expression `fading.strength`."""

_FADING: Final = "fading"


def text_of(preset: Preset) -> str:
    """The preset as TOML text with every choice, including defaults."""
    head = f"# Every choice of the preset {preset.name}. To use a changed one, give it a name of its own.\n"
    return head + tomli_w.dumps(table_of(preset))


def table_of(preset: Preset) -> TomlTable:
    strength = preset.fading.strength
    # A single signal needs no other name.
    names = NO_NAMES if isinstance(strength, Signal | Const) else {STRENGTH: strength}
    fading = form_of(Fading, NO_NAMES).to_toml(preset.fading)
    return form_of(Preset, names).to_toml(preset) | {_FADING: fading}


def own_preset(table: TomlTable) -> Preset:
    """As `preset_of`, for a user's preset. Raises InvalidInput if it has the name of a shipped one."""
    preset = preset_of(table)
    if preset.name in PRESETS:
        raise InvalidInput("name", preset.name, "a name that no shipped preset has")
    return preset


def preset_of(table: TomlTable) -> Preset:
    """The preset of a file's table. Raises InvalidInput with the path, the value, and the allowed values."""
    given = {key: value for key, value in table.items() if key != BASED_ON}
    if BASED_ON in table:
        given = form_of(Preset, NO_NAMES).completed(given, table_of(_base(table[BASED_ON])))
    names = NO_NAMES
    if _FADING in given:
        fading: Fading = form_of(Fading, NO_NAMES).read(_FADING, given[_FADING])
        names = {STRENGTH: fading.strength}
    return form_of(Preset, names).read("", given)


def _base(named: object) -> Preset:
    if not isinstance(named, str) or named not in PRESETS:
        raise InvalidInput(BASED_ON, named, "one of " + ", ".join(sorted(PRESETS)))
    return PRESETS[named]
