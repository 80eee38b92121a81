"""Modules that are loaded when they are first used, so that a short program loads no more than it needs."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from types import ModuleType


def loaded_when_used(package: str) -> Callable[[str], ModuleType]:
    """The `__getattr__` of a package whose modules need no import of their own.

    With `__getattr__ = loaded_when_used(__name__)` in `engine/__init__.py`, a module may say
    `from remembrancer import engine`, which loads nothing, and `engine.erase.erase(...)`, which loads `engine.erase`.
    """

    def __getattr__(name: str) -> ModuleType:  # noqa: N807  what it becomes
        module = f"{package}.{name}"
        try:
            return import_module(module)
        except ModuleNotFoundError as error:
            if error.name != module:
                raise
            raise AttributeError(f"module {package!r} has no attribute {name!r}") from None

    return __getattr__
