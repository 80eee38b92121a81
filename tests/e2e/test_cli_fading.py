from __future__ import annotations

import io
import re
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from driver import Cli
from png import read_png
from prepared import Prepare


@pytest.fixture
def ids(cli: Cli, prepared: Prepare) -> dict[str, str]:
    """The ids of a memory that has faded, one that will soon, and one that will later."""
    told = {
        "faded": ("An old saying", "--at", "200d"),
        "soon": ("A saying of late", "--at", "90d"),
        "fresh": ("A new saying", "--importance", "1", "--at", "1d"),
    }
    return prepared(
        lambda: {name: cli.done("remember", *arguments, "--json").json["id"] for name, arguments in told.items()}
    )


def listed(cli: Cli, *arguments: str) -> list[str]:
    return [one["memory"]["id"] for one in cli.done(*arguments, "--json").json["memories"]]


def test_decay_lists_the_weakest_first_with_the_date(cli: Cli, ids: dict[str, str]) -> None:
    ran = cli.done("decay")
    shown = [line.strip().rpartition(" · ")[2] for line in ran.out.splitlines()[2::3]]
    assert shown == [ids[name][-8:] for name in ("faded", "soon", "fresh")]
    assert re.search(
        r"^0\.005  faded: below 0\.05 since \d{4}-\d\d-\d\d \d\d:\d\d UTC, 3 months ago$", ran.out, re.MULTILINE
    )
    assert re.search(r"^0\.977  below 0\.05 from \d{4}-\d\d-\d\d \d\d:\d\d UTC, in 4 months$", ran.out, re.MULTILINE)


def test_decay_lists_so_many_at_most(cli: Cli, ids: dict[str, str]) -> None:
    assert listed(cli, "decay", "--limit", "1") == [ids["faded"]]


def test_decay_uses_the_presets_own_curve(cli: Cli, ids: dict[str, str]) -> None:
    [faded, *_] = cli.done("decay", "--preset", "crewship", "--json").json["memories"]
    assert (faded["memory"]["id"], faded["strength"], faded["below"]) == (ids["faded"], pytest.approx(0.05), 0.15)


def test_decay_has_all_of_it_in_json(cli: Cli, ids: dict[str, str]) -> None:
    [_, soon, _] = cli.done("decay", "--json").json["memories"]
    assert soon.keys() == {"memory", "strength", "below", "faded", "falls_at"}
    assert (soon["strength"], soon["below"], soon["faded"]) == (pytest.approx(0.0625), 0.05, False)
    assert soon["memory"]["id"] == ids["soon"]


def test_fading_lists_memories_that_fade_within_the_time(cli: Cli, ids: dict[str, str]) -> None:
    assert listed(cli, "fading") == [ids["soon"]]
    assert listed(cli, "fading", "--within", "1d") == []
    assert listed(cli, "fading", "--within", "52w") == [ids["soon"], ids["fresh"]]
    assert listed(cli, "fading", "--within", "52w", "-n", "1") == [ids["soon"]]


def test_fading_prints_until_when_nothing_fades(cli: Cli, ids: dict[str, str]) -> None:
    assert re.search(r"^No memory fades before \w+ \d+ \w+ \d{4} unless", cli.done("fading", "--within", "24h").out)
    assert ids


def test_fading_prints_how_many_have_faded_if_no_other_will(cli: Cli, ids: dict[str, str]) -> None:
    one = "1 memory has faded already: `remembrancer decay` lists the weakest.\n"
    assert cli.done("fading", "--within", "24h").out.endswith(one)
    assert "faded already" not in cli.done("fading").out
    cli.done("forget", ids["faded"])
    assert "faded already" not in cli.done("fading", "--within", "24h").out
    assert cli.done("fading", "--within", "24h", "--json").json == {"memories": []}


def test_an_empty_store_has_nothing_that_fades(cli: Cli, ids: dict[str, str]) -> None:
    assert cli.done("decay", "--workspace", "empty").out == "No memories.\n"
    assert ids


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (("decay", "--limit", "0"), "limit"),
        (("fading", "--within", "soon"), "within"),
        (("fading", "--within", "0d"), "within"),
        (("fading", "--within", "9999999w"), "within"),
        (("show", "ID", "--curve", "--days", "0"), "days"),
        (("show", "ID", "--png", "a.png"), "--curve"),
        (("show", "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f", "--curve"), "no memory"),
    ],
)
def test_bad_usage_is_one_line_and_exit_code_2(
    cli: Cli, ids: dict[str, str], arguments: tuple[str, ...], named: str
) -> None:
    ran = cli(*(ids["fresh"] if argument == "ID" else argument for argument in arguments))
    assert (ran.code, ran.out, len(ran.err.splitlines())) == (2, "", 1)
    assert named in ran.err


