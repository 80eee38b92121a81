"""Runs the tests of the integrations in this environment, and writes versions and results into docs/integrations.md.

`make integrations` runs it in each environment with its tests: `python -m tools.integrations_table
tests/integrations`. It changes the rows whose tests it runs.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import version
from pathlib import Path
from typing import Final

import pytest

PAGE: Final = Path("docs/integrations.md")


@dataclass(frozen=True)
class Tested:
    """What a row of the table is about. `tests`: the beginning of its tests' names; the longest of all rows decides."""

    tests: str
    distributions: tuple[str, ...]


ROWS: Final[Mapping[str, Tested]] = {
    "LangGraph": Tested("test_langgraph_store.py", ("langgraph", "langgraph-checkpoint")),
    "LangMem": Tested("test_langgraph_store.py::test_langmem", ("langmem",)),
    "LangChain": Tested("test_langchain.py", ("langchain-core",)),
    "LangChain's standard tests of retrievers": Tested(
        "test_langchain_standard.py", ("langchain-tests", "langchain-core")
    ),
    "OpenAI Agents SDK": Tested("test_openai_agents.py", ("openai-agents",)),
    "Google ADK": Tested("test_google_adk.py", ("google-adk",)),
    "Pydantic AI": Tested("test_pydantic_ai.py", ("pydantic-ai-slim",)),
    "LlamaIndex": Tested("test_llama_index.py", ("llama-index-core",)),
    "CrewAI": Tested("test_crewai.py", ("crewai",)),
    "Anthropic SDK": Tested("test_anthropic_memory_tool.py", ("anthropic",)),
}
"""The rows of the table, by their first cells."""


@dataclass
class Results:
    """A pytest plugin: how many tests of each row passed, and how many did not."""

    passed: Counter[str] = field(default_factory=Counter[str])
    others: Counter[str] = field(default_factory=Counter[str])

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.passed and report.when != "call":
            return
        (self.passed if report.passed else self.others)[row_of(report.nodeid)] += 1

    def cells(self, row: str) -> tuple[str, str]:
        """The versions, and the number of tests."""
        versions = ", ".join(f"{name} {version(name)}" for name in ROWS[row].distributions)
        others = f", **{self.others[row]} did not**" if self.others[row] else ""
        return versions, f"{self.passed[row]}{others}"

    def written(self, lines: Sequence[str]) -> list[str]:
        """The lines of the page, with the cells of the rows that were tested."""
        new: list[str] = []
        for line in lines:
            row, *others = [cell.strip() for cell in line.strip("|").split("|")]
            cells = [row, *others[:-2], *self.cells(row)] if row in self.passed | self.others else []
            new.append(f"| {' | '.join(cells)} |" if cells else line)
        return new


def row_of(nodeid: str) -> str:
    """The row of a test. Raises ValueError if it has none."""
    file, *test = nodeid.split("::", 1)
    name = "::".join((Path(file).name, *test))
    rows = {tested.tests: row for row, tested in ROWS.items() if name.startswith(tested.tests)}
    return rows[max(rows, key=len)]


def main() -> int:
    results = Results()
    code = pytest.main(["-q", "-p", "no:cacheprovider", *sys.argv[1:]], plugins=[results])
    lines = results.written(PAGE.read_text(encoding="utf-8").splitlines())
    PAGE.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
