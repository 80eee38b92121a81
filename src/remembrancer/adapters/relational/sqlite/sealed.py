"""Sealed backups: each row under the key of the memory or the event that it belongs to (`row_keys`).

The file is an SQLite database, encrypted as a whole under a key of the key file, so that it stays readable when the
operator changes the key of the store. It has one table of sealed rows, and says which tables they are of. Full-text
indexes are made anew when it is restored.
"""

from __future__ import annotations

import json
import os
import struct
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from remembrancer.adapters.encryption import FileKey
from remembrancer.adapters.relational import full_text
from remembrancer.adapters.relational.columns import insert_into
from remembrancer.adapters.relational.rows import CUE_TEXT
from remembrancer.adapters.relational.schema import Table, current_version, migrations, schema_sql, tables
from remembrancer.adapters.relational.sqlite import ciphers, row_keys, schema
from remembrancer.adapters.relational.sqlite.dialect import connect, connect_immutable
from remembrancer.adapters.relational.sqlite.file import PAGE_BYTES, SqliteFile
from remembrancer.adapters.relational.sqlite.row_keys import BACKUPS, LOGS, NAME, STREAM, RowKeys, RowOwner
from remembrancer.domain.erasure import ERASED
from remembrancer.domain.memory import Cue
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import StoreUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.encryption import EncryptionKey
    from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection
    from remembrancer.domain.memory import Analyse
    from remembrancer.ports.transfer import OnPages

_CONTAINER: Final = """
CREATE TABLE meta (contents TEXT NOT NULL);
CREATE TABLE sealed (n INTEGER PRIMARY KEY, part INTEGER NOT NULL, owner INTEGER, box BLOB NOT NULL,
  log_owner INTEGER, log BLOB);
PRAGMA application_id = 0x52454d53; -- "REMS"
"""
_NONCE: Final = 12
_LENGTH: Final = struct.Struct("<I")
_BATCH: Final = 1000
_SESSION: Final = (
    "CASE WHEN {cue}.last IS NULL THEN m.session ELSE coalesce((SELECT r.session FROM revisions r"
    " WHERE r.memory = {cue}.memory AND r.number = {cue}.revision), m.session) END"
)
"""The session in which a memory said what a cue repeats: that of the cue's revision."""
_OF_MEMORY: Final = "m.workspace, m.id, m.project, m.crew, m.agent, {session}, {past}"
IN_NO_MEMORY: Final = frozenset(
    {
        *("changes", "positions", "vector_models", "vector_spaces", "health_snapshots", "api_keys", "erasures"),
        *("audit_trail", "retention_rules", "legal_holds"),
    }
)
"""Tables whose rows hold numbers, names, ids and the operator's reasons only. They are not sealed, but in the encrypted
file. The rows of other tables belong to a memory or an event; if not, they may quote any, and are sealed as logs.
"""
_LOG_COLUMNS: Final[Mapping[str, tuple[tuple[str, ...], str]]] = {
    "streams": (("note",), "{}"),
    "exposures": (("query",), ERASED),
    "credits": (("task", "note"), ERASED),
    "audit": (("reason",), ERASED),
    "vector_retries": (("error",), ERASED),
    "priority_changes": (("reason",), ERASED),
}
"""The columns of a table that may quote any memory, and what replaces them once the key of the logs is destroyed."""


@dataclass(frozen=True, slots=True)
class Restored:
    """`rows`: that could be opened; `unreadable`: whose keys were destroyed, with those that refer to them."""

    rows: int
    unreadable: int


def write(source: SqliteConnection, path: Path, store: str, encryption: EncryptionKey, on_pages: OnPages | None) -> int:
    """Seal every row of the state that the connection reads, whose transaction has read nothing yet, into a new file.
    Returns the number of rows.

    The keys are locked before the first row is read: an erasure that is not in this state destroys its keys afterwards.
    """
    with row_keys.opened(store, encryption, create=True) as keys:
        key = FileKey(keys.of(BACKUPS)[1], ciphers.new_salt(sealed=True))
        total = sum(source.execute(f"SELECT count(*) FROM {table.name}").get for table in tables())
        path.unlink()
        with closing(connect(str(path), key=key)) as container:
            container.pragma("synchronous", "OFF")  # the caller syncs the whole file
            container.pragma("journal_mode", "off")
            container.execute("BEGIN")
            container.execute(_CONTAINER)
            container.execute("INSERT INTO meta (contents) VALUES (?)", (json.dumps(_contents(source)),))
            done = 0
            for batch in _batches(_sealed_rows(source, keys)):
                container.executemany(
                    "INSERT INTO sealed (part, owner, box, log_owner, log) VALUES (?, ?, ?, ?, ?)", batch
                )
                done += len(batch)
                if on_pages is not None:
                    on_pages(done, total)
            if done != total:
                raise StoreUnavailable(f"{path}: {done} of {total} rows were sealed; `remembrancer doctor` checks them")
            container.execute("COMMIT")
    return total


