from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest
from driver import Cli
from png import read_png
from prepared import Prepare

from remembrancer.presets.catalogue import PRESETS

QUESTION = "how much memory does checkout need?"
COMPARE = ("presets", "compare", QUESTION)
SHIPPED = list(PRESETS)


@pytest.fixture
def ids(cli: Cli, prepared: Prepare) -> dict[str, str]:
    """The ids of the best lexical match and of a more important memory."""
    told = {
        "exact": ("Checkout needs 2 GiB of memory", "--importance", "0.2", "--at", "3d"),
        "grave": ("Memory is short everywhere", "--importance", "1", "--at", "2d"),
    }
    return prepared(
        lambda: {name: cli.done("remember", *arguments, "--json").json["id"] for name, arguments in told.items()}
    )


def test_a_row_for_each_memory_has_its_rank_and_score_under_each_preset(cli: Cli, ids: dict[str, str]) -> None:
    lines = cli.done(*COMPARE).out.splitlines()
    assert lines[2].split() == SHIPPED
    rows = [line for line in lines if re.match(r"[AB] +\d [01]\.\d\d ", line)]
    assert [row[0] for row in rows] == ["A", "B"]
    assert all(len(re.findall(r"\d [01]\.\d\d", row)) == len(SHIPPED) for row in rows)


def test_the_reasons_for_differences_are_below_the_table(cli: Cli, ids: dict[str, str]) -> None:
    told = " ".join(cli.done(*COMPARE, "default", "engram", "--limit", "1").out.split())
    assert "Why they differ A Checkout needs 2 GiB of memory rank 1 everywhere: " in told
    assert ids["exact"][-8:] in told


def test_a_memory_that_is_left_out_has_its_rank_in_brackets(cli: Cli, ids: dict[str, str]) -> None:
    printed = cli.done(*COMPARE, "default", "teaparty", "--limit", "1").out
    assert re.search(r"^A +1 0\.\d\d +\(2\) +Checkout needs", printed, re.MULTILINE)
    assert re.search(r"^B +\(2\) +1 0\.\d\d +Memory is short", printed, re.MULTILINE)
    assert ids


def test_the_overlap_of_each_pair_comes_last(cli: Cli, ids: dict[str, str]) -> None:
    lines = cli.done(*COMPARE, "default", "engram", "plastmem").out.rstrip().splitlines()
    assert [line.split() for line in lines[-3:]] == [
        ["default", "engram"],
        ["engram", "1.00"],
        ["plastmem", "1.00", "1.00"],
    ]


def test_presets_may_be_files(cli: Cli, ids: dict[str, str], folder: Path) -> None:
    own = cli.done("presets", "show", "engram", "--toml").out.replace('name = "engram"', 'name = "mine"', 1)
    (folder / "mine.toml").write_text(own, encoding="utf-8")
    compared = cli.done(*COMPARE, "./mine.toml", "engram", "--json").json
    assert [answer["preset"] for answer in compared["answers"]] == ["mine", "engram"]
    assert compared["overlaps"] == [{"presets": ["mine", "engram"], "share": 1.0}]


def test_the_preset_in_use_comes_first(cli: Cli, ids: dict[str, str]) -> None:
    compared = cli.done(*COMPARE, "--preset", "engram", "--json").json
    others = [name for name in SHIPPED if name != "engram"]
    assert [answer["preset"] for answer in compared["answers"]] == ["engram", *others]


def test_all_of_it_is_in_json(cli: Cli, ids: dict[str, str]) -> None:
    compared = cli.done(*COMPARE, "default", "crewship", "--limit", "1", "--json").json
    assert compared.keys() == {"query", "asked_at", "answers", "memories", "overlaps"}
    assert compared["answers"][0].keys() == {"preset", "limit", "hits", "degraded"}
    assert compared["answers"][0]["hits"] == [ids["exact"]]
    [memory, *_] = compared["memories"]
    assert memory.keys() == {"memory", "cue", "places", "why"}
    assert [place["preset"] for place in memory["places"]] == ["default", "crewship"]
    assert memory["places"][0].keys() == {
        "preset", "returned", "rank", "score", "stage", "reason", "leading", "groups", "parts",
    }  # fmt: skip


def test_an_unavailable_part_is_reported_once(cli: Cli, ids: dict[str, str]) -> None:
    assert cli.done(*COMPARE).err == "degraded: dense: no embedder: lexical recall only, as asked for\n"


def test_a_question_may_be_asked_as_of_another_time(cli: Cli, ids: dict[str, str]) -> None:
    assert "No preset returns anything." in cli.done(*COMPARE, "--as-of", "2020-01-01").out
    assert cli.done(*COMPARE, "--as-of", "2020-01-01", "--json").json["asked_at"] == "2020-01-01T00:00:00Z"


def test_an_empty_answer_is_reported(cli: Cli, ids: dict[str, str]) -> None:
    assert "No preset returns anything." in cli.done("presets", "compare", "zebra", "default").out


@pytest.mark.parametrize("columns", [40, 60, 80, 120])
def test_the_table_fits_its_terminal(
    cli: Cli, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    printed = cli.done(*COMPARE).out
    assert max(len(line) for line in printed.splitlines()) <= columns
    assert all(name in printed for name in SHIPPED)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("presets", "compare"), "QUESTION"),
        (("presets", "compare", " "), "query"),
        ((*COMPARE, "unheard"), "preset"),
        ((*COMPARE, "default", "default"), "presets"),
        ((*COMPARE, "--limit", "0"), "limit"),
        ((*COMPARE, "--as-of", "once"), "as-of"),
        ((*COMPARE, "missing.toml"), "missing.toml"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    cli: Cli, ids: dict[str, str], arguments: tuple[str, ...], named: str
) -> None:
    ran = cli(*arguments)
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert named in ran.err


def test_a_picture_is_drawn_in_addition_to_the_table(cli: Cli, ids: dict[str, str], folder: Path) -> None:
    ran = cli.done(*COMPARE, "--png", "compared.png")
    picture = read_png((folder / "compared.png").read_bytes())
    assert picture.width > 1400
    assert picture.shades > 50
    assert "Why they differ" in ran.out
    assert ran.err.splitlines()[-1] == "drew compared.png"


def test_a_picture_replaces_nothing(cli: Cli, ids: dict[str, str], folder: Path) -> None:
    (folder / "mine.png").write_bytes(b"mine")
    assert cli(*COMPARE, "--png", "mine.png").code == 2
    assert (folder / "mine.png").read_bytes() == b"mine"


def test_the_line_that_the_demo_ends_with_compares_its_database_under_every_preset(cli: Cli) -> None:
    told = cli.done("demo", "--keep", "demo.db").out
    [line] = [line for line in told.splitlines() if "presets compare" in line]
    compared = cli.done(*shlex.split(line)[1:], "--json").json
    assert {answer["preset"]: len(answer["hits"]) for answer in compared["answers"]} == dict.fromkeys(SHIPPED, 5)
    assert min(overlap["share"] for overlap in compared["overlaps"]) < 1
