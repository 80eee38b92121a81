"""Each page works without JavaScript."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from browsed import Browsed
from browsing import DESKTOP, PHONE, Page


@pytest.fixture
def plain(page: Page) -> Iterator[Page]:
    yield page.scripts(on=False)
    page.scripts(on=True)


def texts(page: Page, selector: str) -> list[str]:
    return [one.text for one in page.all(selector)]


def test_the_overview_shows_everything_at_once_on_request(plain: Page) -> None:
    plain.open("/").follow("noscript a")
    assert plain.path() == "/?whole=1"
    assert plain.all("[data-waiting]") == []
    assert "Text" in texts(plain, ".figures dt")


def test_the_timeline_is_drawn_and_listed(plain: Page) -> None:
    plain.open("/timeline")
    assert plain.all("main .chart svg") != []
    assert plain.all("main .lines a") != []


def test_a_question_is_asked_by_its_form(plain: Page) -> None:
    plain.open("/search").enter("#search [name=q]", "checkout needs 2 GiB in production")
    assert "Checkout needs 2 GiB in production" in texts(plain, ".hit h2 a")


def test_a_hit_is_followed_into_its_conversation_and_back(plain: Page) -> None:
    plain.open("/search?q=who+is+vegetarian").follow(".hit a[href^='/conversations/']")
    assert "I am vegetarian" in plain.one(".transcript .is-told").text
    assert plain.one(".transcript .is-told").is_displayed()
    plain.follow("a[href^='/search?q=who+is+vegetarian']")
    assert plain.all(".hit") != []


def test_a_memory_is_forgotten_and_restored(plain: Page, memory: Browsed) -> None:
    plain.open(f"/memories/{memory.episode}").follow("button.danger")
    assert "forgotten" in texts(plain, ".badge")
    plain.follow("form[action$='/restore'] button")
    assert "forgotten" not in texts(plain, ".badge")


def test_the_link_of_the_journal_leads_to_the_earlier_page(plain: Page) -> None:
    plain.open("/journal").follow("[rel=next]")
    assert plain.path().startswith("/journal?after=")
    assert plain.all(".entry") != []


def test_controls_that_need_a_script_are_not_offered(plain: Page) -> None:
    plain.open("/journal")
    hidden = [plain.one(one).is_displayed() for one in ("[data-theme-toggle]", "[data-help]", "#live")]
    assert hidden == [False, False, False]


@pytest.mark.parametrize("path", ["/graph", "/compare?q=refunds", "/jobs", "/doctor?whole=1"])
def test_a_page_shows_its_main_content(plain: Page, path: str) -> None:
    assert plain.open(path).all("main table, main .chart svg") != []


def test_the_menu_of_a_phone_opens_by_a_touch_and_leads_to_a_page(plain: Page) -> None:
    plain.sized(PHONE).open("/journal").one(".opener").click()
    assert plain.one("nav [aria-current=page]").text == "Journal"
    plain.follow("nav a[href='/jobs']")
    assert plain.path() == "/jobs"
    plain.sized(DESKTOP)
