"""The audit trail of the reference store: an entry after each recorded call."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from datetime import UTC, datetime
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

from remembrancer.adapters.reference.rows import Rows
from remembrancer.domain.audit import (
    SALT_BYTES,
    Act,
    AuditHead,
    AuditName,
    ChainedEntry,
    Touched,
    canonical,
    first_hash,
    next_hash,
    pseudonym_of,
)
from remembrancer.domain.erasure import ErasureSelection, Removal
from remembrancer.domain.scope import SCOPE_PARTS, Scope
from remembrancer.ports.audit import TOUCHED, acts_of

if TYPE_CHECKING:
    from remembrancer.adapters.reference.store import ReferenceStore

S = TypeVar("S", bound="type[ReferenceStore]")


def recorded(store: S) -> S:
    """A class whose methods of `TOUCHED` add their entries."""
    for name, touched_by in TOUCHED.items():
        setattr(store, name, _recording(getattr(store, name), name, touched_by))
    return store


def _recording(method: Callable[..., Any], name: str, touched_by: Callable[..., Touched | None]) -> Callable[..., Any]:
    @wraps(method)
    async def call(store: ReferenceStore, /, *args: Any, **kwargs: Any) -> Any:
        before = store.rows_of(args[0])
        done = await method(store, *args, **kwargs)
        touched = touched_by(done, *args, **kwargs)
        if touched is not None:
            scope: Scope = getattr(args[0], "scope", args[0])
            rows = store.rows_of(scope).copy()
            names = names_of(before, args[1], args[2].asked) if name == "erase" else ()
            add(rows, scope, acts_of(name, now)(scope, touched), forgetting=names)
            store.keep(scope, rows)
        return done

    return call


def now() -> datetime:
    return datetime.now(UTC)


def add(rows: Rows, scope: Scope, act: Act, *, forgetting: Collection[str] = ()) -> None:
    for name in set(act.names.values()) - rows.audit_names.keys():
        salt, stored = os.urandom(SALT_BYTES), name.encode("utf-8", "surrogatepass")
        rows.audit_names[name] = AuditName(pseudonym_of(salt, stored), salt, stored)
    pseudonyms = {what: rows.audit_names[name].pseudonym for what, name in act.names.items()}
    left = {
        part
        for one in (*rows.memories.values(), *rows.all_events())
        for part in (one.scope.project, one.scope.crew, one.scope.agent, one.scope.session)
    }
    gone = sorted(set(forgetting) & rows.audit_names.keys() - left)
    blanked = [rows.audit_names.pop(name).pseudonym for name in gone]
    head = trail_head(rows, scope)
    entry = canonical(head.seq + 1, act, pseudonyms, blanked)
    rows.trail.append(ChainedEntry(head.seq + 1, entry, next_hash(bytes.fromhex(head.hash), entry)))


def names_of(rows: Rows, removal: Removal, asked: ErasureSelection) -> set[str]:
    """The names in the scopes of rows to be erased, and in the selection."""
    events = {event.id: event for event in rows.all_events()}
    scopes = [rows.memories[one].scope for one in removal.memories] + [events[one].scope for one in removal.events]
    parts = {part for one in scopes for part in (one.project, one.crew, one.agent, one.session)}
    parts |= {value for part, value in asked.parts.items() if part in SCOPE_PARTS}
    return {part for part in parts if part is not None}


def trail(rows: Rows, scope: Scope, *, after: int = 0, limit: int) -> tuple[ChainedEntry, ...]:
    return tuple(rows.trail[after : after + limit])


def trail_head(rows: Rows, scope: Scope) -> AuditHead:
    if not rows.trail:
        return AuditHead(0, first_hash(scope.workspace).hex())
    return AuditHead(rows.trail[-1].seq, rows.trail[-1].hash.hex())


def trail_names(rows: Rows, scope: Scope) -> Mapping[bytes, AuditName]:
    return {one.pseudonym: one for one in rows.audit_names.values()}
