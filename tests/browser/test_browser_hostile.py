"""The text of a memory is never interpreted as markup or script, on any page."""

from __future__ import annotations

from urllib.parse import quote

import pytest
from browsed import HOSTILE, Browsed
from browsing import Page
from surveyed import LOADED


@pytest.fixture(
    params=[
        "/",
        "/timeline?kind=all",
        "/search?q=hostile",
        "/graph",
        "/memories?state=any",
        "/erasures/new?ids={id}",
        "/conversations",
        "/journal",
        "/compare?q=hostile",
        "/memories/{id}",
    ]
)
def looked(request: pytest.FixtureRequest, page: Page, memory: Browsed) -> Page:
    return page.open(str(request.param).replace("{id}", str(memory.hostile))).until(LOADED)


def test_hostile_words_make_no_element(looked: Page) -> None:
    made = looked.run(
        "return [...document.querySelectorAll('main img, main script, main b b, main i, main u, [onload], [onerror]')]"
        ".map((each) => each.outerHTML)"
    )
    assert made == []


def test_hostile_words_run_nothing(looked: Page) -> None:
    assert looked.browser.title.endswith("· Remembrancer")
    assert looked.listen().said == []


def test_hostile_words_become_no_link(looked: Page) -> None:
    targets = looked.run(
        "return [...document.querySelectorAll('a')].map((each) => new URL(each.getAttribute('href'), location).origin)"
    )
    assert set(targets) == {looked.origin.rstrip("/")}


def test_nothing_turns_the_direction_of_writing_or_speaks_to_a_terminal(looked: Page) -> None:
    told = looked.text("body")
    assert [sign for sign in ("\u202e", "\u202c", "\x1b") if sign in told] == []


def test_the_words_are_there_to_be_read(page: Page, memory: Browsed) -> None:
    told = page.open(f"/memories/{memory.hostile}").text(".text")
    assert told.startswith("<img src=x onerror=\"document.title='owned'\"><script>")
    assert "{{ 7*7 }}" in told


def test_a_hostile_question_stays_text_too(page: Page) -> None:
    tag = quote('"><script>alert(1)</script>')
    page.open(f"/search?q={quote(HOSTILE)}&tags={tag}").until(LOADED)
    assert page.all("main img, main script") == []
    assert page.listen().said == []


def test_a_hostile_scope_stays_text_too(page: Page) -> None:
    page.open(f"/jobs?agent={quote('<img src=x onerror=alert(1)>')}")
    assert page.one(".scope summary").text == "agent <img src=x onerror=alert(1)>"
    assert page.all("img:not([alt])") == []
