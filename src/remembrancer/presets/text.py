"""A preset as the text of a TOML file, and back."""

from __future__ import annotations

from typing import Final

import tomli_w

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.expressions import NO_NAMES
from remembrancer.policies.ranking.scoring import Const, Signal
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.forms import Table, form_of
from remembrancer.presets.spec import Fading, Preset

BASED_ON: Final = "based_on"
"""The preset that has what a file does not say."""

STRENGTH: Final = "strength"
"""What a score may call the expression of `fading.strength`."""

_FADING: Final = "fading"


def text_of(preset: Preset) -> str:
    """Every choice of the preset, also where it is the default: what there is to change."""
    head = f"# Every choice of the preset {preset.name}. To use a changed one, give it a name of its own.\n"
    return head + tomli_w.dumps(table_of(preset))


def table_of(preset: Preset) -> Table:
    strength = preset.fading.strength
    # A signal has a name already, and one that says more.
    names = NO_NAMES if isinstance(strength, Signal | Const) else {STRENGTH: strength}
    fading = form_of(Fading, NO_NAMES).told(preset.fading)
    return form_of(Preset, names).told(preset) | {_FADING: fading}


def own_preset(table: Table) -> Preset:
    """As `preset_of`, for a preset of the user's own: under a shipped one's name it could be taken for that."""
    preset = preset_of(table)
    if preset.name in PRESETS:
        raise InvalidInput("name", preset.name, "a name of its own: one that none of the presets that are shipped has")
    return preset


def preset_of(table: Table) -> Preset:
    """The preset that a file's table tells. Raises InvalidInput naming the path, what is there, and what is allowed."""
    told = {key: value for key, value in table.items() if key != BASED_ON}
    if BASED_ON in table:
        told = form_of(Preset, NO_NAMES).completed(told, table_of(_base(table[BASED_ON])))
    names = NO_NAMES
    if _FADING in told:
        fading: Fading = form_of(Fading, NO_NAMES).read(_FADING, told[_FADING])
        names = {STRENGTH: fading.strength}
    return form_of(Preset, names).read("", told)


def _base(named: object) -> Preset:
    if not isinstance(named, str) or named not in PRESETS:
        raise InvalidInput(BASED_ON, named, "one of " + ", ".join(sorted(PRESETS)))
    return PRESETS[named]
