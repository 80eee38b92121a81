"""Exporting a workspace to a file and importing it: JSON lines with a header first and a row count last."""

from __future__ import annotations

import hashlib
import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import Final, cast
from uuid import UUID

from remembrancer.domain.erasure import ErasureSelection
from remembrancer.domain.scope import Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.durable import put_in_place
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.erase import gather
from remembrancer.errors import Conflict, InvalidInput, StoreUnavailable, unreadable, unwritable
from remembrancer.policies.erasure.erasing import own_memories
from remembrancer.ports.transfer import ExportRow
from remembrancer.values import dataclass

FORMAT: Final = "remembrancer-export"
VERSION: Final = 5
READABLE: Final = (1, 2, 3, 4, 5)
"""The file versions that can be imported. Fields that an older version lacks get their defaults."""

OnRows = Callable[[int], None]
"""Called with the number of rows done so far."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Imported:
    """The number of rows in the file, and the number of new ones (in a dry run: that would be new)."""

    rows: int
    new: int
    dry_run: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class SubjectExport:
    """The receipt of an export of one subject. `by`: a role and, if known, the agent's name. `counts`: the rows by
    kind. `bytes` and `sha256`: the file's size, and the digest of its contents in hexadecimal digits.

    `withheld`: memories that were left out because they also say what others said, by id.
    """

    at: datetime
    by: str
    asked: ErasureSelection
    path: Path
    counts: Mapping[str, int]
    bytes: int
    sha256: str
    withheld: tuple[UUID, ...]


async def export(ctx: Context, scope: Scope, path: Path, *, on_rows: OnRows | None = None) -> int:
    """Write every row of the workspace to a new file, under a temporary name until it is complete. Returns the row
    count.

    The same rows give the same bytes. Raises InvalidInput if the file exists, StoreUnavailable if it cannot be written.
    """
    return (await _export(ctx, scope, path, lambda _: True, on_rows)).total()


async def export_subject(
    ctx: Context, caller: Caller, choice: ErasureSelection, path: Path, *, on_rows: OnRows | None = None
) -> SubjectExport:
    """Write the rows that an erasure of `choice` selects to a new file, and the memories derived from these alone.

    Raises as `export` does, and InvalidInput if nothing is selected.
    """
    selected = await ctx.store.lying_in(caller.scope, choice)
    if not any(selected):
        raise InvalidInput(
            "what to export",
            ", ".join(f"{part} {value}" for part, value in choice.parts.items()),
            "what at least one memory or event has",
        )
    plan, graph = await gather(ctx, caller.scope, choice, selected)
    told, withheld = own_memories(plan, graph)
    ids = {str(one) for one in told | plan.events}

    def is_own(row: ExportRow) -> bool:
        return all(row[name] in ids for name in _OWNERS.get(str(row["record"]), ("memory_id",)))

    now = ctx.clock()
    counts = await _export(ctx, caller.scope, path, lambda row: row["record"] not in _OF_ALL and is_own(row), on_rows)
    size, digest = _measured(path)
    return SubjectExport(
        at=now,
        by=caller.name,
        asked=choice,
        path=path,
        counts=dict(counts),
        bytes=size,
        sha256=digest,
        withheld=tuple(sorted(withheld)),
    )


def _measured(path: Path) -> tuple[int, str]:
    """The size and the SHA-256 of a file."""
    with path.open("rb") as file:
        return path.stat().st_size, hashlib.file_digest(file, "sha256").hexdigest()


_OF_ALL: Final = frozenset({"stream", "health"})
"""Rows about more than one subject."""
_OWNERS: Final[Mapping[str, tuple[str, ...]]] = {
    "event": ("id",),
    "archived": ("id",),
    "memory": ("id",),
    "priority": ("event_id",),
    "relation": ("source", "target"),
}
"""The fields of a row with the ids of the memories or events that it belongs to, where they are not `memory_id`."""


async def _export(
    ctx: Context, scope: Scope, path: Path, is_wanted: Callable[[ExportRow], bool], on_rows: OnRows | None
) -> Counter[str]:
    """Write the wanted rows to a new file. Returns the number of rows by kind."""
    partial = _partial(ctx, path)
    counts: Counter[str] = Counter()
    count = 0
    try:
        with partial.open("w", encoding="utf-8", newline="\n") as file:
            file.write(_line({"record": FORMAT, "version": VERSION}))
            async for row in ctx.store.export(scope):
                if not is_wanted(row):
                    continue
                file.write(_line(row))
                counts[str(row["record"])] += 1
                count += 1
                if on_rows is not None:
                    on_rows(count)
            file.write(_line({"record": "end", "rows": count}))
        put_in_place(partial, path)
    except OSError as error:
        raise StoreUnavailable(f"{path}: {unwritable(error)}") from error
    finally:
        with suppress(OSError):  # it may not exist; the first error is the one to raise
            partial.unlink(missing_ok=True)
    return counts


def _partial(ctx: Context, path: Path) -> Path:
    """A unique temporary name, so that two exports to one path do not write the same file."""
    try:
        taken = path.exists()
    except OSError as error:
        raise StoreUnavailable(f"{path}: {unwritable(error)}") from error
    if taken:
        raise InvalidInput("path", str(path), "a file that does not exist yet")
    return path.with_name(f"{path.name}.{ctx.new_id(ctx.clock())}.partial")


async def import_file(
    ctx: Context, scope: Scope, path: Path, *, dry_run: bool, on_rows: OnRows | None = None
) -> Imported:
    """Write the rows of an export into the workspace, in one transaction.

    Importing twice adds nothing. Existing rows do not change, except that a memory which the file has at a later
    revision, or written later, is brought there; its previous text and state become part of its past. Raises
    InvalidInput or Conflict naming the line that is invalid or cannot be imported, and InvalidInput for a truncated
    file.
    """
    rows = _Rows(path, on_rows)
    try:
        new = await ctx.store.import_rows(scope, rows, dry_run=dry_run)
    except InvalidInput as error:
        if not rows.at:
            raise
        raise InvalidInput(f"{rows.at}: {error.argument}", error.value, error.allowed) from error
    except Conflict as error:
        raise Conflict(f"{rows.at or path}: {error}") from error
    return Imported(rows=rows.count, new=new, dry_run=dry_run)


class _Rows:
    """The rows of a file, validated while they are read."""

    def __init__(self, path: Path, on_rows: OnRows | None) -> None:
        self._path = path
        self._on_rows = on_rows
        self.count = 0
        self.at = ""
        """The file and line of the row that the store is importing; "" between rows."""

    def __iter__(self) -> Iterator[ExportRow]:
        try:
            with self._path.open(encoding="utf-8") as file:
                yield from self._checked(file)
        except OSError as error:
            raise unreadable("path", self._path, "an exported file", error) from error
        except UnicodeDecodeError as error:
            raise InvalidInput("path", str(self._path), "an export in UTF-8") from error

    def _checked(self, file: Iterator[str]) -> Iterator[ExportRow]:
        header = self._parsed(1, next(file, ""))
        if header.get("record") != FORMAT or header.get("version") not in READABLE:
            versions = " or ".join(map(str, READABLE))
            raise InvalidInput(f"{self._path}:1", header, f"the header of a {FORMAT} file of version {versions}")
        for number, line in enumerate(file, start=2):
            row = self._parsed(number, line)
            if row.get("record") == "end":
                if row.get("rows") != self.count:
                    raise InvalidInput(f"{self._path}:{number}", row, f"a count of {self.count} rows")
                if next(file, None) is not None:
                    raise InvalidInput(f"{self._path}:{number + 1}", "more lines", "nothing after the count")
                return
            self.count += 1
            self.at = f"{self._path}:{number}"
            yield row
            self.at = ""
            if self._on_rows is not None:
                self._on_rows(self.count)
        raise InvalidInput(str(self._path), f"{self.count} rows", "a file that ends with its count: this one was cut")

    def _parsed(self, number: int, line: str) -> dict[str, JsonValue]:
        try:
            value: object = json.loads(line)
        except (ValueError, RecursionError):
            value = None
        if not isinstance(value, dict):
            raise InvalidInput(f"{self._path}:{number}", line.strip(), "one JSON object per line, as export writes it")
        return cast("dict[str, JsonValue]", value)


def _line(row: ExportRow) -> str:
    return json.dumps(row, ensure_ascii=False, separators=(",", ":")) + "\n"
