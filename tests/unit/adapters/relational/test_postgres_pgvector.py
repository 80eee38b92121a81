"""pgvector: what its index finds under filters, what leaves it, and what is said if it is missing."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final, TypeVar
from uuid import UUID

import numpy as np
import psycopg
import pytest
from postgres_server import Schemas

from remembrancer import Remembrancer
from remembrancer.adapters.relational.postgres import pgvector
from remembrancer.adapters.relational.postgres.dialect import PostgresConnection
from remembrancer.adapters.relational.postgres.pgvector import PgVectorSource, index_name
from remembrancer.adapters.relational.postgres.server import PostgresServer
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.erasure import Removal
from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Visibility
from remembrancer.errors import StoreUnavailable, Unsupported
from remembrancer.language.cues import analysed
from remembrancer.ports.candidate_source import SourceUnavailable, Wanted
from remembrancer.ports.changes import ReadView
from remembrancer.ports.embedder import Embedded
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.quantised import quantised
from remembrancer.testing.contract.base import EVERYTHING, MODEL
from remembrancer.testing.contract.erasing import a_receipt
from remembrancer.testing.doubles import NOW, READER, SCOPE, HashEmbedder, a_memory, a_vector, indexed

if TYPE_CHECKING:
    from numpy.typing import NDArray

T = TypeVar("T")
DIM: Final = 48
MANY: Final = 2_000
CLUSTERS: Final = 40
LEAST_RECALL: Final = 0.95
"""The share of the ten nearest that the index finds: stated in docs/guides/operations.md."""
KINDS: Final = {1: "rare", 10: "some"}
"""The kinds of about that percentage of the memories."""
BEN: Final = Reader(replace(SCOPE, agent="ben"))


class Server:
    """A store on a server, and its source of candidates through the HNSW index of a model."""

    def __init__(self, url: str, *, dim: int) -> None:
        # without sorting, the planner takes the index of however few vectors
        self.store = RelationalStore(PostgresServer(f"{url}%20-cenable_sort%3Doff"), analyse=analysed)
        source = self.store.candidate_source(MODEL, dim, install=True)
        assert isinstance(source, PgVectorSource)
        source.exact = 0
        self.source, self.runner = source, asyncio.Runner()

    def close(self) -> None:
        self.runner.run(self.store.close())
        self.runner.close()

    def read(self, work: Callable[[ReadView], T]) -> T:
        return self.runner.run(self.store.read(work))

    def add(self, memories: list[Memory], vectors: NDArray[np.float32], *, model: str = MODEL) -> None:
        """Insert memories, if they are not there, and a vector of each."""

        async def run() -> None:
            there = await self.store.get(READER, [memory.id for memory in memories])
            new = [memory for memory in memories if memory.id not in there]
            await asyncio.gather(*(self.store.insert(SCOPE, indexed(memory)) for memory in new))
            cues = await self.store.pending(SCOPE, model, limit=len(memories), now=NOW)
            by_id = {memory.id: vector for memory, vector in zip(memories, vectors, strict=True)}
            given = [CueVector(cue.ref, by_id[cue.memory_id], False) for cue in cues]
            await self.store.put_vectors(SCOPE, model, given, at=NOW)

        self.runner.run(run())

    def nearest(
        self,
        vector: NDArray[np.float32],
        *,
        where: Filter = EVERYTHING,
        reader: Reader = READER,
        limit: int = 10,
        model: str = MODEL,
    ) -> list[UUID]:
        wanted = Wanted(reader=reader, where=where, limit=limit, visible=MANY)
        return list(self.read(lambda view: self.source.dense(view, wanted, model, vector)))


@pytest.fixture
def url(postgres: Schemas) -> str:
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
    return postgres.take()


@pytest.fixture
def admin(postgres: Schemas, url: str) -> Iterator[psycopg.Connection]:
    """A superuser's connection to the schema of `url`."""
    schema = url.rpartition("%3D")[2]
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute(f"SET search_path = {schema}, public".encode())
        yield connection


@pytest.fixture
def small(url: str) -> Iterator[Server]:
    server = Server(url, dim=3)
    yield server
    server.close()


def clustered(random: np.random.Generator, count: int) -> NDArray[np.float32]:
    """Unit vectors around some centres, as texts about some topics have."""
    centres = random.normal(size=(CLUSTERS, DIM))
    vectors = centres[random.integers(CLUSTERS, size=count)] + 0.5 * random.normal(size=(count, DIM))
    return (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)


def times_used(admin: psycopg.Connection, index: str) -> int:
    """How often an index was scanned. A connection reports it a moment after it was closed, so up to ten seconds pass
    until one is reported; 0 if none is.
    """
    scans = "SELECT idx_scan FROM pg_stat_user_indexes WHERE indexrelname = %s AND schemaname = current_schema()"
    for _ in range(200):
        found = admin.execute(scans, (index,)).fetchone()
        assert found is not None
        if found[0]:
            return found[0]
        admin.execute("SELECT pg_sleep(0.05)")
    return 0


