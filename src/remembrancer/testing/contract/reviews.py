"""Contract of reviews: the evidence that waits for a review, and the log of reviews."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final
from uuid import UUID

import pytest

from remembrancer.domain.effect import Effect
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.review import Evidence, Rating
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.strength import Adjustment, Exposed, Exposure
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, exported, holding, remember
from remembrancer.testing.contract.memories import LATER
from remembrancer.testing.contract.world import a_review
from remembrancer.testing.doubles import HIDDEN, MATE, NOW, NOWHERE, READER, SCOPE, a_memory

WORKSPACE: Final = Scope(workspace=SCOPE.workspace)
MONDAY: Final = WORKSPACE.narrowed(session="monday")
ONE, TWO, THREE = (a_memory(text, memory_id=UUID(int=n)) for n, text in enumerate(("one", "two", "three"), start=1))


def after(minutes: int) -> datetime:
    return NOW + timedelta(minutes=minutes)


async def retrieve(
    store: Store,
    memory: Memory,
    minutes: int,
    query: str = "",
    *,
    session: str | None = None,
    kind: Exposure = Exposure.RETRIEVED,
    owner: Scope = WORKSPACE,
) -> None:
    exposed = Exposed(
        memory.id,
        kind,
        after(minutes),
        query=query,
        session=session,
        project=owner.project,
        crew=owner.crew,
        agent=owner.agent,
    )
    await store.adjust(Reader(memory.scope), [], Adjustment, at=NOW, exposed=[exposed])


async def waiting(store: Store, kind: Exposure = Exposure.RETRIEVED, *, limit: int = 99) -> list[UUID]:
    return [evidence.memory_id for evidence in await store.unreviewed(SCOPE, kind, limit=limit)]


async def review(store: Store, memory: Memory, *, until: int, minutes: int = 99) -> None:
    given = a_review(memory.id, at=after(minutes), evidence_until=after(until))
    await store.commit(SCOPE, Effect(reviewed=(given,)), at=LATER)


class ReviewContract(StoreSuite):
    known = holding(lambda store: remember(store, ONE))

    async def test_evidence_contains_times_and_questions_oldest_first(self, known: Store) -> None:
        await retrieve(known, ONE, 7, "which bird?", session="tuesday")
        await retrieve(known, ONE, 3, "what flew by?", session="monday")
        assert await known.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9) == (
            Evidence(
                memory_id=ONE.id, at=(after(3), after(7)), queries=("what flew by?", "which bird?"), session="tuesday"
            ),
        )

    async def test_a_question_and_a_session_may_be_unknown(self, known: Store) -> None:
        await retrieve(known, ONE, 3)
        assert await known.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9) == (
            Evidence(memory_id=ONE.id, at=(after(3),), queries=("",)),
        )

    async def test_a_memory_without_exposures_is_not_pending(self, known: Store) -> None:
        assert await waiting(known) == []

    async def test_only_exposures_of_that_kind_count(self, store: Store) -> None:
        await remember(store, ONE, TWO)
        await retrieve(store, ONE, 1)
        await retrieve(store, TWO, 1, kind=Exposure.USED)
        assert await waiting(store) == [ONE.id]
        assert await waiting(store, Exposure.USED) == [TWO.id]
        assert await waiting(store, Exposure.SHOWN) == []

    async def test_exposures_covered_by_a_review_are_no_longer_pending(self, known: Store) -> None:
        await retrieve(known, ONE, 3)
        await review(known, ONE, until=3)
        assert await waiting(known) == []

    async def test_exposures_after_the_evidence_of_a_review_are_pending_for_the_next(self, known: Store) -> None:
        for minutes in (3, 4, 5):
            await retrieve(known, ONE, minutes, f"question {minutes}")
        await review(known, ONE, until=4, minutes=9)
        (evidence,) = await known.unreviewed(SCOPE, Exposure.RETRIEVED, limit=9)
        assert (evidence.at, evidence.queries) == ((after(5),), ("question 5",))

    async def test_the_farthest_of_all_reviews_counts(self, known: Store) -> None:
        await retrieve(known, ONE, 3)
        first = a_review(ONE.id, at=after(8), evidence_until=after(5))
        again = a_review(ONE.id, at=after(9), evidence_until=after(2), previous=first.at)
        await known.commit(SCOPE, Effect(reviewed=(first, again)), at=LATER)
        assert await waiting(known) == []

    async def test_reviews_of_one_memory_answer_for_no_other(self, store: Store) -> None:
        await remember(store, ONE, TWO)
        await retrieve(store, ONE, 3)
        await retrieve(store, TWO, 3)
        await review(store, ONE, until=9)
        assert await waiting(store) == [TWO.id]

    async def test_memories_are_ordered_by_waiting_time_then_by_id(self, store: Store) -> None:
        await remember(store, ONE, TWO, THREE)
        await retrieve(store, THREE, 1)
        await retrieve(store, THREE, 9)
        await retrieve(store, TWO, 2)
        await retrieve(store, ONE, 2)
        assert await waiting(store) == [THREE.id, ONE.id, TWO.id]
        assert await waiting(store, limit=2) == [THREE.id, ONE.id]

    async def test_a_memory_that_is_not_current_is_not_pending(self, store: Store) -> None:
        await remember(store, ONE, TWO, THREE)
        for memory in (ONE, TWO, THREE):
            await retrieve(store, memory, 3)
        await store.set_status(READER, ONE.id, Status.COMPACTED, at=NOW)
        await store.supersede(READER, TWO.id, THREE.id, at=NOW)
        assert await waiting(store) == [THREE.id]

    async def test_a_memory_that_only_its_owner_sees_is_pending_too(self, store: Store) -> None:
        await remember(store, HIDDEN)
        await retrieve(store, HIDDEN, 3)
        assert await waiting(store) == [HIDDEN.id]

    async def test_reviews_come_whole_and_oldest_first(self, known: Store) -> None:
        first = replace(a_review(ONE.id, at=after(1)), rating=Rating.AGAIN, by="policy")
        second = a_review(ONE.id, at=after(2), previous=first.at)
        for given in (first, second):
            await known.commit(SCOPE, Effect(reviewed=(given,)), at=LATER)
        assert await known.reviews(READER, ONE.id) == (first, second)

    async def test_a_memory_has_its_own_reviews_alone(self, store: Store) -> None:
        await remember(store, ONE, TWO)
        await review(store, ONE, until=3)
        assert await store.reviews(READER, TWO.id) == ()

    async def test_an_unknown_memory_has_none(self, store: Store) -> None:
        assert await store.reviews(READER, NOWHERE) == ()

    async def test_a_reader_sees_no_reviews_of_memories_that_it_cannot_see(self, store: Store) -> None:
        await remember(store, HIDDEN)
        await review(store, HIDDEN, until=3)
        assert await store.reviews(READER, HIDDEN.id) == ()
        assert len(await store.reviews(Reader(MATE), HIDDEN.id)) == 1

    async def test_reviews_go_out_and_come_back_the_same(self, known: Store) -> None:
        await retrieve(known, ONE, 3)
        await review(known, ONE, until=3)
        rows = await exported(known)
        async with self.another_store() as other:
            assert await other.import_rows(SCOPE, rows) == len(rows)
            assert await exported(other) == rows
            assert await waiting(other) == []

    async def test_a_review_that_is_there_stays_as_it_is(self, known: Store) -> None:
        await review(known, ONE, until=3)
        rows = [{**row, "rating": 1} for row in await exported(known) if row["record"] == "review"]
        assert await known.import_rows(SCOPE, rows) == 0
        (kept,) = await known.reviews(READER, ONE.id)
        assert kept.rating is Rating.GOOD

    async def test_the_memories_of_a_session_come_once_each_by_id(self, store: Store) -> None:
        await remember(store, ONE, TWO, THREE)
        for memory, minutes in ((TWO, 1), (ONE, 2), (TWO, 3)):
            await retrieve(store, memory, minutes, session="monday")
        await retrieve(store, THREE, 1, session="tuesday")
        assert await store.exposed_in(MONDAY, Exposure.RETRIEVED) == (ONE.id, TWO.id)

    @pytest.mark.parametrize("part", ["project", "crew", "agent"])
    async def test_sessions_of_one_name_and_other_owners_are_apart(self, store: Store, part: str) -> None:
        await remember(store, ONE, TWO)
        theirs = MONDAY.narrowed(**{part: "ben"})
        await retrieve(store, ONE, 1, session="monday", owner=theirs)
        await retrieve(store, TWO, 1, session="monday")
        assert await store.exposed_in(theirs, Exposure.RETRIEVED) == (ONE.id,)
        assert await store.exposed_in(MONDAY, Exposure.RETRIEVED) == (TWO.id,)

    async def test_exposures_of_other_kinds_do_not_count(self, store: Store) -> None:
        await remember(store, ONE, TWO)
        await retrieve(store, ONE, 1, session="monday", kind=Exposure.SHOWN)
        await retrieve(store, TWO, 1)
        assert await store.exposed_in(MONDAY, Exposure.RETRIEVED) == ()
        assert await store.exposed_in(replace(MONDAY, session=None), Exposure.RETRIEVED) == ()
