from __future__ import annotations

from pathlib import Path

import pytest
from driver import Cli

from remembrancer.policies.ranking.signals import MEANINGS
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.text import table_of, text_of

MINE = """
based_on = "engram"
name = "mine"
description = "Notes by their words."

[ranking]
score = "0.4*similarity + 0.5*lexical + 0.1*retention"
"""

every_preset = pytest.mark.parametrize("name", PRESETS)


@pytest.fixture
def mine(folder: Path) -> str:
    (folder / "mine.toml").write_text(MINE, encoding="utf-8")
    return "mine.toml"


# ── list ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("columns", [40, 80, 200])
def test_the_list_of_presets_has_the_whole_description_of_each(
    cli: Cli, monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = cli.done("presets", "list").out.splitlines()
    assert [line.split()[0] for line in lines if not line.startswith(" ")] == list(PRESETS)
    assert max(len(line) for line in lines) <= columns
    told = " ".join(" ".join(lines).split())
    for preset in PRESETS.values():
        assert preset.description in told


def test_the_preset_in_use_is_marked(cli: Cli) -> None:
    lines = cli.done("presets", "list", "--preset", "engram").out.splitlines()
    assert [line.split()[0] for line in lines if "in use" in line] == ["engram"]


def test_a_preset_of_ones_own_is_listed_where_it_is_in_use(
    cli: Cli, mine: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMEMBRANCER_PRESET", mine)
    assert cli.done("presets", "list", "--json").json["presets"][-1] == {
        "name": "mine",
        "description": "Notes by their words.",
        "in_use": True,
    }


# ── show ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_preset
def test_a_preset_is_shown_with_its_score_and_the_meaning_of_each_signal_in_it(cli: Cli, name: str) -> None:
    shown = " ".join(cli.done("presets", "show", name).out.split())
    assert table_of(PRESETS[name])["ranking"]["score"] in shown
    for signal in cli.done("presets", "show", name, "--json").json["signals"]:
        assert f"{signal} {MEANINGS[signal]}" in shown


@every_preset
def test_a_preset_is_shown_with_every_choice(cli: Cli, name: str) -> None:
    shown = cli.done("presets", "show", name).out
    for key, value in table_of(PRESETS[name]).items():
        assert key in shown or key in {"name", "description"} or value == {}


@every_preset
def test_a_preset_is_printed_as_the_file_that_makes_it(cli: Cli, name: str) -> None:
    assert cli.done("presets", "show", name, "--toml").out == text_of(PRESETS[name])


def test_the_printed_text_is_a_valid_preset_under_another_name(cli: Cli, folder: Path) -> None:
    printed = cli.done("presets", "show", "crewship", "--toml").out
    (folder / "mine.toml").write_text(printed.replace('name = "crewship"', 'name = "mine"'), encoding="utf-8")
    choices = cli.done("presets", "show", "mine.toml", "--json").json["choices"]
    assert choices == {**table_of(PRESETS["crewship"]), "name": "mine"}


def test_the_preset_in_use_is_shown_where_none_is_named(cli: Cli, mine: str) -> None:
    shown = cli.done("presets", "show", "--preset", mine).out
    assert shown.splitlines()[0].split() == ["mine", "in", "use"]


def test_another_preset_than_the_one_in_use_is_not_marked(cli: Cli) -> None:
    assert cli.done("presets", "show", "engram", "--json").json["in_use"] is False


def test_json_overrides_toml(cli: Cli) -> None:
    assert cli.done("presets", "show", "engram", "--toml", "--json").json["choices"]["name"] == "engram"


def test_presets_are_shown_without_making_a_database(cli: Cli, folder: Path) -> None:
    cli.done("presets", "list")
    cli.done("presets", "show")
    assert list(folder.iterdir()) == []


# ── use ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_memory_is_kept_and_found_by_a_preset_of_ones_own(cli: Cli, mine: str) -> None:
    kept = cli.done("remember", "Checkout needs 2 GiB", "--preset", mine, "--json").json
    found = cli.done("recall", "how much does checkout need?", "--preset", mine, "--json").json["hits"]
    assert (kept["kind"], [hit["memory"]["id"] for hit in found]) == ("fact", [kept["id"]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (None, "preset: 'mine.toml' is not allowed; expected a TOML file (there is no file at this path: check it)"),
        ("name = ", "preset: 'mine.toml' is not allowed; expected a TOML file (Invalid value (at end of document))"),
        (
            'name = "engram"\nbased_on = "engram"',
            "mine.toml: name: 'engram' is not allowed; expected a name that no shipped preset has",
        ),
        (
            f"{MINE}[ranking.depth]\nlest = 3",
            "mine.toml: ranking.depth.lest: 3 is not allowed; expected one of the keys",
        ),
        (MINE.replace("lexical", "lexicall"), "mine.toml: ranking.score: 'lexicall' is not allowed; expected a signal"),
        (MINE.replace(" + 0.5", " - 0.5"), "mine.toml: ranking.score: '0.4*similarity - 0.5*lexical + 0.1*retention'"),
    ],
)
def test_a_file_that_is_no_preset_is_one_line_and_nothing_is_opened(
    cli: Cli, folder: Path, text: str | None, said: str
) -> None:
    if text is not None:
        (folder / "mine.toml").write_text(text, encoding="utf-8")
    ran = cli("remember", "anything", "--preset", "mine.toml")
    assert (ran.code, ran.err.count("\n")) == (2, 1)
    assert ran.err.startswith(f"error: {said}")
    assert not (folder / "remembrancer.db").exists()
