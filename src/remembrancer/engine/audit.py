"""The audit trail: list entries, check the chain, write it to a file."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import Final
from uuid import UUID

from remembrancer.domain.audit import AuditCheck, AuditEntry, AuditHead, AuditName, ChainChecker, ChainedEntry, entry_of
from remembrancer.domain.scope import Scope
from remembrancer.engine.context import Context
from remembrancer.errors import InvalidInput, StoreUnavailable, unreadable, unwritable
from remembrancer.ports.inspection import Finding
from remembrancer.values import dataclass

PAGE: Final = 2_000
FINDING: Final = "audit trail"


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditFilter:
    """`since`, `until`: entries of [since, until). `actor`: a principal, or a name in the entry. `row`: the id of a
    memory, an event, or any other row that the entry names.
    """

    since: datetime | None = None
    until: datetime | None = None
    actor: str | None = None
    verb: str | None = None
    row: UUID | None = None

    def needle(self) -> bytes:
        """Bytes that occur in each entry that the filter keeps, so that others need not be read."""
        return b"" if self.row is None else str(self.row).encode()

    def keeps(self, entry: AuditEntry) -> bool:
        return (
            (self.since is None or entry.at >= self.since)
            and (self.until is None or entry.at < self.until)
            and (self.actor is None or self.actor in (entry.principal, *entry.names.values()))
            and (self.verb is None or entry.verb == self.verb)
            and (self.row is None or any(self.row in ids for ids in entry.ids.values()))
        )


@dataclass(frozen=True, slots=True)
class AuditPage:
    """Entries, oldest first, and the `after` of the next page; None on the last page."""

    entries: tuple[AuditEntry, ...]
    next: int | None


async def page(ctx: Context, scope: Scope, where: AuditFilter, *, after: int, limit: int) -> AuditPage:
    """Entries with a number above `after`, oldest first. Raises StoreUnavailable for one that cannot be read."""
    names = await ctx.store.trail_names(scope)
    needle, found = where.needle(), list[AuditEntry]()
    async for chained in _chain(ctx, scope, after=after):
        if needle and needle not in chained.entry:
            continue
        entry = _read(chained, names)
        if where.keeps(entry):
            if len(found) == limit:
                return AuditPage(tuple(found), found[-1].seq)
            found.append(entry)
    return AuditPage(tuple(found), None)


async def check(ctx: Context, scope: Scope, heads: Iterable[AuditHead] = ()) -> AuditCheck:
    """Compute the chain again, and compare it with the `heads` noted before."""
    checker = ChainChecker(scope.workspace, heads)
    async for chained in _chain(ctx, scope):
        checker.add(chained)
    return checker.result(await ctx.store.trail_names(scope))


async def finding(ctx: Context, scope: Scope) -> Finding:
    """The check of `doctor`."""
    try:
        found = await check(ctx, scope)
    except StoreUnavailable as error:
        return Finding(FINDING, ok=False, detail=f"cannot be read: {error}", repair="restore a backup")
    detail = found.problem or f"{found.entries} entries, a whole chain"
    return Finding(FINDING, found.is_whole, detail, "somebody changed the database: compare it with a backup")


async def export(ctx: Context, scope: Scope, path: Path) -> int:
    """Write the chain to a new file: a JSON object a line with `seq`, `entry` (the canonical bytes, as a text), `hash`
    and `names`, the names in it by pseudonym. Returns the number of entries.
    """
    names = await ctx.store.trail_names(scope)
    count = 0
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            async for chained in _chain(ctx, scope):
                file.write(json.dumps(_line(chained, names), ensure_ascii=False) + "\n")
                count += 1
    except FileExistsError:
        raise InvalidInput("path", str(path), "a file that does not exist yet") from None
    except OSError as error:
        raise StoreUnavailable(f"{path}: {unwritable(error)}") from error
    return count


def heads_in(path: Path) -> list[AuditHead]:
    """The heads in a file, one a line; empty lines count for nothing. Raises InvalidInput."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        failure = error if isinstance(error, OSError) else OSError(str(error))
        raise unreadable("path", path, "a file with a line SEQ:HASH for each head", failure) from error
    return [AuditHead.of(line) for line in lines if line.strip()]


def _line(chained: ChainedEntry, names: Mapping[bytes, AuditName]) -> dict[str, object]:
    entry = _read(chained, names)
    told = json.loads(chained.entry).get("names", {})
    return {
        "seq": chained.seq,
        "entry": chained.entry.decode(),
        "hash": chained.hash.hex(),
        "names": {told[what]: name for what, name in entry.names.items() if name is not None},
    }


async def _chain(ctx: Context, scope: Scope, *, after: int = 0) -> AsyncIterator[ChainedEntry]:
    while chained := await ctx.store.trail(scope, after=after, limit=PAGE):
        for one in chained:
            yield one
        after = chained[-1].seq


def _read(chained: ChainedEntry, names: Mapping[bytes, AuditName]) -> AuditEntry:
    try:
        return entry_of(chained, names)
    except (ValueError, TypeError, KeyError, AttributeError) as error:
        detail = f"entry {chained.seq} of the audit trail cannot be read; `remembrancer audit verify` says more"
        raise StoreUnavailable(detail) from error
