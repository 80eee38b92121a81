"""Recall as two other memory systems document it, implemented for speed.

Crewship stores float32 vectors in rows and reads all rows in scope for every question. Mnemosyne stores int8 vectors in
a table of sqlite-vec. Both add SQLite's full-text index. Where their description leaves a choice, the faster one is
implemented:

- The driver is apsw and arithmetic uses numpy: one product for many rows, and no norms, because vectors have length 1.
- A file has only the tables and indexes that recall needs; its full-text index is optimised and the file vacuumed. The
  pragmas are those of this package.
- Neither records what was recalled; both systems do so for every question.
- Crewship searches whole words; its code searches word prefixes, which match more rows.
- Mnemosyne searches any of the words that are not stop words; its first code required all of them, which finds nothing.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, Final, Protocol, cast

import numpy as np
import sqlite_vec
from numpy.typing import NDArray

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection, connect
from remembrancer.adapters.relational.sqlite.file import CACHE_KIB
from remembrancer.language.english.stop_words import STOP_WORDS

Row = tuple[Any, ...]

LEG: Final = 3
"""Each search of a hybrid search returns LEG times the requested hits, at least LEG_LEAST: both systems use max(3k,
20).
"""
LEG_LEAST: Final = 20
RRF_K: Final = 60
SCAN_BATCH: Final = 512
"""Rows read and multiplied at a time, which fit into the CPU cache; all at once takes more than twice as long."""
RECENCY_HOURS: Final = 168.0


@dataclass(frozen=True, slots=True)
class StoredMemory:
    """A memory as each system stores it. `number`: from 1; `at`: when it happened."""

    number: int
    text: str
    session: str
    at: datetime
    importance: float


@dataclass(frozen=True, slots=True)
class EmbeddedQuestion:
    """A question with its vector."""

    text: str
    vector: NDArray[np.float32]


class _Extensible(SqliteConnection, Protocol):
    def enable_load_extension(self, enable: bool) -> None: ...
    def load_extension(self, filename: str) -> None: ...


def connect_with_vectors(path: str) -> SqliteConnection:
    """A connection with sqlite-vec loaded."""
    connection = cast("_Extensible", connect(path))
    connection.enable_load_extension(True)
    connection.load_extension(sqlite_vec.loadable_path())
    connection.enable_load_extension(False)
    return connection


# ── Crewship ─────────────────────────────────────────────────────────────────────────────────────────────────────────

_CREWSHIP: Final = """
CREATE TABLE journal_entries (
  id TEXT PRIMARY KEY, workspace_id TEXT NOT NULL, crew_id TEXT, agent_id TEXT, mission_id TEXT, ts TEXT NOT NULL,
  entry_type TEXT NOT NULL, severity TEXT NOT NULL, priority TEXT NOT NULL, actor_type TEXT NOT NULL, actor_id TEXT,
  summary TEXT NOT NULL, payload TEXT NOT NULL, refs TEXT NOT NULL, trace_id TEXT, span_id TEXT, expires_at TEXT
);
CREATE TABLE journal_embeddings (
  entry_id TEXT PRIMARY KEY REFERENCES journal_entries (id) ON DELETE CASCADE,
  workspace_id TEXT NOT NULL, crew_id TEXT, agent_id TEXT, model TEXT NOT NULL, dim INTEGER NOT NULL,
  vector BLOB NOT NULL, indexed_at TEXT NOT NULL, importance_score REAL DEFAULT 0.5,
  reference_count INTEGER DEFAULT 0, last_referenced_at TEXT
);
CREATE VIRTUAL TABLE journal_entries_fts USING fts5 (
  summary, payload, content = 'journal_entries', content_rowid = 'rowid', tokenize = 'porter ascii'
);
CREATE TRIGGER journal_entries_come AFTER INSERT ON journal_entries BEGIN
  INSERT INTO journal_entries_fts (rowid, summary, payload) VALUES (new.rowid, new.summary, new.payload);