def read(backup: Path, path: Path, store: str, encryption: EncryptionKey, analyse: Analyse) -> Restored:
    """Fill a new file, encrypted with the store's key, with all rows that can be opened. `store`: beside which the keys
    are. Raises StoreUnavailable for a damaged backup, and for keys that are not its keys.
    """
    salt = ciphers.sealed_salt_of(str(backup))
    with row_keys.opened(store, encryption) as keys:
        key = FileKey(keys.of(BACKUPS)[1], salt)
        try:
            container = connect_immutable(backup, key)
        except StoreUnavailable as error:
            raise StoreUnavailable(f"{backup}: {row_keys.path_of(store)} has not the keys of this backup") from error
        path.unlink()
        file_key = encryption.of_file(ciphers.new_salt())
        with closing(container), closing(connect(str(path), key=file_key)) as target:
            contents = json.loads(container.execute("SELECT contents FROM meta").get)
            restored = _filled(target, container, keys, contents, backup)
    if contents["version"] < current_version():
        SqliteFile(str(path), encryption=encryption).prepare(analyse).close()  # migrates
        Path(f"{path}.v{contents['version']}.backup").unlink()
    with closing(connect(str(path), create=False, key=file_key)) as target:
        _finish(target, path, analyse)
    return restored


def _contents(source: SqliteConnection) -> dict[str, Any]:
    """The description of the tables, without which `read` cannot restore the rows."""
    numbers = {table.name: source.dialect.last_number(source, table.name) for table in tables() if table.key == ("n",)}
    described = [{"name": one.name, "columns": one.columns, "parents": one.parents} for one in tables()]
    return {"format": 1, "version": current_version(), "tables": described, "numbers": numbers}


# ── sealing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _sealed_rows(source: SqliteConnection, keys: RowKeys) -> Iterator[tuple[Any, ...]]:
    logs: dict[str, tuple[int, bytes]] = {}
    for part, table in enumerate(tables()):
        columns = ", ".join(f"t.{name}" for name in table.columns)
        owner, joins = owner_of(table)
        width = len(table.columns)
        log = _LOG_COLUMNS.get(table.name)
        places = [] if log is None else [table.columns.index(name) for name in log[0]]
        for row in source.stream(f"SELECT {columns}, {owner} FROM {table.name} t {joins}", ()):
            values, (workspace, *rest) = list(row[:width]), row[width:]
            log_box: tuple[int, bytes] | tuple[None, None] = None, None
            if log is not None and any(values[place] not in {"", log[1]} for place in places):
                if workspace not in logs:
                    logs[workspace] = keys.of(RowOwner(workspace, LOGS))
                number, key = logs[workspace]
                log_box = number, _box(key, [values[place] for place in places], part)
                for place in places:
                    values[place] = log[1]
            if workspace is None:
                yield part, None, _packed(values), *log_box
            else:
                number, key = keys.of(RowOwner(workspace, *rest))
                yield part, number, _box(key, values, part), *log_box


def owner_of(table: Table) -> tuple[str, str]:
    """The columns of a row's `RowOwner`, NULL for rows without one, and the joins that they need."""
    if table.name in _OWNERS:
        return _OWNERS[table.name]
    parents = {parent: column for column, parent in table.parents}
    if "cues" in parents:
        owner = _OF_MEMORY.format(session=_SESSION.format(cue="c"), past="c.last IS NOT NULL")
        return owner, "JOIN cues c ON c.n = t.cue JOIN memories m ON m.n = c.memory"
    if "memories" in parents:
        return _OF_MEMORY.format(session="m.session", past=0), f"JOIN memories m ON m.n = t.{table.parents[0][0]}"
    if table.name in IN_NO_MEMORY:
        return "NULL", ""
    return _AS_LOGS


