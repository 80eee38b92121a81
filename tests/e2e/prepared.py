"""The initial files for the tests of a module: created by the first test and copied for the others."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Protocol, TypeVar

T = TypeVar("T")


class Prepare(Protocol):
    def __call__(self, make: Callable[[], T], /) -> T:
        """Return the result of `make`; the working directory then contains its files."""
        ...


class Prepared:
    """Folders by name, under `place`."""

    def __init__(self, place: Path) -> None:
        self._place = place
        self._made: dict[str, Any] = {}

    def given(self, name: str, folder: Path, make: Callable[[], T]) -> T:
        """Return the result of the first call of `make` under this name; `folder` then contains its files."""
        if name in self._made:
            shutil.copytree(self._place / name, folder, dirs_exist_ok=True)
        else:
            self._made[name] = make()
            shutil.copytree(folder, self._place / name)
        return self._made[name]
