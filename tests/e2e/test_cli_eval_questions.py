"""`eval questions` on the command line: measurements, comparisons, pictures, and refused input."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from driver import Cli
from png import read_png

OWN = Path(__file__).parents[1] / "fixtures" / "questions"
CORPUS, QUESTIONS = str(OWN / "corpus.jsonl"), str(OWN / "questions.jsonl")


def test_questions_of_ones_own_are_measured(cli: Cli, folder: Path) -> None:
    measured = cli.done("eval", "questions", CORPUS, QUESTIONS, "--json").json
    assert (measured["questions"], measured["adversarial_questions"]) == (5, 2)
    assert measured["conversation_ids"] == ["workshop", "garden"]
    assert measured["table"][0]["system"] == "default"
    assert measured["table"][0]["turn"]["recall@10"] > 0.5
    assert not (folder / "remembrancer.db").exists()


def test_tables_are_drawn(cli: Cli) -> None:
    out = " ".join(cli.done("eval", "questions", CORPUS, QUESTIONS, "--no-baselines").out.split())
    assert "5 questions count, 2 unanswerable stand apart" in out
    assert "what becomes of the 7 turns that answer" in out
    assert "[bold]" not in out


def test_two_presets_are_compared_and_their_changed_questions_kept(cli: Cli, folder: Path) -> None:
    measured = cli.done(
        "eval", "questions", CORPUS, QUESTIONS, "--against", "crewship", "--records", "results", "--json"
    ).json
    assert [row["system"] for row in measured["table"][:2]] == ["default", "crewship"]
    assert (measured["paired"]["first"], measured["paired"]["second"]) == ("default", "crewship")
    changed = (folder / "results" / "default-against-crewship.jsonl").read_text().splitlines()
    assert len(changed) == measured["paired"]["changed"] > 0
    assert measured["missed"]["crewship"]["first 10"]["not ingested"] == 7


def test_saved_records_are_compared(cli: Cli) -> None:
    for preset in ("default", "mnemosyne"):
        cli.done("eval", "questions", CORPUS, QUESTIONS, "--preset", preset, "--records", preset, "--no-baselines")
    by_folder = cli.done("eval", "compare", "default", "mnemosyne", "--json").json
    by_file = cli.done("eval", "compare", "default/default.jsonl", "mnemosyne/mnemosyne.jsonl", "--json").json
    assert by_folder == by_file
    assert (by_file["first"], by_file["second"], by_file["questions"]) == ("default", "mnemosyne", 5)
    assert "default less mnemosyne, on the same 5 questions" in " ".join(
        cli.done("eval", "compare", "default", "mnemosyne").out.split()
    )


def test_groups_and_a_choice_of_conversations(cli: Cli) -> None:
    grouped = cli.done("eval", "questions", CORPUS, QUESTIONS, "--tuned", "garden", "--json").json
    assert [group["conversations"] for group in grouped["groups"]] == [["garden"], ["workshop"]]
    chosen = cli.done("eval", "questions", CORPUS, QUESTIONS, "--only", "garden", "--json").json
    assert (chosen["conversation_ids"], chosen["conversations_available"]) == (["garden"], 2)


def test_baselines_with_headings(cli: Cli) -> None:
    measured = cli.done("eval", "questions", CORPUS, QUESTIONS, "--with-headings", "--json").json
    assert "bm25+heading" in [row["system"] for row in measured["table"]]


def tables(out: str) -> int:
    """How many tables are printed: each has one rule below its headings."""
    return sum(line.strip().startswith("─") for line in out.splitlines())


def test_each_table_is_drawn_as_a_picture(cli: Cli, folder: Path) -> None:
    ran = cli.done(
        "eval", "questions", CORPUS, QUESTIONS, "--against", "engram", "--tuned", "garden", "--plot", "pictures"
    )
    names = [path.name for path in (folder / "pictures").iterdir()]
    assert len([name for name in names if not name.endswith("roc.png")]) == tables(ran.out) > 20
    pictures = {name: read_png((folder / "pictures" / name).read_bytes()) for name in names}
    assert [name for name, one in pictures.items() if one.width != 2160 or one.shades <= 40] == []
    assert all(name in ran.err for name in names)


def test_a_comparison_is_drawn_as_pictures(cli: Cli, folder: Path) -> None:
    cli.done("eval", "questions", CORPUS, QUESTIONS, "--records", "run")
    ran = cli.done("eval", "compare", "run/default.jsonl", "run/recency.jsonl", "--plot", "pictures")
    names = sorted(path.name for path in (folder / "pictures").iterdir())
    assert (names, tables(ran.out)) == (["changed.png", "differences.png"], 2)


def test_to_a_pipe_no_name_and_no_figure_is_cut(cli: Cli) -> None:
    measured = cli.done("eval", "questions", CORPUS, QUESTIONS, "--against", "mnemosyne", "--tuned", "garden")
    assert "…" not in measured.out
    assert {f"block-recall@{budget}" for budget in ("1k", "2k", "4k")} <= set(measured.out.split())


def test_to_a_pipe_a_comparison_is_not_cut(cli: Cli) -> None:
    cli.done("eval", "questions", CORPUS, QUESTIONS, "--records", "run")
    out = cli.done("eval", "compare", "run/default.jsonl", "run/bm25.jsonl").out
    assert "…" not in out
    assert {f"block-recall@{budget}" for budget in ("1k", "2k", "4k")} <= set(out.split())


def test_questions_of_the_other_conversations_are_asked_too(cli: Cli, folder: Path) -> None:
    measured = cli.done("eval", "questions", CORPUS, QUESTIONS, "--foreign", "2", "--records", "results", "--json").json
    assert measured["foreign_questions"] == 4
    records = [json.loads(line) for line in (folder / "results" / "bm25.jsonl").read_text().splitlines()]
    assert sorted(one["foreign"] for one in records if one["foreign"]) == ["garden"] * 2 + ["workshop"] * 2


def test_a_picture_without_its_library_is_unsupported(cli: Cli, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def nothing_is_installed(name: str) -> None:
        """As if the package were not installed."""

    monkeypatch.setattr("remembrancer.interfaces.cli.picture.find_spec", nothing_is_installed)
    ran = cli("eval", "questions", CORPUS, QUESTIONS, "--plot", "pictures")
    assert (ran.code, ran.err) == (3, "error: a picture needs resvg-py: pip install 'remembrancer[plot]'\n")
    assert not (folder / "pictures").exists()


def test_a_file_in_place_of_the_picture_folder_is_refused(cli: Cli, folder: Path) -> None:
    (folder / "file").write_text("mine")
    ran = cli("eval", "questions", CORPUS, QUESTIONS, "--plot", "file")
    assert ran.code == 2
    assert "--plot: 'file' is not allowed; expected a folder" in ran.err
    assert (folder / "file").read_text() == "mine"


TURN = {"id": "a", "text": "the green canoe", "conversation": "lake"}
OTHER = {"id": "b", "text": "eleven bees", "conversation": "hive"}
QUESTION = {"question": "Which canoe?", "gold": ["a"], "conversation": "lake"}


def lines(*records: Any) -> str:
    return "".join(f"{record if isinstance(record, str) else json.dumps(record)}\n" for record in records)


@pytest.mark.parametrize(
    ("turns", "questions", "error"),
    [
        ("", lines(QUESTION), "corpus: 'corpus.jsonl' is not allowed; expected a file with at least one turn"),
        (lines(TURN), "", "questions: 'questions.jsonl' is not allowed; expected a file with at least one question"),
        (lines(TURN, "{nonsense"), lines(QUESTION), "corpus.jsonl:2: 'not a JSON object"),
        (lines(TURN), lines(QUESTION, '{"gold": [NaN]}'), "questions.jsonl:2: 'not a JSON object: NaN is not JSON'"),
        (
            lines(TURN),
            lines({**QUESTION, "gold": ["zz"]}),
            "questions.jsonl:1: gold: 'zz' is not allowed; expected",
        ),
        (
            lines(TURN, TURN),
            lines(QUESTION),
            "corpus.jsonl:2: id: 'a' is not allowed; expected an id that",
        ),
        (lines(TURN, OTHER), lines({**QUESTION, "gold": ["b"]}), "a turn of conversation 'lake' (b is in hive)"),
        (lines(TURN), lines({**QUESTION, "gold": []}), "expected at least one question with evidence"),
        (lines(TURN), lines(QUESTION).replace("Which", "Which \\u0000"), "questions.jsonl:1: question:"),
        ("\xff" + lines(TURN), lines(QUESTION), "corpus.jsonl:1:"),
    ],
)
def test_a_wrong_value_is_refused_with_file_line_and_key(
    turns: str, questions: str, error: str, cli: Cli, folder: Path
) -> None:
    (folder / "corpus.jsonl").write_bytes(turns.encode("latin-1"))
    (folder / "questions.jsonl").write_bytes(questions.encode("latin-1"))
    ran = cli("eval", "questions", "corpus.jsonl", "questions.jsonl")
    assert ran.code == 2
    assert error in ran.err
    assert ran.err.count("\n") == 1
    assert ran.out == ""


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--only", "nowhere"], "only: 'nowhere'"),
        (["--only", "garden", "--conversations", "1"], "only:"),
        (["--conversations", "3"], "conversations: 3"),
        (["--tuned", "garden,workshop"], "at least one conversation left untouched"),
        (["--against", "default"], "against: 'default'"),
        (["--against", "nothing"], "preset: 'nothing'"),
        (["--depth", "5"], "depth: 5"),
        (["--foreign", "-1"], "foreign: -1"),
        (["--foreign", "9"], "foreign: 9 is not allowed; expected at most the"),
        (["--seed", "-1"], "seed: -1"),
        (["--records", CORPUS], "records:"),
    ],
)
def test_options_that_cannot_be_are_refused(options: list[str], error: str, cli: Cli) -> None:
    ran = cli("eval", "questions", CORPUS, QUESTIONS, *options)
    assert (ran.code, error in ran.err) == (2, True), ran.err


@pytest.mark.parametrize("arguments", [["none", "none"], [CORPUS, QUESTIONS], [".", "."]])
def test_files_that_are_no_records_are_refused(arguments: list[str], cli: Cli) -> None:
    ran = cli("eval", "compare", *arguments)
    assert (ran.code, ran.err.count("\n")) == (2, 1)
