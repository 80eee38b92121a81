"""An index in Qdrant, through the public interface: behind, down, changed by others, and after an erasure."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, cast
from uuid import UUID

import numpy as np
import pytest
from qdrant_places import points_in
from qdrant_server import KEY, QdrantServerDouble

from remembrancer import Remembrancer
from remembrancer.adapters.qdrant import edge
from remembrancer.adapters.qdrant import source as sources
from remembrancer.adapters.qdrant.address import QdrantServer, parsed
from remembrancer.adapters.qdrant.edge import EdgeTransport
from remembrancer.adapters.qdrant.opening import open_source
from remembrancer.adapters.qdrant.points import Space
from remembrancer.adapters.qdrant.source import SpaceMark
from remembrancer.adapters.qdrant.transport import QdrantUnavailable, RestValues
from remembrancer.adapters.reference import ReferenceStore
from remembrancer.config import Settings
from remembrancer.domain.memory import Status
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.testing.contract.base import MODEL, stored
from remembrancer.testing.doubles import NOW, READER, SCOPE, WordHashEmbedder, a_memory, indexed

if TYPE_CHECKING:
    from postgres_server import Schemas

    from remembrancer.domain.scope import Scope
    from remembrancer.ports.changes import ChangedMemory, ChangeFeed, ReadView, WorkspaceState

ALL: RestValues = {"must": [{"key": "workspace", "match": {"value": "acme"}}]}
TEXTS = ("the kestrel nests on the roof", "the owl lives in the barn", "the heron stands in the pond")


@pytest.fixture
def server(tmp_path: Path) -> Iterator[QdrantServerDouble]:
    with QdrantServerDouble(tmp_path / "collections") as double:
        yield double


def opened(tmp_path: Path, url: str) -> Remembrancer:
    settings = Settings(db=str(tmp_path / "records.db"), index=url, background_index=False, workspace="acme")
    return Remembrancer.open(settings=settings, embedder=WordHashEmbedder())


def filled(tmp_path: Path, url: str) -> Remembrancer:
    memory = opened(tmp_path, url)
    for text in TEXTS:
        memory.remember(text)
    memory.jobs.index_now()
    return memory


def texts(memory: Remembrancer, question: str = "the kestrel on the roof") -> list[str]:
    return [hit.memory.text for hit in memory.recall(question)]


def index_finding(memory: Remembrancer, *, mend: bool = False) -> tuple[bool, str]:
    [found] = [one for one in memory.health.doctor(mend=mend) if one.check == "index"]
    return found.ok, found.detail


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_folder_keeps_the_index_and_is_not_written_again(tmp_path: Path) -> None:
    url = f"qdrant://{tmp_path}/index"
    with filled(tmp_path, url) as memory:
        before = texts(memory)
    points = points_in(tmp_path / "index")
    seen = [one.payload["seen"] for one in points.scroll(ALL, limit=9, after=None)[0]]
    points.close()
    with opened(tmp_path, url) as memory:
        assert texts(memory) == before
        points = points_in(tmp_path / "index")
        assert [one.payload["seen"] for one in points.scroll(ALL, limit=9, after=None)[0]] == seen
        points.close()


def test_a_point_has_no_text_and_no_name_but_the_workspace_s(tmp_path: Path) -> None:
    with opened(tmp_path, f"qdrant://{tmp_path}/index") as memory:
        memory.scoped(agent="canary-agent", session="canary-session").remember(
            "a canary-text", kind="canary-kind", tags=["canary-tag"], metadata={"canary-key": "canary-value"}
        )
        memory.jobs.index_now()
        points = points_in(tmp_path / "index")
        [point], _ = points.scroll(ALL, limit=9, after=None)
        points.close()
    assert "canary" not in repr(point.payload)
    assert not [path for path in (tmp_path / "index").rglob("*") if path.is_file() and b"canary" in path.read_bytes()]


def test_a_collection_is_made_for_tenants_quantised_and_strict(tmp_path: Path, server: QdrantServerDouble) -> None:
    filled(tmp_path, server.url()).close()
    made = server.collections["memory"]
    assert made.indexed["workspace"] == {"type": "keyword", "is_tenant": True}
    assert made.asked["quantization_config"]["scalar"] == {"type": "int8", "quantile": 0.99, "always_ram": True}
    assert made.asked["hnsw_config"]["m"] == 0
    assert made.asked["strict_mode_config"]["unindexed_filtering_retrieve"] is False


def test_qdrant_finds_the_memories_of_a_postgresql_database(
    tmp_path: Path, postgres: Schemas, server: QdrantServerDouble
) -> None:
    settings = Settings(db=postgres.take(), index=server.url(), background_index=False, workspace="acme")
    with Remembrancer.open(settings=settings, embedder=WordHashEmbedder()) as memory:
        for text in TEXTS:
            memory.remember(text)
        memory.jobs.index_now()
        answer = memory.recall("the kestrel on the roof")
        assert (answer[0].memory.text, answer.degraded) == (TEXTS[0], {})
        memory.erase(ids=[answer[0].id])
        assert server.collections["memory"].points.count(ALL) == 2
        assert index_finding(memory)[0]


# ── down, slow, behind ───────────────────────────────────────────────────────────────────────────────────────────────


def test_while_qdrant_is_down_answers_come_from_the_records_and_say_so(
    tmp_path: Path, server: QdrantServerDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "REST_S", 0.0)
    with filled(tmp_path, server.url()) as memory:
        whole = memory.recall("the kestrel on the roof")
        assert "index" not in whole.degraded
        server.failing = [500] * 100
        memory.remember("another kestrel on another roof")
        down = memory.recall("the kestrel on the roof")
        assert "the server answers 500" in down.degraded["index"]
        assert {hit.memory.text for hit in down} >= {TEXTS[0], "another kestrel on another roof"}
        assert index_finding(memory)[0] is False
        server.failing = []
        back = memory.recall("the kestrel on the roof")
        assert "index" not in back.degraded
        assert "another kestrel on another roof" in {hit.memory.text for hit in back}


def test_a_server_that_hangs_is_waited_for_once(tmp_path: Path, server: QdrantServerDouble) -> None:
    with filled(tmp_path, server.url(timeout="0.1")) as memory:
        server.hanging = True
        memory.remember("another kestrel")
        calls = len(server.calls)
        for _ in range(3):
            assert "does not answer" in memory.recall("the kestrel").degraded["index"]
        assert len(server.calls) == calls + 1
        server.stop()


def test_a_call_that_fails_for_a_moment_is_made_again(tmp_path: Path, server: QdrantServerDouble) -> None:
    with filled(tmp_path, server.url()) as memory:
        server.failing = [503]
        assert memory.recall("the kestrel on the roof").degraded == {}


def test_a_server_that_is_down_at_opening_is_used_when_it_answers(
    tmp_path: Path, server: QdrantServerDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "REST_S", 0.0)
    server.failing = [500] * 3
    with filled(tmp_path, server.url()) as memory:
        assert memory.recall("the kestrel on the roof").degraded == {}


def test_an_index_that_is_far_behind_is_filled_by_the_sweep(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "AT_A_QUESTION", 2)
    with opened(tmp_path, f"qdrant://{tmp_path}/index") as memory:
        for text in TEXTS:
            memory.remember(text)
        behind = memory.recall("the kestrel on the roof")
        assert behind.degraded["index"] == "the index lacks 3 changed memories, which the index sweep adds"
        assert [hit.memory.text for hit in behind][:1] == [TEXTS[0]]
        memory.jobs.index_now()
        assert "index" not in memory.recall("the kestrel on the roof").degraded


def test_the_vectors_of_a_large_filling_are_quantised(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edge, "QUANTISED_FROM_KB", 1)
    monkeypatch.setattr(sources, "MANY", 20)
    with opened(tmp_path, f"qdrant://{tmp_path}/index") as memory:
        memory.observe_many([{"text": f"kestrel {number}"} for number in range(20)])
        memory.jobs.index_now()
        assert texts(memory, "kestrel 7")[:1] == ["kestrel 7"]
    assert list((tmp_path / "index").rglob("quantized.data"))


def test_a_filling_that_ends_halfway_is_repeated(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "REST_S", 0.0)
    monkeypatch.setattr(sources, "BATCH", 1)
    upsert, written = EdgeTransport.upsert, 0

    def second_fails(self: EdgeTransport, points: Sequence[RestValues], *, only: RestValues | None = None) -> None:
        nonlocal written
        written += 1
        if written == 2:
            raise QdrantUnavailable("killed")
        upsert(self, points, only=only)

    monkeypatch.setattr(EdgeTransport, "upsert", second_fails)
    with opened(tmp_path, f"qdrant://{tmp_path}/index") as memory:
        for text in TEXTS:
            memory.remember(text)
        assert "killed" in memory.recall("the kestrel on the roof").degraded["index"]
        points = points_in(tmp_path / "index")
        assert points.count(ALL) == 1
        points.close()
        assert "index" not in memory.recall("the kestrel on the roof").degraded
        assert index_finding(memory) == (True, f"qdrant://{tmp_path}/index: as the records: 3 points")


def test_a_folder_is_open_in_one_process_at_a_time(tmp_path: Path) -> None:
    url = f"qdrant://{tmp_path}/index"
    filled(tmp_path, url).close()
    with (tmp_path / "index" / "remembrancer.lock").open("ab") as other:
        import fcntl  # noqa: PLC0415  as the other process would

        fcntl.flock(other, fcntl.LOCK_EX)
        with opened(tmp_path, url) as memory:
            answer = memory.recall("the kestrel on the roof")
    assert "another process has the folder open" in answer.degraded["index"]
    assert [hit.memory.text for hit in answer][:1] == [TEXTS[0]]


# ── drift ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_points_that_others_deleted_added_and_changed_are_found_and_corrected(tmp_path: Path) -> None:
    with filled(tmp_path, f"qdrant://{tmp_path}/index") as memory:
        points = points_in(tmp_path / "index")
        first, second, third = points.scroll(ALL, limit=9, after=None)[0]
        points.delete({"must": [{"has_id": [first.id]}]})
        points.upsert([{"id": second.id, "vector": {}, "payload": second.payload}])
        points.upsert([{"id": str(UUID(int=7)), "vector": {}, "payload": third.payload}])
        assert index_finding(memory) == (
            False,
            f"qdrant://{tmp_path}/index: wrong: 1 missing, 1 outdated, 1 left over",
        )
        assert index_finding(memory, mend=True)[1].endswith("corrected: 1 missing, 1 outdated, 1 left over")
        assert index_finding(memory) == (True, f"qdrant://{tmp_path}/index: as the records: 3 points")
        assert points.count(ALL) == 3
        points.close()


class Snapshot:
    """A feed as one read found it: of a process that began to write earlier than another one, and ends later."""

    at = None

    def __init__(self, view: ReadView) -> None:
        self._state = view.state(SCOPE)
        self._changes = list(view.changes(SCOPE, after=0, model=MODEL))

    def state(self, _: Scope) -> WorkspaceState:
        return self._state

    def changes(self, _: Scope, *, after: int, model: str | None) -> Iterator[ChangedMemory]:
        assert (after, model) == (0, MODEL)
        return iter(self._changes)


def test_a_process_with_an_older_snapshot_replaces_nothing_newer_and_the_sweep_mends_what_it_added(
    tmp_path: Path, server: QdrantServerDouble
) -> None:
    async def race() -> None:
        store = ReferenceStore()
        kept, revised = await stored(store, a_memory("kestrel")), await stored(store, a_memory("owl"))
        late, early = open_source(server.url()), open_source(server.url())
        old = await store.read(Snapshot)
        await store.set_status(READER, kept.id, Status.RETIRED, at=NOW)
        await store.revise(SCOPE, indexed(replace(revised, text="heron")), expected_revision=1, at=NOW)
        await store.read(lambda view: early.fill(view, SCOPE, MODEL))
        points = server.collections["memory"].points
        before = {one.id: one.payload for one in points.scroll(ALL, limit=9, after=None)[0]}
        unwritten = SpaceMark()
        write = late._write  # pyright: ignore[reportPrivateUsage]  from the middle of `fill`
        write(cast("ChangeFeed", old), Space("acme", MODEL), SCOPE, unwritten, old.state(SCOPE))
        after = {one.id: one.payload for one in points.scroll(ALL, limit=9, after=None)[0]}
        assert (len(after), {id_: after[id_] for id_ in before}) == (3, before)
        await store.read(lambda view: late.fill(view, SCOPE, MODEL))
        assert points.count(ALL) == 2
        drift = await store.read(lambda view: early.check(view, SCOPE, MODEL, mend=False))
        assert (drift.expected, drift.total) == (2, 0)

    asyncio.run(race())


# ── erasing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_nothing_of_an_erased_memory_is_left_in_the_folder(tmp_path: Path) -> None:
    folder = tmp_path / "index"

    def holding(needle: bytes) -> list[Path]:
        return [path for path in folder.rglob("*") if path.is_file() and needle in path.read_bytes()]

    with filled(tmp_path, f"qdrant://{folder}") as memory:
        points = points_in(folder)
        gone = next(iter(memory.recall("the kestrel on the roof"))).memory
        [point] = [one for one in points.scroll(ALL, limit=9, after=None)[0] if one.payload["memory"] == str(gone.id)]
        [whole] = points.retrieve([point.id], vectors=True)
        points.settle()
        dense = next(vector for name, vector in whole.vector.items() if name != "terms")
        needle = np.array(dense, dtype="<f4").tobytes()
        assert holding(needle)
        receipt = memory.erase(ids=[gone.id])
        assert receipt.purged_at is not None
        assert (points.count(ALL), holding(needle), holding(str(gone.id).encode())) == (2, [], [])
        assert TEXTS[0] not in texts(memory)
        points.close()


def test_what_was_erased_while_qdrant_was_down_is_deleted_before_the_next_answer(
    tmp_path: Path, server: QdrantServerDouble, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sources, "REST_S", 0.0)
    with filled(tmp_path, server.url()) as memory:
        gone = next(iter(memory.recall("the kestrel on the roof"))).memory
        server.failing = [500] * 100
        receipt = memory.erase(ids=[gone.id])
        assert receipt.purged_at is None
        assert any("returns none of it" in one.why for one in receipt.left)
        assert TEXTS[0] not in texts(memory)
        server.failing = []
        assert TEXTS[0] not in texts(memory)
        assert server.collections["memory"].points.count(ALL) == 2
        memory.maintain()
        assert memory.erasures()[0].purged_at is not None


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    "url",
    [
        "qdrant://",
        "qdrant:///folder?x=1",
        "qdrant+http:///memory",
        "qdrant+http://host/memory?apikey=secret-1",
        "qdrant+http://host/me%20mory?api_key=secret-1",
        "qdrant+http://user:secret-1@host/memory",
        "qdrant+http://host:99999/memory?api_key=secret-1",
        "qdrant+http://host/memory?timeout=0",
        "qdrant+http://host/memory?timeout=soon&api_key=secret-1",
    ],
)
def test_an_invalid_address_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput, match=r"^index: ") as refused:
        parsed(url)
    assert "secret-1" not in str(refused.value)


def test_an_address_has_a_prefix_a_collection_a_key_and_a_time_limit() -> None:
    found = parsed("qdrant+https://host:443/behind/a/proxy/mine?api_key=secret&timeout=2.5")
    assert found == QdrantServer(
        url="https://host:443/behind/a/proxy", collection="mine", api_key="secret", timeout_s=2.5
    )
    assert "secret" not in f"{found!r} {found.name}"


def test_a_refused_key_is_not_shown(tmp_path: Path, server: QdrantServerDouble) -> None:
    with opened(tmp_path, server.url().replace(KEY, "another-key")) as memory:
        said = memory.recall("the kestrel").degraded["index"]
    assert "Must provide an API key" in said
    assert "another-key" not in said


def test_a_folder_with_other_files_is_refused(tmp_path: Path) -> None:
    (tmp_path / "letters").mkdir()
    (tmp_path / "letters" / "a.txt").write_text("dear")
    with pytest.raises(StoreUnavailable, match="the folder holds other files"):
        open_source(f"qdrant://{tmp_path}/letters")


def test_a_collection_of_another_program_is_refused(tmp_path: Path, server: QdrantServerDouble) -> None:
    filled(tmp_path, server.url("memory")).close()
    server.collections["memory"].asked["sparse_vectors"] = None
    with pytest.raises(StoreUnavailable, match="not made by this package"):
        open_source(server.url("memory"))


# ── quality ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_quantised_index_finds_nearly_all_of_the_ten_nearest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(edge, "QUANTISED_FROM_KB", 10)
    source = open_source(f"qdrant://{tmp_path}/index")
    points, random = points_in(tmp_path / "index"), np.random.default_rng(5)
    points.add_vector("v-64", 64)
    centres = random.normal(size=(40, 64))
    vectors = centres[random.integers(0, 40, size=2000)] + 0.5 * random.normal(size=(2000, 64))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    points.upsert(
        [
            {
                "id": str(UUID(int=n + 1)),
                "vector": {"v-64": vector.tolist()},
                "payload": {"workspace": "acme", "memory": str(UUID(int=n + 1))},
            }
            for n, vector in enumerate(vectors)
        ]
    )
    points.purge()
    found = 0
    for query in vectors[:100] + 0.05 * random.normal(size=(100, 64)):
        exact = {str(UUID(int=int(n) + 1)) for n in np.argsort(-(vectors @ query))[:10]}
        near = points.nearest(query.tolist(), using="v-64", matching=ALL, limit=10)
        found += len(exact & {one.id for one in near})
    points.close()
    asyncio.run(source.close())
    assert found / 1000 >= 0.95
