from __future__ import annotations

import re
from itertools import combinations, pairwise
from pathlib import Path

import pytest

from remembrancer.interfaces import charts, dashboard
from remembrancer.interfaces.charts import svg

ASSETS = Path(dashboard.__file__).parent / "assets"
SHEET = (ASSETS / "charts.css").read_text(encoding="utf-8")
CHARTS = Path(charts.__file__).parent
GROUNDS = {"light": ("#ffffff", "#fffdf8", "#f6f3ec"), "dark": ("#15181c", "#1a2129", "#12171d")}
"""On which charts may stand: their own, the dashboard's panels and its page."""
HUES = [*svg.HUES, "grey", "red", "frame"]

Themes = dict[str, dict[str, str]]


@pytest.fixture(scope="module")
def themes() -> Themes:
    blocks = re.findall(r":root[^{]*\{([^}]*)\}", SHEET)
    assert len(blocks) == 3
    light, by_system, by_choice = (dict(re.findall(r"--chart-([\w-]+): ([^;]+);", block)) for block in blocks)
    assert by_system == by_choice
    return {"light": light, "dark": by_system}


def luminance(colour: str) -> float:
    """Relative, as WCAG 2 has it."""
    channels = [int(colour[place : place + 2], 16) / 255 for place in (1, 3, 5)]
    red, green, blue = (each / 12.92 if each <= 0.04045 else ((each + 0.055) / 1.055) ** 2.4 for each in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


@pytest.mark.parametrize("theme", GROUNDS)
@pytest.mark.parametrize("hue", HUES)
def test_a_mark_has_contrast_on_its_background(themes: Themes, theme: str, hue: str) -> None:
    assert min(contrast(themes[theme][hue], ground) for ground in GROUNDS[theme]) >= 3.0


@pytest.mark.parametrize("theme", GROUNDS)
@pytest.mark.parametrize("text", ["ink", "faint", "vermillion"])
def test_words_can_be_read_on_their_ground(themes: Themes, theme: str, text: str) -> None:
    grounds = GROUNDS[theme][:2] if text == "vermillion" else GROUNDS[theme]
    assert min(contrast(themes[theme][text], ground) for ground in grounds) >= 4.5


@pytest.mark.parametrize("theme", GROUNDS)
def test_hues_are_distinguished(themes: Themes, theme: str) -> None:
    assert len({themes[theme][hue] for hue in HUES}) == len(HUES)
    for one, other in combinations(svg.HUES, 2):
        first, second = (themes[theme][hue] for hue in (one, other))
        apart = sum(abs(int(first[place : place + 2], 16) - int(second[place : place + 2], 16)) for place in (1, 3, 5))
        assert apart >= 45, (one, other)


@pytest.mark.parametrize(("theme", "darker"), [("light", True), ("dark", False)])
def test_the_stronger_the_farther_from_the_ground(themes: Themes, theme: str, darker: bool) -> None:
    steps = [luminance(themes[theme][f"strength-{step}"]) for step in range(1, 6)]
    assert all((before > after) is darker for before, after in pairwise(steps))


def test_every_class_of_a_chart_is_in_the_sheet_or_names_a_position() -> None:
    source = "".join(module.read_text(encoding="utf-8") for module in CHARTS.glob("*.py"))
    used = set(re.findall(r'class_=f?"([^"{}]+)"', source))
    names = {name for group in used for name in group.split()}
    assert {name for name in names if not re.search(rf"\.{name}\b", SHEET)} == set()


def test_nothing_is_loaded_from_elsewhere() -> None:
    assert re.findall(r"url\(|@import|https?:", SHEET) == []
