"""Contract of pending cues: their speaker, and the preceding turns."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from remembrancer.domain.event import Event, Role
from remembrancer.domain.memory import MemoryWrite
from remembrancer.domain.stream import CONTEXT_GAP
from remembrancer.ports.embeddings import PendingCue, PrecedingTurn
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import MODEL, StoreSuite
from remembrancer.testing.contract.neighbours import ELSEWHERE, MINUTE, memory_of, turn_cue, turns
from remembrancer.testing.doubles import NOW, SCOPE, a_memory, an_event, indexed


def speaker_match(*said: tuple[str | None, str], role: Role = Role.USER) -> list[Event]:
    """Turns by the given (name, text) pairs, a minute apart."""
    return [
        replace(event, actor=who, role=role)
        for event, (who, _) in zip(turns(*(text for _, text in said)), said, strict=True)
    ]


async def keep(store: Store, *events: Event) -> None:
    """Record the events, and form a memory of the last one only."""
    *others, last = events
    await store.append(last.scope, [*(Entry(event) for event in others), Entry(last, memory_of(last))])


async def the_pending(store: Store, before: int) -> PendingCue:
    (cue,) = await store.pending(SCOPE, MODEL, limit=9, now=NOW + timedelta(days=1), before=before)
    return cue


class PendingTurnContract(StoreSuite):
    async def test_a_turn_has_its_speaker(self, store: Store) -> None:
        await keep(store, *speaker_match(("Ana", "one")))
        assert (await the_pending(store, 3)).speaker == "Ana"

    async def test_the_turns_before_it_come_in_order_the_last_one_last(self, store: Store) -> None:
        await keep(store, *speaker_match(("Ana", "one"), ("Ben", "two"), ("Ana", "three"), ("Ben", "four")))
        assert (await the_pending(store, 2)).before == (PrecedingTurn("Ben", "two"), PrecedingTurn("Ana", "three"))

    async def test_there_may_be_fewer_than_requested(self, store: Store) -> None:
        await keep(store, *speaker_match(("Ana", "one"), ("Ben", "two")))
        assert (await the_pending(store, 10)).before == (PrecedingTurn("Ana", "one"),)

    async def test_later_turns_are_left_out(self, store: Store) -> None:
        await keep(store, *speaker_match(("Ana", "one")))
        await store.append(SCOPE, [Entry(event) for event in speaker_match(("Ben", "two"))])
        assert (await the_pending(store, 9)).before == ()

    async def test_none_come_where_none_are_requested(self, store: Store) -> None:
        await keep(store, *speaker_match(("Ana", "one"), ("Ben", "two")))
        (cue,) = await store.pending(SCOPE, MODEL, limit=9, now=NOW)
        assert (cue.speaker, cue.before) == ("Ben", ())

    async def test_the_longest_gap_still_belongs_to_it(self, store: Store) -> None:
        first, last = speaker_match(("Ana", "one"), ("Ben", "two"))
        await keep(store, first, replace(last, occurred_at=NOW + CONTEXT_GAP))
        assert len((await the_pending(store, 9)).before) == 1

    async def test_a_longer_gap_ends_them(self, store: Store) -> None:
        zero, first, second, last = speaker_match(("Ana", "zero"), ("Ana", "one"), ("Ben", "two"), ("Ana", "three"))
        later = [
            replace(event, occurred_at=event.occurred_at + CONTEXT_GAP + timedelta(microseconds=1))
            for event in (second, last)
        ]
        await keep(store, zero, first, *later)
        assert (await the_pending(store, 9)).before == (PrecedingTurn("Ben", "two"),)

    async def test_they_have_the_order_of_their_stream_and_not_of_their_times(self, store: Store) -> None:
        first, second, last = speaker_match(("Ana", "one"), ("Ben", "two"), ("Ana", "three"))
        await keep(store, replace(first, occurred_at=NOW + 9 * MINUTE), second, last)
        assert (await the_pending(store, 9)).before == (PrecedingTurn("Ana", "one"), PrecedingTurn("Ben", "two"))

    @pytest.mark.parametrize("role", [Role.TOOL, Role.SYSTEM])
    async def test_turns_of_tools_and_of_the_system_are_left_out(self, store: Store, role: Role) -> None:
        first, passed, last = speaker_match(("Ana", "one"), ("deploy", "done"), ("Ben", "two"))
        await keep(store, first, replace(passed, role=role), replace(last, role=Role.ASSISTANT))
        assert (await the_pending(store, 1)).before == (PrecedingTurn("Ana", "one"),)

    @pytest.mark.parametrize("role", [Role.TOOL, Role.SYSTEM])
    async def test_an_event_of_a_tool_or_the_system_has_no_speaker(self, store: Store, role: Role) -> None:
        await keep(store, *speaker_match(("deploy", "done"), role=role))
        assert (await the_pending(store, 1)).speaker == ""

    async def test_a_speaker_without_a_name_differs_from_no_speaker(self, store: Store) -> None:
        await keep(store, *speaker_match((None, "one"), (None, "two")))
        cue = await the_pending(store, 9)
        assert (cue.speaker, cue.before) == ("", (PrecedingTurn("", "one"),))

    @pytest.mark.parametrize("other", ELSEWHERE)
    async def test_only_its_own_stream_is_before_it(self, store: Store, other: str) -> None:
        first, last = speaker_match(("Ana", "one"), ("Ben", "two"))
        elsewhere = replace(first, scope=ELSEWHERE[other])
        await store.append(elsewhere.scope, [Entry(elsewhere)])
        await keep(store, an_event("mine"), last)
        assert (await the_pending(store, 9)).before == (PrecedingTurn("", "mine"),)

    async def test_of_a_long_turn_the_end_comes(self, store: Store) -> None:
        text = "".join(f"{n}é " for n in range(2_000))
        await keep(store, *speaker_match(("Ana", text), ("Ben", "two")))
        (said,) = (await the_pending(store, 1)).before
        assert said.text == text[-2_000:]

    async def test_a_note_has_no_speaker_and_no_preceding_turns(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(event) for event in speaker_match(("Ana", "one"))])
        await store.insert(SCOPE, indexed(a_memory("note"), event_ids=[speaker_match(("Ana", "one"))[0].id]))
        cue = await the_pending(store, 9)
        assert (cue.text, cue.speaker, cue.before) == ("note", "", ())

    async def test_each_turn_of_a_memory_has_its_own_before_it(self, store: Store) -> None:
        said = speaker_match(("Ana", "one"), ("Ben", "two"), ("Ana", "three"))
        await store.append(SCOPE, [Entry(event) for event in said])
        whole = a_memory("the whole of it")
        cues = tuple(turn_cue(whole.id, place, event) for place, event in enumerate(said[1:]))
        await store.insert(SCOPE, MemoryWrite(whole, cues))
        pending = await store.pending(SCOPE, MODEL, limit=9, now=NOW, before=1)
        assert {cue.text: (cue.speaker, cue.before) for cue in pending} == {
            "two": ("Ben", (PrecedingTurn("Ana", "one"),)),
            "three": ("Ana", (PrecedingTurn("Ben", "two"),)),
        }

    async def test_a_turn_that_failed_comes_with_them_again(self, store: Store) -> None:
        await keep(store, *speaker_match(("Ana", "one"), ("Ben", "two")))
        first = await the_pending(store, 1)
        await store.defer_vectors(SCOPE, MODEL, [first.ref], error="no answer", now=NOW)
        assert await the_pending(store, 1) == first
