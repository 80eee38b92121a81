"""What is recorded of a coding agent's transcripts, as they grow."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from remembrancer import AsyncRemembrancer
from remembrancer.domain.event import Event, EventDraft
from remembrancer.interfaces.hooks.capture import Capture
from remembrancer.interfaces.hooks.place import Place

WORKSPACE = "/home/ana/shop"


def said(number: int, text: object, *, role: str = "user", session: str = "s1") -> str:
    record = {
        "type": role,
        "uuid": f"{session}-{number}",
        "sessionId": session,
        "timestamp": f"2026-11-20T10:00:{number:02}Z",
        "message": {"role": role, "content": text},
    }
    return json.dumps(record) + "\n"


@dataclass
class Watched:
    folder: Path
    place: Place = field(init=False)

    def __post_init__(self) -> None:
        self.place = Place(str(self.folder / "memory.db"))
        self.place.make()

    def write(self, text: str, name: str = "s1.jsonl") -> None:
        with (self.folder / name).open("a", encoding="utf-8") as file:
            file.write(text)

    def note(self, name: str = "s1.jsonl", *, kind: str = "read") -> Path:
        note = self.place.waiting / f"{kind}-{name}.json"
        told = {"transcript": str(self.folder / name), "workspace": WORKSPACE, "session": name.removesuffix(".jsonl")}
        note.write_text(json.dumps(told))
        return note

    def run(self, work: Callable[[Capture, AsyncRemembrancer], Awaitable[Any]]) -> list[str]:
        """Do some work, and return the texts of the project's journal."""

        async def done() -> list[str]:
            async with AsyncRemembrancer.open(self.place.store, embedder="none") as memory:
                await work(Capture(memory, self.place), memory)
                of_project = memory.of_workspace(WORKSPACE)
                return [event.text for event in reversed(await of_project.journal.list(limit=1_000))]

        return asyncio.run(done())


@pytest.fixture
def watched(tmp_path: Path) -> Watched:
    return Watched(tmp_path)


def test_new_lines_are_recorded_word_for_word(watched: Watched) -> None:
    watched.write(said(1, "Use port 8081\n  for the green side"))
    assert watched.run(lambda capture, _: capture.take(watched.note())) == ["Use port 8081\n  for the green side"]


def test_a_note_is_removed_when_its_lines_are_recorded(watched: Watched) -> None:
    watched.write(said(1, "hello"))
    note = watched.note()
    watched.run(lambda capture, _: capture.take(note))
    assert not note.exists()


def test_a_line_that_is_still_being_written_is_recorded_when_it_is_finished(watched: Watched) -> None:
    first, second = said(1, "first"), said(2, "second")
    watched.write(first + second[:-20])

    async def work(capture: Capture, _: AsyncRemembrancer) -> None:
        assert await capture.take(watched.note()) == 1
        watched.write(second[-20:])
        assert await capture.take(watched.note()) == 1

    assert watched.run(work) == ["first", "second"]


def test_a_server_started_again_goes_on_where_the_last_one_stopped(watched: Watched) -> None:
    watched.write(said(1, "first"))
    watched.run(lambda capture, _: capture.take(watched.note()))
    watched.write(said(2, "second"))

    async def work(capture: Capture, _: AsyncRemembrancer) -> None:
        assert await capture.take(watched.note()) == 1

    assert watched.run(work) == ["first", "second"]


@pytest.mark.parametrize("kept", ["not JSON", '{"/a.jsonl": Infinity}'])
def test_without_the_positions_everything_is_read_again_and_recorded_once(watched: Watched, kept: str) -> None:
    watched.write(said(1, "first") + said(2, "second"))
    watched.run(lambda capture, _: capture.take(watched.note()))
    watched.place.transcripts.write_text(kept)
    assert watched.run(lambda capture, _: capture.take(watched.note())) == ["first", "second"]


def test_a_transcript_that_was_replaced_is_read_from_its_start(watched: Watched) -> None:
    watched.write(said(1, "a long first turn, longer than the second file") + said(2, "second"))

    async def work(capture: Capture, _: AsyncRemembrancer) -> None:
        await capture.take(watched.note())
        (watched.folder / "s1.jsonl").write_text(said(9, "new"))
        await capture.take(watched.note())

    assert watched.run(work)[-1] == "new"


def test_a_recalled_block_is_not_learned_again(watched: Watched) -> None:
    block = "<recalled-memory>\nUNTRUSTED\n- [user] the old port was 9000\n</recalled-memory>"
    watched.write(said(1, f"{block}\nWhat is the port?"))
    watched.write(said(2, [{"type": "tool_result", "tool_use_id": "t1", "content": block}]))
    assert watched.run(lambda capture, _: capture.take(watched.note())) == ["What is the port?"]


def test_a_broken_line_is_left_out_and_the_others_are_recorded(watched: Watched) -> None:
    watched.write(said(1, "first") + "{broken\n" + '["a list"]\n' + said(2, "second"))
    assert watched.run(lambda capture, _: capture.take(watched.note())) == ["first", "second"]


def test_a_note_of_a_deleted_transcript_is_removed(watched: Watched) -> None:
    note = watched.note("gone.jsonl")
    assert watched.run(lambda capture, _: capture.take(note)) == []
    assert not note.exists()


def test_a_note_that_is_written_again_meanwhile_stays(watched: Watched, monkeypatch: pytest.MonkeyPatch) -> None:
    watched.write(said(1, "first"))
    note = watched.note()
    observe_many = AsyncRemembrancer.observe_many

    async def while_more_is_said(self: AsyncRemembrancer, events: Iterable[EventDraft]) -> tuple[Event, ...]:
        note.unlink()
        watched.note()
        return await observe_many(self, events)

    monkeypatch.setattr(AsyncRemembrancer, "observe_many", while_more_is_said)
    watched.run(lambda capture, _: capture.take(note))
    assert note.exists()


def test_the_end_of_a_session_ends_it(watched: Watched) -> None:
    watched.write(said(1, "The deploy of checkout failed with an error in the payment worker"))
    ended: list[str] = []

    async def work(capture: Capture, memory: AsyncRemembrancer) -> None:
        await capture.take(watched.note(kind="end"))
        page = await memory.of_workspace(WORKSPACE).memories(kinds=["episode"])
        ended.extend(str(one.scope.session) for one in page.memories)

    watched.run(work)
    assert ended == ["s1"]
