"""The dashboard used with the keyboard only."""

from __future__ import annotations

import pytest
from browsing import Page
from selenium.webdriver.common.keys import Keys

FOCUSED = "return document.activeElement.name || document.activeElement.id || document.activeElement.tagName"


def pressed(page: Page, *keys: str) -> Page:
    """Keys, pressed on the page itself."""
    for key in keys:
        page.one("body").send_keys(key)
    return page


def test_the_first_stop_skips_to_the_contents(page: Page) -> None:
    page.open("/jobs").tab()
    assert page.browser.switch_to.active_element.text == "Skip to the content"
    page.press(Keys.ENTER)
    page.until("document.activeElement.id === 'main'")


def test_a_slash_leads_to_the_search(page: Page) -> None:
    pressed(page.open("/jobs"), "/").until("location.pathname === '/search'")
    page.until("document.querySelector('[data-help]:not([hidden])')")
    assert pressed(page, "/").run(FOCUSED) == "q"


@pytest.mark.parametrize(
    ("key", "path"),
    [
        ("o", "/"),
        ("t", "/timeline"),
        ("s", "/search"),
        ("g", "/graph"),
        ("m", "/memories"),
        ("p", "/preferences"),
        ("e", "/erasures"),
        ("j", "/journal"),
        ("c", "/compare"),
        ("b", "/jobs"),
    ],
)
def test_g_and_a_letter_lead_to_a_page(page: Page, key: str, path: str) -> None:
    pressed(page.open("/doctor").until("document.querySelector('[data-help]:not([hidden])')"), "g", key)
    page.until("location.pathname === arguments[0]", path)


def test_keys_are_letters_where_one_types(page: Page) -> None:
    page.open("/search").one("#search [name=q]").send_keys("g", "j", "?", "/")
    assert page.run("return document.querySelector('#search [name=q]').value") == "gj?/"
    assert page.run("return document.getElementById('help').open") is False


def test_a_question_mark_opens_the_list_of_keys_and_escape_closes_it(page: Page) -> None:
    pressed(page.open("/jobs").until("document.querySelector('[data-help]:not([hidden])')"), "?")
    page.until("document.getElementById('help').open")
    page.screenshot("keys-light")
    page.press(Keys.ESCAPE).until("!document.getElementById('help').open")


def test_the_keys_can_be_switched_off(page: Page) -> None:
    page.open("/jobs").one("[data-help]").click()
    page.one("[data-keys-on]").click()
    page.press(Keys.ESCAPE).open("/jobs").until("document.querySelector('[data-help]:not([hidden])')")
    pressed(page, "?")
    assert page.run("return document.getElementById('help').open") is False


def test_a_memory_is_found_and_judged_with_the_keyboard_alone(page: Page) -> None:
    pressed(page.open("/search").until("document.querySelector('[data-help]:not([hidden])')"), "/")
    page.press("checkout needs 2 GiB in production").until("document.querySelector('.hit')")
    page.run("document.querySelector('.hit h2 a').focus()")
    page.press(Keys.ENTER).until("location.pathname.startsWith('/memories/')")
    page.run("document.getElementById('main').focus()")
    for _ in range(40):
        page.tab()
        if page.browser.switch_to.active_element.text == "Not helpful":
            break
    page.press(Keys.ENTER).until("document.querySelector('[role=status]')")
    assert "Noted: it was not helpful." in page.text("[role=status]")