END;
"""


class Crewship:
    """Vectors in rows. `dense`: all rows in scope by cosine · importance; `hybrid`: that and BM25, by reciprocal rank
    fusion.
    """

    def __init__(self, path: Path, memories: Sequence[StoredMemory], vectors: NDArray[np.float32]) -> None:
        self._file = _new_file(connect(str(path)), _CREWSHIP)
        self._scope = ("default", "agent")
        entries = ((_entry(memory.number), *self._scope, _stamp(memory.at), memory.text) for memory in memories)
        embeddings = (
            (_entry(memory.number), *self._scope, len(vector), vector.tobytes(), _stamp(memory.at), memory.importance)
            for memory, vector in zip(memories, vectors.astype("<f4"), strict=True)
        )
        self._file.execute("BEGIN")
        self._file.executemany(
            "INSERT INTO journal_entries (id, workspace_id, agent_id, ts, entry_type, severity, priority, actor_type,"
            " summary, payload, refs)"
            " VALUES (?, ?, ?, ?, 'peer.conversation', 'info', 'normal', 'agent', ?, '{}', '{}')",
            entries,
        )
        self._file.executemany(
            "INSERT INTO journal_embeddings (entry_id, workspace_id, agent_id, model, dim, vector, indexed_at,"
            " importance_score) VALUES (?, ?, ?, 'model', ?, ?, ?, ?)",
            embeddings,
        )
        self._file.execute("COMMIT")
        _optimise(self._file, "journal_entries_fts")

    def close(self) -> None:
        self._file.close()

    def dense(self, asked: EmbeddedQuestion, limit: int, newest: int | None = None) -> list[Row]:
        return self._rows(self._by_worth(asked, limit, newest))

    def hybrid(self, asked: EmbeddedQuestion, limit: int) -> list[Row]:
        depth = max(LEG * limit, LEG_LEAST)
        scores: dict[str, float] = {}
        for leg in (self._by_worth(asked, depth, None), self._by_words(asked, depth)):
            for rank, entry in enumerate(leg, start=1):
                scores[entry] = scores.get(entry, 0.0) + 1 / (RRF_K + rank)
        return self._rows(sorted(scores, key=lambda entry: -scores[entry])[:limit])

    def nearest(self, vector: NDArray[np.float32], limit: int, newest: int | None = None) -> list[int]:
        """Numbers of the memories with the highest cosine, to check the vector search by itself."""
        entries, cosines, _ = self._scan(vector, newest)
        return [int(entries[place].removeprefix("j_"), 16) for place in _best(cosines, limit)]

    def _by_worth(self, asked: EmbeddedQuestion, depth: int, newest: int | None) -> list[str]:
        entries, cosines, importance = self._scan(asked.vector, newest)
        return [entries[place] for place in _best(cosines * importance, depth)]

    def _scan(
        self, vector: NDArray[np.float32], newest: int | None
    ) -> tuple[Sequence[str], NDArray[np.float32], NDArray[np.float32]]:
        """Ids, cosines and importances of the rows in scope, or of the `newest` of them."""
        statement = (
            "SELECT entry_id, vector, importance_score FROM journal_embeddings WHERE workspace_id = ? AND agent_id = ?"
        )
        if newest is not None:
            statement += f" ORDER BY rowid DESC LIMIT {newest}"
        rows = iter(self._file.execute(statement, self._scope))
        entries: list[str] = []
        importance: list[float] = []
        cosines: list[NDArray[np.float32]] = []
        while batch := list(islice(rows, SCAN_BATCH)):
            ids, blobs, worth = zip(*batch, strict=True)
            entries.extend(ids)
            importance.extend(worth)
            cosines.append(np.frombuffer(b"".join(blobs), dtype="<f4").reshape(len(blobs), len(vector)) @ vector)
        return entries, np.concatenate(cosines), np.array(importance, dtype=np.float32)

    def _by_words(self, asked: EmbeddedQuestion, depth: int) -> list[str]:
        words = [word for word in _words(asked.text) if len(word) > 1]
        rows = self._file.execute(
            "SELECT e.id FROM journal_entries_fts f JOIN journal_entries e ON e.rowid = f.rowid"
            " WHERE journal_entries_fts MATCH ? AND e.workspace_id = ? AND e.agent_id = ? ORDER BY f.rank LIMIT ?",
            (_any_of(words), *self._scope, depth),
        )
        return [entry for (entry,) in rows]

    def _rows(self, entries: Sequence[str]) -> list[Row]:
        found = {
            row[0]: row
            for row in self._file.execute(
                "SELECT id, ts, entry_type, agent_id, summary, payload FROM journal_entries"
                " WHERE id IN (SELECT value FROM json_each(?))",
                (json.dumps(entries),),
            )
        }
        return [found[entry] for entry in entries]


def _entry(number: int) -> str:
    return f"j_{number:016x}"


# ── Mnemosyne ────────────────────────────────────────────────────────────────────────────────────────────────────────

_MNEMOSYNE: Final = """
CREATE TABLE episodic_memory (
  rowid INTEGER PRIMARY KEY AUTOINCREMENT, id TEXT UNIQUE NOT NULL, content TEXT NOT NULL, source TEXT, timestamp TEXT,
  session_id TEXT DEFAULT 'default', importance REAL DEFAULT 0.5, metadata_json TEXT, summary_of TEXT,
  created_at TIMESTAMP DEFAULT CURRENT_TIMESTAMP, recall_count INTEGER DEFAULT 0, last_recalled TIMESTAMP,
  valid_until TIMESTAMP, superseded_by TEXT, scope TEXT DEFAULT 'global'
);
CREATE VIRTUAL TABLE fts_episodes USING fts5 (content, content = 'episodic_memory', content_rowid = 'rowid');
CREATE TRIGGER episodes_come AFTER INSERT ON episodic_memory BEGIN
  INSERT INTO fts_episodes (rowid, content) VALUES (new.rowid, new.content);