_AS_LOGS: Final = f"t.workspace, x'{LOGS.hex()}', '', '', '', '', 0", ""
_ITSELF: Final = "t.workspace, t.id, t.project, t.crew, t.agent, t.session, 0", ""
_SCOPE_OF_EVENT: Final = ", ".join(f"coalesce(e.{part}, a.{part}, '')" for part in SCOPE_PARTS)
_EVENTS: Final = " ".join(
    f"LEFT JOIN {table} {short} ON {short}.workspace = t.workspace AND {short}.id = t.event"
    for table, short in (("events", "e"), ("archive", "a"))
)
_JOINED: Final = "JOIN memories m ON m.n = t.memory"
_OWNERS: Final[Mapping[str, tuple[str, str]]] = {
    **dict.fromkeys(("events", "archive", "memories"), _ITSELF),
    "credits": _AS_LOGS,
    "audit_names": (f"t.workspace, CAST(x'{NAME.hex()}' || t.pseudonym AS BLOB), '', '', '', '', 0", ""),
    "streams": (f"t.workspace, x'{STREAM.hex()}', t.project, t.crew, t.agent, t.session, 0", ""),
    "priority_changes": (f"t.workspace, t.event, {_SCOPE_OF_EVENT}, 0", _EVENTS),
    "cues": (_OF_MEMORY.format(session=_SESSION.format(cue="t"), past="t.last IS NOT NULL"), _JOINED),
    "revisions": (_OF_MEMORY.format(session="coalesce(t.session, m.session)", past=1), _JOINED),
}
"""The owners of tables that do not simply belong to a memory, or to one of its cues."""


def _box(key: bytes, values: Sequence[Any], part: int) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415  of an extra

    nonce = os.urandom(_NONCE)
    return nonce + ChaCha20Poly1305(key).encrypt(nonce, _packed(values), _LENGTH.pack(part))


def unsealed(key: bytes, box: bytes, part: int) -> list[Any]:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305  # noqa: PLC0415

    return _unpacked(ChaCha20Poly1305(key).decrypt(box[:_NONCE], box[_NONCE:], _LENGTH.pack(part)))


def _packed(values: Sequence[Any]) -> bytes:
    """The values as JSON, in which bytes are objects with their length; then these bytes."""
    blobs = [value for value in values if isinstance(value, bytes)]
    text = json.dumps([{"bytes": len(one)} if isinstance(one, bytes) else one for one in values]).encode()
    return b"".join((_LENGTH.pack(len(text)), text, *blobs))


def _unpacked(packed: bytes) -> list[Any]:
    (length,) = _LENGTH.unpack_from(packed)
    at = _LENGTH.size + length
    values: list[Any] = json.loads(packed[_LENGTH.size : at])
    for place, one in enumerate(values):
        if isinstance(one, dict):
            size = int(cast("dict[str, Any]", one)["bytes"])
            values[place] = packed[at : at + size]
            at += size
    return values


def _batches(rows: Iterator[tuple[Any, ...]]) -> Iterator[list[tuple[Any, ...]]]:
    batch: list[tuple[Any, ...]] = []
    for row in rows:
        batch.append(row)
        if len(batch) == _BATCH:
            yield batch
            batch = []
    if batch:
        yield batch


# ── restoring ────────────────────────────────────────────────────────────────────────────────────────────────────────


class _Filling:
    """Inserts the rows that can be opened, table after table."""

    def __init__(self, target: SqliteConnection) -> None:
        self._target = target
        self._present: dict[str, set[int]] = {}
        """The numbers of the rows that were inserted, by table."""
        self._tainted: set[int] = set()
        """The memories that were formed or derived from a row that cannot be read, which they may repeat."""
        self.rows = self.unreadable = 0

    def add(self, table: Mapping[str, Any], rows: Iterator[list[Any] | None]) -> None:
        """`rows`: None for one that cannot be opened."""
        insertion = insert_into(table["name"], table["columns"]).replace("INSERT", "INSERT OR IGNORE", 1)
        numbers = self._present.setdefault(table["name"], set())
        for batch in _batches(self._whole(table, rows)):
            self._target.executemany(insertion, batch)
            if "n" in table["columns"]:
                place = table["columns"].index("n")
                numbers.update(row[place] for row in batch)
            self.rows += len(batch)

    def drop_tainted(self) -> None:
        dialect = self._target.dialect
        self._target.execute(f"DELETE FROM memories WHERE {dialect.in_list('n')}", (dialect.listed(self._tainted),))

    def _whole(self, table: Mapping[str, Any], rows: Iterator[list[Any] | None]) -> Iterator[tuple[Any, ...]]:
        """The rows that refer to no row that is missing."""
        for values in rows:
            row = None if values is None else dict(zip(table["columns"], values, strict=True))
            if row is not None:
                missing = [
                    column
                    for column, parent in table["parents"]
                    if row[column] is not None and row[column] not in self._present[parent]
                ]
                if not missing:
                    yield tuple(row.values())
                    continue
                self._taint(table["name"], row, missing)
            self.unreadable += 1

    def _taint(self, table: str, row: Mapping[str, Any], missing: Sequence[str]) -> None:
        if table in {"memory_events", "cues"} and missing == ["event"]:
            self._tainted.add(row["memory"])
        elif table == "relations" and missing == ["target"] and row["kind"] == RelationKind.DERIVED_FROM:
            self._tainted.add(row["source"])


