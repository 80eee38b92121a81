"""Candidates by pgvector, from the record's own tables, in the transaction of the question.

The index is one of an expression of the column that holds the vectors: an HNSW graph of `halfvec`s for each model and
dimension. There is no copy to keep up to date, and an erased vector leaves the index with its row.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import contextmanager
from itertools import islice
from typing import TYPE_CHECKING, Final
from uuid import UUID

import numpy as np
from psycopg import errors

from remembrancer.adapters.relational.clauses import found_by
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.errors import EmbedderMismatch, StoreUnavailable, Unsupported
from remembrancer.ports.candidate_source import SourceUnavailable, Wanted
from remembrancer.ports.inspection import Finding
from remembrancer.ports.quantised import vector_of
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.query import LexicalQuery
    from remembrancer.domain.scope import Scope
    from remembrancer.ports.changes import ChangeFeed
    from remembrancer.ports.embeddings import Vector

OLDEST: Final = (0, 8)
"""The oldest version of pgvector with iterative scans."""
MOST_DIMENSIONS: Final = 4000
"""The most dimensions of an HNSW index of `halfvec`."""
M: Final = 16
EF_CONSTRUCTION: Final = 128
EF_SEARCH: Final = 100
MOST_EF_SEARCH: Final = 1000
SCANNED: Final = 40_000
"""The most entries of the index that one search visits when the filter keeps few of them."""
EXACT: Final = 16_384
"""If about this many memories or fewer may be chosen from, all their vectors are compared."""
BUILT_AT_ONCE: Final = 64 << 20
"""The bytes of vectors whose index is built without having been asked for: it takes less than a minute."""
MOST_KIB: Final = 2 << 20
"""The most memory that a build asks for, in KiB, unless the server's `maintenance_work_mem` is higher: enough for
1,200,000 vectors with 384 dimensions. A graph that does not fit takes many times as long to build. It is smaller than
the vectors' rows and their indexes, if these have more than some 100 dimensions.
"""
LEAST_KIB: Final = 4 << 10
"""pgvector takes memory by the MiB."""
NAME: Final = "vector index"
"""The name of doctor's check."""
PREFIX: Final = "vectors_of_"
"""The beginning of the names of the indexes."""
FUNCTION: Final = "remembrancer_halfvec"
NEEDS: Final = "needs pgvector {}: install it on the server, then run CREATE EXTENSION vector in this database"

# A stored vector (`ports.quantised`) as `halfvec`; NULL for another dimension. Of integers, which a cosine compares
# without their scale; of little-endian float32, whose last bits are dropped before pgvector rounds. COST: more than a
# visit of the index, or the planner would compute it for each row.
_CREATE_FUNCTION: Final = """
CREATE OR REPLACE FUNCTION {function}(vector bytea, dim int) RETURNS {schema}.halfvec
LANGUAGE plpgsql IMMUTABLE STRICT PARALLEL SAFE COST 10000 AS $$
DECLARE
  component real[] := array_fill(0::real, ARRAY[dim]);
  high int;
  middle int;
  size double precision;
BEGIN
  IF octet_length(vector) = dim + 4 THEN
    FOR place IN 0 .. dim - 1 LOOP
      high := get_byte(vector, place);
      component[place + 1] := CASE WHEN high > 127 THEN high - 256 ELSE high END;
    END LOOP;
    RETURN component::{schema}.halfvec;
  END IF;
  IF octet_length(vector) <> 4 * dim THEN
    RETURN NULL;
  END IF;
  FOR place IN 0 .. dim - 1 LOOP
    high := get_byte(vector, 4 * place + 3);
    middle := get_byte(vector, 4 * place + 2);
    size := (128 + (middle & 127) + get_byte(vector, 4 * place + 1) / 256.0::double precision)
      * 2.0::double precision ^ (((high & 127) << 1) + (middle >> 7) - 134);
    IF size > 65504 THEN
      RETURN NULL;  -- integers of a dimension that gives as many bytes
    END IF;
    component[place + 1] := CASE WHEN high > 127 THEN -size ELSE size END;
  END LOOP;
  RETURN component::{schema}.halfvec;
END $$
"""


@dataclass(frozen=True, slots=True)
class Extension:
    """The installed extension `vector`. `schema`: the quoted name of its schema."""

    schema: str
    version: str

    @classmethod
    def of(cls, connection: Connection) -> Extension | None:
        found = connection.execute(
            "SELECT quote_ident(n.nspname), e.extversion FROM pg_extension e"
            " JOIN pg_namespace n ON n.oid = e.extnamespace WHERE e.extname = 'vector'"
        ).get
        return None if found is None else cls(*found)

    @property
    def is_new_enough(self) -> bool:
        return tuple(int(part) for part in self.version.split(".")[:2]) >= OLDEST


