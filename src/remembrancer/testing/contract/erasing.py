"""Contract of erasure: what is deleted with a memory or an event, what stays and how, and the receipt."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.erasure import ERASED, Erasure, ErasureSelection, Removal, Removed, completed
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Status
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.reply import ReplyNotStored
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.domain.stream import Cursor
from remembrancer.domain.strength import Adjustment, Exposed, Exposure
from remembrancer.errors import Conflict, NotFound
from remembrancer.language.cues import analysed
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import (
    MODEL,
    exported,
    found,
    give_vectors,
    remember,
    stored,
    the_tail,
    unchanged,
)
from remembrancer.testing.contract.world import (
    CONVERSATION,
    DEPLOY,
    FORMER,
    MARKED,
    OLD,
    PROBE,
    TURNS,
    WorldSuite,
    a_claim,
)
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, an_event, indexed

LATER: Final = NOW + timedelta(days=2)
SAID: Final = an_event("the wombat sleeps", event_id=UUID(int=801))
ANSWERED: Final = an_event("let it sleep", event_id=UUID(int=802))
BOTH: Final = (SAID.id, ANSWERED.id)
ALL: Final = EventFilter(archived=True)
OF_DEPLOY: Final = Removal(memories=frozenset({DEPLOY, CONVERSATION}), events=frozenset(TURNS))
"""Erases the memory of the deploy, the turns it was formed from, and the other memory formed from them."""


def a_receipt(number: int = 1, *, choice: ErasureSelection | None = None, dry_run: bool = False) -> Erasure:
    return Erasure(
        id=UUID(int=700 + number),
        at=LATER + timedelta(minutes=number),
        by="LEAD bo",
        asked=choice or ErasureSelection(ids=frozenset({DEPLOY})),
        counts={},
        memories=(DEPLOY,),
        dry_run=dry_run,
    )


async def erase(store: Store, removal: Removal) -> Removed:
    return await store.erase(SCOPE, removal, a_receipt())


def memories(*ids: UUID) -> Removal:
    return Removal(memories=frozenset(ids))


async def of_two_turns(store: Store, memory: Memory) -> None:
    """Record two turns, and insert the memory as formed from them."""
    await store.append(SCOPE, [Entry(SAID), Entry(ANSWERED)])
    await store.insert(SCOPE, indexed(memory, event_ids=BOTH))


async def derive(store: Store, one: Memory, *sources: Memory, compacting: bool = False) -> None:
    """Insert a memory derived from `sources`. `compacting`: it replaces them, so they are no longer recalled."""
    effect = Effect(
        inserted=(indexed(one),),
        related=tuple(Relation(one.id, source.id, RelationKind.DERIVED_FROM, 1.0, NOW) for source in sources),
        status_changes=tuple(
            StatusChange(source.id, Status.COMPACTED, "condensed") for source in sources if compacting
        ),
    )
    await store.commit(SCOPE, effect, at=NOW)


class ErasedWholeContract(WorldSuite):
    @pytest.mark.parametrize(
        "removal",
        [
            memories(UUID(int=999)),
            Removal(events=frozenset({UUID(int=999)})),
            Removal(events=frozenset({TURNS[0]})),
            Removal(memories=frozenset({CONVERSATION}), events=frozenset(TURNS)),
        ],
        ids=["no such memory", "no such event", "formed from it", "formed from it too"],
    )
    async def test_an_erasure_based_on_an_outdated_state_changes_nothing(self, world: Store, removal: Removal) -> None:
        before = await exported(world)
        with pytest.raises(Conflict):
            await erase(world, removal)
        assert (await exported(world), await world.erasures(SCOPE, limit=9)) == (before, ())

    async def test_a_source_is_not_erased_without_its_derived_memories(self, store: Store) -> None:
        source, drawn = a_memory("a source"), a_memory("drawn from it")
        await remember(store, source)
        await derive(store, drawn, source)
        with pytest.raises(Conflict):
            await erase(store, memories(source.id))
        assert set(await store.get(READER, [source.id, drawn.id])) == {source.id, drawn.id}

    async def test_a_dry_run_counts_the_same_and_changes_nothing(self, world: Store) -> None:
        before = await exported(world)
        told = await world.erase(SCOPE, OF_DEPLOY, a_receipt(dry_run=True))
        assert (await exported(world), await world.erasures(SCOPE, limit=9)) == (before, ())
        assert await erase(world, OF_DEPLOY) == told


class ReceiptContract(WorldSuite):
    async def test_a_receipt_is_stored_with_its_counts(self, world: Store) -> None:
        removed = await erase(world, OF_DEPLOY)
        assert await world.erasures(SCOPE, limit=9) == (completed(a_receipt(), removed),)

    async def test_receipts_come_newest_first(self, world: Store) -> None:
        choice = ErasureSelection(agent="ana", session="monday", before=LATER)
        await world.erase(SCOPE, memories(OLD), a_receipt(1))
        await world.erase(SCOPE, memories(FORMER), a_receipt(2, choice=choice))
        kept = await world.erasures(SCOPE, limit=9)
        assert [(one.id, one.asked) for one in kept] == [(UUID(int=702), choice), (UUID(int=701), a_receipt().asked)]
        assert len(await world.erasures(SCOPE, limit=1)) == 1

    async def test_a_receipt_has_the_time_at_which_the_files_were_purged(self, world: Store) -> None:
        await erase(world, OF_DEPLOY)
        assert await world.purge(SCOPE, at=LATER) == ""
        assert [one.purged_at for one in await world.erasures(SCOPE, limit=9)] == [LATER]

    async def test_to_purge_changes_no_row(self, world: Store) -> None:
        await erase(world, OF_DEPLOY)
        async with unchanged(world):
            await world.purge(SCOPE, at=LATER)
        assert all(finding.ok for finding in await world.check(SCOPE, None))

    async def test_to_purge_twice_keeps_the_first_time(self, world: Store) -> None:
        await erase(world, OF_DEPLOY)
        await world.purge(SCOPE, at=LATER)
        await world.purge(SCOPE, at=LATER + timedelta(days=1))
        assert [one.purged_at for one in await world.erasures(SCOPE, limit=9)] == [LATER]


class ErasingContract(WorldSuite):
    async def test_an_erased_memory_is_found_by_nothing(self, world: Store) -> None:
        await erase(world, memories(OLD))
        assert await world.get(READER, [OLD]) == {}
        assert "the old deploy script" not in await found(world, "script", "deploy")
        told = str(await exported(world))
        assert str(OLD) not in told
        assert "script" not in told

    async def test_an_erased_memory_found_by_one_search_is_not_found_by_the_next(self, store: Store) -> None:
        kept, gone = a_memory("a wombat"), a_memory("another wombat")
        await remember(store, kept, gone)
        await give_vectors(store, {gone.text: a_vector(1, 0), kept.text: a_vector(1, 1)})
        assert await found(store, "wombat") == {kept.text, gone.text}
        await erase(store, memories(gone.id))
        assert await found(store, "wombat") == {kept.text}

    async def test_all_rows_of_erased_memories_and_events_are_erased_and_counted(self, world: Store) -> None:
        removed = await erase(world, replace(OF_DEPLOY, events=frozenset({*TURNS, PROBE, MARKED})))
        assert removed.counts == {
            "memories": 2,
            "events": 3,
            "archived": 1,
            "cues": 3,
            "vectors": 1,
            "word_vectors": 0,
            "revisions": 0,
            "past_states": 2,
            "kept_recalls": 0,
            "relations": 3,
            "exposures": 1,
            "reviews": 1,
            "credits": 1,
            "audit": 0,
            "priority_changes": 2,
            "streams": 2,
            "deferrals": 0,
            "replies": 1,
            "quotations": 1,  # an error without an answer: nothing else has said that a host answers
        }

    async def test_the_receipt_names_requests_whose_keys_stay(self, world: Store) -> None:
        assert (await erase(world, OF_DEPLOY)).requests == 2
        [receipt] = await world.erasures(SCOPE, limit=1)
        assert "hashes of idempotency keys" in [left.what for left in receipt.left]

    async def test_its_key_and_its_topic_are_free_again(self, store: Store) -> None:
        memory = await stored(store, replace(a_memory("the first"), key="k", topic_key="t"))
        await erase(store, memories(memory.id))
        anew = replace(a_memory("the second"), key="k", topic_key="t")
        assert await store.insert(SCOPE, indexed(anew)) == (anew, True)

    async def test_an_erased_memory_may_be_remembered_again(self, store: Store) -> None:
        memory = await stored(store, a_memory("the first"))
        await erase(store, memories(memory.id))
        await store.insert(SCOPE, indexed(memory))
        assert await found(store, "first") == {"the first"}

    async def test_a_memory_that_it_superseded_stays_ended(self, store: Store) -> None:
        old, new = replace(a_memory("old"), topic_key="t"), a_memory("new")
        await remember(store, old, new)
        await store.supersede(READER, old.id, new.id, at=NOW + timedelta(hours=1))
        await erase(store, memories(new.id))
        left = (await store.get(READER, [old.id]))[old.id]
        assert (left.superseded_by, left.superseded_at, left.valid_until, left.topic_key) == (
            None,
            None,
            NOW + timedelta(hours=1),
            None,
        )

    async def test_memories_that_it_replaced_are_restored_on_request(self, store: Store) -> None:
        first, second = a_memory("a first wombat"), a_memory("a second wombat")
        summary = a_memory("two wombats")
        await remember(store, first, second)
        await derive(store, summary, first, second, compacting=True)
        await erase(store, replace(memories(summary.id, first.id), restored=frozenset({second.id})))
        left = (await store.get(READER, [second.id]))[second.id]
        assert (left.status, left.retired_at) == (Status.ACTIVE, None)
        assert await found(store, "wombat") == {second.text}

    async def test_a_restored_memory_loses_its_topic_if_another_has_it(self, store: Store) -> None:
        first = replace(a_memory("a first wombat"), topic_key="wombat")
        summary, later = a_memory("wombats"), replace(a_memory("a later wombat"), topic_key="wombat")
        await remember(store, first)
        await derive(store, summary, first, compacting=True)
        await store.insert(SCOPE, indexed(later))
        await erase(store, replace(memories(summary.id), restored=frozenset({first.id})))
        left = (await store.get(READER, [first.id]))[first.id]
        assert (left.status, left.topic_key) == (Status.ACTIVE, None)

    async def test_sources_to_be_processed_again_are_pending(self, store: Store) -> None:
        source, fact = a_memory("a source"), a_memory("a fact")
        await remember(store, source)
        await derive(store, fact, source)
        await store.commit(SCOPE, Effect(consolidated=frozenset({source.id})), at=NOW)
        await erase(store, replace(memories(fact.id), requeued=frozenset({source.id})))
        assert (await store.get(READER, [source.id]))[source.id].consolidated_at is None

    async def test_an_erased_event_is_in_no_listing(self, world: Store) -> None:
        await erase(world, replace(OF_DEPLOY, events=frozenset({*TURNS, PROBE})))
        assert [event.id for event in await world.events(READER, ALL, limit=9)] == [MARKED]
        words = EventFilter(words=(frozenset({"deploi", "host"}),), archived=True)
        assert await world.count_events(READER, words) == 0

    async def test_its_changes_of_priority_are_erased_with_it(self, world: Store) -> None:
        await erase(world, Removal(events=frozenset({MARKED})))
        await world.append(SCOPE, [Entry(an_event("again", event_id=MARKED))])
        assert await world.priority_changes(READER, MARKED) == ()

    async def test_its_key_is_free_again(self, store: Store) -> None:
        event = an_event("said", key="k")
        await store.append(SCOPE, [Entry(event)])
        await erase(store, Removal(events=frozenset({event.id})))
        (appended,) = await store.append(SCOPE, [Entry(an_event("something else", key="k"))])
        assert appended.created

    async def test_its_place_is_not_given_again_while_its_stream_has_others(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(SAID), Entry(ANSWERED)])
        await erase(store, Removal(events=frozenset({ANSWERED.id})))
        (appended,) = await store.append(SCOPE, [Entry(an_event("and on"))])
        assert appended.event.seq == 3

    async def test_its_position_is_not_given_again(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(SAID), Entry(ANSWERED)])
        await erase(store, Removal(events=frozenset(BOTH)))
        await store.append(SCOPE, [Entry(an_event("and on"))])
        page = await store.recorded(READER, EventFilter(), after=0, limit=9)
        assert ([one.position for one in page.entries], page.position) == ([3], 3)

    async def test_a_stream_keeps_its_cursor_and_not_its_note(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(SAID), Entry(ANSWERED), Entry(an_event("and on"))])
        cursor = Cursor(stream=SCOPE, expected=0, to=1, note={"about": "a wombat"})
        await store.commit(SCOPE, Effect(cursor=cursor), at=NOW)
        await erase(store, Removal(events=frozenset({ANSWERED.id})))
        tail = await the_tail(store, SCOPE)
        assert (tail.cursor, tail.events, tail.last_seq, dict(tail.note)) == (1, 1, 3, {})

    async def test_a_stream_that_nothing_is_left_of_begins_again(self, store: Store) -> None:
        await store.append(SCOPE, [Entry(SAID), Entry(ANSWERED)])
        await store.commit(SCOPE, Effect(cursor=Cursor(stream=SCOPE, expected=0, to=2)), at=NOW)
        await erase(store, Removal(events=frozenset(BOTH)))
        assert await store.tail(SCOPE) is None
        (appended,) = await store.append(SCOPE, [Entry(an_event("and on"))])
        tail = await the_tail(store, SCOPE)
        assert (appended.event.seq, tail.cursor) == (1, 0)

    async def test_the_tail_of_a_stream_continues_after_the_gap(self, store: Store) -> None:
        last = an_event("and on")
        await store.append(SCOPE, [Entry(SAID), Entry(ANSWERED), Entry(last)])
        await erase(store, Removal(events=frozenset(BOTH)))
        assert [event.text for event in await store.stream_events(SCOPE, after=0, limit=9)] == [last.text]

    EPISODE: Final = replace(a_memory("a wombat sleeps and is left to sleep"), title="wombat", metadata={"turns": 2})

    def anew(self, *, revision: int = 2) -> MemoryWrite:
        told = replace(self.EPISODE, title=None, text="it is left alone", metadata={"turns": 1}, revision=revision)
        return indexed(told, event_ids=[ANSWERED.id])

    def removal(self) -> Removal:
        return Removal(events=frozenset({SAID.id}), rebuilt=(self.anew(),))

    async def test_a_rewritten_memory_has_only_its_new_text(self, store: Store) -> None:
        await of_two_turns(store, self.EPISODE)
        await erase(store, self.removal())
        left = (await store.get(READER, [self.EPISODE.id]))[self.EPISODE.id]
        assert (left.title, left.text, dict(left.metadata), left.revision) == (
            None,
            "it is left alone",
            {"turns": 1},
            2,
        )
        assert (await found(store, "wombat"), await found(store, "alone")) == (set(), {"it is left alone"})

    async def test_none_of_its_text_is_kept(self, store: Store) -> None:
        await of_two_turns(store, self.EPISODE)
        await give_vectors(store, {f"{self.EPISODE.title} {self.EPISODE.text}": a_vector(1, 0)})
        removed = await erase(store, self.removal())
        assert await store.revisions(READER, self.EPISODE.id) == ()
        assert await store.vectors(READER, MODEL, [self.EPISODE.id]) == {}
        assert "wombat" not in str(await exported(store))
        assert (removed.counts["cues"], removed.counts["vectors"]) == (1, 1)

    async def test_it_is_formed_from_the_remaining_turns(self, store: Store) -> None:
        await of_two_turns(store, self.EPISODE)
        await erase(store, self.removal())
        provenance = await store.provenance(READER, self.EPISODE.id)
        assert [event.id for event in provenance] == [ANSWERED.id]

    async def test_its_strength_and_status_are_unchanged(self, store: Store) -> None:
        await of_two_turns(store, self.EPISODE)
        await store.adjust(
            READER, [self.EPISODE.id], lambda was: Adjustment(replace(was, importance=0.75), "worn out"), at=NOW
        )
        await erase(store, self.removal())
        left = (await store.get(READER, [self.EPISODE.id]))[self.EPISODE.id]
        assert (left.strength.importance, left.status) == (0.75, Status.RETIRED)

    async def test_a_memory_is_not_rewritten_from_another_revision(self, store: Store) -> None:
        await of_two_turns(store, self.EPISODE)
        removal = Removal(events=frozenset({SAID.id}), rebuilt=(self.anew(revision=5),))
        with pytest.raises(Conflict):
            await erase(store, removal)

    async def test_a_memory_is_not_rewritten_from_erased_events(self, store: Store) -> None:
        await of_two_turns(store, self.EPISODE)
        removal = Removal(events=frozenset(BOTH), rebuilt=(self.anew(),))
        with pytest.raises(Conflict):
            await erase(store, removal)

    SECRET: Final = a_memory("the gate opens with seven knocks")

    async def quoted(self, store: Store, query: str, *, session: str | None = None) -> str | None:
        """The stored query of another memory's exposure after the memory that it quotes is erased; None if there is
        none.
        """
        other = a_memory("something else")
        await remember(store, self.SECRET, other)
        exposed = Exposed(other.id, Exposure.RETRIEVED, NOW, 0.5, query, session)
        await store.adjust(READER, [], Adjustment, at=NOW, exposed=[exposed])
        await erase(store, memories(self.SECRET.id))
        rows = [row for row in await exported(store) if row["record"] == "exposure"]
        return None if not rows else str(rows[0]["query"])

    @pytest.mark.parametrize(
        "query",
        [SECRET.text, f"is it true that {SECRET.text}?", "gate opens with seven", "how many knocks?"],
        ids=["the text", "around the text", "a part of it", "a word that nothing else has"],
    )
    async def test_a_question_that_quotes_it_is_no_longer_kept(self, store: Store, query: str) -> None:
        assert await self.quoted(store, query) == ERASED

    async def test_a_question_that_does_not_is_kept(self, store: Store) -> None:
        assert await self.quoted(store, "what else?") == "what else?"

    async def test_a_reason_and_an_error_that_quote_it_are_no_longer_kept(self, store: Store) -> None:
        other = a_memory("something else")
        await remember(store, self.SECRET, other)
        reason = f"contradicts: {self.SECRET.text}"
        await store.commit(SCOPE, Effect(status_changes=(StatusChange(other.id, Status.RETIRED, reason),)), at=NOW)
        await store.defer(SCOPE, "facts", "x", error=f"cannot be read: {self.SECRET.text}", now=NOW)
        await erase(store, memories(self.SECRET.id))
        assert [line.reason for line in await store.audit(READER, other.id)] == [ERASED]
        assert [one.error for one in await store.deferrals(SCOPE)] == [ERASED]

    async def test_work_on_erased_rows_is_no_longer_pending(self, store: Store) -> None:
        await remember(store, self.SECRET)
        await store.defer(SCOPE, "facts", str(self.SECRET.id), error="no answer", now=NOW)
        await erase(store, memories(self.SECRET.id))
        assert await store.deferrals(SCOPE) == ()

    async def test_the_questions_of_a_session_go_when_nothing_else_of_it_is_left(self, store: Store) -> None:
        of_session = replace(SCOPE, session="friday")
        other = a_memory("something else")
        await remember(store, replace(self.SECRET, scope=of_session), other)
        exposed = [
            Exposed(other.id, Exposure.RETRIEVED, NOW, 0.5, "what else?", "friday"),
            Exposed(other.id, Exposure.SHOWN, NOW, 0.5, "and more?", "tuesday"),
        ]
        await store.adjust(READER, [], Adjustment, at=NOW, exposed=exposed)
        await erase(store, memories(self.SECRET.id))
        rows = [row["query"] for row in await exported(store) if row["record"] == "exposure"]
        assert rows == ["and more?"]

    async def test_the_questions_of_an_erased_agent_go(self, store: Store) -> None:
        other = a_memory("something else")
        await remember(store, other)
        exposed = [
            Exposed(other.id, Exposure.RETRIEVED, NOW, 0.5, "whose?", "friday", agent="bob"),
            Exposed(other.id, Exposure.SHOWN, NOW, 0.5, "and more?", "friday", agent="ana"),
        ]
        await store.adjust(READER, [], Adjustment, at=NOW, exposed=exposed)
        removed = await store.erase(SCOPE, Removal(), a_receipt(choice=ErasureSelection(agent="bob")))
        rows = [row["query"] for row in await exported(store) if row["record"] == "exposure"]
        assert (rows, removed.counts["exposures"]) == (["and more?"], 1)

    async def test_an_answer_to_a_request_is_no_longer_kept_and_its_key_is(self, world: Store) -> None:
        await erase(world, memories(OLD))
        assert await world.claim(SCOPE, a_claim("request-2"), forget_before=NOW) == ReplyNotStored(200, erased=True)

    async def test_rows_that_contain_the_text_and_stay_are_named(self, store: Store) -> None:
        note = a_memory(f"He said: {self.SECRET.text}, no more.")
        event = an_event(f"I was told\n{self.SECRET.text}")
        await remember(store, self.SECRET, note, a_memory("seven gates"))
        await store.append(SCOPE, [Entry(event)])
        removed = await erase(store, memories(self.SECRET.id))
        assert removed.repeated == tuple(sorted([note.id, event.id]))

    async def test_a_memory_that_stays_is_named_if_one_of_its_turns_contains_the_text(self, store: Store) -> None:
        event, note = an_event(f"I was told\n{self.SECRET.text}"), a_memory("What I was told")
        turn = Cue(memory_id=note.id, ordinal=0, text=event.text, event_id=event.id)
        await remember(store, self.SECRET)
        await store.append(SCOPE, [Entry(event, MemoryWrite(note, (analysed(turn),), (event.id,)))])
        removed = await erase(store, memories(self.SECRET.id))
        assert removed.repeated == tuple(sorted([note.id, event.id]))

    async def test_ids_select_memories_of_every_visibility_and_status(self, store: Store) -> None:
        elsewhere = Scope(workspace=SCOPE.workspace, crew="another", agent="eve")
        hidden = replace(a_memory("hidden", scope=elsewhere), visibility=Visibility.OWN, status=Status.RETIRED)
        await remember(store, replace(indexed(hidden)))
        choice = ErasureSelection(ids=frozenset({hidden.id}))
        assert await store.lying_in(SCOPE, choice) == (frozenset({hidden.id}), frozenset())

    async def test_events_of_the_archive_are_chosen_too(self, world: Store) -> None:
        choice = ErasureSelection(events=frozenset({PROBE, MARKED}))
        assert await world.lying_in(SCOPE, choice) == (frozenset(), frozenset({PROBE, MARKED}))

    @pytest.mark.parametrize(
        "choice", [ErasureSelection(ids=frozenset({TURNS[0]})), ErasureSelection(events=frozenset({DEPLOY}))]
    )
    async def test_an_id_that_is_not_there_is_not_found(self, world: Store, choice: ErasureSelection) -> None:
        with pytest.raises(NotFound):
            await world.lying_in(SCOPE, choice)

    async def test_each_part_of_a_scope_selects_its_own_rows(self, store: Store) -> None:
        ana = Scope(workspace=SCOPE.workspace, agent="ana", session="monday")
        others = [replace(ana, agent="bo"), replace(ana, session="tuesday"), replace(ana, session=None)]
        mine = a_memory("mine", scope=ana)
        await store.append(ana, [Entry(replace(SAID, scope=ana))])
        await store.insert(ana, indexed(mine))
        for number, other in enumerate(others):
            await store.append(other, [Entry(an_event(f"other {number}", scope=other))])
            await store.insert(other, indexed(a_memory(f"other {number}", scope=other)))
        choice = ErasureSelection(agent="ana", session="monday")
        assert await store.lying_in(SCOPE, choice) == (frozenset({mine.id}), frozenset({SAID.id}))

    async def test_a_time_limit_selects_only_earlier_rows(self, store: Store) -> None:
        old, new = (a_memory(name, at=at) for name, at in (("old", NOW - timedelta(days=1)), ("new", NOW)))
        await remember(store, old, new)
        await store.append(SCOPE, [Entry(SAID), Entry(an_event("earlier", at=NOW - timedelta(microseconds=1)))])
        choice = ErasureSelection(agent=SCOPE.agent, before=NOW)
        chosen = frozenset({old.id}), frozenset({an_event("earlier").id})
        assert await store.lying_in(SCOPE, choice) == chosen

    async def test_a_trace_contains_all_rows_connected_to_a_memory_and_an_event(self, world: Store) -> None:
        drawn = a_memory("drawn")
        deploy = (await world.get(READER, [DEPLOY]))[DEPLOY]
        await derive(world, drawn, deploy)
        traces = await world.traces(SCOPE, memories=[DEPLOY, CONVERSATION, drawn.id, UUID(int=9)], events=[*TURNS])
        of_deploy, speaker_match = traces.memories[DEPLOY], traces.memories[CONVERSATION]
        assert (of_deploy.memory, of_deploy.events, of_deploy.turns) == (deploy, TURNS, frozenset())
        assert (of_deploy.derived, traces.memories[drawn.id].sources) == ({drawn.id}, {DEPLOY})
        assert (speaker_match.events, speaker_match.turns) == (TURNS, frozenset(TURNS))
        assert set(traces.memories) == {DEPLOY, CONVERSATION, drawn.id}
        assert traces.events[TURNS[0]].memories == {DEPLOY, CONVERSATION}

    async def test_a_trace_of_the_archive_has_the_shortened_event(self, world: Store) -> None:
        traces = await world.traces(SCOPE, memories=[], events=[PROBE])
        assert (traces.events[PROBE].event.id, traces.events[PROBE].memories) == (PROBE, frozenset())
