"""How a vector is kept in the file, as rows C3 and M3 of docs/systems.md say."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path
from typing import Any, cast

import numpy as np
import sqlite_vec
from numpy.typing import NDArray

from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.language.cues import analysed
from remembrancer.ports.embeddings import CueVector
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


def with_sqlite_vec(path: Path) -> Any:
    connection = cast("Any", connect(str(path)))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    return connection


def test_a_vector_is_kept_as_little_endian_float32_with_its_model_and_when(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    asyncio.run(write(path, a_vector(3, 4)))
    connection = connect(str(path))
    row = connection.execute("SELECT vector, dim, model, indexed_at FROM embeddings").fetchone()
    connection.close()
    assert row is not None
    vector, dim, model, indexed_at = row
    assert isinstance(vector, bytes)
    expected = a_vector(3, 4)
    assert (np.frombuffer(vector, dtype="<f4").tolist(), dim, model, indexed_at) == (
        expected.tolist(),
        len(expected),
        "a-model",
        int(LATER.timestamp() * 1_000_000),
    )


# ── sqlite-vec over the same file ────────────────────────────────────────────────────────────────────────────────────


def some_vectors(seed: int, count: int) -> list[NDArray[np.float32]]:
    return [a_vector(*row) for row in np.random.default_rng(seed).standard_normal((count, 384)).tolist()]


def test_sqlite_vec_compares_the_vectors_of_a_file_as_they_are(tmp_path: Path) -> None:
    vectors, (question,) = some_vectors(1, 20), some_vectors(2, 1)
    asyncio.run(write(tmp_path / "memory.db", *vectors))
    connection = with_sqlite_vec(tmp_path / "memory.db")
    rows = connection.execute(
        "SELECT 1 - vec_distance_cosine(vector, ?) FROM embeddings ORDER BY n", (question.tobytes(),)
    )
    assert np.allclose([cosine for (cosine,) in rows], np.stack(vectors) @ question, atol=1e-6)
    connection.close()


def test_one_statement_makes_mnemosynes_int8_table_of_a_file(tmp_path: Path) -> None:
    vectors = some_vectors(1, 20)
    asyncio.run(write(tmp_path / "memory.db", *vectors))
    connection = with_sqlite_vec(tmp_path / "memory.db")
    connection.execute("CREATE VIRTUAL TABLE temp.vec_episodes USING vec0 (embedding int8[384])")
    connection.execute("INSERT INTO vec_episodes SELECT n, vec_quantize_int8(vector, 'unit') FROM embeddings")
    nearest = [
        connection.execute(
            "SELECT rowid FROM vec_episodes WHERE embedding MATCH vec_quantize_int8(?, 'unit') AND k = 1",
            (vector.tobytes(),),
        ).fetchone()
        for vector in vectors
    ]
    assert nearest == connection.execute("SELECT n FROM embeddings ORDER BY n").fetchall()
    connection.close()
