from __future__ import annotations

import re
from itertools import combinations, pairwise
from math import dist
from pathlib import Path

import pytest

from remembrancer.interfaces import charts, dashboard, palette

ASSETS = Path(dashboard.__file__).parent / "assets"
SHEET = (ASSETS / "charts.css").read_text(encoding="utf-8")
PALETTE = re.findall(r"--([\w-]+): light-dark\((#\w{6}), (#\w{6})\);", (ASSETS / "palette.css").read_text("utf-8"))
CHARTS = Path(charts.__file__).parent
THEMES = {
    "light": {name: light for name, light, _ in PALETTE},
    "dark": {name: dark for name, _, dark in PALETTE},
}
each_theme = pytest.mark.parametrize("theme", THEMES.values(), ids=THEMES)
HUES = [*palette.HUES, "red"]
SEEN: dict[str, tuple[tuple[float, float, float], ...]] = {
    "all": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "no red": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216), (-0.003882, -0.048116, 1.051998)),
    "no green": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413), (-0.01182, 0.04294, 0.968881)),
    "no blue": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602), (0.004733, 0.691367, 0.3039)),
}
"""Linear RGB as it is seen with all cones, and without one kind (Machado, Oliveira and Fernandes 2009, severity 1)."""

Theme = dict[str, str]


def linear(colour: str) -> list[float]:
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    return [each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels]


def times(matrix: tuple[tuple[float, float, float], ...], colour: list[float]) -> list[float]:
    return [sum(by * each for by, each in zip(row, colour, strict=True)) for row in matrix]


def lab(colour: list[float]) -> list[float]:
    """Oklab, as Ottosson defines it."""
    to_cones = (
        (0.41222147, 0.53633254, 0.05144599),
        (0.2119035, 0.68069955, 0.10739696),
        (0.08830246, 0.28171884, 0.62997870),
    )
    to_lab = (
        (0.21045426, 0.79361779, -0.00407205),
        (1.9779985, -2.4285922, 0.45059371),
        (0.0259040, 0.78277177, -0.80867577),
    )
    return times(to_lab, [max(each, 0.0) ** (1 / 3) for each in times(to_cones, colour)])


def luminance(colour: str) -> float:
    """Relative, as WCAG 2 has it."""
    red, green, blue = linear(colour)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@each_theme
@pytest.mark.parametrize("hue", [*HUES, "edge"])
def test_a_mark_has_contrast_on_its_background(theme: Theme, hue: str) -> None:
    assert min(contrast(theme[hue], theme[ground]) for ground in ("panel", "ground")) >= 3.0


@each_theme
@pytest.mark.parametrize("text", ["ink", "soft", "accent", "bad"])
def test_words_can_be_read_on_their_ground(theme: Theme, text: str) -> None:
    assert min(contrast(theme[text], theme[ground]) for ground in ("panel", "ground", "sunk")) >= 4.5


@each_theme
@pytest.mark.parametrize("state", ["accent", "good", "warn", "bad"])
def test_words_can_be_read_on_the_ground_of_a_state(theme: Theme, state: str) -> None:
    assert contrast(theme[state], theme[f"{state}-ground"]) >= 4.5


def test_data_have_five_hues() -> None:
    assert len(palette.HUES) == 5


@each_theme
@pytest.mark.parametrize("cones", SEEN.values(), ids=SEEN)
def test_hues_are_told_apart_with_any_colour_vision(
    theme: Theme, cones: tuple[tuple[float, float, float], ...]
) -> None:
    seen = {hue: lab(times(cones, linear(theme[hue]))) for hue in HUES}
    apart = {pair: dist(seen[pair[0]], seen[pair[1]]) for pair in combinations(HUES, 2)}
    assert {pair: far for pair, far in apart.items() if far < 0.085} == {}


@pytest.mark.parametrize(("theme", "darker"), [("light", True), ("dark", False)])
def test_the_stronger_the_farther_from_the_ground(theme: str, darker: bool) -> None:
    steps = [luminance(THEMES[theme][f"strength-{step}"]) for step in range(1, 6)]
    assert all((before > after) is darker for before, after in pairwise(steps))


@pytest.mark.parametrize("sheet", ["charts.css", "dashboard.css"])
def test_a_colour_is_written_in_the_palette_only(sheet: str) -> None:
    rules = (ASSETS / sheet).read_text(encoding="utf-8").split("@media print")[0]
    assert re.findall(r"#[0-9a-fA-F]{3,8}\b(?=[^{]*;)", rules) == []


def test_every_class_of_a_chart_is_in_the_sheet_or_names_a_position() -> None:
    source = "".join(module.read_text(encoding="utf-8") for module in CHARTS.glob("*.py"))
    used = set(re.findall(r'class_=f?"([^"{}]+)"', source))
    names = {name for group in used for name in group.split()}
    assert {name for name in names if not re.search(rf"\.{name}\b", SHEET)} == set()


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert re.findall(r"url\(|@import|https?:", SHEET) == []
