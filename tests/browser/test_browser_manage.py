"""Managing memories in the browser: add, edit, pin, select several, forget, release, and erase with a receipt;
retention rules and legal holds.
"""

from __future__ import annotations

from uuid import uuid4

from browsed import Browsed
from browsing import Page
from selenium.webdriver.common.keys import Keys


def added(page: Page, *texts: str) -> Page:
    """Add memories by the form."""
    for text in texts:
        page.open("/memories/new").one("[name=text]").send_keys(text)
        page.follow("main form .primary").until("location.search.includes('done=added')")
    return page


def rows(page: Page) -> list[str]:
    return [one.text for one in page.all(".selecting tbody th a:first-child")]


def test_a_memory_is_added_edited_pinned_and_listed_as_a_preference(page: Page) -> None:
    name = uuid4().hex
    page.open("/preferences").follow("[aria-labelledby=preference-title] a[href*='/memories/new']")
    page.one("[name=text]").send_keys(f"Ana likes tea {name}")
    page.one("[name=importance]").send_keys("0")
    page.one("[name=importance]").clear()
    page.one("[name=importance]").send_keys("7")
    page.follow("main form .primary")
    assert page.text("#error-importance") == "Expected a number from 0 to 1."
    assert page.run("return document.querySelector('[name=text]').value") == f"Ana likes tea {name}"
    page.one("[name=importance]").clear()
    page.one("[name=importance]").send_keys("0.7")
    page.follow("main form .primary")
    assert "It was added" in page.text("[role=status]")
    page.follow("main a[href$='/edit']").one("[name=text]").send_keys(", and no coffee")
    page.follow("main form .primary")
    assert (page.text(".text"), "It was saved" in page.text("[role=status]")) == (
        f"Ana likes tea {name}, and no coffee",
        True,
    )
    page.follow("form[action$='/pin'] button")
    page.open("/preferences")
    listed = [page.text(f"[aria-labelledby={part}-title]") for part in ("pinned", "preference")]
    assert [name in part for part in listed] == [True, True]
    page.open(f"/memories?q={name}").one("[data-select-all]").click()
    page.follow("button[value=unpin]")
    assert "1 memory unpinned." in page.text("[role=status]")


def test_several_memories_are_selected_with_the_keyboard_and_erased_with_a_receipt(page: Page) -> None:
    name = uuid4().hex
    added(page, f"{name} one", f"{name} two", f"{name} three").open(f"/memories?q={name}&sort=oldest")
    assert rows(page) == [f"{name} one", f"{name} two", f"{name} three"]
    assert [one.is_enabled() for one in page.all(".bulk button")] == [False] * 6
    page.run("document.querySelector('[name=ids]').focus()")
    page.press(Keys.SPACE).press(Keys.ARROW_DOWN).press(Keys.SPACE)
    assert page.text("[data-selected-count]") == "2 selected"
    page.press(Keys.ESCAPE)
    assert page.text("[data-selected-count]") == "Select the memories to change."
    page.one("[data-select-all]").click()
    page.follow("button[value=forget]")
    assert ("3 memories forgotten." in page.text("[role=status]"), rows(page)) == (True, [])
    page.open(f"/memories?q={name}&state=retired&sort=oldest")
    boxes = page.all("[name=ids]")
    boxes[0].click()
    boxes[1].click()
    page.follow("button[value=erase]")
    assert page.text("h1") == "Erase 2 memories?"
    page.follow("main form .danger")
    assert "2 memories" in page.text("[role=status]")
    page.follow("main a[href='/erasures']")
    assert "2 memories" in page.text("tbody tr")
    page.open(f"/memories?q={name}&state=any")
    assert rows(page) == [f"{name} three"]


def test_the_table_works_without_scripts(page: Page) -> None:
    name = uuid4().hex
    added(page, f"{name} one", f"{name} two").scripts(on=False).open("/memories")
    assert page.all("[data-select-all]")[0].is_displayed() is False
    page.enter(".searching [name=q]", name)
    assert sorted(rows(page)) == [f"{name} one", f"{name} two"]
    for box in page.all("[name=ids]"):
        box.click()
    page.enter(".bulk [name=tag]", "blue")
    assert "2 memories tagged." in page.text("main")
    assert [one.text for one in page.all(".selecting .badge")] == ["blue", "blue"]


def test_a_flagged_memory_says_why_it_is_held_back_and_is_released(page: Page, memory: Browsed) -> None:
    page.open(f"/memories/{memory.flagged}")
    assert "tells a language model what to do. Recall holds it back." in page.text("[aria-label=Flagged]")
    page.follow("form[action$='/release'] button")
    assert ("It was released" in page.text("[role=status]"), page.all("[aria-label=Flagged]")) == (True, [])
    assert "instruction-like" not in page.text("main .panel")


def test_rules_and_holds_are_added_listed_and_ended(page: Page) -> None:
    page.open("/erasures").follow("main a[href='/retention']")
    rule, hold = "[action$='/retention/rules']", "[action$='/retention/holds']"
    page.one(f"{rule} [name=days]").send_keys("30")
    page.follow(f"{rule} button")
    assert "not saved" in page.text("[role=alert]")
    assert page.run("return document.querySelector('[name=days]').value") == "30"
    page.one(f"{rule} [name=kind]").send_keys("tool.result")
    page.follow(f"{rule} button")
    assert "tool.result" in page.text("[aria-labelledby=rules-title] tbody")
    assert "30 days" in page.text("[aria-labelledby=rules-title] tbody")
    page.follow("[aria-label='Remove the rule for kind tool.result']")
    assert "tool.result" not in page.text("[aria-labelledby=rules-title] tbody")
    page.one(f"{hold} [name=actor]").send_keys("Mallory")
    page.one(f"{hold} [name=reason]").send_keys("case 13")
    page.follow(f"{hold} button")
    assert "on hold" in page.text("[aria-labelledby=holds-title] tbody tr")
    page.follow("[aria-label='Release the hold for case 13']")
    assert "released" in page.text("[aria-labelledby=holds-title] tbody tr")
