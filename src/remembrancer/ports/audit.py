"""The audit trail of a workspace, and who is acting.

Stores write an entry in the transaction of the change that it tells of. `TOUCHED` says for each writing method what its
entry names; who acts is known from `ACTING`, which the ways in (command line, HTTP, MCP, jobs) set for their calls.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import replace
from datetime import datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Protocol
from uuid import UUID

from remembrancer.domain.audit import NAMES, PROCESS, Act, AuditHead, AuditName, ChainedEntry, Door, Touched
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.api_key import ApiKey
    from remembrancer.domain.effect import Effect
    from remembrancer.domain.erasure import Erasure, Removal
    from remembrancer.domain.journal import PriorityChange
    from remembrancer.domain.kept import KeptRecall
    from remembrancer.domain.memory import Memory, MemoryWrite
    from remembrancer.domain.outcome import Credit
    from remembrancer.domain.relation import Relation
    from remembrancer.domain.retention import LegalHold, RetentionRule
    from remembrancer.domain.scope import Scope
    from remembrancer.domain.strength import Exposed
    from remembrancer.ports.journal import Appended, Entry


@dataclass(frozen=True, slots=True, kw_only=True)
class Acting:
    """Who acts. `name`: of an `oauth` principal."""

    principal: str = PROCESS
    name: str | None = None
    door: Door = Door.PYTHON


_Clock = Callable[[], datetime]
ACTING: Final = ContextVar("remembrancer_acting", default=Acting())  # noqa: B039  it is frozen
CALL: Final = ContextVar[tuple[str, _Clock] | None]("remembrancer_call", default=None)
"""The public call, or the job, that is running, and its clock. None: a method of the store was called by itself."""


@contextmanager
def acting(**changed: Any) -> Generator[None]:
    """Say who acts while the context is entered: fields of `Acting`."""
    before = ACTING.set(replace(ACTING.get(), **changed))
    try:
        yield
    finally:
        ACTING.reset(before)


@contextmanager
def calling(verb: str, clock: _Clock) -> Generator[None]:
    """Say by which call, or job, is acted while the context is entered."""
    before = CALL.set((verb, clock))
    try:
        yield
    finally:
        CALL.reset(before)


def acts_of(method: str, clock: _Clock) -> Callable[[Scope, Touched], Act]:
    """A function that makes the entry of what is done now: it may be called later, in a thread that does not know who
    acts. `method` of the store, `clock`: for calls that say no verb.
    """
    who, (verb, now) = ACTING.get(), CALL.get() or (method, clock)

    def act(scope: Scope, touched: Touched) -> Act:
        parts = (who.name, scope.project, scope.crew, scope.agent, scope.session)
        return Act(
            at=now(),
            principal=who.principal,
            door=who.door,
            verb=verb,
            names={what: name for what, name in zip(NAMES, parts, strict=True) if name is not None},
            touched=touched,
        )

    return act


class AuditTrail(Protocol):
    """Keeps the audit trail. Nothing changes or deletes an entry; an erasure deletes names."""

    async def add_to_trail(self, scope: Scope, acts: Sequence[Touched]) -> None:
        """Record acts that change no row, such as an export, as one transaction. Who acts says `ACTING`."""
        ...

    async def trail(self, scope: Scope, *, after: int = 0, limit: int) -> tuple[ChainedEntry, ...]:
        """Entries of the workspace with a higher number than `after`, in ascending order, as they are stored."""
        ...

    async def trail_head(self, scope: Scope) -> AuditHead:
        """The last entry of the workspace."""
        ...

    async def trail_names(self, scope: Scope) -> Mapping[bytes, AuditName]:
        """The names of the workspace's entries that no erasure deleted, by pseudonym."""
        ...


def _touched(model: str | None = None, /, *, counts: Mapping[str, int] | None = None, **ids: Iterable[UUID]) -> Touched:
    return Touched(
        ids={kind: tuple(dict.fromkeys(several)) for kind, several in ids.items()}, counts=counts or {}, model=model
    )


def _append(done: Sequence[Appended], _: object, entries: Sequence[Entry]) -> Touched | None:
    new = [entry for entry, one in zip(entries, done, strict=True) if one.created]
    if not new:
        return None
    formed = tuple(entry.memory.memory.id for entry in new if entry.memory is not None)
    return Touched(ids={"events": tuple(entry.event.id for entry in new), "memories": formed})


def _inserted(done: tuple[Memory, bool], *_: object, **__: object) -> Touched | None:
    return _several_inserted([done])


def _several_inserted(done: Sequence[tuple[Memory, bool]], *_: object, **__: object) -> Touched | None:
    new = [memory.id for memory, is_new in done if is_new]
    return _touched(memories=new) if new else None


def _revised(_: object, __: object, write: MemoryWrite, **___: object) -> Touched:
    return _touched(memories=[write.memory.id])


def _adjusted(
    _: object, __: object, ids: Sequence[UUID], ___: object, *, exposed: Sequence[Exposed] = (), **____: object
) -> Touched | None:
    named = [*ids, *(one.memory_id for one in exposed)]
    return _touched(memories=named, counts={"exposures": len(exposed)}) if named else None


def _superseded(_: object, __: object, old: UUID, new: UUID | None, **___: object) -> Touched:
    return _touched(memories=[old] if new is None else [old, new])


def _related(_: object, __: object, relations: Sequence[Relation]) -> Touched | None:
    ends = [end for edge in relations for end in (edge.source, edge.target)]
    return _touched(memories=ends, counts={"relations": len(relations)}) if ends else None