def test_the_index_finds_the_nearest_whatever_the_filter_keeps(url: str, admin: psycopg.Connection) -> None:
    random = np.random.default_rng(7)
    vectors = clustered(random, MANY + 20)
    stored, questions = vectors[:MANY], vectors[MANY:]
    kinds = ["rare" if n % 100 == 0 else "some" if n % 10 == 1 else "note" for n in range(MANY)]
    memories = [replace(a_memory(f"turn {n}", memory_id=UUID(int=n + 1)), kind=kinds[n]) for n in range(MANY)]
    server = Server(url, dim=DIM)
    try:
        server.add(memories, stored)
        admin.execute("ANALYZE")
        recall: dict[int, float] = {}
        for percent in (1, 10, 100):
            kept = [n for n in range(MANY) if percent == 100 or kinds[n] == KINDS[percent]]
            where = EVERYTHING if percent == 100 else replace(EVERYTHING, kinds=frozenset({KINDS[percent]}))
            hits = 0
            for question in questions:
                exact = sorted(kept, key=lambda n, question=question: -float(stored[n] @ question))[:10]
                found = server.nearest(question, where=where)
                assert {one.int - 1 for one in found} <= set(kept)
                hits += len({UUID(int=n + 1) for n in exact} & set(found))
            recall[percent] = hits / (10 * len(questions))
        assert min(recall.values()) >= LEAST_RECALL, recall
        server.runner.run(server.store.close())
        # Filters that keep little may have an index of theirs.
        assert times_used(admin, index_name(MODEL, DIM)) > 0
    finally:
        server.close()


def test_a_private_memory_of_another_agent_is_no_candidate(small: Server) -> None:
    private = replace(a_memory("kestrel"), visibility=Visibility.OWN)
    small.add([private, a_memory("owl")], np.array([a_vector(1, 0, 0), a_vector(0, 1, 0)]))
    assert small.nearest(a_vector(1, 0, 0)) == [private.id, a_memory("owl").id]
    assert small.nearest(a_vector(1, 0, 0), reader=BEN) == [a_memory("owl").id]


def test_two_models_have_an_index_each(small: Server) -> None:
    other = small.store.candidate_source("another 'model?'", 2, install=True)
    assert other is not None
    small.add([a_memory("kestrel"), a_memory("owl")], np.array([a_vector(1, 0, 0), a_vector(0, 1, 0)]))
    small.add(
        [a_memory("kestrel"), a_memory("owl")], np.array([a_vector(0, 1), a_vector(1, 0)]), model="another 'model?'"
    )
    assert small.nearest(a_vector(1, 0, 0), limit=1) == [a_memory("kestrel").id]
    assert small.nearest(a_vector(1, 0), limit=1, model="another 'model?'") == [a_memory("owl").id]


def test_vectors_of_a_model_without_an_index_are_stored_and_said_to_lack_one(small: Server) -> None:
    small.add([a_memory("kestrel")], np.array([a_vector(1, 0, 0, 0)]), model="model-c")
    with pytest.raises(SourceUnavailable, match="model 'model-c' has no vector index yet"):
        small.nearest(a_vector(1, 0, 0, 0), model="model-c")
    small.source.exact = MANY
    assert small.nearest(a_vector(1, 0, 0, 0), model="model-c") == [a_memory("kestrel").id]


def test_an_erased_vector_leaves_the_index_and_its_file(small: Server, admin: psycopg.Connection) -> None:
    marked = a_vector(0.6, 0.48, 0.64)
    small.add([a_memory("kestrel"), a_memory("owl")], np.array([marked, a_vector(0, 1, 0)]))
    codes = quantised(marked[np.newaxis])[0][0]
    halves = (codes / np.linalg.norm(codes)).astype("<f2").tobytes()
    assert halves in bytes_of(admin, index_name(MODEL, 3))
    removal = Removal(memories=frozenset({a_memory("kestrel").id}))
    small.runner.run(small.store.erase(SCOPE, removal, a_receipt()))
    assert small.nearest(marked) == [a_memory("owl").id]
    assert small.runner.run(small.store.purge(SCOPE, at=NOW)) == ""
    assert halves not in bytes_of(admin, index_name(MODEL, 3))
    assert small.nearest(marked) == [a_memory("owl").id]


def bytes_of(admin: psycopg.Connection, relation: str) -> bytes:
    admin.execute("CHECKPOINT")
    row = admin.execute("SELECT pg_read_binary_file(pg_relation_filepath(%s))", (relation,)).fetchone()
    assert row is not None
    return row[0]


def test_an_interrupted_build_is_begun_again(small: Server, admin: psycopg.Connection) -> None:
    name = index_name(MODEL, 3)
    admin.execute("UPDATE pg_index SET indisvalid = false WHERE indexrelid = %s::regclass", (name,))
    small.add([a_memory("kestrel")], np.array([a_vector(1, 0, 0)]))
    with pytest.raises(SourceUnavailable):
        small.nearest(a_vector(1, 0, 0))
    small.store.candidate_source(MODEL, 3, install=True)
    assert small.nearest(a_vector(1, 0, 0)) == [a_memory("kestrel").id]


