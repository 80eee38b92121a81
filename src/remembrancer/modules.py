"""Modules that are loaded when they are first used, so that a short program loads no more than it needs."""

from __future__ import annotations

from collections.abc import Callable, Collection
from importlib import import_module
from types import ModuleType


def loaded_when_used(package: str, names: Collection[str]) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package whose modules of these names need no import of their own.

    With `__getattr__ = loaded_when_used(__name__, __all__)` in `engine/__init__.py`, a module may say
    `from remembrancer import engine`, which loads nothing, and `engine.erase.erase(...)`, which loads `engine.erase`.
    """

    def __getattr__(name: str) -> ModuleType:  # noqa: N807  what it becomes
        if name not in names:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(f"{package}.{name}")

    return __getattr__
