"""The tables equal the output of their scripts, and the scripts do not import the code under test."""

from __future__ import annotations

import ast
import runpy
import sys
from pathlib import Path

import pytest

SOURCES = Path(__file__).parent / "sources"
SHARED = "plain"
SCRIPTS = sorted(path for path in SOURCES.glob("*.py") if path.stem != SHARED)


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda script: script.stem)
def test_a_table_equals_the_output_of_its_script(
    script: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "path", [str(SOURCES), *sys.path])
    for shared in (path.stem for path in SOURCES.glob("*.py")):
        monkeypatch.delitem(sys.modules, shared, raising=False)
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out == (SOURCES.parent / f"{script.stem}.csv").read_text(encoding="utf-8")


@pytest.mark.parametrize("script", [*SCRIPTS, SOURCES / f"{SHARED}.py"], ids=lambda script: script.stem)
def test_a_script_imports_nothing_from_the_tested_package(script: Path) -> None:
    imported = {
        name.partition(".")[0]
        for node in ast.walk(ast.parse(script.read_text(encoding="utf-8")))
        for name in _modules(node)
    }
    assert imported <= {*sys.stdlib_module_names, "fsrs", *(path.stem for path in SOURCES.glob("*.py"))}


def _modules(node: ast.AST) -> list[str]:
    match node:
        case ast.Import(names):
            return [alias.name for alias in names]
        case ast.ImportFrom(module=str(module)):
            return [module]
        case _:
            return []
