"""The live journal page: entries recorded by others appear as text while the page is visible."""

from __future__ import annotations

import json
from urllib.request import Request, urlopen
from uuid import uuid4

from browsed import HOSTILE
from browsing import Page

LIVE = "document.querySelector('[data-live-state]').textContent === 'Live'"


def recorded(page: Page, text: str, **fields: object) -> str:
    """Write an event over HTTP; its text."""
    body = json.dumps({"events": [{"text": text, **fields}]}).encode()
    request = Request(f"{page.origin}v1/events", body, {"Content-Type": "application/json"})  # noqa: S310  our own server
    with urlopen(request, timeout=30) as answer:  # noqa: S310
        assert answer.status == 201
    return text


def first(text: str) -> str:
    """A JavaScript expression: whether the newest entry has that text."""
    return f"document.querySelector('.entry .text')?.textContent === {json.dumps(text)}"


def test_an_event_recorded_over_http_appears_on_the_journal(page: Page) -> None:
    page.open("/journal").until(LIVE)
    page.until(first(recorded(page, f"live {uuid4()}")))


def test_a_screen_reader_announces_new_entries(page: Page) -> None:
    page.open("/journal").until(LIVE)
    recorded(page, f"told {uuid4()}")
    page.until("document.querySelector('[data-live-said]').textContent === '1 new entry'")


def test_hostile_words_stay_text_when_they_come_live(page: Page) -> None:
    page.open("/journal").until(LIVE)
    before = len(page.all("main img, main script, main svg"))
    recorded(page, f"{HOSTILE} live", actor="<img src=x onerror=alert(1)>", type="tool.result", role="tool")
    page.until("document.querySelector('.entry .text').textContent.endsWith('live')")
    said = page.text(".entry .text")
    assert said.startswith('<img src=x onerror="document.title')
    assert "\u202e" not in said
    assert "\x1b" not in said
    assert page.text(".entry b") == "<img src=x onerror=alert(1)>"
    assert len(page.all("main img, main script, main svg")) == before
    assert page.browser.title == "Journal · Remembrancer"


def test_a_paused_journal_does_not_change_and_then_catches_up(page: Page) -> None:
    page.open("/journal").until(LIVE)
    shown = recorded(page, f"before {uuid4()}")
    page.until(first(shown))
    page.one("[data-live-pause]").click()
    while_paused = recorded(page, f"while paused {uuid4()}")
    assert page.text(".entry .text") == shown
    page.one("[data-live-pause]").click()
    page.until(first(while_paused))


def test_a_hidden_page_has_no_open_stream(page: Page) -> None:
    page.open("/journal").until(LIVE)
    page.run(
        "Object.defineProperty(document, 'hidden', { value: true, configurable: true });"
        "document.dispatchEvent(new Event('visibilitychange'))"
    )
    page.until("document.getElementById('live').hasAttribute('data-paused')")
    missed = recorded(page, f"out of sight {uuid4()}")
    page.run("delete document.hidden; document.dispatchEvent(new Event('visibilitychange'))")
    page.until(first(missed))


def test_entries_that_the_filter_of_the_page_excludes_do_not_appear(page: Page) -> None:
    page.open("/journal?severities=warn").until(LIVE)
    recorded(page, f"calm {uuid4()}")
    page.until(first(recorded(page, f"warning {uuid4()}", severity="warn")))
    assert [one for one in page.all(".entry .text") if one.text.startswith("calm")] == []
