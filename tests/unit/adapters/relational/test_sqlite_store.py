"""Two stores on one file, the position of the index sweep, exports during writes, and reads that write nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Final, TypeVar
from uuid import UUID

import numpy as np
import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule, run_state_machine_as_test
from searched import SearchedStore

from remembrancer import AsyncRemembrancer
from remembrancer.adapters.relational import exporting
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.candidates import States
from remembrancer.domain.memory import Cue, Memory, Status
from remembrancer.domain.scope import Reader
from remembrancer.domain.strength import Adjustment, Strength, Usage
from remembrancer.errors import Conflict
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.policies.admission.formation import Formation, memory_of_event
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.exchange import CueRecord, record_to_row
from remembrancer.ports.journal import Entry
from remembrancer.ports.states import states_of
from remembrancer.ports.transfer import ExportRow
from remembrancer.testing.contract.base import (
    MODEL,
    assert_same_states,
    exported,
    give_vectors,
)
from remembrancer.testing.contract.finding import assert_same_answer, request
from remembrancer.testing.contract.neighbours import ask
from remembrancer.testing.contract.strength import LIVED
from remembrancer.testing.contract.world import populate
from remembrancer.testing.doubles import NOW, READER, SCOPE, HashEmbedder, a_memory, a_vector, an_event, indexed

T = TypeVar("T")
LATER: Final = NOW + timedelta(days=1)


@pytest.fixture
def path(tmp_path: Path) -> str:
    return str(tmp_path / "shared.db")


def with_two(path: str, work: Callable[[SearchedStore, SearchedStore], Awaitable[T]]) -> T:
    """The result of `work` on two stores of one file, as two processes would open it."""

    async def whole() -> T:
        one, other = (
            SearchedStore(path),
            SearchedStore(path),
        )
        try:
            return await work(one, other)
        finally:
            await one.close()
            await other.close()

    return asyncio.run(whole())


# ── what another process wrote is seen at the next recall ────────────────────────────────────────────────────────────


def test_a_row_of_another_process_is_found(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[set[str], set[str]]:
        before = await one.found("kestrel")
        await other.insert(SCOPE, indexed(a_memory("a kestrel")))
        return before, await one.found("kestrel")

    assert with_two(path, work) == (set(), {"a kestrel"})


def test_a_memory_that_another_process_revised_is_found_by_its_new_words_only(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[set[str], set[str], set[str]]:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        before = await one.found("kestrel")
        revised = replace(a_memory("a kestrel"), text="an owl")
        await other.revise(SCOPE, indexed(revised), expected_revision=1, at=LATER)
        return before, await one.found("kestrel"), await one.found("owl")

    assert with_two(path, work) == ({"a kestrel"}, set(), {"an owl"})


def test_a_memory_that_another_process_retired_is_no_longer_found(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[set[str], set[str]]:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        before = await one.found("kestrel")
        await other.set_status(READER, a_memory("a kestrel").id, Status.RETIRED, at=NOW)
        return before, await one.found("kestrel")

    assert with_two(path, work) == ({"a kestrel"}, set())


def test_a_vector_of_another_process_counts(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[int, float]:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        before = await one.search(READER, request(vector=a_vector(3, 4)))
        await give_vectors(other, {"a kestrel": a_vector(3, 4)})
        after = await one.search(READER, request(vector=a_vector(3, 4)))
        return before.without_vector, float(after.similarity[0])

    waiting, similarity = with_two(path, work)
    assert (waiting, similarity) == (1, pytest.approx(1.0, abs=2e-3))


def test_a_turn_of_another_process_is_around_ours(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> list[dict[str, float]]:
        said = [an_event(text) for text in ("kestrel", "owl", "barn")]
        seen: list[dict[str, float]] = []
        for store, event in zip((one, other, one), said, strict=True):
            await store.append(SCOPE, [Entry(event, memory_of_event(event, Formation()))])
            seen.append(await ask(one.finder, "neighbour_coverage", request("kestrel", context_features=True)))
        return seen

    assert with_two(path, work) == [
        {"kestrel": 0},
        {"kestrel": 0, "owl": 1},
        {"kestrel": 0, "owl": 1, "barn": 0.75},
    ]


def test_a_turn_that_another_process_takes_from_its_memory_is_around_ours_no_more(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[dict[str, float], dict[str, float]]:
        said = [an_event(text) for text in ("kestrel", "owl", "barn")]
        writes = [memory_of_event(event, Formation()) for event in said]
        await one.append(SCOPE, [Entry(event, write) for event, write in zip(said, writes, strict=True)])
        asked = request("kestrel", context_features=True)
        before = await ask(one.finder, "neighbour_coverage", asked)
        revised = replace(writes[1].memory, text="summary")
        await other.revise(SCOPE, indexed(revised), expected_revision=1, at=LATER)
        return before, await ask(one.finder, "neighbour_coverage", asked)

    before, after = with_two(path, work)
    assert (before["barn"], after) == (0.75, {"kestrel": 0, "barn": 1})


def test_the_words_that_another_process_made_are_read(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> list[list[int]]:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        (cue,) = await one.pending(SCOPE, MODEL, limit=9, now=NOW)
        words = np.array([[64], [128]], dtype=np.uint8)
        await other.put_vectors(SCOPE, MODEL, [CueVector(cue.ref, a_vector(3, 4), False, words)], at=NOW)
        return (await one.token_embeddings(READER, MODEL, [cue.ref]))[cue.ref].tolist()

    assert with_two(path, work) == [[64], [128]]


def test_writes_seen_by_another_question_while_a_vector_is_awaited_are_searched_too(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[UUID, ...]:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        index, asked = one.finder.index, request("kestrel", model=MODEL).request
        loop = asyncio.get_running_loop()

        async def write_and_ask() -> None:
            await other.insert(SCOPE, indexed(a_memory("the kestrel")))
            await other.read(lambda view: index.search(view, READER, asked).candidates())

        def asking(view: ReadView) -> tuple[UUID, ...]:
            search = index.search(view, READER, asked)
            asyncio.run_coroutine_threadsafe(write_and_ask(), loop).result()
            return tuple(search.candidates(a_vector(1, 0)).ids)

        return await one.read(asking)

    assert set(with_two(path, work)) == {a_memory("a kestrel").id, a_memory("the kestrel").id}


def test_feedback_of_another_process_counts(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> States:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        await one.found("kestrel")
        await other.adjust(READER, [a_memory("a kestrel").id], lambda _: Adjustment(LIVED), at=LATER)
        return (await one.search(READER, request("kestrel"))).states

    assert_same_states(with_two(path, work), states_of([replace(a_memory("a kestrel"), strength=LIVED)]))


def test_a_memory_that_another_process_retired_as_it_adjusted_it_is_no_longer_found(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> set[str]:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        await one.found("kestrel")
        await other.adjust(READER, [a_memory("a kestrel").id], lambda was: Adjustment(was, "harmed"), at=NOW)
        return await one.found("kestrel")

    assert with_two(path, work) == set()


@pytest.mark.parametrize("successor", [a_memory("an owl").id, None], ids=["superseded", "ended"])
def test_a_memory_whose_validity_another_process_ended_is_no_longer_found(path: str, successor: UUID | None) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> set[str]:
        for text in ("a kestrel", "an owl"):
            await one.insert(SCOPE, indexed(a_memory(text)))
        await one.found("kestrel")
        await other.supersede(READER, a_memory("a kestrel").id, successor, at=NOW)
        return await one.found("kestrel", "owl")

    assert with_two(path, work) == {"an owl"}


def test_two_processes_cannot_make_a_circle(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> list[object]:
        kestrel, owl = a_memory("a kestrel").id, a_memory("an owl").id
        for text in ("a kestrel", "an owl"):
            await one.insert(SCOPE, indexed(a_memory(text)))
        both = (one.supersede(READER, kestrel, owl, at=NOW), other.supersede(READER, owl, kestrel, at=NOW))
        return [type(outcome) for outcome in await asyncio.gather(*both, return_exceptions=True)]

    assert sorted(map(str, with_two(path, work))) == sorted(map(str, [Memory, Conflict]))


def test_vectors_of_an_earlier_text_of_a_memory_are_kept_with_that_text(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[int, int]:
        await one.insert(SCOPE, indexed(a_memory("a kestrel")))
        (cue,) = await one.pending(SCOPE, MODEL, limit=9, now=NOW)
        revised = replace(a_memory("a kestrel"), text="an owl")
        await other.revise(SCOPE, indexed(revised), expected_revision=1, at=LATER)
        stored = await one.put_vectors(SCOPE, MODEL, [CueVector(cue.ref, a_vector(1, 0), False)], at=LATER)
        return stored, (await one.search(READER, request(vector=a_vector(1, 0)))).without_vector

    assert with_two(path, work) == (1, 1)


class TwoProcesses(RuleBasedStateMachine):
    """Either of two stores writes; both must give the same answers as a third that has just read the file."""

    folder: Path
    count = 0

    def __init__(self) -> None:
        super().__init__()
        TwoProcesses.count += 1
        self.path = str(self.folder / f"{TwoProcesses.count}.db")
        self.runner = asyncio.Runner()
        self.stores = [self._opened(), self._opened()]
        self.known: dict[UUID, int] = {}

    def _opened(self) -> SearchedStore:
        # So small a budget that one index at a time is kept: they are dropped and loaded again on the way.
        return SearchedStore(self.path, index=ResidentIndex(1))

    def teardown(self) -> None:
        for store in self.stores:
            self.runner.run(store.close())
        self.runner.close()

    @rule(
        by=st.sampled_from([0, 1]), words=st.lists(st.sampled_from(["kestrel", "owl", "barn"]), min_size=1, max_size=3)
    )
    def insert(self, by: int, words: list[str]) -> None:
        memory = a_memory(" ".join(words), memory_id=UUID(int=len(self.known) + 1))
        self.runner.run(self.stores[by].insert(SCOPE, indexed(memory, *words)))
        self.known[memory.id] = 1

    @rule(
        by=st.sampled_from([0, 1]),
        said=st.lists(st.sampled_from(["kestrel", "owl", "barn"]), min_size=1, max_size=3),
        session=st.sampled_from(["one", "two"]),
    )
    def say(self, by: int, said: list[str], session: str) -> None:
        scope = replace(SCOPE, session=session)
        entries: list[Entry] = []
        for text in said:
            event = an_event(text, event_id=UUID(int=1_000 + len(self.known)), scope=scope)
            write = memory_of_event(event, Formation())
            self.known[write.memory.id] = 1
            entries.append(Entry(event, write))
        self.runner.run(self.stores[by].append(scope, entries))

    @rule(by=st.sampled_from([0, 1]), pick=st.integers(0, 99), text=st.sampled_from(["kestrel", "owl", "barn"]))
    def revise(self, by: int, pick: int, text: str) -> None:
        if self.known:
            memory_id = list(self.known)[pick % len(self.known)]
            write = indexed(a_memory(text, memory_id=memory_id))
            revision = self.known[memory_id]
            with suppress(Conflict):  # what is superseded says what it said
                self.runner.run(self.stores[by].revise(SCOPE, write, expected_revision=revision, at=NOW))
                self.known[memory_id] += 1

    @rule(by=st.sampled_from([0, 1]), pick=st.integers(0, 99), status=st.sampled_from([Status.ACTIVE, Status.RETIRED]))
    def set_status(self, by: int, pick: int, status: Status) -> None:
        if self.known:
            memory_id = list(self.known)[pick % len(self.known)]
            self.runner.run(self.stores[by].set_status(READER, memory_id, status, at=NOW))

    @rule(
        by=st.sampled_from([0, 1]), pick=st.integers(0, 99), used=st.integers(0, 3), retire=st.sampled_from(["", "x"])
    )
    def adjust(self, by: int, pick: int, used: int, retire: str) -> None:
        if self.known:
            memory_id = list(self.known)[pick % len(self.known)]
            strength = Strength(importance=used / 4, stability=used + 1, usage=Usage(used=used, last_used_at=NOW))
            self.runner.run(self.stores[by].adjust(READER, [memory_id], lambda _: Adjustment(strength, retire), at=NOW))

    @rule(by=st.sampled_from([0, 1]), old=st.integers(0, 99), new=st.none() | st.integers(0, 99))
    def supersede(self, by: int, old: int, new: int | None) -> None:
        if self.known:
            ids = list(self.known)
            successor = None if new is None else ids[new % len(ids)]
            with suppress(Conflict):
                self.runner.run(self.stores[by].supersede(READER, ids[old % len(ids)], successor, at=NOW))

    @rule(by=st.sampled_from([0, 1]), limit=st.integers(1, 3))
    def embed(self, by: int, limit: int) -> None:
        async def some() -> None:
            store = self.stores[by]
            pending = await store.pending(SCOPE, MODEL, limit=limit, now=LATER)
            vectors = [CueVector(cue.ref, a_vector(len(cue.text), cue.ref), False) for cue in pending]
            await store.put_vectors(SCOPE, MODEL, vectors, at=LATER)

        self.runner.run(some())

    @rule(by=st.sampled_from([0, 1]))
    def recall(self, by: int) -> None:
        self.runner.run(
            self.stores[by].search(READER, request("kestrel", vector=a_vector(1, 2), context_features=True))
        )

    @invariant()
    def both_answer_as_one_that_has_just_read_the_file(self) -> None:
        async def compare() -> None:
            fresh = self._opened()
            both = request("kestrel", "owl", vector=a_vector(3, 5), context_features=True)
            for asked in (both, request("barn", context_features=True)):
                expected = await fresh.search(READER, asked)
                for store in self.stores:
                    assert_same_answer(await store.search(READER, asked), expected)
            await fresh.close()

        self.runner.run(compare())


def test_two_processes_return_the_same_answers_whatever_either_writes(tmp_path: Path) -> None:
    TwoProcesses.folder = tmp_path
    run_state_machine_as_test(
        TwoProcesses, settings=settings(max_examples=8, stateful_step_count=15, deadline=None, database=None)
    )


# ── the index sweep's mark ───────────────────────────────────────────────────────────────────────────────────────────


class Sweeping(RuleBasedStateMachine):
    """Cues are added, deleted, fail and get vectors in any order; the pending cues are always complete."""

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.store = RelationalStore(SqliteFile(":memory:"), analyse=analysed)
        self.revisions: dict[UUID, int] = {}
        self.elsewhere = replace(SCOPE, workspace="rival")

    def teardown(self) -> None:
        self.runner.run(self.store.close())
        self.runner.close()

    @rule(turns=st.integers(1, 3), scope=st.booleans())
    def insert(self, turns: int, scope: bool) -> None:
        owner = SCOPE if scope else self.elsewhere
        memory = a_memory(memory_id=UUID(int=len(self.revisions) + 1), scope=owner)
        self.runner.run(self.store.insert(owner, indexed(memory, *(f"turn {n}" for n in range(turns)))))
        self.revisions[memory.id] = 1 if scope else 0

    @rule(pick=st.integers(0, 99))
    def revise(self, pick: int) -> None:
        mine = [memory_id for memory_id, revision in self.revisions.items() if revision]
        if mine:
            memory_id = mine[pick % len(mine)]
            write = indexed(a_memory(memory_id=memory_id), "said anew")
            revision = self.revisions[memory_id]
            self.runner.run(self.store.revise(SCOPE, write, expected_revision=revision, at=NOW))
            self.revisions[memory_id] += 1

    @rule(limit=st.integers(1, 4), which=st.integers(0, 3), model=st.sampled_from([MODEL, "model-b"]))
    def embed(self, limit: int, which: int, model: str) -> None:
        """Give some pending cues their vectors, not always the first ones."""

        async def some() -> None:
            pending = await self.store.pending(SCOPE, model, limit=limit, now=LATER)
            chosen = pending[which % len(pending) :] if pending else ()
            await self.store.put_vectors(
                SCOPE, model, [CueVector(cue.ref, a_vector(1, 0), False) for cue in chosen], at=LATER
            )

        self.runner.run(some())

    @rule(limit=st.integers(1, 3))
    def fail(self, limit: int) -> None:
        async def some() -> None:
            pending = await self.store.pending(SCOPE, MODEL, limit=limit, now=NOW)
            refs = [cue.ref for cue in pending]
            await self.store.defer_vectors(SCOPE, MODEL, refs, error="no answer", now=NOW)

        self.runner.run(some())

    @rule()
    def bring_in_an_export(self) -> None:
        async def copied() -> None:
            source = RelationalStore(SqliteFile(":memory:"), analyse=analysed)
            await source.insert(SCOPE, indexed(a_memory(memory_id=UUID(int=len(self.revisions) + 1)), "one", "two"))
            await self.store.import_rows(SCOPE, await exported(source))
            await source.close()

        self.runner.run(copied())
        self.revisions[UUID(int=len(self.revisions) + 1)] = 1

    @rule()
    def try_an_import(self) -> None:
        async def tried() -> None:
            source = RelationalStore(SqliteFile(":memory:"), analyse=analysed)
            await source.insert(SCOPE, indexed(a_memory(memory_id=UUID(int=9_999)), "one", "two"))
            await self.store.import_rows(SCOPE, await exported(source), dry_run=True)
            await source.close()

        self.runner.run(tried())

    @invariant()
    def all_that_waits_is_listed(self) -> None:
        async def compare() -> None:
            for model in (MODEL, "model-b"):
                pending = await self.store.pending(SCOPE, model, limit=10_000, now=NOW + timedelta(days=9))
                rows = await exported(self.store)
                cues = sum(row["record"] == "cue" for row in rows)
                assert len(pending) == cues - sum(row.get("model") == model for row in rows)

        self.runner.run(compare())


def test_the_sweep_never_walks_past_a_cue_that_waits() -> None:
    run_state_machine_as_test(
        Sweeping, settings=settings(max_examples=15, stateful_step_count=20, deadline=None, database=None)
    )


# ── exports beside writes ────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("place", ["a file", ":memory:"])
def test_an_export_holds_one_state_while_others_write(place: str, path: str) -> None:
    async def work() -> tuple[list[ExportRow], list[ExportRow]]:
        store = RelationalStore(SqliteFile(path if place == "a file" else place), analyse=analysed)
        await populate(store, SCOPE)
        before = await exported(store)
        rows: list[ExportRow] = []
        async for row in store.export(SCOPE):
            rows.append(row)
            if len(rows) % 4 == 1:
                event = an_event(f"meanwhile {len(rows)}", event_id=UUID(int=len(rows)))
                await store.append(SCOPE, [Entry(event, memory_of_event(event, Formation()))])
        await store.close()
        return before, rows

    before, rows = asyncio.run(work())
    assert rows == before


@pytest.mark.parametrize("page", [1, 2, 3])
def test_an_export_in_pages_is_the_whole(path: str, monkeypatch: pytest.MonkeyPatch, page: int) -> None:
    async def work() -> tuple[list[ExportRow], list[ExportRow]]:
        store = RelationalStore(SqliteFile(path), analyse=analysed)
        await populate(store, SCOPE)
        whole = await exported(store)
        monkeypatch.setattr(exporting, "PAGE", page)
        in_pages = await exported(store)
        await store.close()
        return whole, in_pages

    whole, in_pages = asyncio.run(work())
    assert in_pages == whole


def test_an_export_left_half_way_lets_the_store_be_closed(path: str) -> None:
    async def work() -> None:
        store = RelationalStore(SqliteFile(path), analyse=analysed)
        await populate(store, SCOPE)
        export = store.export(SCOPE)
        await anext(export)
        await store.close()
        await export.aclose()  # type: ignore[attr-defined]  the protocol says only that it can be iterated

    asyncio.run(work())
    assert [entry.name for entry in Path(path).parent.iterdir()] == ["shared.db"]


# ── reading writes nothing ───────────────────────────────────────────────────────────────────────────────────────────

Read = Callable[[AsyncRemembrancer, UUID, Path], Awaitable[object]]
READS: Final[dict[str, Read]] = {
    "recall": lambda rem, _, __: rem.recall("who saw the kestrel?"),
    "why not": lambda rem, memory, _: rem.why_not(memory, "who saw the kestrel?"),
    "recent": lambda rem, _, __: rem.recent(),
    "timeline": lambda rem, _, __: rem.timeline(),
    "get": lambda rem, memory, _: rem.get(memory),
    "show": lambda rem, memory, _: rem.show(memory),
    "events": lambda rem, _, __: rem.journal.list(),
    "stats": lambda rem, _, __: rem.health.stats(),
    "doctor": lambda rem, _, __: rem.health.doctor(),
}


@pytest.mark.parametrize("name", READS)
def test_reading_writes_nothing(tmp_path: Path, path: str, name: str) -> None:
    async def work() -> tuple[int, int]:
        embedder, quiet = HashEmbedder(16), {"background_index": False}
        async with await AsyncRemembrancer.open(path, embedder=embedder, settings=quiet) as rem:
            memory = await rem.remember("Ana saw the kestrel")
            await rem.jobs.index_now()
            watching = connect(path)
            before = watching.pragma("data_version")
            await READS[name](rem, memory.id, tmp_path)
            after = watching.pragma("data_version")
            watching.close()
            return before, after

    before, after = asyncio.run(work())
    assert before == after


def test_opening_a_file_writes_nothing(path: str) -> None:
    async def work(one: RelationalStore, _: RelationalStore) -> tuple[int, int]:
        watching = connect(path)
        before = watching.pragma("data_version")
        third = RelationalStore(SqliteFile(path), analyse=analysed)
        after = watching.pragma("data_version")
        await third.close()
        watching.close()
        return before, after

    before, after = with_two(path, work)
    assert before == after


# ── resident indexes ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("budget", "kept"), [(1, 1), (1 << 30, 3)])
def test_indexes_are_kept_within_their_budget(path: str, budget: int, kept: int) -> None:
    async def work() -> list[int]:
        await _one_memory_in_each(path, "acme", "rival", "third")
        index = ResidentIndex(budget)
        store = SearchedStore(path, index=index)
        sizes: list[int] = []
        for workspace in ("acme", "rival", "third"):
            await store.search(Reader(replace(SCOPE, workspace=workspace)), request("kestrel"))
            sizes.append(index.nbytes)
        await store.close()
        return sizes

    sizes = asyncio.run(work())
    assert sizes[-1] / sizes[0] == kept


async def _one_memory_in_each(path: str, *workspaces: str) -> None:
    store = RelationalStore(SqliteFile(path), analyse=analysed)
    for workspace in workspaces:
        scope = replace(SCOPE, workspace=workspace)
        await store.insert(scope, indexed(a_memory("a kestrel", scope=scope)))
    await store.close()


def test_telling_one_topic_again_and_again_does_not_make_the_index_grow(path: str) -> None:
    async def work() -> list[int]:
        index = ResidentIndex()
        store = SearchedStore(path, index=index)
        sizes: list[int] = []
        await store.insert(SCOPE, indexed(a_memory("a kestrel")))
        for revision in range(1, 40):
            told = replace(a_memory("a kestrel"), text=f"kestrel number {revision}")
            await store.revise(SCOPE, indexed(told), expected_revision=revision, at=LATER)
            await store.search(READER, request("kestrel"))
            sizes.append(index.nbytes)
        await store.close()
        return sizes

    sizes = asyncio.run(work())
    assert max(sizes[20:]) <= 2 * sizes[0]


def test_a_cue_that_an_import_brings_to_a_known_memory_is_found(path: str) -> None:
    async def work(one: SearchedStore, other: SearchedStore) -> tuple[set[str], set[str]]:
        memory = a_memory("a kestrel")
        await one.insert(SCOPE, indexed(memory))
        before = await one.found("harrier")
        second = Cue(memory_id=memory.id, ordinal=1, text="a harrier beside it")
        await other.import_rows(SCOPE, [record_to_row(CueRecord(second, revision=1))])
        return before, await one.found("harrier")

    assert with_two(path, work) == (set(), {"a kestrel"})
