from __future__ import annotations

import io
import json
import re
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import pytest
from driver import Cli

from remembrancer.interfaces.cli.main import run


def test_the_demo_reports_that_its_search_is_lexical_only(cli: Cli, folder: Path) -> None:
    ran = cli.done("demo")
    assert "question 6 of 6" in ran.out
    assert "no embedder: lexical search only" in ran.out
    assert ran.err.startswith("degraded: dense: no embedder")
    assert list(folder.iterdir()) == []


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """The JSON output of the demo, with the local embedder."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setenv("REMEMBRANCER_EMBEDDER", "local")
        assert run(("demo", "--json")) == 0
    return json.loads(out.getvalue())


def test_the_demo_finds_turns_by_meaning(told: dict[str, Any]) -> None:
    assert told["turns"] == told["memories"] > 300
    assert "MiniLM" in told["embedder"]
    assert len(told["answers"]) == 6
    for answer in told["answers"]:
        ranks = [rank for rank in answer["gold_ranks"] if rank is not None]
        assert len(answer["gold"]) == len(answer["gold_ranks"])
        assert all(1 <= rank <= len(answer["recall"]["hits"]) for rank in ranks)
        assert answer["recall"]["degraded"] == {}
        assert answer["recall"]["hits"][0]["age"]["seconds"] > 0
    first = [answer for answer in told["answers"] if 1 in answer["gold_ranks"]]
    assert told["at_first"] == len(first)
    assert told["in_top_3"] >= told["at_first"]


def test_the_demo_answers_four_of_its_hard_questions_among_the_first_three(told: dict[str, Any]) -> None:
    assert told["in_top_3"] >= 4, [answer["gold_ranks"] for answer in told["answers"]]


@pytest.mark.parametrize("columns", [80, 120])
def test_the_demo_fits_its_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = cli.done("demo").out
    # The picture letters are two cells wide, so a line may have fewer characters than cells, never more.
    assert max(len(line) for line in printed.splitlines()) <= columns
    assert re.search(r"^✓ +\d+ 0\.\d{3} [█▓]", printed, re.MULTILINE)
    assert re.search(r"^✓ \d of the \d turns that hold the answer: rank", printed, re.MULTILINE)


def test_the_demos_database_can_be_kept_and_asked(cli: Cli) -> None:
    ran = cli.done("demo", "--keep", "my demo.db")
    [line] = [line for line in ran.out.splitlines() if "remembrancer recall" in line]
    assert "--db 'my demo.db'" in line
    asked = cli.done("recall", "What does PX_3071 mean?", "--db", "my demo.db", "--json").json
    assert "PX_3071" in asked["hits"][0]["memory"]["text"]


def test_the_demo_touches_nothing_that_is_there(cli: Cli, folder: Path) -> None:
    (folder / "kept.db").touch()
    assert cli("demo", "--keep", "kept.db").code == 2
    assert cli("demo", "--db", "kept.db").code == 2
