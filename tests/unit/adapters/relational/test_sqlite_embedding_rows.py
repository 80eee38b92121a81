"""How a vector is kept in the file, as rows C3 and M3 of docs/systems.md say."""

from __future__ import annotations

import asyncio
import struct
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import sqlite_vec
from numpy.typing import NDArray

from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.scope import Reader
from remembrancer.language.cues import analysed
from remembrancer.ports.embeddings import CueVector
from remembrancer.ports.quantised import vector_bytes
from remembrancer.testing.doubles import NOW, SCOPE, a_memory, a_vector, indexed

LATER = NOW + timedelta(seconds=30)


async def write(path: Path, *vectors: NDArray[np.float32]) -> None:
    """A file with a memory for each vector."""
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    for number in range(len(vectors)):
        await store.insert(SCOPE, indexed(a_memory(f"memory {number}")))
    cues = await store.pending(SCOPE, "a-model", limit=len(vectors), now=NOW)
    rows = [CueVector(cue.ref, vector, truncated=False) for cue, vector in zip(cues, vectors, strict=True)]
    await store.put_vectors(SCOPE, "a-model", rows, at=LATER)
    await store.close()


async def read(path: Path) -> NDArray[np.float32]:
    """The vector of the only memory in the file."""
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    (vector,) = (await store.vectors(Reader(SCOPE), "a-model", [a_memory("memory 0").id])).values()
    await store.close()
    return vector


def with_sqlite_vec(path: Path) -> Any:
    connection = cast("Any", connect(str(path)))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection


def test_a_vector_is_kept_as_8_bit_integers_and_their_scale_with_its_model_and_when(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    asyncio.run(write(path, np.array([0.6, -0.8], np.float32)))
    connection = connect(str(path))
    row = connection.execute("SELECT vector, dim, model, indexed_at FROM embeddings").fetchone()
    connection.close()
    scale = np.float32(0.8) / np.float32(127)
    assert row == (struct.pack("<2bf", 95, -127, scale), 2, "a-model", int(LATER.timestamp() * 1_000_000))


def test_a_vector_that_an_older_version_kept_as_float32_is_read_as_it_is(tmp_path: Path) -> None:
    path, (vector,) = tmp_path / "memory.db", some_vectors(1, 1)
    asyncio.run(write(path, vector))
    connection = connect(str(path))
    connection.execute("UPDATE embeddings SET vector = ?", (vector.tobytes(),))
    connection.close()
    assert np.array_equal(asyncio.run(read(path)), vector)


# ── sqlite-vec over the same file ────────────────────────────────────────────────────────────────────────────────────


def some_vectors(seed: int, count: int) -> list[NDArray[np.float32]]:
    return [a_vector(*row) for row in np.random.default_rng(seed).standard_normal((count, 384)).tolist()]


def test_sqlite_vec_compares_the_vectors_of_a_file_as_they_are(tmp_path: Path) -> None:
    vectors, (question,) = some_vectors(1, 20), some_vectors(2, 1)
    asyncio.run(write(tmp_path / "memory.db", *vectors))
    connection = with_sqlite_vec(tmp_path / "memory.db")
    asked = np.frombuffer(vector_bytes(question), np.int8, len(question)).tobytes()
    rows = connection.execute(
        "SELECT 1 - vec_distance_cosine(vec_int8(substr(vector, 1, dim)), vec_int8(?)) FROM embeddings ORDER BY n",
        (asked,),
    )
    assert np.allclose([cosine for (cosine,) in rows], np.stack(vectors) @ question, atol=3e-3)
    connection.close()


def test_one_statement_makes_mnemosynes_int8_table_of_a_file(tmp_path: Path) -> None:
    asyncio.run(write(tmp_path / "memory.db", *some_vectors(1, 20)))
    connection = with_sqlite_vec(tmp_path / "memory.db")
    connection.execute("CREATE VIRTUAL TABLE temp.vec_episodes USING vec0 (embedding int8[384] distance_metric=cosine)")
    connection.execute("INSERT INTO vec_episodes SELECT n, vec_int8(substr(vector, 1, 384)) FROM embeddings")
    rows = list(connection.execute("SELECT n, substr(vector, 1, 384) FROM embeddings ORDER BY n"))
    nearest = [
        connection.execute(
            "SELECT rowid FROM vec_episodes WHERE embedding MATCH vec_int8(?) AND k = 1", (codes,)
        ).fetchone()
        for _, codes in rows
    ]
    assert nearest == [(number,) for number, _ in rows]
    connection.close()
