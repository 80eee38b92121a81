"""Contract of the audit trail: which calls write an entry, what it says, and which names an erasure deletes."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

import pytest

from remembrancer.domain.audit import (
    PROCESS,
    AuditCheck,
    AuditEntry,
    AuditHead,
    ChainChecker,
    ChainedEntry,
    Door,
    Touched,
    entry_of,
    first_hash,
)
from remembrancer.domain.effect import Effect
from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.event import Priority
from remembrancer.domain.memory import Status
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Exposure
from remembrancer.errors import RemembrancerError
from remembrancer.ports.audit import acting, calling
from remembrancer.ports.journal import Entry
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import MODEL, StoreSuite, remember
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.contract.world import a_key, a_recall
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, an_event, indexed

LATER: Final = NOW + timedelta(days=1)
ANA: Final = Scope(workspace=SCOPE.workspace, agent="ana", session="monday")


def done_by(chained: ChainedEntry) -> tuple[Any, ...]:
    """The contents of an entry apart from times and pseudonyms, which differ between stores."""
    entry = entry_of(chained, {})
    return entry.seq, entry.principal, entry.door, entry.verb, sorted(entry.names), entry.ids, entry.counts, entry.model


async def entries(store: Store, scope: Scope = SCOPE) -> list[AuditEntry]:
    names = await store.trail_names(scope)
    return [entry_of(one, names) for one in await store.trail(scope, limit=1_000)]


async def checked(store: Store, *heads: AuditHead, scope: Scope = SCOPE) -> AuditCheck:
    checker = ChainChecker(scope.workspace, heads)
    for one in await store.trail(scope, limit=1_000):
        checker.add(one)
    return checker.result(await store.trail_names(scope))


async def _erase(store: Store, choice: ErasureSelection, number: int = 1) -> None:
    memories, events = await store.lying_in(SCOPE, choice)
    await store.erase(SCOPE, Removal(memories=memories, events=events), a_receipt(number, choice=choice))


class AuditContract(StoreSuite):
    async def test_an_empty_trail_has_a_head_of_its_workspace(self, store: Store) -> None:
        assert await store.trail_head(SCOPE) == AuditHead(0, first_hash(SCOPE.workspace).hex())
        assert await checked(store, await store.trail_head(SCOPE)) == AuditCheck(
            entries=0, head=await store.trail_head(SCOPE), names=0, erased=0
        )

    async def test_an_entry_says_who_did_what_by_which_door(self, store: Store) -> None:
        with acting(principal="key:7", door=Door.HTTP), calling("observe", lambda: LATER):
            await store.append(ANA, [Entry(an_event("one", scope=ANA)), Entry(an_event("two", scope=ANA))])
        [entry] = await entries(store)
        assert (entry.seq, entry.at, entry.principal, entry.door, entry.verb) == (1, LATER, "key:7", "http", "observe")
        assert entry.ids == {"events": (an_event("one").id, an_event("two").id)}
        assert entry.names == {"agent": "ana", "session": "monday"}

    async def test_without_a_caller_the_process_is_the_principal_and_the_method_the_verb(self, store: Store) -> None:
        await remember(store, a_memory())
        [entry] = await entries(store)
        assert (entry.principal, entry.door, entry.verb) == (PROCESS, "python", "insert")
        assert entry.ids == {"memories": (a_memory().id,)}

    async def test_the_name_of_a_principal_is_kept_as_a_name(self, store: Store) -> None:
        with acting(principal="oauth", name="oauth:subject"):
            await remember(store, a_memory())
        [chained] = await store.trail(SCOPE, limit=9)
        assert b"subject" not in chained.entry
        assert (await entries(store))[0].names["principal"] == "oauth:subject"

    async def test_a_batch_is_one_entry(self, store: Store) -> None:
        await store.insert_many(SCOPE, [indexed(a_memory(f"number {number}")) for number in range(9)])
        [entry] = await entries(store)
        assert len(entry.ids["memories"]) == 9

    async def test_each_kind_of_write_has_its_entry(self, store: Store) -> None:
        one, two, event = a_memory("one"), a_memory("two"), an_event("said")
        await store.append(SCOPE, [Entry(event)])
        await store.insert(SCOPE, indexed(one))
        await store.insert_many(SCOPE, [indexed(two)])
        await store.revise(SCOPE, indexed(a_memory("anew", memory_id=one.id)), expected_revision=1, at=LATER)
        exposed = [Exposed(two.id, Exposure.SHOWN, NOW, 0.5)]
        await store.adjust(READER, [one.id], Adjustment, at=LATER, exposed=exposed)
        await store.relate(READER, [Relation(one.id, two.id, RelationKind.SUPPORTS, 1.0, NOW)])
        await store.supersede(READER, one.id, two.id, at=LATER)
        await store.set_status(READER, one.id, Status.RETIRED, at=LATER)
        await store.commit(SCOPE, Effect(consolidated=frozenset({two.id})), at=LATER)
        await store.set_priority(
            READER, event.id, Priority.PIN, by="me", reason="", at=LATER, change=lambda memory, *_: memory.strength
        )
        await store.put_key(SCOPE, a_key())
        await store.revoke_key(SCOPE, a_key().id, at=LATER)
        await store.build_space(SCOPE, MODEL, at=LATER)
        await store.answer_with(SCOPE, MODEL, at=LATER)
        await store.drop_vectors(SCOPE, MODEL)
        await store.keep_recall(SCOPE, a_recall())
        await store.drop_recall(READER, a_recall().id)
        await store.import_rows(SCOPE, [])
        await _erase(store, ErasureSelection(ids=frozenset({one.id, two.id})))
        told = await entries(store)
        assert [entry.verb for entry in told] == [
            *("append", "insert", "insert_many", "revise", "adjust", "relate", "supersede", "set_status", "commit"),
            *("set_priority", "put_key", "revoke_key", "build_space", "answer_with", "drop_vectors", "keep_recall"),
            *("drop_recall", "import_rows", "erase"),
        ]
        assert told[4].counts == {"exposures": 1}
        assert told[8].counts == {"consolidated": 1}
        assert told[12].model == MODEL
        assert set(told[18].ids["memories"]) == {one.id, two.id}

    async def test_a_call_that_changes_nothing_has_no_entry(self, store: Store) -> None:
        event = an_event("said", key="once")
        await store.append(SCOPE, [Entry(event)])
        memory = replace(a_memory("one"), key="m")
        await store.insert(SCOPE, indexed(memory))
        before = await store.trail_head(SCOPE)
        await store.append(SCOPE, [Entry(replace(event, id=UUID(int=5)))])
        await store.insert(SCOPE, indexed(replace(memory, id=UUID(int=6))))
        await store.adjust(READER, [], Adjustment, at=LATER)
        await store.commit(SCOPE, Effect(), at=LATER)
        await store.import_rows(SCOPE, [], dry_run=True)
        assert await store.trail_head(SCOPE) == before

    async def test_a_call_that_fails_has_no_entry(self, store: Store) -> None:
        await remember(store, a_memory())
        before = await store.trail_head(SCOPE)
        for failing in (
            store.insert(SCOPE, indexed(a_memory("a"), event_ids=[UUID(int=404)])),
            store.adjust(READER, [a_memory().id, UUID(int=404)], Adjustment, at=LATER),
            store.commit(SCOPE, Effect(expected={UUID(int=404): 1}), at=LATER),
            store.revoke_key(SCOPE, UUID(int=404), at=LATER),
        ):
            with pytest.raises(RemembrancerError):
                await failing
        assert await store.trail_head(SCOPE) == before

    async def test_an_entry_holds_no_text(self, store: Store) -> None:
        memory = replace(a_memory("the canary sings"), title="canary title", topic_key="canary topic", key="canary key")
        await store.append(SCOPE, [Entry(an_event("a canary said so", key="canary event"))])
        await store.insert(SCOPE, indexed(memory))
        exposed = [Exposed(memory.id, Exposure.SHOWN, NOW, 0.5, "where is the canary?")]
        await store.adjust(READER, [], Adjustment, at=NOW, exposed=exposed)
        assert not any(b"canary" in one.entry for one in await store.trail(SCOPE, limit=9))

    async def test_acts_that_change_no_row_are_recorded(self, store: Store) -> None:
        with calling("export", lambda: LATER):
            await store.add_to_trail(SCOPE, [Touched(counts={"rows": 3}), Touched(ids={"memories": (UUID(int=1),)})])
        assert [(one.verb, one.ids, one.counts) for one in await entries(store)] == [
            ("export", {}, {"rows": 3}),
            ("export", {"memories": (UUID(int=1),)}, {}),
        ]

    async def test_entries_come_in_pages(self, store: Store) -> None:
        for number in range(5):
            await store.insert(SCOPE, indexed(a_memory(f"number {number}")))
        assert [one.seq for one in await store.trail(SCOPE, after=1, limit=3)] == [2, 3, 4]
        assert await store.trail(SCOPE, after=5, limit=3) == ()

    async def test_workspaces_have_chains_of_their_own(self, store: Store) -> None:
        other = Scope(workspace="rival", agent="eve")
        await remember(store, a_memory("here"), a_memory("there", scope=other))
        assert [one.seq for one in await store.trail(other, limit=9)] == [1]
        assert [one.name for one in (await store.trail_names(other)).values()] == [b"eve"]
        assert (await checked(store, scope=other)).is_whole
        assert (await checked(store)).is_whole

    async def test_the_chain_is_whole_up_to_each_head_noted(self, store: Store) -> None:
        heads = [await store.trail_head(SCOPE)]
        for number in range(3):
            await store.insert(ANA, indexed(a_memory(f"number {number}", scope=ANA)))
            heads.append(await store.trail_head(SCOPE))
        found = await checked(store, *heads)
        assert (found.problem, found.entries, found.head, found.names) == ("", 3, heads[-1], 2)

    async def test_an_erased_scope_leaves_entries_without_its_name(self, store: Store) -> None:
        await store.append(ANA, [Entry(an_event("a secret", scope=ANA))])
        head = await store.trail_head(SCOPE)
        await _erase(store, ErasureSelection(agent="ana"))
        recorded, erased = await entries(store)
        assert recorded.names == {"agent": None, "session": None}
        assert erased.verb == "erase"
        found = await checked(store, head)
        assert (found.problem, found.erased) == ("", 2)

    async def test_a_name_stays_while_a_row_has_it(self, store: Store) -> None:
        await store.append(ANA, [Entry(an_event("first", scope=ANA))])
        tuesday = replace(ANA, session="tuesday")
        await store.append(tuesday, [Entry(an_event("second", scope=tuesday))])
        await _erase(store, ErasureSelection(session="monday"))
        names = {one.name for one in (await store.trail_names(SCOPE)).values()}
        assert {b"ana", b"tuesday"} <= names
        assert b"monday" not in names

    async def test_who_erases_the_last_rows_of_a_name_under_that_name_is_not_named_again(self, store: Store) -> None:
        await store.append(ANA, [Entry(an_event("a secret", scope=ANA))])
        choice = ErasureSelection(agent="ana")
        memories, events = await store.lying_in(ANA, choice)
        await store.erase(ANA, Removal(memories=memories, events=events), a_receipt(choice=choice))
        assert await store.trail_names(SCOPE) == {}
        assert [one.names for one in await entries(store)] == [{"agent": None, "session": None}] * 2
        assert (await checked(store)).is_whole

    async def test_a_name_that_no_row_has_is_deleted_by_erasing_its_scope(self, store: Store) -> None:
        with acting(principal="oauth", name="oauth:subject"):
            await remember(store, a_memory())
        await _erase(store, ErasureSelection(agent="oauth:subject"))
        assert (await entries(store))[0].names["principal"] is None
        assert (await checked(store)).is_whole

    async def test_a_name_that_is_used_again_has_another_pseudonym(self, store: Store) -> None:
        for number, text in enumerate(("first", "second")):
            await store.append(ANA, [Entry(an_event(text, scope=ANA))])
            await _erase(store, ErasureSelection(agent="ana"), number)
        first, _, second, _ = await store.trail(SCOPE, limit=9)
        pseudonyms = [one.entry.partition(b'"names":')[2].partition(b"}")[0] for one in (first, second)]
        assert pseudonyms[0] != pseudonyms[1]

    async def test_an_erasure_by_dry_run_is_no_entry(self, store: Store) -> None:
        await remember(store, a_memory())
        head, reader = await store.trail_head(SCOPE), Reader(SCOPE)
        removal = Removal(memories=frozenset({a_memory().id}))
        await store.erase(SCOPE, removal, a_receipt(dry_run=True))
        assert await store.trail_head(SCOPE) == head
        assert await store.get(reader, [a_memory().id]) != {}
