"""Loading modules on first use, so that short programs load only what they need."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Generator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Final

_IDLE_THREADS: Final = "OPENBLAS_THREAD_TIMEOUT"


@contextmanager
def idle_threads_that_sleep() -> Generator[None]:
    """While this loads numpy, OPENBLAS_THREAD_TIMEOUT is 20, unless it is set already. Without it, the threads of
    numpy's OpenBLAS spin for a tenth of a second, which costs as much CPU as importing numpy; with 20 they stop after
    2 ** 20 cycles, half a millisecond.
    """
    leave = _IDLE_THREADS in os.environ or "numpy" in sys.modules
    if not leave:
        os.environ[_IDLE_THREADS] = "20"
    try:
        yield
    finally:
        if not leave:
            del os.environ[_IDLE_THREADS]


def loaded_when_used(package: str) -> Callable[[str], ModuleType]:
    """A `__getattr__` for a package that imports its modules on first use.

    With `__getattr__ = loaded_when_used(__name__)` in `engine/__init__.py`, `from remembrancer import engine` loads no
    module; `engine.erase.erase(...)` loads `engine.erase`.
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
