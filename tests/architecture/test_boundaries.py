"""What may stand where: read off the source itself, so that a slip fails the suite and not a reader's trust."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import remembrancer

SOURCE = Path(remembrancer.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

ALLOWED_IMPORTS = {
    "errors": set[str](),
    "domain": {"errors"},
    "policies": {"domain", "errors"},
    "ports": {"domain", "errors"},
    "ingest": {"domain", "errors"},
    "presets": {"policies", "domain", "errors"},
    "engine": {"presets", "policies", "ports", "domain", "errors"},
    "jobs": {"engine", "domain", "errors"},
    "adapters": {"ports", "domain", "errors"},
    "config": {"errors"},
}
"""What each part of the package may import of the others. Parts that are not here sit on top and may use all below."""

TEXTBOOK_ADAPTER = SOURCE / "adapters" / "reference"
"""The store that others are compared with may use the policies: that it agrees with them is its purpose."""


def part_of(module: Path) -> str:
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("remembrancer."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("remembrancer."))


@pytest.mark.parametrize("module", MODULES, ids=lambda module: str(module.relative_to(SOURCE)))
def test_a_module_imports_only_what_its_part_may(module: Path) -> None:
    part = part_of(module)
    if part not in ALLOWED_IMPORTS:
        return
    allowed = ALLOWED_IMPORTS[part] | {part}
    if TEXTBOOK_ADAPTER in module.parents:
        allowed |= {"policies"}
    assert set(imported_parts(module)) <= allowed


def lines_matching(pattern: str, *parts: str) -> list[str]:
    found: list[str] = []
    for module in MODULES:
        if parts and part_of(module) not in parts:
            continue
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(pattern, line):
                found.append(f"{module.relative_to(SOURCE)}:{number}: {line.strip()}")
    return found


def test_pure_parts_read_no_clock_and_no_chance() -> None:
    clock_or_chance = r"datetime\.(now|utcnow)|time\.(time|monotonic|perf_counter)\(|random\.|os\.urandom|uuid[14]\("
    assert lines_matching(clock_or_chance, "domain", "policies", "presets", "ports", "engine", "ingest") == []


def test_only_the_configuration_reads_the_environment() -> None:
    readers = {line.partition(":")[0] for line in lines_matching(r"os\.environ|os\.getenv")}
    assert readers <= {"config.py"}


def test_nothing_branches_on_the_name_of_a_preset_or_a_backend() -> None:
    names = "crewship|teaparty|plastmem|engram|mnemosyne|sqlite|postgres|postgresql|qdrant"
    assert lines_matching(rf"""(==|!=|\bin|\bcase)\s*\(?["']({names})["']""") == []


def test_broad_excepts_stand_only_at_the_outer_edges() -> None:
    edges = {"interfaces/cli/main.py", "jobs/indexer.py"}
    broad = lines_matching(r"except\s*:|except (Exception|BaseException)\b")
    # Code that must undo or release something whatever happened catches all, and raises it again.
    swallowing = [line for line in broad if not _raises_again(line) and line.partition(":")[0] not in edges]
    assert swallowing == []


def _raises_again(found: str) -> bool:
    """Whether the handler at that line raises, or hands the error to whoever waits for the result."""
    name, number, _ = found.split(":", 2)
    module = ast.parse((SOURCE / name).read_text(encoding="utf-8"))
    for node in ast.walk(module):
        if isinstance(node, ast.ExceptHandler) and node.lineno == int(number):
            return any(
                isinstance(inner, ast.Raise)
                or (isinstance(inner, ast.Call) and "set_exception" in ast.unparse(inner.func))
                or (isinstance(inner, ast.Return) and inner.value is not None and "error" in ast.unparse(inner.value))
                for inner in ast.walk(node)
            )
    return False
