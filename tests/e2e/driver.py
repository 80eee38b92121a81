"""The program run in this process, through the same function as from a shell."""

from __future__ import annotations

import io
import json
from dataclasses import dataclass
from typing import Any

import pytest

from remembrancer.interfaces.cli.main import run


@dataclass(frozen=True)
class Ran:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass(frozen=True)
class Cli:
    capture: pytest.CaptureFixture[str]
    patch: pytest.MonkeyPatch

    def __call__(self, *arguments: str, stdin: bytes = b"") -> Ran:
        self.patch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(stdin), encoding="utf-8"))
        self.capture.readouterr()
        code = run(arguments)
        captured = self.capture.readouterr()
        return Ran(code, captured.out, captured.err)

    def done(self, *arguments: str, stdin: bytes = b"") -> Ran:
        """Run a command that must succeed."""
        ran = self(*arguments, stdin=stdin)
        assert ran.code == 0, ran
        return ran
