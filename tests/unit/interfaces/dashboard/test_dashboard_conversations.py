"""The list of conversations, and the turns around one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import timedelta
from urllib.parse import quote

import pytest
from served import Served, asked

from remembrancer import AsyncRemembrancer, EventDraft
from remembrancer.domain.event import Event

HTML = {"accept": "text/html"}


async def said(rem: AsyncRemembrancer, session: str, *texts: str, actor: str = "Ana") -> Sequence[Event]:
    began = rem.now - timedelta(days=1)
    return await rem.observe_many(
        EventDraft(text=text, actor=actor, session=session, occurred_at=began + timedelta(minutes=place))
        for place, text in enumerate(texts)
    )


async def read(served: Served, path: str) -> str:
    answer = await served.http.get(path, headers=HTML)
    assert answer.status_code == 200, answer.text
    return answer.text


def test_a_hit_leads_to_its_turn_in_the_conversation() -> None:
    async def steps(served: Served) -> tuple[list[str], str]:
        await said(served.memory, "monday", "Checkout is slow", "The kestrel nests on the roof", "Good to know")
        found = await read(served, "/search?q=kestrel&limit=3")
        links = re.findall(r'href="(/conversations/[^"]*)">monday</a>', found)
        return links, await read(served, links[0].partition("#")[0].replace("&amp;", "&"))

    links, page = asked(steps)
    turn = links[0].partition("#turn-")[2]
    assert re.search(rf'<li id="turn-{turn}" class="is-told"[^>]*>.*?The kestrel nests', page, re.DOTALL)
    assert page.index("Checkout is slow") < page.index("The kestrel nests") < page.index("Good to know")
    assert '<a href="/search?q=kestrel&amp;limit=3">← answers to “kestrel”' in page


def test_a_long_conversation_is_shown_around_the_turn_and_leads_to_both_ends() -> None:
    async def steps(served: Served) -> list[str]:
        turns = await said(served.memory, "long", *(f"turn number {place}." for place in range(100)))
        pages = [await read(served, f"/conversations/{turns[50].id}?turn={turns[50].id}")]
        for _ in range(2):
            [later] = re.findall(r'href="([^"#]*)#[^"]*" rel="next"', pages[-1])
            pages.append(await read(served, later.replace("&amp;", "&")))
        return pages

    page, after, last = asked(steps)
    shown = re.findall(r"turn number (\d+)\.", page)
    assert (shown[0], shown[-1], len(shown)) == ("30", "70", 41)
    assert [re.findall(r"turn number (\d+)\.", one)[-1] for one in (after, last)] == ["90", "99"]
    assert ['rel="prev"' in page, 'rel="next"' in last] == [True, False]
    assert ["To the turn you came from" in one for one in (page, after, last)] == [False, False, True]


def test_the_list_names_who_took_part_newest_first() -> None:
    async def steps(served: Served) -> str:
        await said(served.memory, "one", "a", "b", actor="Ana <b>")
        await said(served.memory, "two", "c", "d", "e", actor="Bo")
        return await read(served, "/conversations")

    page = asked(steps)
    assert page.index(">two</a>") < page.index(">one</a>")
    assert ("Ana &lt;b&gt;" in page, "3 turns" in page, "Ana <b>" in page) == (True, True, False)


def test_a_conversation_of_a_nameless_session_has_the_title_of_its_first_episode() -> None:
    async def steps(served: Served) -> list[str]:
        session = "67a1c8f0-1b2c-8000-9d3e-4f5a6b7c8d9e"
        turns = await said(served.memory, session, "We refund within 30 days", "Agreed")
        await served.memory.scoped(session=session).remember(
            "Refunds", title="Refund rules </title>", kind="episode", events=[turn.id for turn in turns]
        )
        return [await read(served, path) for path in ("/conversations", f"/conversations/{turns[1].id}")]

    listed, page = asked(steps)
    assert "Refund rules &lt;/title&gt;" in listed
    assert "<h1>Refund rules &lt;/title&gt;</h1>" in page
    assert "Its episodes" in page


def test_the_older_conversations_are_on_the_next_page() -> None:
    async def steps(served: Served) -> tuple[int, int]:
        for place in range(32):
            await said(served.memory, f"session-{place}", "said")
        first = await read(served, "/conversations")
        [older] = re.findall(r'href="([^"]*)" rel="next"', first)
        rest = await read(served, older)
        return first.count('href="/conversations/'), rest.count('href="/conversations/')

    assert asked(steps) == (30, 2)


def test_a_siblings_conversation_is_neither_listed_nor_shown() -> None:
    async def steps(served: Served) -> tuple[bool, int, int]:
        ana, bo = (served.memory.scoped(agent=agent) for agent in ("ana", "bo"))
        await said(ana, "monday", "hers")
        [his] = await said(bo, "monday", "a secret", actor="Boris")
        listed = await read(served, "/conversations?agent=ana")
        answers = [
            await served.http.get(f"/conversations/{his.id}", params={"agent": agent}, headers=HTML)
            for agent in ("ana", "bo")
        ]
        return "Boris" in listed, answers[0].status_code, answers[1].status_code

    assert asked(steps) == (False, 404, 200)


def test_a_memory_leads_to_its_conversation_and_a_note_has_none() -> None:
    async def steps(served: Served) -> list[tuple[int, str]]:
        [turn] = await said(served.memory, "monday", "said")
        [memory] = await served.memory.recent()
        note = await served.memory.remember("noted")
        answers = [await served.http.get(f"/memories/{one.id}/conversation", headers=HTML) for one in (memory, note)]
        return [
            (answer.status_code, answer.headers.get("location", "").replace(str(turn.id), "T")) for answer in answers
        ]

    assert asked(steps) == [(303, "/conversations/T?turn=T#turn-T"), (404, "")]


@pytest.mark.parametrize("path", ["/timeline?kind=all", "/", "/graph?speaker=Ana"])
def test_a_list_of_memories_leads_to_their_conversations(path: str) -> None:
    async def steps(served: Served) -> tuple[str, str]:
        await said(served.memory, "monday", "said")
        [memory] = await served.memory.recent()
        await served.memory.remember("noted")
        return f'<a href="/memories/{memory.id}/conversation">', await read(served, path)

    link, page = asked(steps)
    assert page.count(link) == page.count("/conversation") - page.count("/conversations") == 1


def test_an_entry_of_the_journal_leads_to_its_conversation() -> None:
    async def steps(served: Served) -> tuple[str, str]:
        [turn] = await said(served.memory, "monday", "said")
        return f'<a href="/conversations/{turn.id}?turn={turn.id}#turn-{turn.id}">monday</a>', await read(
            served, "/journal"
        )

    link, page = asked(steps)
    assert link in page


def test_hostile_words_stay_text_in_a_conversation_and_in_the_graph() -> None:
    async def steps(served: Served) -> list[str]:
        [turn] = await said(served.memory, "<i>\u202esession", "we met <Img src=x> Evil<b>Corp \u202e", actor="<u>Ana")
        speaker = quote("<u>Ana")
        paths = [
            "/conversations",
            f"/conversations/{turn.id}",
            "/graph",
            f"/graph?speaker={speaker}",
            "/graph?find=Evil",
        ]
        return [await read(served, path) for path in paths]

    pages = asked(steps)
    found = [sign for page in pages for sign in ("<i>", "<u>", "<Img", "Evil<b>", "\u202e") if sign in page]
    assert found == []
    assert ["&lt;u&gt;Ana" in page for page in pages] == [True] * 5


def test_a_forgotten_turn_is_marked_in_its_conversation() -> None:
    async def steps(served: Served) -> str:
        [turn] = await said(served.memory, "monday", "said")
        [memory] = await served.memory.recent()
        await served.memory.forget(memory.id)
        return await read(served, f"/conversations/{turn.id}")

    assert '<span class="badge is-bad">forgotten</span>' in asked(steps)


@pytest.mark.parametrize(("path", "status"), [("/conversations/unheard", 400), ("/conversations?after=unheard", 400)])
def test_an_address_that_is_no_conversation_is_refused(path: str, status: int) -> None:
    assert asked(lambda served: served.http.get(path, headers=HTML)).status_code == status