def require_extension(connection: Connection, name: str) -> Extension:
    """The extension, created if this user may. Raises StoreUnavailable or Unsupported with what to do."""
    oldest = ".".join(map(str, OLDEST))
    if Extension.of(connection) is None:
        try:
            connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
        except errors.InsufficientPrivilege as error:
            raise StoreUnavailable(
                f"{name}: index pgvector: this user may not create the extension; a superuser runs CREATE EXTENSION"
                " vector in this database"
            ) from error
        except (errors.FeatureNotSupported, errors.UndefinedFile) as error:
            raise StoreUnavailable(f"{name}: index pgvector {NEEDS.format(f'{oldest} or newer')}") from error
    extension = Extension.of(connection)
    if extension is None or not extension.is_new_enough:
        version = "" if extension is None else extension.version
        raise Unsupported(f"{name}: index pgvector needs version {oldest} or newer, not {version}; run ALTER EXTENSION")
    return extension


def source(
    connection: Connection,
    name: str,
    model: str | None,
    dim: int,
    *,
    install: bool,
    later: Callable[[str, int], object],
) -> PgVectorSource | None:
    """See `Backend.candidate_source`. `later`: `PgVectorSource.prepare`."""
    extension = require_extension(connection, name) if install else Extension.of(connection)
    if extension is None or not extension.is_new_enough:
        return None
    if model is not None:
        if not (install or _is_ready(connection, model, dim) or _bytes(connection) <= BUILT_AT_ONCE):
            return None
        prepare(connection, extension, model, dim)
    return PgVectorSource(extension, later)


def check(connection: Connection) -> Finding:
    """Doctor's check of the vector index."""
    extension = Extension.of(connection)
    if extension is None:
        return Finding(NAME, True, "pgvector is not installed: every workspace is searched in memory")
    indexed: int = connection.execute(
        "SELECT count(*) FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid"
        f" WHERE i.indrelid = 'embeddings'::regclass AND c.relname LIKE '{PREFIX}%' AND i.indisvalid"
    ).get
    detail = f"pgvector {extension.version}, models with an index: {indexed}"
    repair = "open the database once with index=pgvector, which builds the index"
    return Finding(NAME, extension.is_new_enough, detail, repair, warning=not indexed)


def _is_ready(connection: Connection, model: str, dim: int) -> bool | None:
    """Whether the index of a model's vectors can be used; None: there is none."""
    return connection.execute(
        "SELECT indisvalid FROM pg_index WHERE indexrelid = to_regclass(?)", (index_name(model, dim),)
    ).get


def _bytes(connection: Connection) -> int:
    """The size of all vectors. They cannot be counted: an ordinary role sees those of one workspace."""
    return connection.execute(
        "SELECT sum(pg_total_relation_size(relid)) FROM (SELECT 'embeddings'::regclass AS relid"
        " UNION SELECT relid FROM pg_partition_tree('embeddings')) r"
    ).get


def prepare(connection: Connection, extension: Extension, model: str, dim: int) -> None:
    """Build the index of a model's vectors if there is none. Writes go on meanwhile. Called outside of a transaction.

    Raises Unsupported for more dimensions than the index can have.
    """
    if dim > MOST_DIMENSIONS:
        raise Unsupported(f"pgvector indexes up to {MOST_DIMENSIONS} dimensions; model {model!r} has {dim}")
    name, ready = index_name(model, dim), _is_ready(connection, model, dim)
    if ready:
        return
    connection.execute(_CREATE_FUNCTION.format(function=FUNCTION, schema=extension.schema))
    divided = connection.execute("SELECT relkind = 'p' FROM pg_class WHERE oid = 'embeddings'::regclass").get
    concurrently = "" if divided else "CONCURRENTLY"
    if ready is False:  # an earlier build was interrupted
        connection.execute(f"DROP INDEX {concurrently} IF EXISTS {name}")
    with _memory_for(connection):
        connection.execute(
            f"CREATE INDEX {concurrently} IF NOT EXISTS {name} ON embeddings USING hnsw"
            f" (({_halfvec('vector', extension, dim)}) {extension.schema}.halfvec_cosine_ops)"
            f" WITH (m = {M}, ef_construction = {EF_CONSTRUCTION}) WHERE model = {_literal(model)}"
        )


