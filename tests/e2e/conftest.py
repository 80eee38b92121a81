from __future__ import annotations

import os
from pathlib import Path

import pytest
from driver import Cli

from remembrancer.config import ALIASES, PREFIX


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty working directory, and an environment that says to do without an embedder."""
    for name in [name for name in os.environ if name.startswith(PREFIX) or name in ALIASES]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("REMEMBRANCER_EMBEDDER", "none")
    monkeypatch.setenv("COLUMNS", "100")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def cli(folder: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Cli:
    return Cli(capsys, monkeypatch)
