"""Contract of the past: what a read view as of an earlier time returns, and what an index finds in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from typing import Final

import pytest

from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.past import as_it_was, revision_of
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Visibility
from remembrancer.domain.strength import Adjustment, Strength
from remembrancer.ports.changes import ReadView
from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import EVERYTHING, MODEL, StoreSuite, give_vectors, remember, stored
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.contract.finding import Finder, IndexSuite, request
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, a_vector, indexed

BIRD: Final = replace(
    a_memory("kestrel"), title="Bird", tags=("t1",), metadata={"n": 1}, source="book", topic_key="bird"
)
HOUR: Final = timedelta(hours=1)


async def revised(store: Store, memory: Memory, *said: str, at: datetime, revision: int = 1) -> None:
    await store.revise(SCOPE, indexed(memory, *said), expected_revision=revision, at=at)


async def then(store: Store, at: datetime, memory: Memory = BIRD, *, reader: Reader = READER) -> Memory | None:
    """The memory as of a time."""
    return (await store.read(lambda view: view.as_of(at).get(reader, [memory.id]))).get(memory.id)


async def said(store: Store, at: datetime) -> list[str]:
    """The texts of its cues as of a time."""
    cues = await store.read(lambda view: view.as_of(at).cues(READER, [BIRD.id]))
    return [cue.text for cue in cues.get(BIRD.id, ())]


def stronger(strength: Strength) -> Adjustment:
    return Adjustment(replace(strength, importance=strength.importance / 2, stability=strength.stability * 2))


class PastContract(StoreSuite):
    """The view `as_of` a time."""

    async def test_a_memory_is_as_it_was_before_each_revision(self, store: Store) -> None:
        first = await stored(store, BIRD)
        second = replace(BIRD, text="owl", title=None, tags=(), metadata={}, source=None, kind="fact")
        await revised(store, second, at=NOW + HOUR)
        await revised(store, replace(second, text="heron"), at=NOW + 2 * HOUR, revision=2)
        texts = [await then(store, NOW + hours * HOUR) for hours in range(3)]
        assert texts[0] == first
        assert [memory and (memory.text, memory.tags, memory.revision) for memory in texts] == [
            ("kestrel", ("t1",), 1),
            ("owl", (), 2),
            ("heron", (), 3),
        ]

    async def test_before_it_was_recorded_there_is_no_memory(self, store: Store) -> None:
        await stored(store, BIRD)
        assert await then(store, NOW - HOUR) is None

    async def test_a_memory_has_the_cues_of_its_revision(self, store: Store) -> None:
        await stored(store, indexed(BIRD, "one", "two"))
        await revised(store, BIRD, "one", "three", at=NOW + HOUR)
        assert [await said(store, NOW + hours * HOUR) for hours in (-1, 0, 1)] == [
            [],
            ["one", "two"],
            ["one", "three"],
        ]

    async def test_a_memory_has_the_vector_of_its_revision(self, store: Store) -> None:
        await stored(store, indexed(BIRD, "one"))
        await give_vectors(store, {"one": a_vector(1, 0)})
        await revised(store, BIRD, "two", at=NOW + HOUR)
        await give_vectors(store, {"two": a_vector(0, 1)})

        def vectors(view: ReadView) -> Sequence[list[float]]:
            return [view.as_of(at).vectors(READER, MODEL, [BIRD.id])[BIRD.id].tolist() for at in (NOW, NOW + HOUR)]

        assert await store.read(vectors) == [[1, 0], [0, 1]]

    async def test_a_memory_has_the_strength_it_had(self, store: Store) -> None:
        memory = await stored(store, BIRD)
        for hours in (1, 2):
            await store.adjust(READER, [BIRD.id], stronger, at=NOW + hours * HOUR)
        found = [await then(store, NOW + hours * HOUR) for hours in range(3)]
        importances = [memory.strength.importance / 2**hours for hours in range(3)]
        assert [one and one.strength.importance for one in found] == importances
        assert found[0] == memory

    @pytest.mark.parametrize("end", ["retired", "superseded", "invalidated"])
    async def test_a_memory_that_ended_later_had_not_ended(self, store: Store, end: str) -> None:
        memory = await stored(store, BIRD)
        owl = await stored(store, a_memory("owl"))
        match end:
            case "retired":
                await store.set_status(READER, BIRD.id, Status.RETIRED, at=NOW + HOUR)
            case "superseded":
                await store.supersede(READER, BIRD.id, owl.id, at=NOW + HOUR)
            case _:
                await store.supersede(READER, BIRD.id, None, at=NOW + HOUR)
        assert await then(store, NOW) == memory
        assert await then(store, NOW + HOUR) == (await store.get(READER, [BIRD.id]))[BIRD.id]

    async def test_a_memory_restored_since_was_retired_in_between(self, store: Store) -> None:
        await stored(store, BIRD)
        await store.set_status(READER, BIRD.id, Status.RETIRED, at=NOW + HOUR)
        await store.set_status(READER, BIRD.id, Status.ACTIVE, at=NOW + 2 * HOUR)
        found = [await then(store, NOW + hours * HOUR) for hours in range(3)]
        assert [one and one.status for one in found] == [Status.ACTIVE, Status.RETIRED, Status.ACTIVE]

    async def test_of_two_writes_at_one_time_the_state_before_both_is_kept(self, store: Store) -> None:
        memory = await stored(store, BIRD)
        for _ in range(2):
            await store.adjust(READER, [BIRD.id], stronger, at=NOW + HOUR)
        assert await then(store, NOW) == memory

    async def test_a_clock_set_back_hides_no_later_state(self, store: Store) -> None:
        await stored(store, BIRD)
        await store.set_status(READER, BIRD.id, Status.RETIRED, at=NOW + 2 * HOUR)
        await store.set_status(READER, BIRD.id, Status.ACTIVE, at=NOW + HOUR)
        found = [await then(store, NOW + hours * HOUR) for hours in range(3)]
        assert [one and one.status for one in found] == [Status.ACTIVE] * 3

    async def test_a_listing_is_filtered_by_what_was_so_then(self, store: Store) -> None:
        await stored(store, BIRD)
        await revised(store, replace(BIRD, tags=("t2",)), at=NOW + HOUR)
        tagged = [replace(EVERYTHING, tags=frozenset({tag})) for tag in ("t1", "t2")]

        def listed(view: ReadView) -> list[list[int]]:
            views = [view.as_of(NOW), view.as_of(NOW + HOUR), view]
            return [[len(one.memories(READER, where, limit=9)) for where in tagged] for one in views]

        assert await store.read(listed) == [[1, 0], [0, 1], [0, 1]]

    async def test_relations_made_later_are_left_out(self, store: Store) -> None:
        await remember(store, BIRD, a_memory("owl"))
        edge = Relation(BIRD.id, a_memory("owl").id, RelationKind.SIMILAR, 1.0, NOW + HOUR)
        await store.relate(READER, [edge])

        def related(view: ReadView) -> list[int]:
            return [len(view.as_of(at).relations(READER, [BIRD.id])) for at in (NOW, NOW + HOUR)]

        assert await store.read(related) == [0, 1]

    @pytest.mark.parametrize(
        ("before", "after"), [(Visibility.WORKSPACE, Visibility.OWN), (Visibility.OWN, Visibility.WORKSPACE)]
    )
    async def test_what_is_or_was_kept_from_a_reader_is_not_shown(
        self, store: Store, before: Visibility, after: Visibility
    ) -> None:
        await stored(store, replace(BIRD, visibility=before))
        await revised(store, replace(BIRD, text="owl", visibility=after), at=NOW + HOUR)
        other = Reader(SCOPE.narrowed(agent="somebody else"))
        assert await then(store, NOW, reader=other) is None
        assert await then(store, NOW, reader=Reader(SCOPE)) is not None

    async def test_nothing_of_an_erased_memory_is_left(self, store: Store) -> None:
        await stored(store, BIRD)
        await revised(store, replace(BIRD, text="owl"), at=NOW + HOUR)
        await store.adjust(READER, [BIRD.id], stronger, at=NOW + 2 * HOUR)
        removed = await store.erase(SCOPE, Removal(memories=frozenset({BIRD.id})), a_receipt())
        assert (removed.counts["revisions"], removed.counts["cues"], removed.counts["past_states"]) == (1, 2, 1)
        assert (await then(store, NOW), await said(store, NOW)) == (None, [])

    @pytest.mark.parametrize("before", [None, NOW + HOUR])
    async def test_what_was_said_in_an_erased_session_does_not_return(
        self, store: Store, before: datetime | None
    ) -> None:
        await stored(store, indexed(BIRD, "one", "two"))
        await give_vectors(store, {"one": a_vector(1, 0), "two": a_vector(0, 1)})
        later = replace(BIRD, text="owl", scope=SCOPE.narrowed(session="later"))
        await revised(store, later, "two", "three", at=NOW + HOUR)
        choice = ErasureSelection(session=SCOPE.session, before=before)
        removed = await store.erase(SCOPE, Removal(), a_receipt(choice=choice))
        assert [removed.counts[kind] for kind in ("memories", "revisions", "cues", "vectors")] == [0, 1, 2, 2]
        found = await then(store, NOW)
        assert found is not None
        assert (found.text, await said(store, NOW)) == ("owl", ["two", "three"])
        assert await store.revisions(READER, BIRD.id) == ()

    async def test_a_memory_whose_successor_was_erased_ended_when_it_was_superseded(self, store: Store) -> None:
        await remember(store, BIRD, a_memory("owl"))
        await store.supersede(READER, BIRD.id, a_memory("owl").id, at=NOW + HOUR)
        await store.adjust(READER, [BIRD.id], stronger, at=NOW + 2 * HOUR)
        await store.erase(SCOPE, Removal(memories=frozenset({a_memory("owl").id})), a_receipt())
        found = [await then(store, NOW + hours * HOUR) for hours in range(3)]
        assert [one and (one.superseded_by, one.valid_until) for one in found] == [
            (None, None),
            (None, NOW + HOUR),
            (None, NOW + HOUR),
        ]

    async def test_it_is_the_memory_made_from_its_revision_and_state(self, store: Store) -> None:
        memory = await stored(store, BIRD)
        await revised(store, replace(BIRD, text="owl"), at=NOW + HOUR)
        now = (await store.get(READER, [BIRD.id]))[BIRD.id]
        assert await then(store, NOW) == as_it_was(now, NOW, revision_of(memory, NOW + HOUR), None) == memory


class FoundInThePastContract(IndexSuite):
    """Tests of an index over a feed of the past."""

    async def test_the_words_of_then_are_found_and_not_those_of_now(self, finder: Finder) -> None:
        await stored(finder.store, BIRD)
        await revised(finder.store, replace(BIRD, text="owl"), at=NOW + HOUR)
        before, now = replace(finder, at=NOW), finder
        assert [await one.found("kestrel", "owl") for one in (now, before, now)] == [{"owl"}, {"kestrel"}, {"owl"}]
        assert await before.found("owl") == set()

    async def test_times_are_told_apart(self, finder: Finder) -> None:
        await stored(finder.store, BIRD)
        for number, text in enumerate(("owl", "heron", "stork"), start=1):
            memory = replace(BIRD, text=text)
            await revised(finder.store, memory, at=NOW + number * HOUR, revision=number)
        words = ("kestrel", "owl", "heron", "stork")
        for _ in range(2):
            found = [await replace(finder, at=NOW + hours * HOUR).found(*words) for hours in range(4)]
            assert found == [{word} for word in words]

    async def test_the_vectors_of_then_are_compared(self, finder: Finder) -> None:
        await stored(finder.store, indexed(BIRD, "kestrel"))
        await give_vectors(finder.store, {"kestrel": a_vector(1, 0)})
        await revised(finder.store, BIRD, "owl", at=NOW + HOUR)
        await give_vectors(finder.store, {"owl": a_vector(0, 1)})
        asked = request(vector=a_vector(1, 0), model=MODEL)
        found = [await replace(finder, at=at).search(READER, asked) for at in (NOW, None)]
        assert [one.similarity.tolist() for one in found] == [
            [pytest.approx(1, abs=2e-3)],
            [pytest.approx(0, abs=2e-3)],
        ]

    async def test_a_vector_made_later_counts_as_of_before(self, finder: Finder) -> None:
        await stored(finder.store, indexed(BIRD, "kestrel"))
        await revised(finder.store, BIRD, "owl", at=NOW + HOUR)
        before = replace(finder, at=NOW)
        assert await before.found("kestrel") == {"kestrel"}
        await give_vectors(finder.store, {"kestrel": a_vector(1, 0)})
        found = await before.search(READER, request(vector=a_vector(1, 0), model=MODEL))
        assert found.similarity.tolist() == [pytest.approx(1, abs=2e-3)]

    async def test_states_are_those_of_then(self, finder: Finder) -> None:
        await stored(finder.store, BIRD)
        await finder.store.adjust(READER, [BIRD.id], stronger, at=NOW + HOUR)
        found = [await replace(finder, at=at).search(READER, request("kestrel")) for at in (NOW, NOW + HOUR)]
        assert [one.states.importance.tolist() for one in found] == [[0.5], [0.25]]

    async def test_a_later_write_is_not_found_as_of_before(self, finder: Finder) -> None:
        await stored(finder.store, BIRD)
        before = replace(finder, at=NOW)
        assert await before.found("kestrel", "owl") == {"kestrel"}
        await remember(finder.store, replace(a_memory("owl"), recorded_at=NOW + HOUR))
        await revised(finder.store, replace(BIRD, text="heron"), at=NOW + HOUR)
        assert await before.found("kestrel", "owl", "heron") == {"kestrel"}
        assert await finder.found("kestrel", "owl", "heron") == {"owl", "heron"}

    async def test_what_was_narrowed_later_is_not_found_as_of_before(self, finder: Finder) -> None:
        await stored(finder.store, BIRD)
        other = Reader(SCOPE.narrowed(agent="somebody else"))
        before = replace(finder, at=NOW)
        assert await before.found("kestrel", reader=other) == {"kestrel"}
        await revised(finder.store, replace(BIRD, visibility=Visibility.OWN), at=NOW + HOUR)
        assert await before.found("kestrel", reader=other) == set()

    async def test_what_was_erased_is_not_found_as_of_before(self, finder: Finder) -> None:
        await stored(finder.store, BIRD)
        await revised(finder.store, replace(BIRD, text="owl"), at=NOW + HOUR)
        before = replace(finder, at=NOW)
        assert await before.found("kestrel") == {"kestrel"}
        await finder.store.erase(SCOPE, Removal(memories=frozenset({BIRD.id})), a_receipt())
        assert await before.found("kestrel") == set()

    async def test_phrases_of_then_are_found(self, finder: Finder) -> None:
        if not finder.index.capabilities.phrases:
            pytest.skip("the index does not declare phrases")
        await stored(finder.store, replace(BIRD, title=None, text="to be or not"))
        await revised(finder.store, replace(BIRD, title=None, text="owl"), at=NOW + HOUR)
        asked = request(phrase=("to", "be"))
        found = [await replace(finder, at=at).search(READER, asked) for at in (NOW, None)]
        assert [len(one.ids) for one in found] == [1, 0]
