from __future__ import annotations

import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeVar

import pytest
from driver import Cli
from prepared import Prepare, Prepared

from remembrancer.config import ALIASES, PREFIX

T = TypeVar("T")


@pytest.fixture(autouse=True)
def without_log_handlers_of_programs() -> Iterator[None]:
    """Removes the handlers that a program added to the root logger: their stream is closed when the test ends, and
    each later message would print a traceback.
    """
    before = [*logging.root.handlers]
    yield
    for handler in [*logging.root.handlers]:
        if handler not in before and type(handler).__module__ == logging.__name__:
            logging.root.removeHandler(handler)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and an environment that disables the embedder."""
    for name in [name for name in os.environ if name.startswith(PREFIX) or name in ALIASES]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("REMEMBRANCER_EMBEDDER", "none")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch)


@pytest.fixture(scope="session")
def prepared_folders(tmp_path_factory: pytest.TempPathFactory) -> Prepared:
    return Prepared(tmp_path_factory.mktemp("prepared"))


@pytest.fixture
def prepared(prepared_folders: Prepared, folder: Path, request: pytest.FixtureRequest) -> Prepare:
    """The initial contents of the working directory for every test of a file."""

    def once(make: Callable[[], T], /) -> T:
        return prepared_folders.given(request.path.stem, folder, make)

    return once
