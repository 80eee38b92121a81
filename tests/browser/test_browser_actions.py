"""The actions of a person: search, rate, forget, restore, browse, choose a scope."""

from __future__ import annotations

from browsed import Browsed
from browsing import Page
from selenium.webdriver.support.select import Select


def at(page: Page, start: str) -> Page:
    """Wait for a page whose address begins with this."""
    return page.until("location.pathname.startsWith(arguments[0])", start)


def test_a_question_is_answered_with_the_parts_of_each_score(page: Page) -> None:
    page.open("/")
    page.open("/search").enter("#search [name=q]", "checkout needs 2 GiB in production")
    page.until("document.querySelector('.hit')")
    assert "Checkout needs 2 GiB in production" in [one.text for one in page.all(".hit h2 a")]
    assert len(page.all(".hit .chart-score")) == len(page.all(".hit"))


def test_answers_come_as_one_types(page: Page) -> None:
    page.open("/search").one("#search [name=q]").send_keys("refunds for sale items")
    page.until("document.querySelector('.hit')")
    assert page.path() == "/search?q=refunds+for+sale+items&limit=10"
    assert page.run("return document.activeElement.name") == "q"


def test_a_filter_leaves_out_memories_of_another_kind(page: Page) -> None:
    page.open("/search?q=checkout").one("details summary")
    page.run("document.querySelector('#search details').open = true")
    page.one("[name=kinds]").send_keys("decision")
    page.follow("#search button")
    page.until("location.search.includes('kinds=decision')")
    assert {one.text for one in page.all(".hit .badge:first-child")} == {"decision"}


def test_the_page_explains_why_a_memory_is_not_among_the_answers(page: Page, memory: Browsed) -> None:
    page.open("/search?q=checkout+memory").enter("[name=missing]", "server's address")
    page.follow(f"#results a[href*='why={memory.forgotten}']")
    assert "left out before the search: retired. Restore it." in " ".join(page.text("#results").split())


def test_an_unknown_id_is_reported_as_unknown(page: Page) -> None:
    page.open("/search?q=checkout&why=00000000-0000-4000-8000-000000000404")
    assert "no memory 00000000-0000-4000-8000-000000000404 here" in page.text("#results")


def test_a_memory_is_judged_and_the_judgement_counted(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.revised}")
    for button in page.all("form button"):
        if button.text == "Helpful":
            button.click()
            break
    page.until("document.querySelector('[role=status]')")
    assert "Noted: it was helpful." in page.text("[role=status]")
    assert "helpful 1, not helpful 0" in page.text("main")


def test_a_memory_is_forgotten_and_restored(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.episode}").follow("button.danger")
    page.until("document.querySelector('[role=status]')")
    assert "It was forgotten" in page.text("[role=status]")
    page.follow("form[action$='/restore'] button")
    page.until("location.search.includes('restored')")
    assert page.all(".badge.is-bad") == []


def test_loading_a_page_again_does_nothing_twice(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.superseded}").follow("form[action*=feedback] button")
    page.until("document.querySelector('[role=status]')")
    page.open(page.path())
    assert "helpful 1, not helpful 0" in page.text("main")


def test_an_episode_shows_the_turns_it_is_of(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.episode}")
    assert len(page.all(".transcript > li")) == 3
    assert "The offsite is in Lisbon" in page.text(".transcript")


def test_an_updated_memory_shows_its_earlier_text(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.revised}")
    assert "Checkout needs 1 GiB in production" in page.text("[aria-labelledby=revisions-title]")


def test_a_superseded_memory_leads_to_its_successor(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.superseded}").follow(".note a")
    page.until("document.querySelector('h1').textContent.includes('30 days')")


def test_a_bar_of_the_timeline_leads_to_its_memory(page: Page) -> None:
    page.open("/timeline")
    target = str(page.one("main .chart a").get_dom_attribute("href"))
    assert target.startswith("/memories/")
    at(page.open(target), "/memories/")
    assert page.text("h1") != "Nothing here"


def test_the_timeline_has_links_to_earlier_and_later_days(page: Page) -> None:
    page.open("/timeline?span=week").follow("[rel=prev]")
    page.until("location.search.includes('until=')")
    page.follow("[rel=next]")
    page.until("!document.querySelector('[rel=next]')")
    assert page.all(".lines a") != []


def test_the_graph_leads_from_a_person_to_a_conversation_and_what_was_said(page: Page) -> None:
    page.open("/graph").follow("main .tags a[href*='speaker=Ana']")
    assert page.text("#focus").split() == ["speaker", "Ana"]
    page.follow("svg.chart-wide a[href*='conversation=']")
    assert page.text("#focus").startswith("conversation")
    page.follow("main a[href^='/conversations/']")
    assert page.all(".transcript li") != []


def test_the_graph_is_drawn_around_a_memory(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.hostile}").follow("a[href*='/graph?memory=']")
    at(page, "/graph")
    assert "Checkout needs 2 GiB in production" in page.text("table")


def test_presets_are_compared_on_one_question(page: Page) -> None:
    page.open("/compare").enter("main [name=q]", "refunds for sale items")
    page.until("document.querySelector('.chart-comparison')")
    page.one("[aria-labelledby=each-title] summary").click()
    assert [one.text for one in page.all("[aria-labelledby=each-title] details[open] tbody th")] == [
        "default",
        "crewship",
        "teaparty",
        "plastmem",
        "engram",
        "mnemosyne",
    ]


def test_only_the_chosen_presets_are_compared(page: Page) -> None:
    page.open("/compare?q=refunds&presets=engram&presets=default")
    page.one("[aria-labelledby=each-title] summary").click()
    rows = page.all("[aria-labelledby=each-title] details[open] tbody th")
    assert [one.text for one in rows] == ["engram", "default"]


def test_the_journal_has_links_to_earlier_pages(page: Page) -> None:
    page.open("/journal")
    first = {one.get_dom_attribute("data-id") for one in page.all(".entry")}
    page.follow("[rel=next]")
    page.until("location.search.includes('after=')")
    second = {one.get_dom_attribute("data-id") for one in page.all(".entry")}
    assert (len(first), first & second, second != set()) == (50, set(), True)


def test_the_journal_is_chosen_from_by_severity(page: Page) -> None:
    page.open("/journal")
    page.run("document.querySelector('main details').open = true")
    Select(page.one("[name=severities]")).select_by_visible_text("error")
    page.follow("main form button")
    page.until("location.search.includes('severities=error')")
    assert len(page.all(".entry")) == 1


def test_a_scope_is_chosen_and_kept_from_page_to_page(page: Page) -> None:
    page.open("/journal").one(".scope summary").click()
    page.enter(".scope [name=session]", "deploy-1")
    page.until("location.search.includes('session=deploy-1')")
    assert page.one(".scope summary").text == "session deploy-1"
    page.follow("nav a[data-key=t]")
    at(page, "/timeline")
    assert page.path() == "/timeline?session=deploy-1"


def test_the_doctor_is_asked(page: Page) -> None:
    page.open("/jobs").follow("a.button[href^='/doctor']")
    at(page, "/doctor").until("document.querySelector('.state')")
    assert "sound" in page.text(".state b")
