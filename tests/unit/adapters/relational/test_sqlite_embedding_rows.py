"""How a vector stands in the file: row C3."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from pathlib import Path

import numpy as np

from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.language.cues import analysed
from remembrancer.ports.embeddings import CueVector
from remembrancer.testing.doubles import NOW, SCOPE, a_memory, a_vector, indexed

LATER = NOW + timedelta(seconds=30)


async def write_one(path: Path) -> None:
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    await store.insert(SCOPE, indexed(a_memory()))
    (cue,) = await store.pending(SCOPE, "a-model", limit=1, now=NOW)
    await store.put_vectors(SCOPE, "a-model", [CueVector(cue.ref, a_vector(3, 4), truncated=False)], at=LATER)
    await store.close()


def test_a_vector_is_kept_as_little_endian_float32_with_its_model_and_when(tmp_path: Path) -> None:
    path = tmp_path / "memory.db"
    asyncio.run(write_one(path))
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
