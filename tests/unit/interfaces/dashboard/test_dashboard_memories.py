"""The table of memories, adding and editing, preferences, and erasing with a receipt."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable
from dataclasses import replace
from html import unescape
from typing import Any, Final
from uuid import UUID

import httpx
import pytest
from hostile_words import HOSTILE
from served import HOST, QUIET, Served, asked

from remembrancer.domain.memory import Memory

OURS: Final = {"origin": HOST}
NOBODY: Final = "00000000-0000-4000-8000-000000000404"


async def posted(served: Served, path: str, **fields: Any) -> httpx.Response:
    return await served.http.post(path, data=fields, headers=OURS)


async def titles(served: Served, query: str = "") -> list[str]:
    """The memories of the table, in its order."""
    page = (await served.http.get(f"/memories{query}")).text
    return [unescape(one) for one in re.findall(r'<th scope="row"[^>]*><span><a [^>]*>([^<]*)</a>', page)]


def hidden(page: str, name: str) -> str:
    found = re.search(rf'name="{name}" value="([^"]*)"', page)
    assert found is not None
    return unescape(found[1])


def done(steps: Callable[[Served, list[Memory]], Awaitable[Any]], **how: Any) -> Any:
    """The result of the steps over a memory of three notes: first, second and third."""

    async def whole(served: Served) -> Any:
        kept = [await served.memory.remember(text, importance=0.2 * place) for place, text in NOTES]
        return await steps(served, kept)

    return asked(whole, **how)


NOTES: Final = ((1, "the first note"), (2, "the second note"), (3, "the third note"))


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_table_is_filtered_and_ordered_as_the_form_says() -> None:
    async def steps(served: Served, kept: list[Memory]) -> dict[str, list[str]]:
        await served.memory.observe("the deploy failed", actor="Ana", session="monday")
        await served.memory.forget(kept[0].id)
        await served.memory.pin(kept[1].id)
        queries = (
            "?sort=important",
            "?state=retired",
            "?state=pinned",
            "?q=third+note",
            "?who=Ana",
            "?in_session=monday&kinds=message",
            "?q=&who=&kinds=&tags=&since=&until=&state=&sort=",
        )
        return {query: await titles(served, query) for query in queries}

    told = done(steps)
    assert told["?sort=important"] == ["the third note", "the deploy failed", "the second note"]
    assert told["?state=retired"] == ["the first note"]
    assert told["?state=pinned"] == ["the second note"]
    assert told["?q=third+note"] == ["the third note"]
    assert told["?who=Ana"] == told["?in_session=monday&kinds=message"] == ["the deploy failed"]
    assert len(told["?q=&who=&kinds=&tags=&since=&until=&state=&sort="]) == 3


def test_the_pages_of_the_table_are_the_whole_list() -> None:
    async def steps(served: Served) -> list[int]:
        for number in range(60):
            await served.memory.remember(f"note {number}", importance=(number % 7) / 10)
        lengths: list[int] = []
        path = "/memories?sort=important"
        while path:
            page = (await served.http.get(path)).text
            lengths.append(len(re.findall(r'name="ids"', page)))
            onward = re.search(r'href="([^"]*)" rel="next"', page)
            path = unescape(onward[1]) if onward else ""
        return lengths

    assert asked(steps) == [30, 30]


@pytest.mark.parametrize(
    ("query", "named"),
    [("state=lost", "state"), ("sort=size", "sort"), ("after=x", "after"), ("q=%3F", "query"), ("since=x", "since")],
)
def test_a_value_that_is_not_allowed_is_named(query: str, named: str) -> None:
    answer = asked(lambda served: served.http.get(f"/memories?{query}"))
    assert (answer.status_code, f"<p>{named}" in answer.text) == (400, True)


# ── the selected ones ────────────────────────────────────────────────────────────────────────────────────────────────


def test_each_action_changes_the_selected_memories_only() -> None:
    async def steps(served: Served, kept: list[Memory]) -> list[Any]:
        ids = [str(one.id) for one in kept[:2]]
        told: list[Any] = []
        for action in ("pin", "unpin", "tag", "tag", "forget", "restore"):
            answer = await posted(served, "/memories/selected", ids=ids, action=action, tag="blue", back="q=note")
            assert answer.status_code == 303
            told.append((answer.headers["location"], [await served.memory.get(one.id) for one in kept]))
        return told

    told = done(steps)
    assert [location for location, _ in told[:2]] == [
        f"/memories?q=note&done={one}&count=2" for one in ("pin", "unpin")
    ]
    assert [[memory.tags for memory in memories] for _, memories in told[:4]] == [
        [("pinned",), ("pinned",), ()],
        [(), (), ()],
        [("blue",), ("blue",), ()],
        [("blue",), ("blue",), ()],
    ]
    states = [[memory.status.value for memory in memories] for _, memories in told[4:]]
    assert states == [["retired", "retired", "active"], ["active"] * 3]


def test_memories_that_could_not_be_changed_are_listed_with_the_reason() -> None:
    async def steps(served: Served, kept: list[Memory]) -> tuple[str, tuple[str, ...]]:
        await served.memory.supersede(kept[0].id, kept[1].id)
        ids = [str(kept[0].id), NOBODY, str(kept[2].id)]
        answer = await posted(served, "/memories/selected", ids=ids, action="pin")
        return answer.text, (await served.memory.get(kept[2].id)).tags

    page, tags = done(steps)
    assert "1 memory pinned. 2 memories could not be changed" in page
    assert "is superseded by" in page
    assert f"no memory {NOBODY} here" in page
    assert tags == ("pinned",)


@pytest.mark.parametrize(
    ("fields", "named"),
    [
        ({"action": "pin"}, "ids"),
        ({"action": "pin", "ids": "x"}, "ids"),
        ({"action": "explode", "ids": NOBODY}, "action"),
        ({"action": "tag", "ids": NOBODY, "tag": " "}, "tag"),
        ({"action": "pin", "ids": [str(UUID(int=number)) for number in range(201)]}, "ids"),
    ],
)
def test_a_bulk_form_that_makes_no_sense_changes_nothing(fields: dict[str, Any], named: str) -> None:
    answer = asked(lambda served: posted(served, "/memories/selected", **fields))
    assert (answer.status_code, f"<p>{named}" in answer.text) == (400, True)


# ── adding and editing ───────────────────────────────────────────────────────────────────────────────────────────────

TYPED: Final = {"text": "Ana likes tea", "title": "Tea", "kind": "preference", "tags": "ana, tea", "importance": "0.8"}


def test_a_form_that_is_sent_twice_adds_one_memory() -> None:
    async def steps(served: Served) -> tuple[set[str], Memory, int]:
        key = hidden((await served.http.get("/memories/new")).text, "key")
        answers = [await posted(served, "/memories/new", **TYPED, key=key, pinned="1") for _ in range(2)]
        found = (await served.memory.memories()).memories
        return {one.headers["location"] for one in answers}, found[0], len(found)

    locations, memory, count = asked(steps)
    assert (locations, count) == ({f"/memories/{memory.id}?done=added"}, 1)
    assert (memory.text, memory.title, memory.kind) == ("Ana likes tea", "Tea", "preference")
    assert (memory.tags, memory.strength.importance) == (("ana", "tea", "pinned"), 0.8)


def test_a_form_that_is_sent_again_with_other_contents_says_so() -> None:
    async def steps(served: Served) -> list[tuple[int, bool]]:
        key = hidden((await served.http.get("/memories/new")).text, "key")
        await posted(served, "/memories/new", **TYPED, key=key)
        answers = [
            await posted(served, "/memories/new", **{**TYPED, field: value}, key=key)
            for field, value in (("text", "Ana likes coffee"), ("title", "Coffee"))
        ]
        return [(one.status_code, "already added a memory" in one.text) for one in answers]

    assert asked(steps) == [(409, True), (409, True)]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("text", ""),
        ("text", "x" * 70_000),
        ("title", "two\nlines"),
        ("kind", "Two Words"),
        ("tags", "x" * 101),
        ("importance", "much"),
        ("importance", "1.5"),
        ("importance", "nan"),
    ],
)
@pytest.mark.parametrize("is_new", [True, False])
def test_an_error_stands_beside_its_field_with_what_was_typed(field: str, value: str, is_new: bool) -> None:
    async def steps(served: Served, kept: list[Memory]) -> tuple[httpx.Response, int]:
        path = "/memories/new" if is_new else f"/memories/{kept[0].id}/edit"
        hidden_fields = {"key": NOBODY, "revision": "1"}
        answer = await posted(served, path, **{**TYPED, **hidden_fields, field: value})
        return answer, (await served.memory.get(kept[0].id)).revision

    answer, revision = done(steps)
    assert (answer.status_code, revision) == (400, 1)
    assert f'id="error-{field}">Expected ' in answer.text
    kept = {name: typed for name, typed in TYPED.items() if name != field}
    assert [name for name, typed in kept.items() if typed not in answer.text] == []


def test_an_edit_changes_the_fields_and_sent_twice_is_one_revision() -> None:
    async def steps(served: Served, kept: list[Memory]) -> tuple[list[int], Memory]:
        path = f"/memories/{kept[0].id}/edit"
        answers = [await posted(served, path, **TYPED, revision="1") for _ in range(2)]
        return [one.status_code for one in answers], await served.memory.get(kept[0].id)

    statuses, memory = done(steps)
    assert (statuses, memory.revision) == ([303, 303], 2)
    assert (memory.text, memory.title, memory.kind) == ("Ana likes tea", "Tea", "preference")
    assert (memory.tags, memory.strength.importance) == (("ana", "tea"), 0.8)


def test_an_edit_of_a_memory_that_was_changed_meanwhile_keeps_what_was_typed() -> None:
    async def steps(served: Served, kept: list[Memory]) -> tuple[httpx.Response, str, str]:
        await served.memory.update(kept[0].id, text="changed by another")
        path = f"/memories/{kept[0].id}/edit"
        answer = await posted(served, path, **TYPED, revision="1")
        before = (await served.memory.get(kept[0].id)).text
        await posted(served, path, **TYPED, revision=hidden(answer.text, "revision"))
        return answer, before, (await served.memory.get(kept[0].id)).text

    answer, before, after = done(steps)
    assert (answer.status_code, before, after) == (409, "changed by another", "Ana likes tea")
    assert "It was changed in the meantime" in answer.text
    assert "Ana likes tea" in answer.text


def test_an_edit_keeps_characters_that_a_page_does_not_show() -> None:
    async def steps(served: Served) -> tuple[Memory, Memory]:
        text = f"one\r\ntwo \x1b[31m {HOSTILE}"
        memory = await served.memory.remember(text, tags=["with, comma", "<b>"])
        page = (await served.http.get(f"/memories/{memory.id}/edit")).text
        shown = re.search(r"<textarea[^>]*>\n(.*?)</textarea>", page, re.DOTALL)
        assert shown is not None
        typed = {name: hidden(page, name) for name in ("title", "tags", "kind", "revision")}
        said = unescape(shown[1]).replace("\n", "\r\n")
        await posted(served, f"/memories/{memory.id}/edit", text=said, **typed, importance="0.9")
        return memory, await served.memory.get(memory.id)

    before, after = asked(steps)
    assert (after.text, after.tags, after.strength.importance) == (before.text, before.tags, 0.9)


def test_a_preset_without_pins_says_so() -> None:
    async def steps(served: Served) -> list[str]:
        memory = await served.memory.remember("Answer in German", kind="preference")
        paths = (f"/memories/{memory.id}", "/preferences", "/memories", "/memories?state=pinned")
        return [(await served.http.get(path)).text for path in paths]

    memory, preferences, table, asked_for = asked(steps, settings=replace(QUIET, preset="engram"))
    assert "This preset has no pinned memories" in memory
    assert "This preset has no pinned memories" in preferences
    assert "does not keep memories of these kinds" in preferences
    assert 'value="pin"' not in table
    assert "state: &#39;pinned&#39; is not allowed" in asked_for


def test_the_preferences_are_listed_by_kind_and_by_pin() -> None:
    async def steps(served: Served) -> list[str]:
        memory = served.memory
        empty = (await served.http.get("/preferences")).text
        await memory.remember("Ana prefers tea", kind="preference")
        await memory.remember("Write dates in words", kind="instruction")
        await memory.pin((await memory.remember("The office is in Bern")).id)
        page = (await served.http.get("/preferences")).text
        return [empty, *re.split(r'<section class="panel"', page)[1:]]

    empty, pinned, preferred, directed = asked(steps)
    assert "Nothing is pinned" in empty
    assert "--kind preference" in empty
    assert "--kind directive" in empty
    assert ["The office is in Bern" in pinned, "Ana prefers tea" in preferred] == [True, True]
    assert "Write dates in words" in directed


def test_a_turn_that_states_a_preference_is_listed() -> None:
    async def steps(served: Served) -> list[str]:
        await served.memory.observe("I prefer aisle seats.", role="user")
        await served.memory.observe("Always answer in French.", role="user")
        return re.split(r'<section class="panel"', (await served.http.get("/preferences")).text)[2:]

    preferred, directed = asked(steps)
    assert ["aisle seats" in preferred, "in French" in preferred, "every answer" in preferred] == [True, False, False]
    assert ["aisle seats" in directed, "in French" in directed, "every answer" in directed] == [False, True, True]


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_erasing_is_confirmed_first_and_leaves_a_receipt() -> None:
    async def steps(served: Served, kept: list[Memory]) -> dict[str, Any]:
        ids = [str(one.id) for one in kept[:2]]
        chosen = await posted(served, "/memories/selected", ids=ids, action="erase")
        confirming = (await served.http.get(chosen.headers["location"])).text
        before = await titles(served)
        answers = [await posted(served, "/erasures", ids=ids) for _ in range(2)]
        locations = [one.headers["location"] for one in answers]
        return {
            "confirming": confirming,
            "before": before,
            "locations": locations,
            "after": await titles(served),
            "receipt": (await served.http.get(locations[0])).text,
            "list": (await served.http.get("/erasures")).text,
            "gone": (await served.http.get(chosen.headers["location"])).text,
        }

    told = done(steps)
    assert "Erase 2 memories?" in told["confirming"]
    assert all(text in told["confirming"] for _, text in NOTES[:2])
    assert len(told["before"]) == 3
    assert told["after"] == ["the third note"]
    assert len(set(told["locations"])) == 1
    assert "Receipt of an erasure" in told["receipt"]
    assert all(text not in told["receipt"] for _, text in NOTES[:2])
    assert f'href="{told["locations"][0]}"' in told["list"]
    assert "2 memories of the selected are no longer there" in told["gone"]


def test_an_unknown_receipt_is_not_there() -> None:
    assert asked(lambda served: served.http.get(f"/erasures/{NOBODY}")).status_code == 404


# ── who may ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("right", "statuses"), [("read", [403] * 6), ("write", [303] * 5 + [403])])
def test_each_form_needs_its_right(right: str, statuses: list[int]) -> None:
    async def steps(served: Served, kept: list[Memory]) -> list[int]:
        token = (await served.memory.keys.create("one", right)).token
        served.http.cookies.set("remembrancer_key", token)
        one = kept[0].id
        forms: list[tuple[str, dict[str, Any]]] = [
            ("/memories/new", {**TYPED, "key": NOBODY}),
            (f"/memories/{one}/edit", {**TYPED, "revision": "1"}),
            (f"/memories/{one}/pin", {}),
            (f"/memories/{one}/unpin", {}),
            ("/memories/selected", {"ids": str(one), "action": "forget"}),
            ("/erasures", {"ids": str(one)}),
        ]
        return [(await posted(served, path, **{"x": "", **fields})).status_code for path, fields in forms]

    assert done(steps) == statuses


def test_a_key_that_may_only_read_is_told_why_it_may_not() -> None:
    async def steps(served: Served, kept: list[Memory]) -> list[str]:
        served.http.cookies.set("remembrancer_key", (await served.memory.keys.create("one", "read")).token)
        one = kept[0].id
        paths = ("/memories", "/memories/new", f"/memories/{one}/edit", f"/erasures/new?ids={one}")
        return [(await served.http.get(path)).text for path in paths]

    table, new, edit, erase = done(steps)
    assert "This key may only read" in table
    assert 'name="action"' not in table
    assert "This key may only read" in new
    assert "This key may only read" in edit
    assert "Erasing needs a key that may administer" in erase


@pytest.mark.parametrize("path", ["/memories/selected", "/memories/new", "/erasures", f"/memories/{NOBODY}/edit"])
def test_a_form_of_another_site_is_refused(path: str) -> None:
    async def steps(served: Served) -> int:
        headers = {"origin": "https://elsewhere.example"}
        return (await served.http.post(path, data={"ids": NOBODY, "action": "forget"}, headers=headers)).status_code

    assert asked(steps) == 403