def test_a_curve_is_drawn_with_its_threshold_and_now(cli: Cli, ids: dict[str, str]) -> None:
    lines = cli.done("show", ids["soon"], "--curve").out.splitlines()
    assert lines[0] == "A saying of late"
    assert lines[3].strip() == "now"
    assert {line.split()[0] for line in lines if "┤" in line} == {"0.5", "0.25", "0.05"}
    assert sum("●" in line for line in lines) == 1
    assert re.fullmatch(r" +\d{4}-\d\d-\d\d +\d{4}-\d\d-\d\d", lines[17])


def test_a_curve_prints_when_it_crosses_the_threshold(cli: Cli, ids: dict[str, str]) -> None:
    told = " ".join(cli.done("show", ids["soon"], "--curve").out.split())
    assert re.search(
        r"Strength 0\.0625 now\. It falls below 0\.05 on \w+ \d+ \w+ \d{4} at \d\d:\d\d UTC, in 1 week, if nothing",
        told,
    )
    faded = " ".join(cli.done("show", ids["faded"], "--curve").out.split())
    assert re.search(r"Strength 0\.00492 now: faded\. It fell below 0\.05 on .* UTC, 3 months ago\.", faded)


def test_a_curve_that_never_crosses_the_threshold_is_reported(cli: Cli, ids: dict[str, str]) -> None:
    told = " ".join(cli.done("show", ids["fresh"], "--curve", "--preset", "teaparty").out.split())
    assert "It does not fall below 0.1 within a hundred years" in told


@pytest.mark.parametrize("columns", [40, 80, 140])
def test_a_curve_fits_its_terminal(
    cli: Cli, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch, columns: int
) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    lines = cli.done("show", ids["soon"], "--curve").out.splitlines()
    assert columns - 2 <= max(len(line) for line in lines) <= columns


def test_a_curve_is_drawn_in_ascii_where_nothing_else_can_be_shown(
    cli: Cli, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    written = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(written, encoding="ascii"))
    cli.done("show", ids["soon"], "--curve")
    drawn = written.getvalue().decode("ascii")
    assert "?" not in drawn
    assert {"*", "-", "|", "X"} <= set(drawn)


def test_a_curve_has_its_points_in_json(cli: Cli, ids: dict[str, str]) -> None:
    curve = cli.done("show", ids["soon"], "--curve", "--days", "10", "--json").json
    assert curve.keys() == {"forecast", "now", "points"}
    assert curve["forecast"]["memory"]["id"] == ids["soon"]
    assert curve["points"][0].keys() == {"at", "strength"}
    strengths = [point["strength"] for point in curve["points"]]
    assert strengths == sorted(strengths, reverse=True)
    assert curve["points"][0]["at"] < curve["now"] < curve["points"][-1]["at"]


def test_a_picture_of_a_curve_is_drawn_in_addition(cli: Cli, ids: dict[str, str], folder: Path) -> None:
    ran = cli.done("show", ids["soon"], "--curve", "--png", "curve.png")
    picture = read_png((folder / "curve.png").read_bytes())
    assert picture.width == 2160
    assert picture.shades > 50
    assert "┤" in ran.out
    assert ran.err == "drew curve.png\n"


def test_a_picture_of_a_curve_can_be_an_svg_document(cli: Cli, ids: dict[str, str], folder: Path) -> None:
    cli.done("show", ids["soon"], "--curve", "--png", "curve.svg")
    drawn = ET.fromstring((folder / "curve.svg").read_text(encoding="utf-8"))  # noqa: S314  our own markup
    assert (drawn.tag, drawn.get("width")) == ("{http://www.w3.org/2000/svg}svg", "1080")


def test_a_picture_replaces_nothing(cli: Cli, ids: dict[str, str], folder: Path) -> None:
    (folder / "mine.png").write_bytes(b"mine")
    ran = cli("show", ids["soon"], "--curve", "--png", "mine.png")
    assert (ran.code, ran.out) == (2, "")
    assert (folder / "mine.png").read_bytes() == b"mine"


def test_a_picture_that_cannot_be_written_leaves_nothing(cli: Cli, ids: dict[str, str], folder: Path) -> None:
    before = sorted(folder.iterdir())
    ran = cli("show", ids["soon"], "--curve", "--png", "missing/curve.png")
    assert (ran.code, "--png" in ran.err, len(ran.err.splitlines())) == (2, True, 1)
    assert sorted(folder.iterdir()) == before


def test_a_picture_without_its_library_names_the_extra_to_install(
    cli: Cli, ids: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def found(name: str) -> str | None:
        return None if name == "resvg_py" else name

    monkeypatch.setattr("remembrancer.interfaces.cli.picture.find_spec", found)
    ran = cli("show", ids["soon"], "--curve", "--png", "curve.png")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "error: a picture needs resvg-py: pip install 'remembrancer[plot]'\n"