def _filled(
    target: SqliteConnection, container: SqliteConnection, keys: RowKeys, contents: Mapping[str, Any], backup: Path
) -> Restored:
    version: int = contents["version"]
    if version > current_version():
        raise StoreUnavailable(f"{backup}: written by a newer Remembrancer; upgrade remembrancer to restore it")
    target.pragma("page_size", PAGE_BYTES)
    target.pragma("synchronous", "OFF")  # the caller syncs the whole file
    target.pragma("foreign_keys", True)
    target.execute("BEGIN")
    for sql in [schema_sql()] if version == current_version() else [step.sql for step in migrations()[:version]]:
        target.execute(sql)
    filling = _Filling(target)
    for part, table in enumerate(contents["tables"]):
        filling.add(table, _readable(container, keys, part, table, backup))
    filling.drop_tainted()
    if filling.unreadable:
        _drop_empty_streams(target)
    for name, number in contents["numbers"].items():
        target.dialect.continue_after(target, name, number)
    target.execute(f"PRAGMA application_id = {schema.APPLICATION_ID}; PRAGMA user_version = {version}")
    target.execute("COMMIT")
    return Restored(filling.rows, filling.unreadable)


def _drop_empty_streams(target: SqliteConnection) -> None:
    same = " AND ".join(f"e.{part} = streams.{part}" for part in ("workspace", *SCOPE_PARTS))
    target.execute(
        f"DELETE FROM streams WHERE NOT EXISTS (SELECT 1 FROM events e WHERE {same})"
        f" AND NOT EXISTS (SELECT 1 FROM archive e WHERE {same})"
    )


def _readable(
    container: SqliteConnection, keys: RowKeys, part: int, table: Mapping[str, Any], backup: Path
) -> Iterator[list[Any] | None]:
    """The rows of a table; None for one whose key was destroyed."""
    from cryptography.exceptions import InvalidTag  # noqa: PLC0415  of an extra

    log = _LOG_COLUMNS.get(table["name"])
    sealed = container.stream("SELECT owner, box, log_owner, log FROM sealed WHERE part = ? ORDER BY n", (part,))
    for owner, box, log_owner, log_box in sealed:
        key = None if owner is None else keys.numbered(owner)
        if owner is not None and key is None:
            yield None
            continue
        try:
            values = _unpacked(box) if key is None else unsealed(key, box, part)
            log_key = None if log_owner is None else keys.numbered(log_owner)
            if log is not None and log_key is not None:
                for name, text in zip(log[0], unsealed(log_key, log_box, part), strict=True):
                    values[table["columns"].index(name)] = text
        except InvalidTag:
            raise StoreUnavailable(
                f"{backup}: a row is not sealed under the key that the key file has for it"
            ) from None
        yield values


def _finish(target: SqliteConnection, path: Path, analyse: Analyse) -> None:
    """Index the words, and check the rows."""
    target.execute("BEGIN")
    full_text.add_all_words(target, analyse)
    cues = target.execute(
        f"SELECT c.n, c.ordinal, c.heading, {CUE_TEXT} FROM cues c LEFT JOIN events e ON e.n = c.event ORDER BY c.n"
    )
    for number, ordinal, heading, text in list(cues):
        cue = Cue(memory_id=_NOBODY, ordinal=ordinal, heading=heading, text=text)
        target.dialect.add_words(target, "cues", [(number, analyse(cue).tokens)], at_once=True)
    target.execute("COMMIT")
    target.pragma("journal_mode", "delete")
    broken = list(target.execute("PRAGMA foreign_key_check"))
    if broken:
        raise StoreUnavailable(f"{path}: {len(broken)} rows refer to rows that are missing; nothing was kept of it")


_NOBODY: Final = UUID(int=0)
