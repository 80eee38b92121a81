"""Runs the conformance suites over every store and index, and writes docs/backends.md: what each passes and skips.

A column is a class in tests/conformance that pytest collects, such as `TestPostgres`; a row is a class of the contract.
A new backend needs nothing here. Run it with `PYTHONPATH=tests/fixtures python -m tools.backends`.
"""

from __future__ import annotations

import sys
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pytest

from remembrancer.testing.contract.finding import IndexSuite
from remembrancer.testing.index_contract import IndexContract

PAGE: Final = Path("docs/backends.md")
HEAD: Final = """# What each backend passes

Every store and every index is tested by the same suites (`remembrancer.testing`). The figures are numbers of passed
tests. A skipped test has a letter, whose reason is below the table. A dash: `make test` does not run that suite there.
`PYTHONPATH=tests/fixtures python -m tools.backends` runs the suites and writes this page.
"""
OF_INDEXES: Final = [base for base in IndexContract.__mro__[1:] if issubclass(base, IndexSuite) and base != IndexSuite]
"""The suites that only an index has."""


@dataclass
class Results:
    """A pytest plugin: the outcome of each test, by its class of the contract and its backend."""

    passed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    failed: Counter[tuple[str, str]] = field(default_factory=Counter[tuple[str, str]])
    skipped: dict[tuple[str, str], Counter[str]] = field(default_factory=lambda: defaultdict(Counter[str]))
    backends: dict[str, bool] = field(default_factory=dict[str, bool])
    """The names of the columns, and whether each is an index."""
    _of: dict[str, tuple[str, str]] = field(default_factory=dict[str, tuple[str, str]])

    def pytest_collection_modifyitems(self, items: Sequence[pytest.Item]) -> None:
        for item in items:
            function: Any = item  # pytest's stubs leave its class and function open
            tested: type = function.cls
            suite, name = str(function.function.__qualname__).split(".")[0], tested.__name__.removeprefix("Test")
            self._of[item.nodeid] = suite.removesuffix("Contract"), name
            self.backends[name] = any(base in OF_INDEXES for base in tested.__mro__)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        place = self._of[report.nodeid]
        if report.skipped:
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            self.skipped[place][reason.removeprefix("Skipped: ")] += 1
        elif report.failed:
            self.failed[place] += 1
        elif report.when == "call":
            self.passed[place] += 1

    def page(self) -> str:
        parts = [HEAD]
        for title, are_indexes in (("Stores", False), ("Indexes", True)):
            columns = [name for name, is_index in self.backends.items() if is_index is are_indexes]
            parts += [f"## {title}\n", "\n".join(self._table(columns)), ""]
        return "\n".join(parts)

    def _table(self, columns: Sequence[str]) -> Iterable[str]:
        suites = sorted({suite for suite, name in self._of.values() if name in columns})
        reasons: dict[str, str] = {}
        yield f"| suite | {' | '.join(map(_words, columns))} |"
        yield f"|---|{'---:|' * len(columns)}"
        for suite in suites:
            cells = [self._cell((suite, name), reasons) for name in columns]
            yield f"| {_words(suite).lower()} | {' | '.join(cells)} |"
        yield ""
        yield from (f"- **{letter}**: {reason}" for reason, letter in reasons.items())

    def _cell(self, place: tuple[str, str], reasons: dict[str, str]) -> str:
        if place not in self._of.values():
            return "–"
        told = [str(self.passed[place])] if self.passed[place] else []
        for reason, count in self.skipped[place].items():
            letter = reasons.setdefault(reason, chr(ord("a") + len(reasons)))
            told.append(f"{count} {letter}")
        if self.failed[place]:
            told.append(f"**{self.failed[place]} failed**")
        return ", ".join(told)


def _words(name: str) -> str:
    """The words of a class's name: `SqliteFile` is `Sqlite file`."""
    first, *rest = "".join(f" {letter}" if letter.isupper() else letter for letter in name).split()
    return " ".join((first, *(word.lower() for word in rest)))


def main() -> int:
    results = Results()
    # Hypothesis, a pytest plugin too, was imported with the suites before pytest could rewrite its assertions.
    code = pytest.main(
        [
            "-q",
            "-W",
            "ignore::pytest.PytestAssertRewriteWarning",
            "-p",
            "no:cacheprovider",
            "tests/conformance",
            *sys.argv[1:],
        ],
        plugins=[results],
    )
    PAGE.write_text(results.page(), encoding="utf-8")
    return int(code)


if __name__ == "__main__":
    sys.exit(main())
