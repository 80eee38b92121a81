"""Every page loads without errors and without other hosts, in both themes and on a phone."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final

import pytest
from accessibility import faults, low_contrasts
from browsed import Browsed
from browsing import PHONE, Page
from surveyed import Survey, surveyed

Address = Callable[[Browsed], str]

PAGES: Final[dict[str, Address]] = {
    "overview": lambda _: "/",
    "timeline": lambda _: "/timeline",
    "timeline-all": lambda _: "/timeline?span=week&kind=all",
    "timeline-empty": lambda _: "/timeline?until=2001-01-01",
    "search": lambda _: "/search?q=how+much+memory+does+checkout+need",
    "search-begin": lambda _: "/search",
    "search-nothing": lambda _: "/search?q=zebra&kinds=unheard",
    "memory": lambda known: f"/memories/{known.revised}",
    "memory-episode": lambda known: f"/memories/{known.episode}",
    "memory-forgotten": lambda known: f"/memories/{known.forgotten}",
    "memory-superseded": lambda known: f"/memories/{known.superseded}",
    "memory-hostile": lambda known: f"/memories/{known.hostile}",
    "conversations": lambda _: "/conversations",
    "conversation": lambda known: f"/memories/{known.episode}/conversation",
    "memories": lambda _: "/memories?state=any&sort=important",
    "memories-new": lambda _: "/memories/new",
    "preferences": lambda _: "/preferences",
    "erase": lambda known: f"/erasures/new?ids={known.hostile}&ids={known.episode}",
    "erasures": lambda _: "/erasures",
    "retention": lambda _: "/retention",
    "memory-flagged": lambda known: f"/memories/{known.flagged}",
    "graph": lambda _: "/graph",
    "graph-around": lambda known: f"/graph?memory={known.hostile}",
    "journal": lambda _: "/journal",
    "journal-nothing": lambda _: "/journal?q=zebra",
    "compare": lambda _: "/compare?q=what+was+decided+about+refunds",
    "compare-begin": lambda _: "/compare",
    "jobs": lambda _: "/jobs",
    "doctor": lambda _: "/doctor",
}
each_page = pytest.mark.parametrize("name", PAGES)


@pytest.fixture(scope="session")
def surveys() -> dict[str, Survey]:
    """The surveys of pages that were visited already."""
    return {}


@pytest.fixture
def survey(request: pytest.FixtureRequest, memory: Browsed, surveys: dict[str, Survey], name: str) -> Survey:
    if name not in surveys:
        page: Page = request.getfixturevalue("page")
        surveys[name] = surveyed(page, PAGES[name](memory), name)
    return surveys[name]


@each_page
def test_a_page_loads_without_a_word_in_the_console(survey: Survey) -> None:
    assert survey.said == []


@each_page
def test_a_page_asks_nobody_else_for_anything(survey: Survey) -> None:
    assert survey.asked != []
    assert survey.elsewhere == []


@each_page
def test_a_page_has_names_labels_and_an_order_for_who_does_not_see_it(survey: Survey) -> None:
    assert survey.faults == []


@each_page
def test_every_text_of_a_page_has_contrast_on_the_light_background(survey: Survey) -> None:
    assert survey.low_in_light == []


@each_page
def test_every_text_of_a_page_has_contrast_on_the_dark_background(survey: Survey) -> None:
    assert survey.low_in_dark == []


@each_page
def test_no_page_scrolls_sideways_on_a_phone(survey: Survey) -> None:
    assert survey.too_wide == []


@each_page
def test_tab_visits_the_elements_of_a_page_in_their_order(survey: Survey) -> None:
    places = [one["order"] for one in survey.visited]
    assert places == sorted(places)


@each_page
def test_tab_shows_where_it_is(survey: Survey) -> None:
    assert [one["name"] for one in survey.visited if not (one["shown"] and one["ringed"])] == []


def test_the_navigation_marks_the_current_page(page: Page) -> None:
    page.open("/journal")
    assert [one.text for one in page.all("nav [aria-current=page]")] == ["Journal"]


def test_a_page_on_a_phone_begins_with_its_content_below_one_bar(page: Page) -> None:
    page.sized(PHONE).open("/journal")
    assert page.run("return document.querySelector('h1').getBoundingClientRect().bottom") < 120
    assert not page.one("nav").is_displayed()


def test_a_theme_that_was_chosen_is_there_before_the_page_is_painted(page: Page) -> None:
    page.scheme("light").open("/jobs")
    page.one("[data-theme-toggle]").click()
    page.open("/jobs")
    assert page.run("return document.documentElement.dataset.theme") == "dark"
    assert page.one("[data-theme-toggle]").text == "Theme: dark"
    scripts = page.run("return [...document.head.children].map((each) => each.src ?? '').filter(Boolean)")
    assert "theme.js" in scripts[0]


def test_a_chosen_theme_overrides_that_of_the_system(page: Page) -> None:
    page.scheme("dark").open("/jobs").run("localStorage.setItem('theme', 'light')")
    page.open("/jobs")
    light = page.run("return getComputedStyle(document.documentElement).backgroundColor")
    page.scheme("light").open("/jobs")
    assert page.run("return getComputedStyle(document.documentElement).backgroundColor") == light


def test_nothing_moves_for_who_wants_it_so(page: Page) -> None:
    page.command("Emulation.setEmulatedMedia", features=[{"name": "prefers-reduced-motion", "value": "reduce"}])
    page.open("/journal")
    script = """return [...document.querySelectorAll("*")].filter((each) => {
      const style = getComputedStyle(each);
      return style.animationName !== "none" || style.transitionDuration.split(", ").some((one) => one !== "0s");
    }).map((each) => each.outerHTML.slice(0, 80))"""
    assert page.run(script) == []


def test_a_page_prints_without_the_parts_that_are_only_for_screens(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.revised}")
    page.command("Emulation.setEmulatedMedia", media="print")
    shown = page.run(
        "return [...document.querySelectorAll('nav, form, .foot')].filter((each) => each.checkVisibility()).length"
    )
    page.command("Emulation.setEmulatedMedia", media="")
    assert shown == 0


def test_times_show_utc_and_the_age(page: Page, memory: Browsed) -> None:
    time = page.open(f"/memories/{memory.revised}").one("main .meta time")
    assert re.fullmatch(r"\d hours? ago", time.text)
    assert str(time.get_dom_attribute("datetime")).endswith("Z")


def test_an_unknown_page_is_answered_in_the_same_design(page: Page) -> None:
    page.open("/nowhere")
    assert page.text("h1") == "Nothing here"
    assert faults(page) == []
    assert low_contrasts(page) == []
    page.screenshot("problem-light")


def test_a_memory_that_is_not_there_is_reported(page: Page) -> None:
    page.open("/memories/00000000-0000-4000-8000-000000000404")
    assert page.text("h1") == "Nothing here"


def test_a_field_that_is_not_allowed_is_named(page: Page) -> None:
    page.open("/search?q=deploy&limit=many")
    assert page.text("h1") == "Invalid request"
    assert "limit" in page.text("main")
