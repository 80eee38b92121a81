"""The shipped presets, by name. Each is loaded when it is first used."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.presets.spec import Preset

_NAMES: Final = ("default", "crewship", "teaparty", "plastmem", "engram", "mnemosyne")


class _Shipped(Mapping[str, Preset]):
    """Presets by name. The name `engram` means the constant ENGRAM of the module `engram` in this package."""

    def __getitem__(self, name: str) -> Preset:
        if name not in _NAMES:
            raise KeyError(name)
        return getattr(import_module(f"remembrancer.presets.{name}"), name.upper())

    def __iter__(self) -> Iterator[str]:
        return iter(_NAMES)

    def __len__(self) -> int:
        return len(_NAMES)


PRESETS: Final[Mapping[str, Preset]] = _Shipped()


def preset_named(name: str) -> Preset:
    if name not in PRESETS:
        raise InvalidInput("preset", name, "one of " + ", ".join(sorted(PRESETS)) + ", or a file such as ./my.toml")
    return PRESETS[name]