@contextmanager
def _memory_for(connection: Connection) -> Generator[None]:
    """Let the server take the memory that a build needs, until it is over."""
    needed = min(LEAST_KIB + 2 * _bytes(connection) // 1024, MOST_KIB)
    connection.execute(
        "SELECT set_config('maintenance_work_mem', greatest(?, pg_size_bytes(current_setting('maintenance_work_mem'))"
        " / 1024)::bigint::text, false)",
        (needed,),
    )
    try:
        yield
    finally:
        connection.execute("RESET maintenance_work_mem")


def renew_function(connection: Connection) -> None:
    """Replace the function of an older version, if there is one, before a vector is written in a form that it does not
    read: the index would lack it for good. The function gives the same as before for the older form.
    """
    extension = Extension.of(connection)
    if extension is not None and connection.execute("SELECT to_regproc(?)", (FUNCTION,)).get is not None:
        connection.execute(_CREATE_FUNCTION.format(function=FUNCTION, schema=extension.schema))


def index_name(model: str, dim: int) -> str:
    return f"{PREFIX}{hashlib.sha256(model.encode()).hexdigest()[:12]}_{dim}"


def _halfvec(column: str, extension: Extension, dim: int) -> str:
    return f"{FUNCTION}({column}, {dim})::{extension.schema}.halfvec({dim})"


def _literal(text: str) -> str:
    """A text as a literal without characters that are a placeholder's or have to be escaped."""
    letters = (letter if letter.isascii() and letter.isalnum() else f"\\+{ord(letter):06x}" for letter in text)
    return f"U&'{''.join(letters)}'"


class PgVectorSource:
    """See `CandidateSource`. It reads through the connection of the question."""

    def __init__(self, extension: Extension, prepare: Callable[[str, int], object], *, exact: int = EXACT) -> None:
        """`prepare`: builds the index of a model and dimension, through another connection. `exact`: if about
        this many memories or fewer may be chosen from, all vectors are compared.
        """
        self._extension, self._prepare = extension, prepare
        self.exact = exact

    def catch_up(self, feed: ChangeFeed, scope: Scope, model: str | None) -> str:
        return ""

    def dense(self, feed: ChangeFeed, wanted: Wanted, model: str, vector: Vector) -> Sequence[UUID]:
        view = _view(feed)
        connection = view.within(wanted.reader.scope)
        dim: int | None = connection.execute(
            "SELECT dim FROM vector_models WHERE workspace = ? AND model = ?", (wanted.reader.scope.workspace, model)
        ).get
        if dim is None:
            return ()
        if dim != len(vector):
            raise EmbedderMismatch(f"the question's vector has {len(vector)} dimensions, the texts' have {dim}")
        if wanted.visible <= self.exact:
            return self._compared(view, connection, wanted, model, vector)
        if not _is_ready(connection, model, dim):
            raise SourceUnavailable(f"model {model!r} has no vector index yet; opening with index=pgvector builds it")
        return self._nearest(view, connection, wanted, model, vector)

    def lexical(
        self, feed: ChangeFeed, wanted: Wanted, query: LexicalQuery, holding: Sequence[int]
    ) -> Sequence[UUID] | None:
        return None

    def prepare(self, model: str, dim: int) -> None:
        self._prepare(model, dim)

    async def close(self) -> None:
        """Does nothing: the connection is the store's."""

    def _compared(
        self, view: RelationalView, connection: Connection, wanted: Wanted, model: str, vector: Vector
    ) -> list[UUID]:
        """By comparing every vector."""
        kept = found_by(connection.dialect, wanted.reader, wanted.where)
        rows = list(
            connection.execute(
                f"SELECT m.id, v.vector, v.dim FROM {view.then.memories()}"
                f" JOIN cues c ON c.memory = m.n AND {view.then.cues}"
                f" JOIN embeddings v ON v.cue = c.n AND v.model = ? WHERE {kept.sql}",
                (model, *kept.bindings),
            )
        )
        vectors = np.array([vector_of(data, dim) for _, data, dim in rows]).reshape(len(rows), len(vector))
        order: list[int] = np.argsort(-(vectors @ vector), kind="stable").tolist()
        identifiers: list[bytes] = [rows[place][0] for place in order]
        return _distinct(identifiers, wanted.limit)

    def _nearest(
        self, view: RelationalView, connection: Connection, wanted: Wanted, model: str, vector: Vector
    ) -> list[UUID]:
        """By the HNSW index, which is searched on until enough of what it finds is visible and kept."""
        schema, dim = self._extension.schema, len(vector)
        ef_search = min(max(EF_SEARCH, wanted.limit), MOST_EF_SEARCH)
        connection.execute(
            f"SET LOCAL hnsw.ef_search = {ef_search}; SET LOCAL hnsw.iterative_scan = relaxed_order;"
            f" SET LOCAL hnsw.max_scan_tuples = {SCANNED}; SET LOCAL hnsw.scan_mem_multiplier = 4"
        )
        kept = found_by(connection.dialect, wanted.reader, wanted.where)
        asked = "[" + ",".join(f"{component:.6g}" for component in vector.tolist()) + "]"
        # The model is no binding: only then the planner takes its index.
        rows = connection.execute(
            f"SELECT m.id FROM embeddings v JOIN cues c ON c.n = v.cue"
            f" JOIN {view.then.memories()} ON m.n = c.memory AND {view.then.cues}"
            f" WHERE v.model = {_literal(model)} AND {kept.sql}"
            f" ORDER BY {_halfvec('v.vector', self._extension, dim)} OPERATOR({schema}.<=>)"
            f" ?::{schema}.halfvec({dim}) LIMIT ?",
            (*kept.bindings, asked, wanted.limit),
        )
        return _distinct((identifier for (identifier,) in rows), wanted.limit)


def _distinct(identifiers: Iterable[bytes], limit: int) -> list[UUID]:
    return [UUID(bytes=identifier) for identifier in islice(dict.fromkeys(identifiers), limit)]


def _view(feed: ChangeFeed) -> RelationalView:
    if not isinstance(feed, RelationalView):
        raise TypeError(f"pgvector reads a relational store, not {type(feed).__name__}")
    return feed