END;
CREATE VIRTUAL TABLE vec_episodes USING vec0 (embedding int8[{dim}]);
"""


class Mnemosyne:
    """int8 vectors in a table of sqlite-vec and a full-text index; score 0.5 · vector + 0.3 · text + 0.2 · recency."""

    def __init__(self, path: Path, memories: Sequence[StoredMemory], vectors: NDArray[np.float32]) -> None:
        self._file = _new_file(connect_with_vectors(str(path)), _MNEMOSYNE.format(dim=vectors.shape[1]))
        self._now = max(memory.at for memory in memories)
        self._file.execute("BEGIN")
        self._file.executemany(
            "INSERT INTO episodic_memory (rowid, id, content, source, timestamp, session_id, importance)"
            " VALUES (?, ?, ?, 'user', ?, ?, ?)",
            (
                (
                    memory.number,
                    f"{memory.number:016x}",
                    memory.text,
                    _stamp(memory.at),
                    memory.session,
                    memory.importance,
                )
                for memory in memories
            ),
        )
        self._file.executemany(
            "INSERT INTO vec_episodes (rowid, embedding) VALUES (?, vec_quantize_int8(?, 'unit'))",
            ((memory.number, vector.tobytes()) for memory, vector in zip(memories, vectors.astype("<f4"), strict=True)),
        )
        self._file.execute("COMMIT")
        _optimise(self._file, "fts_episodes")

    def close(self) -> None:
        self._file.close()

    def recall(self, asked: EmbeddedQuestion, limit: int) -> list[Row]:
        depth = max(LEG * limit, LEG_LEAST)
        meaning = _distance_scores(self._neighbours(asked.vector, depth))
        text = _normalised_ranks(self._by_words(asked, depth))
        scored: list[tuple[float, Row]] = []
        for row in self._rows(sorted(meaning.keys() | text.keys())):
            recency = math.exp(-(self._now - datetime.fromisoformat(row[4])).total_seconds() / 3600 / RECENCY_HOURS)
            score = 0.5 * meaning.get(row[0], 0.0) + 0.3 * text.get(row[0], 0.0) + 0.2 * recency
            scored.append((score, row))
        scored.sort(key=lambda pair: -pair[0])
        return [row for _, row in scored[:limit]]

    def nearest(self, vector: NDArray[np.float32], limit: int) -> list[int]:
        """Numbers of the nearest memories, to check the vector search by itself."""
        return [number for number, _ in self._neighbours(vector, limit)]

    def _neighbours(self, vector: NDArray[np.float32], depth: int) -> list[tuple[int, float]]:
        rows = self._file.execute(
            "SELECT rowid, distance FROM vec_episodes WHERE embedding MATCH vec_quantize_int8(?, 'unit') AND k = ?",
            (vector.astype("<f4").tobytes(), depth),
        )
        return [(number, distance) for number, distance in rows]

    def _by_words(self, asked: EmbeddedQuestion, depth: int) -> list[tuple[int, float]]:
        words = [word for word in _words(asked.text) if word not in STOP_WORDS]
        if not words:
            return []
        rows = self._file.execute(
            "SELECT rowid, rank FROM fts_episodes WHERE fts_episodes MATCH ? ORDER BY rank LIMIT ?",
            (_any_of(words), depth),
        )
        return [(number, rank) for number, rank in rows]

    def _rows(self, numbers: Sequence[int]) -> Iterator[Row]:
        return iter(
            self._file.execute(
                "SELECT rowid, id, content, source, timestamp, session_id, importance, metadata_json, recall_count,"
                " last_recalled, valid_until, superseded_by, scope FROM episodic_memory"
                " WHERE rowid IN (SELECT value FROM json_each(?)) AND (scope = 'global' OR session_id = ?)"
                " AND (valid_until IS NULL OR valid_until > ?) AND superseded_by IS NULL",
                (json.dumps(numbers), "default", _stamp(self._now)),
            )
        )


def _distance_scores(neighbours: Sequence[tuple[int, float]]) -> dict[int, float]:
    """Distances mapped to scores: 1 for distance 0, 0 for the largest distance."""
    farthest = max((distance for _, distance in neighbours), default=0.0) or 1.0
    return {number: 1 - distance / farthest for number, distance in neighbours}


def _normalised_ranks(hits: Sequence[tuple[int, float]]) -> dict[int, float]:
    """FTS5 ranks mapped to scores: 1 for the best, 0 for the worst. Ranks are lower for better matches; the best comes
    first.
    """
    if not hits:
        return {}
    best, worst = hits[0][1], hits[-1][1]
    return {number: 1 - (rank - best) / ((worst - best) or 1.0) for number, rank in hits}


# ── both ─────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _new_file(connection: SqliteConnection, tables: str) -> Connection:
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "NORMAL")
    connection.pragma("cache_size", -CACHE_KIB)
    connection.pragma("temp_store", "memory")
    connection.execute(tables)
    return connection


def _optimise(connection: Connection, full_text: str) -> None:
    """Optimise the full-text index, vacuum, and empty the write-ahead log."""
    connection.execute(f"INSERT INTO {full_text} ({full_text}) VALUES ('optimize')")
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _best(scores: NDArray[np.float32], count: int) -> list[int]:
    """Indices of the `count` greatest scores, greatest first."""
    places = np.argpartition(-scores, count)[:count] if count < len(scores) else np.arange(len(scores))
    return places[np.argsort(-scores[places], kind="stable")].tolist()


def _words(text: str) -> Iterable[str]:
    return dict.fromkeys(re.findall(r"\w+", text.lower()))


def _any_of(words: Iterable[str]) -> str:
    return " OR ".join(f'"{word}"' for word in words)


def _stamp(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="milliseconds")
