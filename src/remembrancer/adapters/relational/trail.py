"""The audit trail: append an entry in the transaction of a change, read entries, and delete names."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, cast

from remembrancer.domain.audit import (
    SALT_BYTES,
    Act,
    AuditHead,
    AuditName,
    ChainedEntry,
    canonical,
    first_hash,
    next_hash,
    pseudonym_of,
)
from remembrancer.domain.scope import SCOPE_PARTS

if TYPE_CHECKING:
    from uuid import UUID

    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.domain.erasure import ErasureSelection, Removal
    from remembrancer.domain.scope import Scope

_PARTS: Final = ", ".join(SCOPE_PARTS)
_LAST: Final = "SELECT seq, hash FROM audit_trail WHERE workspace = ? ORDER BY seq DESC LIMIT 1"
_INSERTION: Final = "INSERT INTO audit_trail (workspace, seq, entry, hash) VALUES (?, ?, ?, ?)"
_FROM: Final = "SELECT seq, hash FROM audit_trail WHERE workspace = ? AND seq >= ? LIMIT 2"


MOST_KNOWN: Final = 1_000
"""The most workspaces, and the most names of each, whose pseudonyms are kept in memory."""


class Trails:
    """Appends entries. Knows where it left each chain, and the pseudonyms of names that it wrote or read. Both hold as
    long as the chain still ends there, which is read before each entry: an entry of another process, and a transaction
    that was rolled back, end them. Each erasure adds an entry, so a name that was deleted since is not used again.
    """

    def __init__(self) -> None:
        self._known: dict[str, _End] = {}
        """By workspace."""

    def add(self, connection: Connection, scope: Scope, act: Act, *, forgetting: Collection[str] = ()) -> None:
        """Append an entry, in the transaction of what it tells of. `forgetting`: names to delete, unless rows of the
        workspace still have them; the entry says which it deletes.
        """
        workspace = scope.workspace
        seq, previous, known = self._end(connection, workspace)
        pseudonyms = {what: known.get(name) for what, name in act.names.items()}
        if None in pseudonyms.values():
            known = {**known, **_pseudonyms(connection, workspace, act.names.values())}
            pseudonyms = {what: known[name] for what, name in act.names.items()}
        blanked = _forget(connection, workspace, forgetting) if forgetting else ()
        entry = canonical(seq + 1, act, cast("dict[str, bytes]", pseudonyms), blanked)
        digest = next_hash(previous, entry)
        connection.execute(_INSERTION, (workspace, seq + 1, entry, digest))
        if len(self._known) > MOST_KNOWN:
            self._known.clear()
        self._known[workspace] = _End(seq + 1, digest, {} if forgetting else known)

    def _end(self, connection: Connection, workspace: str) -> _End:
        """The end of the chain as it is stored."""
        known = self._known.get(workspace)
        if known is not None and [*connection.execute(_FROM, (workspace, known.seq))] == [known[:2]]:
            return known if len(known.pseudonyms) <= MOST_KNOWN else known._replace(pseudonyms={})
        seq, digest = connection.execute(_LAST, (workspace,)).fetchone() or (0, first_hash(workspace))
        return _End(seq, digest, {})


class _End(NamedTuple):
    """The number and the hash of a chain's last entry, and pseudonyms of names as of it."""

    seq: int
    hash: bytes
    pseudonyms: dict[str, bytes]


def trail(connection: Connection, scope: Scope, *, after: int = 0, limit: int) -> tuple[ChainedEntry, ...]:
    rows = connection.execute(
        "SELECT seq, entry, hash FROM audit_trail WHERE workspace = ? AND seq > ? ORDER BY seq LIMIT ?",
        (scope.workspace, after, limit),
    )
    return tuple(ChainedEntry(*row) for row in rows)


def trail_head(connection: Connection, scope: Scope) -> AuditHead:
    seq, digest = connection.execute(_LAST, (scope.workspace,)).fetchone() or (0, first_hash(scope.workspace))
    return AuditHead(seq, digest.hex())


def trail_names(connection: Connection, scope: Scope) -> Mapping[bytes, AuditName]:
    rows = connection.execute("SELECT pseudonym, salt, name FROM audit_names WHERE workspace = ?", (scope.workspace,))
    return {row[0]: AuditName(*row) for row in rows}


def names_of(connection: Connection, scope: Scope, removal: Removal, asked: ErasureSelection) -> set[str]:
    """The names in the scopes of rows to be erased, and in the selection."""
    found: set[str] = {value for part, value in asked.parts.items() if part in SCOPE_PARTS}
    for table, ids in (("memories", removal.memories), ("events", removal.events), ("archive", removal.events)):
        found.update(_named(connection, scope, table, ids))
    return found - {""}


def _named(connection: Connection, scope: Scope, table: str, ids: Iterable[UUID]) -> Iterable[str]:
    dialect = connection.dialect
    rows = connection.execute(
        f"SELECT DISTINCT {_PARTS} FROM {table} WHERE workspace = ? AND {dialect.in_ids('id')}",
        (scope.workspace, dialect.ids(ids)),
    )
    return [name for row in rows for name in row]


def _pseudonyms(connection: Connection, workspace: str, names: Iterable[str]) -> dict[str, bytes]:
    """The pseudonym of each name. A new name gets a salt, and with it a pseudonym that nobody can guess."""
    stored = {name: name.encode("utf-8", "surrogatepass") for name in names}
    marks = ", ".join("?" * len(stored))
    rows = connection.execute(
        f"SELECT name, pseudonym FROM audit_names WHERE workspace = ? AND name IN ({marks})",
        (workspace, *stored.values()),
    )
    known = dict(rows)
    for name in stored.values():
        if name not in known:
            salt = os.urandom(SALT_BYTES)
            known[name] = pseudonym_of(salt, name)
            connection.execute(
                "INSERT INTO audit_names (workspace, name, salt, pseudonym) VALUES (?, ?, ?, ?)",
                (workspace, name, salt, known[name]),
            )
    return {name: known[one] for name, one in stored.items()}


def _forget(connection: Connection, workspace: str, names: Collection[str]) -> tuple[bytes, ...]:
    """Delete the names that no row has any more. Returns their pseudonyms."""
    has = " OR ".join(
        f"EXISTS (SELECT 1 FROM {table} WHERE workspace = ? AND ? IN ({_PARTS}))"
        for table in ("events", "archive", "memories")
    )
    gone: list[bytes] = []
    with connection.dialect.overwriting(connection):
        for name in sorted(names):
            if connection.execute(f"SELECT {has}", (workspace, name) * 3).get:
                continue
            bindings = (workspace, name.encode("utf-8", "surrogatepass"))
            rows = connection.execute("SELECT pseudonym FROM audit_names WHERE workspace = ? AND name = ?", bindings)
            gone += (pseudonym for (pseudonym,) in rows)
            connection.execute("DELETE FROM audit_names WHERE workspace = ? AND name = ?", bindings)
    return tuple(gone)
