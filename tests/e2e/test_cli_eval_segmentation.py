"""`eval segmentation` on the command line: tables, JSON, records, a picture, and refused input."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from driver import Cli
from png import read_png

FOLDER = Path(__file__).parents[1] / "fixtures" / "segmentation"
ERRANDS = str(FOLDER / "errands.json")


def test_the_default_segmenter_is_held_against_every_baseline(cli: Cli, folder: Path) -> None:
    measured = cli.done("eval", "segmentation", str(FOLDER), "--embedder", "none", "--json").json
    errands, other = measured["sets"]
    assert (errands["name"], errands["part"], errands["dialogues"], errands["turns"]) == ("errands", "test", 2, 24)
    assert (other["part"], other["dialogues"]) == ("all", 2)
    ours = errands["table"][0]
    assert (ours["method"], ours["gold"]) == ("topic-shift by words", 3)
    for baseline in ("none", "random", "fixed windows", "texttiling", "texttiling by turns"):
        row = next(row for row in errands["table"] if row["method"] == baseline)
        assert ours["pk"] < row["pk"]
        assert ours["window_diff"] < row["window_diff"]
        assert ours["f1"] > row["f1"]
    assert {one["second"] for one in errands["differences"]} == {row["method"] for row in errands["table"][1:]}
    assert not (folder / "remembrancer.db").exists()


def test_tables_are_drawn(cli: Cli) -> None:
    out = " ".join(cli.done("eval", "segmentation", ERRANDS, "--embedder", "none").out.split())
    assert "errands, test: 2 of 3 dialogues, 24 turns, 3 boundaries" in out
    assert "topic-shift by words less each other" in out
    assert "Without embedder: no embedder: lexical recall only, as asked for" in out
    assert "turns a second" in out
    assert "[bold]" not in out


def test_a_part_is_chosen(cli: Cli) -> None:
    told = cli.done("eval", "segmentation", ERRANDS, "--part", "dev", "--no-baselines", "--embedder", "none", "--json")
    assert [(one["part"], one["dialogues"], len(one["table"])) for one in told.json["sets"]] == [("dev", 1, 1)]


def test_records_are_kept(cli: Cli, folder: Path) -> None:
    cli.done("eval", "segmentation", ERRANDS, "--embedder", "none", "--records", "results", "--json")
    lines = (folder / "results" / "errands.jsonl").read_text().splitlines()
    assert [json.loads(line)["id"] for line in lines] == ["workshop", "kitchen"]
    assert json.loads((folder / "results" / "report.json").read_text())["sets"][0]["part"] == "test"


def test_each_table_is_drawn_as_a_picture(cli: Cli, folder: Path) -> None:
    ran = cli.done("eval", "segmentation", str(FOLDER), "--embedder", "none", "--plot", "pictures")
    names = sorted(path.name for path in (folder / "pictures").iterdir())
    assert names == [
        "differences-errands.png", "differences-undivided_parts.png",
        "segments-errands.png", "segments-undivided_parts.png",
    ]  # fmt: skip
    assert len(names) == sum(line.strip().startswith("─") for line in ran.out.splitlines())
    assert all(read_png((folder / "pictures" / name).read_bytes()).shades > 40 for name in names)
    assert "drew segments-errands.png" in ran.err


def test_to_a_pipe_no_name_and_no_figure_is_cut(cli: Cli) -> None:
    assert "…" not in cli.done("eval", "segmentation", str(FOLDER), "--embedder", "none").out


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["nowhere"], "path: 'nowhere' is not allowed; expected a JSON file of dialogues"),
        (["."], "expected a folder with files named *.json or *.json.gz"),
        ([ERRANDS, "--part", "train"], "part: 'train' is not allowed"),
        ([ERRANDS, "--part", "some"], "part: 'some' is not allowed; expected train, dev, test, all"),
        ([ERRANDS, "--seed", "-1"], "seed: -1"),
        ([ERRANDS, "--plot", ERRANDS], "--plot:"),
        ([ERRANDS, "--records", ERRANDS, "--embedder", "none"], "records:"),
    ],
)
def test_an_invalid_data_set_is_refused(arguments: list[str], error: str, cli: Cli) -> None:
    ran = cli("eval", "segmentation", *arguments)
    assert (ran.code, error in ran.err, ran.err.count("\n")) == (2, True, 1), ran.err