def _status_set(_: object, __: object, memory_id: UUID, *___: object, **____: object) -> Touched:
    return _touched(memories=[memory_id])


def _committed(_: object, __: object, effect: Effect, **___: object) -> Touched | None:
    named = {
        "inserted": [write.memory.id for write in effect.inserted],
        "revised": [write.memory.id for write in effect.revised],
        "status_changes": [one.memory_id for one in effect.status_changes],
        "superseded": [old for old, _ in effect.superseded],
        "related": [end for edge in effect.related for end in (edge.source, edge.target)],
        "adjusted": list(effect.adjusted),
        "reviewed": [one.memory_id for one in effect.reviewed],
        "consolidated": sorted(effect.consolidated),
    }
    counts = {what: len(ids) for what, ids in named.items()} | {"related": len(effect.related)}
    return (
        _touched(memories=[one for ids in named.values() for one in ids], counts=counts)
        if any(counts.values())
        else None
    )


def _prioritised(done: PriorityChange, *_: object, **__: object) -> Touched | None:
    return _touched(events=[done.event_id]) if done.is_change else None


def _archived(done: int, *_: object, **__: object) -> Touched | None:
    return _touched(counts={"events": done}) if done else None


def _key_made(_: object, __: object, key: ApiKey) -> Touched:
    return _touched(keys=[key.id])


def _key_revoked(_: object, __: object, key_id: UUID, **___: object) -> Touched:
    return _touched(keys=[key_id])


def _space_begun(done: bool, _: object, model: str, **__: object) -> Touched | None:
    return _touched(model) if done else None


def _space_answers(done: int, _: object, model: str, *, allow_missing: bool = False, **__: object) -> Touched | None:
    return _touched(model, counts={"missing": done}) if allow_missing or not done else None


def _vectors_dropped(done: int, _: object, model: str, **__: object) -> Touched:
    return _touched(model, counts={"vectors": done})


def _recall_kept(_: object, __: object, kept: KeptRecall) -> Touched:
    return _touched(recalls=[kept.id])


def _recall_dropped(done: bool, _: object, recall_id: UUID) -> Touched | None:
    return _touched(recalls=[recall_id]) if done else None


def _imported(done: int, *_: object, dry_run: bool = False) -> Touched | None:
    return None if dry_run else _touched(counts={"rows": done})


def _erased(_: object, __: object, removal: Removal, receipt: Erasure) -> Touched | None:
    if receipt.dry_run:
        return None
    return _touched(
        memories=sorted(removal.memories),
        events=sorted(removal.events),
        rebuilt=[write.memory.id for write in removal.rebuilt],
        erasures=[receipt.id],
    )


def _credited(
    done: tuple[Sequence[Credit], bool], _: object, outcome: UUID, ids: Sequence[UUID], *__: object, **___: object
) -> Touched | None:
    return _touched(outcomes=[outcome], memories=ids) if done[1] else None


def _rule_made(_: object, __: object, rule: RetentionRule) -> Touched:
    return _touched(rules=[rule.id])


def _rule_dropped(_: object, __: object, rule_id: UUID) -> Touched:
    return _touched(rules=[rule_id])


def _hold_placed(_: object, __: object, hold: LegalHold) -> Touched:
    return _touched(holds=[hold.id])


def _hold_released(_: object, __: object, hold_id: UUID, **___: object) -> Touched:
    return _touched(holds=[hold_id])


TOUCHED: Final[Mapping[str, Callable[..., Touched | None]]] = MappingProxyType(
    {
        "append": _append,
        "set_priority": _prioritised,
        "archive": _archived,
        "insert": _inserted,
        "insert_many": _several_inserted,
        "revise": _revised,
        "adjust": _adjusted,
        "supersede": _superseded,
        "relate": _related,
        "set_status": _status_set,
        "commit": _committed,
        "add_credits": _credited,
        "erase": _erased,
        "import_rows": _imported,
        "put_rule": _rule_made,
        "drop_rule": _rule_dropped,
        "put_hold": _hold_placed,
        "release_hold": _hold_released,
        "put_key": _key_made,
        "revoke_key": _key_revoked,
        "build_space": _space_begun,
        "answer_with": _space_answers,
        "drop_space": _vectors_dropped,
        "drop_vectors": _vectors_dropped,
        "keep_recall": _recall_kept,
        "drop_recall": _recall_dropped,
    }
)
"""For each method of a store that is recorded: a function of its result and its arguments, which returns what the entry
names; None: nothing was changed, so there is no entry.
"""
UNRECORDED: Final[Mapping[str, str]] = MappingProxyType(
    {
        "put_vectors": "vectors, and the relations between similar ones, follow from texts",
        "defer_vectors": "bookkeeping of the index sweep",
        "put_run": "bookkeeping of jobs",
        "defer": "bookkeeping of jobs",
        "settle": "bookkeeping of jobs",
        "log_call": "is a log itself: of calls of language models",
        "put_snapshot": "is a log itself: of health",
        "claim": "bookkeeping of requests; what a request changes is recorded",
        "answer": "bookkeeping of requests; what a request changes is recorded",
        "release": "bookkeeping of requests; what a request changes is recorded",
        "put_index_token": "of a file beside the records",
        "purge": "ends an erasure, which is recorded",
        "add_to_trail": "writes entries",
    }
)
"""The other methods that write, and why they are not recorded."""