def test_a_vector_with_as_many_bytes_as_one_of_another_dimension_can_be_stored(
    small: Server, admin: psycopg.Connection
) -> None:
    vector = np.array([[0, 0, 0, 1, 0, 0, 0, 0]], np.float32)  # 8 + 4 bytes, as three float32 have
    small.add([a_memory("kestrel")], vector)
    assert admin.execute("SELECT octet_length(vector) FROM embeddings").fetchall() == [(12,)]


def test_a_build_takes_the_memory_that_its_graph_needs(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pgvector, "LEAST_KIB", 1_024)
    address = f"{url}%20-cmaintenance_work_mem%3D256kB"
    server, notices = Server(address, dim=2_000), list[str | None]()
    wide = np.random.default_rng(5).normal(size=(400, 2_000)).astype(np.float32)
    server.add([a_memory(f"m{n}", memory_id=UUID(int=n + 1)) for n in range(400)], wide)
    connection = PostgresConnection(address)
    connection.driver.add_notice_handler(lambda notice: notices.append(notice.message_primary))
    connection.execute(f"DROP INDEX {index_name(MODEL, 2_000)}")
    notices.clear()
    extension = pgvector.Extension.of(connection)
    assert extension is not None
    pgvector.prepare(connection, extension, MODEL, 2_000)
    assert connection.execute("SELECT current_setting('maintenance_work_mem')").get == "256kB"
    assert notices == []
    connection.close()
    server.close()


def test_vectors_in_the_form_of_an_older_version_are_found_beside_new_ones_once_its_function_is_renewed(
    url: str, small: Server, admin: psycopg.Connection
) -> None:
    old, new = a_vector(0.6, -0.48, 0.64), a_vector(0, 1, 0)
    small.add([a_memory("kestrel")], np.array([old]))
    admin.execute("UPDATE embeddings SET vector = %s", (old.astype("<f4").tobytes(),))
    returns_null = " RETURNS halfvec LANGUAGE plpgsql IMMUTABLE STRICT AS $$ BEGIN RETURN NULL; END $$"
    admin.execute(f"CREATE OR REPLACE FUNCTION {pgvector.FUNCTION}(vector bytea, dim int){returns_null}".encode())
    connection = PostgresConnection(url)
    pgvector.renew_function(connection)
    connection.close()
    small.add([a_memory("owl")], np.array([new]))
    assert small.nearest(old, limit=1) == [a_memory("kestrel").id]
    assert small.nearest(new, limit=1) == [a_memory("owl").id]


class Unasked(HashEmbedder):
    """An embedder whose dimension is not known before its first answer."""

    has_answered = False

    @property
    def dim(self) -> int | None:  # type: ignore[override]
        return super().dim if self.has_answered else None

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.has_answered = True
        return await super().embed_documents(texts)


def has_index(admin: psycopg.Connection, model: str, dim: int) -> bool:
    found = admin.execute(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(%s)", (index_name(model, dim),)
    ).fetchone()
    return found == (True,)


def test_a_change_of_embedder_makes_the_index_of_the_new_model(url: str, admin: psycopg.Connection) -> None:
    old = HashEmbedder(64)
    with Remembrancer.open(url, embedder=old, index="pgvector") as rem:
        rem.remember("kestrel")
        rem.jobs.index_now()
    new = Unasked(128)
    with Remembrancer.open(url, embedder=new, embedder_before=old, index="pgvector") as rem:
        assert not has_index(admin, new.model_id, 128)
        rem.embedder.change()
        rem.embedder.switch()
        assert has_index(admin, new.model_id, 128)


@pytest.fixture
def bare(postgres: Schemas) -> Iterator[str]:
    """The address of a database without the extension, for a role that may not create it."""
    with psycopg.connect(postgres.url, autocommit=True) as connection:
        connection.execute("CREATE DATABASE bare OWNER ordinary")
        schema = postgres.take()
        yield schema.replace("/postgres?", "/bare?").partition("&options")[0]
        connection.execute("DROP DATABASE bare WITH (FORCE)")


def test_without_the_extension_pgvector_is_refused_and_auto_searches_in_memory(bare: str) -> None:
    with pytest.raises(StoreUnavailable, match="a superuser runs CREATE EXTENSION vector in this database"):
        Remembrancer.open(bare, embedder="none", index="pgvector")
    with Remembrancer.open(bare, embedder="none") as rem:
        rem.observe("The pump of line 3 leaks.")
        assert rem.recall("which pump leaks?").hits
        (finding,) = (one for one in rem.health.doctor() if one.check == "vector index")
        assert finding.detail == "pgvector is not installed: every workspace is searched in memory"


def test_a_file_has_no_pgvector() -> None:
    with pytest.raises(Unsupported, match="an SQLite file has no vector index"):
        Remembrancer.open(":memory:", embedder="none", index="pgvector")


def test_more_dimensions_than_an_index_has_are_refused(small: Server) -> None:
    with pytest.raises(Unsupported, match="up to 4000 dimensions; model 'wide' has 4001"):
        small.store.candidate_source("wide", 4001, install=True)
