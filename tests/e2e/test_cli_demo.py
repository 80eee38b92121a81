from __future__ import annotations

import io
import json
import re
import shlex
from contextlib import redirect_stdout
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest
from driver import Cli
from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from remembrancer.interfaces.cli.demo import SHOWN, Signs
from remembrancer.interfaces.cli.main import run

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def told() -> dict[str, Any]:
    """The JSON output of the demo, with the local embedder."""
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(io.StringIO()) as out:
        patch.setenv("REMEMBRANCER_EMBEDDER", "local")
        assert run(("demo", "--json")) == 0
    return json.loads(out.getvalue())


def totals(told: dict[str, Any]) -> dict[str, dict[str, int]]:
    return {one["system"]: one for one in told["totals"]}


@pytest.mark.parametrize("options", [(), ("--all",), ("--hard",)], ids=str)
def test_the_demo_fits_a_terminal_and_says_that_without_an_embedder_it_searches_by_words(
    cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch, options: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    ran = cli.done("demo", *options)
    assert max(cell_len(line) for line in ran.out.splitlines()) <= 80
    assert "Without an embedder this memory searches by words only" in ran.out
    assert re.search(r"^memory  █", ran.out, re.MULTILINE)
    assert "\ncosine" not in ran.out
    assert ran.err.startswith("degraded: dense: no embedder")
    assert list(folder.iterdir()) == []


def test_the_demo_names_the_turns_that_hold_the_answers(told: dict[str, Any]) -> None:
    keys = {json.loads(line)["key"] for line in (files("remembrancer") / "demo/history.jsonl").read_text().splitlines()}
    assert told["turns"] == told["memories"] == len(keys)
    assert "MiniLM" in told["embedder"]
    for answer in told["answers"]:
        assert keys.issuperset(answer["gold"])
        assert answer["recall"]["degraded"] == {}
        for ranked in answer["ranked"].values():
            assert keys.issuperset(ranked["found"])
            ranks = {rank for rank in ranked["gold_ranks"] if rank}
            assert [ranked["found"][rank - 1] in answer["gold"] for rank in ranks] == [True] * len(ranks)


def test_the_printed_questions_are_answered_first_and_the_first_one_that_nothing_answers_is_not(
    told: dict[str, Any],
) -> None:
    assert all(1 in answer["ranked"]["memory"]["gold_ranks"] for answer in told["answers"][:SHOWN])
    unanswerable = next(answer for answer in told["answers"] if not answer["gold"])
    found = {name: bool(one["found"]) for name, one in unanswerable["ranked"].items()}
    assert found == {"memory": False, "grep": True, "cosine": True}


def test_the_memory_finds_more_answers_than_grep_and_cosine(told: dict[str, Any]) -> None:
    memory, grep, cosine = (totals(told)[name] for name in ("memory", "grep", "cosine"))
    for other in (grep, cosine):
        assert memory["at_first"] > other["at_first"]
        assert memory["in_top_3"] > other["in_top_3"]
        assert memory["silent"] > other["silent"]


def test_the_results_of_all_questions_are_those_on_the_page(told: dict[str, Any]) -> None:
    page = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
    for name, one in totals(told).items():
        row = f"| {name} | {one['at_first']} | {one['in_top_3']} | {one['silent']} |"
        assert row in page


def test_the_first_answer_has_a_reason_and_a_forgetting_curve(told: dict[str, Any]) -> None:
    first = told["answers"][0]["recall"]["hits"][0]
    assert first["explanation"]["reason"]
    assert told["curve"]["forecast"]["memory"]["id"] == first["memory"]["id"]


def test_right_and_wrong_differ_on_a_terminal_with_ascii_only() -> None:
    terminal = io.TextIOWrapper(io.BytesIO(), encoding="ascii", write_through=True)
    Console(file=terminal, width=20).print(Signs(Text("✓ ✗")))
    assert terminal.buffer.getvalue() == b"+ -\n"  # pyright: ignore[reportAttributeAccessIssue]


def test_the_commands_that_the_demo_ends_with_work(cli: Cli) -> None:
    ran = cli.done("demo", "--keep", "my demo.db")
    commands = [shlex.split(line) for line in ran.out.splitlines() if line.startswith("  remembrancer ")]
    of_its_database = [words[1:] for words in commands if "my demo.db" in words and words[1] != "serve"]
    assert len(of_its_database) == 2
    for words in of_its_database:
        cli.done(*words)


def test_the_demo_touches_nothing_that_is_there(cli: Cli, folder: Path) -> None:
    (folder / "kept.db").touch()
    assert cli("demo", "--keep", "kept.db").code == 2
    assert cli("demo", "--db", "kept.db").code == 2
    assert cli("demo", "--all", "--hard").code == 2
