"""With keys, the login asks for one, and each key allows the actions of its right."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

import pytest
from accessibility import faults, low_contrasts
from browsing import DESKTOP, Page
from selenium import webdriver
from server_process import serving

from remembrancer import Remembrancer, Settings


@dataclass(frozen=True)
class Keyed:
    url: str
    writing: str
    reading: str
    memory: str


@pytest.fixture(scope="module")
def keyed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Keyed]:
    path = tmp_path_factory.mktemp("keyed") / "keyed.db"
    with Remembrancer.open(settings=Settings(db=str(path), embedder="none", background_index=False)) as rem:
        memory = rem.remember("Checkout needs 2 GiB in production")
        writing, reading = rem.keys.create("writer", "write").token, rem.keys.create("reader", "read").token
    with serving(path, "--no-work", "--rate-limit", "0") as running:
        yield Keyed(running.url, writing, reading, str(memory.id))


@pytest.fixture
def page(browser: webdriver.Chrome, keyed: Keyed) -> Iterator[Page]:
    looked = Page(browser, keyed.url).sized(DESKTOP).scheme("light")
    yield looked.forget()
    looked.open("/login")
    browser.delete_all_cookies()


def logged_in(page: Page, key: str, path: str = "/") -> Page:
    page.open(path).enter("[name=key]", key)
    return page.until("!document.querySelector('[name=key]')")


def test_a_visitor_without_a_key_is_asked_for_one_and_led_to_the_requested_page(page: Page, keyed: Keyed) -> None:
    page.open("/search?q=checkout")
    assert page.path() == "/login?next=%2Fsearch%3Fq%3Dcheckout"
    page.enter("[name=key]", keyed.reading)
    page.until("location.pathname === '/search'")
    assert page.path() == "/search?q=checkout"


def test_the_key_is_kept_out_of_reach_of_scripts(page: Page, keyed: Keyed) -> None:
    logged_in(page, keyed.reading)
    (cookie,) = cast("list[dict[str, object]]", page.browser.get_cookies())  # pyright: ignore[reportUnknownMemberType]
    assert (cookie["httpOnly"], cookie["sameSite"], page.run("return document.cookie")) == (True, "Strict", "")


def test_a_wrong_key_is_reported(page: Page) -> None:
    page.open("/login").enter("[name=key]", "not-a-key")
    page.until("document.querySelector('[role=alert]')")
    assert "This key is not valid here" in page.text("[role=alert]")
    assert faults(page) == []
    assert low_contrasts(page) == []
    page.screenshot("login-light")


def test_after_logging_out_a_page_asks_for_a_key_again(page: Page, keyed: Keyed) -> None:
    logged_in(page, keyed.reading).follow("form[action='/logout'] button")
    page.until("location.pathname === '/login'")
    page.open("/journal")
    assert page.path() == "/login?next=%2Fjournal"


def test_a_key_that_may_only_read_sees_why_it_may_not_judge(page: Page, keyed: Keyed) -> None:
    logged_in(page, keyed.reading, f"/memories/{keyed.memory}")
    assert [one.is_enabled() for one in page.all("form[action^='/memories'] button")] == [False] * 5
    assert "This key may only read" in page.text("[aria-labelledby=actions-title]")


def test_a_key_that_may_write_judges(page: Page, keyed: Keyed) -> None:
    logged_in(page, keyed.writing, f"/memories/{keyed.memory}").follow("form[action*=feedback] button")
    page.until("document.querySelector('[role=status]')")
    assert "Noted: it was helpful." in page.text("[role=status]")


def test_the_journal_is_live_with_the_key_of_the_browser(page: Page, keyed: Keyed) -> None:
    logged_in(page, keyed.reading, "/journal").until(
        "document.querySelector('[data-live-state]').textContent === 'Live'"
    )
    assert page.listen().said == []


def test_a_place_on_another_server_is_not_led_to(page: Page, keyed: Keyed) -> None:
    logged_in(page, keyed.reading, "/login?next=//elsewhere.example/")
    assert page.path() == "/"
