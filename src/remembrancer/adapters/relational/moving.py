"""Move a whole store into another database: every row of every table, with its numbers, compared row by row.

The source is read in one snapshot and never written. The target is UNFINISHED (`Backend.fill`) until it is equal to the
source. A move can be interrupted anywhere: the next one compares the rows that are there, removes those that the source
does not have so, with the rows that refer to them, and copies the missing ones. Full-text indexes are made anew.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, closing, contextmanager
from dataclasses import field
from itertools import chain, groupby
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

from remembrancer.adapters.relational.columns import Row, scope_of
from remembrancer.adapters.relational.full_text import tokens_of
from remembrancer.adapters.relational.rows import CUE_TEXT, EVENTS, INDEXED
from remembrancer.adapters.relational.schema import Readiness, Table, tables
from remembrancer.domain.memory import Cue
from remembrancer.errors import Conflict
from remembrancer.ports.transfer import AskedBefore, MovedRows, MoveReport
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.adapters.relational.dialect import Backend
    from remembrancer.domain.memory import Analyse
    from remembrancer.domain.scope import Scope
    from remembrancer.ports.transfer import OnMoved

PAGE_ROWS: Final = 2_000
PAGE_BYTES: Final = 8 << 20
"""The rows, and about the bytes, that are read or written at once."""
REPORTED: Final = 1_000
"""Rows between two reports of progress."""
_SAMPLED: Final = 16
"""The size of one row in so many is measured."""
SMALL: Final = frozenset({"changes", "positions", "api_keys"})
"""Tables whose contents are compared to see whether the source was written to; of others, the number of rows."""
WORDS_OF_QUESTION: Final = 12

_Key = tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class _Side:
    """One of the two databases, with a connection that sees one state of it."""

    backend: Backend
    connection: Connection

    def rows(self, table: Table, page_rows: int, first: _Key | None = None, last: _Key | None = None) -> Iterator[Row]:
        """The rows with a key from `first` to `last`, both included, in ascending order of the key."""
        with self.backend.translated():
            yield from _rows(self.connection, table, page_rows, first, last)

    def count(self, table: Table) -> int:
        with self.backend.translated():
            return self.connection.execute(f"SELECT count(*) FROM {table.name}").get

    @contextmanager
    def writing(self) -> Generator[Connection]:
        """One transaction."""
        connection = self.connection
        with self.backend.translated():
            connection.execute(connection.dialect.begin_writing)
            try:
                yield connection
                connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise


@dataclass(slots=True)
class _Digests:
    """Counts and digests by workspace: the SHA-256 of the rows as JSON arrays in order of their key, each followed by a
    comma; bytes as hexadecimal digits.
    """

    rows: dict[str, int] = field(default_factory=dict[str, int])
    hashes: dict[str, Any] = field(default_factory=dict[str, Any])

    def add(self, row: Row) -> None:
        workspace = row[-1] or ""
        if workspace not in self.rows:
            self.rows[workspace] = 0
            self.hashes[workspace] = hashlib.sha256()
        self.rows[workspace] += 1
        self.hashes[workspace].update(_json(row[:-1]).encode())

    def of(self, workspace: str) -> tuple[int, str]:
        hashed = self.hashes.get(workspace)
        return self.rows.get(workspace, 0), "" if hashed is None else hashed.hexdigest()


@dataclass(slots=True)
class _Difference:
    """Differences of a table. `missing`: ranges of keys of the source, in each of which the target has no equal row.
    `wrong`: keys of rows of the target that the source does not have so.
    """

    missing: list[tuple[_Key | None, _Key | None]] = field(default_factory=list[tuple[_Key | None, _Key | None]])
    wrong: list[_Key] = field(default_factory=list[_Key])
    equal: int = 0
    first: _Key | None = None


class _Progress:
    """Adds up the rows of one phase."""

    def __init__(self, on_moved: OnMoved | None, phase: str, total: int) -> None:
        self._on_moved = on_moved
        self._phase = phase
        self._total = total
        self._done = 0

    def add(self, rows: int = 1) -> None:
        before, self._done = self._done, self._done + rows
        if self._on_moved is not None and (before // REPORTED != self._done // REPORTED or rows > 1):
            self._on_moved(self._phase, self._done, self._total)


def move(
    source: Backend,
    target: Backend,
    *,
    analyse: Analyse,
    on_moved: OnMoved | None = None,
    dry_run: bool = False,
    page_rows: int = PAGE_ROWS,
) -> MoveReport:
    """Fill the target, which is absent, empty or UNFINISHED, with the rows of the source, a backend that is read only;
    and verify them.

    `dry_run`: only count what would be copied and removed. The target is finished if it is equal and the source was not
    written to meanwhile. A target that is equal already is only verified. Raises Conflict for a target with other rows,
    StoreUnavailable if a database fails; the same call then goes on from there.
    """
    with ExitStack() as reading:
        here = reading.enter_context(_reading(source))
        with target.translated():
            ready = target.readiness()
        if ready is Readiness.READY and not _is_empty(target):
            reading.close()
            return _refused_if_different(verify(source, target, on_moved=on_moved, page_rows=page_rows))
        with source.translated():
            before = _state(here.connection)
        total = sum(before.rows.values())
        copying = _Progress(on_moved, "copying", total)
        if dry_run:
            copied, removed = _counted(here, target, ready, before, copying, page_rows)
            reading.close()
            return _report(source, target, before, copied=copied, removed=removed)
        with target.translated():
            filling = reading.enter_context(closing(target.fill(analyse)))
        there = _Side(target, filling)
        copied = removed = 0
        for table in tables():
            difference = _compared(here, there, table, page_rows, copying)
            removed += _remove_wrong(there, table, difference)
            copied += _copy(here, there, table, difference, analyse, copying, page_rows)
        with there.writing() as connection:
            _continue_numbers(here.connection, connection)
        if removed or ready is Readiness.UNFINISHED:  # an interrupted move may have removed what was erased since
            with target.translated():
                target.purge(filling)
        moved, differs = _verified(here, there, _Progress(on_moved, "verifying", total), page_rows)
        with source.translated():
            here.connection.execute("ROLLBACK")  # the end of the snapshot, and of its locks
        report = _report(source, target, before, copied=copied, removed=removed, tables=moved, difference=differs)
        if report.is_whole:
            with target.translated():
                target.finish(filling)
        return report


def verify(
    source: Backend, target: Backend, *, on_moved: OnMoved | None = None, page_rows: int = PAGE_ROWS
) -> MoveReport:
    """Compare every row of two stores. The source is a backend that is read only. Changes neither."""
    with _reading(source) as here, _reading(target) as there:
        with source.translated():
            before = _state(here.connection)
        progress = _Progress(on_moved, "verifying", sum(before.rows.values()))
        moved, difference = _verified(here, there, progress, page_rows)
    return _report(source, target, before, tables=moved, difference=difference)


def _refused_if_different(report: MoveReport) -> MoveReport:
    if report.difference:
        raise Conflict(
            f"{report.target}: is a store already, and differs from {report.source} ({report.difference}); give an"
            " empty database"
        )
    return report


def questions(source: Backend, limit: int) -> tuple[AskedBefore, ...]:
    """Up to `limit` questions to compare two stores by: those of kept answers and of exposures, newest first; then the
    first words of memories spread over the store.
    """
    with _reading(source) as here, source.translated():
        found: dict[tuple[Scope, str], AskedBefore] = {}
        for row in chain(_kept(here.connection, limit), _exposed(here.connection, limit)):
            asked = AskedBefore(scope_of(*row[:5]), row[5], row[6] and UUID(bytes=row[6]))
            if asked.query.strip():
                found.setdefault((asked.scope, asked.query), asked)
        for row in _spread(here.connection, limit - len(found)):
            text = " ".join(row[5].split()[:WORDS_OF_QUESTION])
            if text:
                asked = AskedBefore(scope_of(*row[:5]), text)
                found.setdefault((asked.scope, asked.query), asked)
        return tuple(found.values())[:limit]


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@contextmanager
def _reading(source: Backend) -> Generator[_Side]:
    """The source, in one snapshot."""
    with source.translated():
        connection = source.prepare(_nothing_to_analyse)
    with closing(connection):
        with source.translated():
            source.read_everything(connection)
        yield _Side(source, connection)


def _nothing_to_analyse(cue: Cue) -> Any:
    raise AssertionError(f"a backend that is read only has migrated its tables (cue of {cue.memory_id})")


def _is_empty(backend: Backend) -> bool:
    with backend.translated(), closing(backend.connect(reading=True)) as connection:
        backend.read_everything(connection)
        return all(connection.execute(f"SELECT 1 FROM {table.name} LIMIT 1").get is None for table in tables())


def _rows(connection: Connection, table: Table, page_rows: int, first: _Key | None, last: _Key | None) -> Iterator[Row]:
    # `+ 0.0`: PostgreSQL has a negative zero, SQLite has not.
    columns = [f"t.{name} + 0.0" if name in table.reals else f"t.{name}" for name in table.columns]
    key = ", ".join(f"t.{name}" for name in table.key)
    marks = ", ".join("?" * len(table.key))
    places = [table.columns.index(name) for name in table.key]
    start, operator, limit = first, ">=", page_rows
    while True:
        conditions: list[str] = []
        bindings: list[Binding] = []
        for bound, compared in ((start, operator), (last, "<=")):
            if bound is not None:
                conditions.append(f"({key}) {compared} ({marks})")
                bindings += bound
        where = f"WHERE {' AND '.join(conditions)}" if conditions else ""
        page = list(
            connection.execute(
                f"SELECT {', '.join(columns)}, {_workspace(table)} FROM {table.name} t {where} ORDER BY {key} LIMIT ?",
                (*bindings, limit),
            )
        )
        yield from page
        if len(page) < limit:
            return
        start, operator = tuple(page[-1][place] for place in places), ">"
        limit = _rows_a_page(page, page_rows)


def _rows_a_page(page: Sequence[Row], most: int) -> int:
    """So many rows like these that they have about PAGE_BYTES."""
    sample = page[::_SAMPLED]
    size = sum(len(value) for row in sample for value in row if isinstance(value, str | bytes))
    return max(1, min(most, PAGE_BYTES * len(sample) // max(size, 1)))


def _workspace(table: Table) -> str:
    if "workspace" in table.columns:
        return "t.workspace"
    column, parent = table.parents[0]
    return f"(SELECT p.workspace FROM {parent} p WHERE p.n = t.{column})"


def _key_of(table: Table) -> Callable[[Row], _Key]:
    places = tuple(table.columns.index(name) for name in table.key)
    if len(places) == 1:
        (place,) = places
        return lambda row: (row[place],)
    return lambda row: tuple(row[place] for place in places)


def _json(row: Row) -> str:
    return _ENCODE(row) + ","


_ENCODE: Final = json.JSONEncoder(default=bytes.hex, ensure_ascii=False, separators=(",", ":")).encode


# ── comparing ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _pairs(table: Table, mine: Iterator[Row], theirs: Iterator[Row]) -> Iterator[tuple[_Key, Row | None, Row | None]]:
    """The rows of both sides by key, in ascending order; None for one that a side does not have."""
    key_of = _key_of(table)
    here, there = next(mine, None), next(theirs, None)
    while here is not None and there is not None:
        key, other = key_of(here), key_of(there)
        if key < other:
            yield key, here, None
            here = next(mine, None)
        elif other < key:
            yield other, None, there
            there = next(theirs, None)
        else:
            yield key, here, there
            here, there = next(mine, None), next(theirs, None)
    for row in chain([here] if here else [], mine):
        yield key_of(row), row, None
    for row in chain([there] if there else [], theirs):
        yield key_of(row), None, row


def _compared(here: _Side, there: _Side, table: Table, page_rows: int, progress: _Progress) -> _Difference:
    difference = _Difference()
    if next(there.rows(table, 1), None) is None:
        difference.missing.append((None, None))
        return difference
    in_range = False
    for key, mine, theirs in _pairs(table, here.rows(table, page_rows), there.rows(table, page_rows)):
        if mine == theirs:
            difference.equal += 1
            progress.add()
            in_range = False
            continue
        difference.first = difference.first or key
        if theirs is not None:
            difference.wrong.append(key)
        if mine is not None:
            first = difference.missing.pop()[0] if in_range else key
            difference.missing.append((first, key))
            in_range = True
    return difference


def _verified(here: _Side, there: _Side, progress: _Progress, page_rows: int) -> tuple[tuple[MovedRows, ...], str]:
    """Counts and digests of each table and workspace, each made from its own side's rows; and the first difference."""
    found: list[MovedRows] = []
    differs = ""
    for table in tables():
        mine, theirs = _Digests(), _Digests()
        for key, row, other in _pairs(table, here.rows(table, page_rows), there.rows(table, page_rows)):
            if row is not None:
                mine.add(row)
                progress.add()
            if other is not None:
                theirs.add(other)
            if row != other and not differs:
                differs = f"{table.name} {_written(table, key)}: {_how(table, row, other)}"
        for workspace in sorted({*mine.rows, *theirs.rows}):
            rows, digest = mine.of(workspace)
            target_rows, target_digest = theirs.of(workspace)
            if (rows, digest) != (target_rows, target_digest) and not differs:
                differs = f"{table.name} of workspace {workspace!r}: the digests differ"
            found.append(
                MovedRows(
                    table=table.name,
                    workspace=workspace,
                    rows=rows,
                    digest=digest,
                    target_rows=target_rows,
                    target_digest=target_digest,
                )
            )
    return tuple(found), differs


def _written(table: Table, key: _Key) -> str:
    """The key for messages, such as "memory=7, ordinal=0"."""
    shown = (value.hex() if isinstance(value, bytes) else str(value) for value in key)
    return ", ".join(f"{name}={value}" for name, value in zip(table.key, shown, strict=True))


def _how(table: Table, row: Row | None, other: Row | None) -> str:
    if row is None:
        return "only in the target"
    if other is None:
        return "missing in the target"
    columns = [name for name, mine, theirs in zip(table.columns, row[:-1], other[:-1], strict=True) if mine != theirs]
    return f"differs in {', '.join(columns) or 'its workspace'}"


# ── writing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _remove_wrong(there: _Side, table: Table, difference: _Difference) -> int:
    """Remove the wrong rows of the target, with those that refer to them. Returns the number of wrong rows.

    A changed row is removed too, and copied anew: rows that exchange a unique value would be in each other's way.
    """
    for keys in _batches(difference.wrong, PAGE_ROWS):
        with there.writing() as connection:
            if any(parent == table.name for other in tables() for _, parent in other.parents):
                _remove(connection, table, "n", [key[0] for key in keys])
            else:
                found = " AND ".join(f"{name} = ?" for name in table.key)
                connection.executemany(f"DELETE FROM {table.name} WHERE {found}", keys)
    return len(difference.wrong)


def _remove(connection: Connection, table: Table, column: str, numbers: Sequence[int]) -> None:
    dialect = connection.dialect
    where, listed = dialect.in_list(column), dialect.listed(numbers)
    children = [(other, child) for other in tables() for child, parent in other.parents if parent == table.name]
    if children:
        gone = [n for (n,) in list(connection.execute(f"SELECT n FROM {table.name} WHERE {where}", (listed,)))]
        for other, child in children if gone else ():
            _remove(connection, other, child, gone)
    connection.execute(f"DELETE FROM {table.name} WHERE {where}", (listed,))


def _copy(
    here: _Side,
    there: _Side,
    table: Table,
    difference: _Difference,
    analyse: Analyse,
    progress: _Progress,
    page_rows: int,
) -> int:
    rows = chain.from_iterable(here.rows(table, page_rows, first, last) for first, last in difference.missing)
    copied = 0
    for batch in _batches(rows, page_rows):
        try:
            with there.writing() as connection:
                for workspace, rows in groupby(sorted(batch, key=_of_workspace), key=_of_workspace):
                    connection.within(workspace)
                    _insert(connection, table, list(rows), analyse)
        except Conflict as error:
            first = _written(table, _key_of(table)(batch[0]))
            raise Conflict(f"{table.name} from {first}: {error}; `remembrancer doctor` checks the source") from error
        copied += len(batch)
        progress.add(len(batch))
    return copied


def _batches(rows: Iterable[Any], most: int) -> Iterator[list[Any]]:
    """Lists of up to `most` rows, and of about PAGE_BYTES."""
    batch: list[Any] = []
    size = 0
    for row in rows:
        batch.append(row)
        size += sum(len(value) for value in row if isinstance(value, str | bytes))
        if len(batch) == most or size >= PAGE_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _of_workspace(row: Row) -> str:
    return row[-1] or ""


def _insert(connection: Connection, table: Table, rows: Sequence[Row], analyse: Analyse) -> None:
    connection.insert_many(table.name, table.columns, [row[:-1] for row in rows])
    for name in INDEXED:
        if name == table.name:
            place = {column: place for place, column in enumerate(table.columns)}
            if name == "cues":
                words = _words_of_cues(connection, [row[place["n"]] for row in rows], analyse)
            else:
                words = [(row[place["n"]], _words_of_event(row, place, analyse)) for row in rows]
            connection.dialect.add_words(connection, name, words)


def _words_of_cues(connection: Connection, numbers: Sequence[int], analyse: Analyse) -> list[tuple[int, Iterable[str]]]:
    """Read from the target, where the events are already."""
    dialect = connection.dialect
    rows = connection.execute(
        f"SELECT c.n, c.ordinal, c.heading, {CUE_TEXT} FROM cues c LEFT JOIN events e ON e.n = c.event"
        f" WHERE {dialect.in_list('c.n')}",
        (dialect.listed(numbers),),
    )
    return [
        (number, analyse(Cue(memory_id=_NOBODY, ordinal=ordinal, heading=heading, text=text)).tokens)
        for number, ordinal, heading, text in list(rows)
    ]


_NOBODY: Final = UUID(int=0)
"""The words of a cue do not depend on its memory."""


def _words_of_event(row: Row, place: Mapping[str, int], analyse: Analyse) -> Iterable[str]:
    return dict.fromkeys(tokens_of(EVENTS.value_of(tuple(row[place[name]] for name in EVENTS.names)), analyse))


def _continue_numbers(source: Connection, target: Connection) -> None:
    """Let the target give its next rows the numbers that the source would have given."""
    for table in tables():
        if table.key == ("n",):
            greatest: int = source.execute(f"SELECT coalesce(max(n), 0) FROM {table.name}").get
            last = max(greatest, source.dialect.last_number(source, table.name))
            target.dialect.continue_after(target, table.name, last)


# ── reporting ────────────────────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _State:
    """Counts of the rows of each table, and the contents of small tables, by which later writes are noticed."""

    rows: Mapping[str, int]
    small: Mapping[str, Sequence[Row]]


def _state(connection: Connection) -> _State:
    small: dict[str, Sequence[Row]] = {}
    for table in tables():
        if table.name in SMALL:
            columns, key = ", ".join(table.columns), ", ".join(table.key)
            small[table.name] = list(connection.execute(f"SELECT {columns} FROM {table.name} ORDER BY {key}"))
    return _State(
        {table.name: connection.execute(f"SELECT count(*) FROM {table.name}").get for table in tables()}, small
    )


def _written_since(source: Backend, before: _State) -> tuple[tuple[str, ...], int]:
    """The tables of the source that were written to since then, and the number of memories written."""
    with _reading(source) as now, source.translated():
        after = _state(now.connection)
        written = [name for name in after.rows if after.rows[name] != before.rows[name]]
        written += [name for name in after.small if after.small[name] != before.small[name] and name not in written]
        last = dict(before.small["changes"])
        memories = sum(
            now.connection.execute(
                "SELECT count(*) FROM memories WHERE workspace = ? AND change > ?", (workspace, last.get(workspace, 0))
            ).get
            for workspace, change in after.small["changes"]
            if change != last.get(workspace, 0)
        )
        return tuple(written), memories


def _report(
    source: Backend,
    target: Backend,
    before: _State,
    *,
    copied: int = 0,
    removed: int = 0,
    tables: tuple[MovedRows, ...] = (),
    difference: str = "",
) -> MoveReport:
    written, memories = _written_since(source, before)
    return MoveReport(
        source=source.name,
        target=target.name,
        rows=sum(before.rows.values()),
        copied_rows=copied,
        removed_rows=removed,
        tables=tables,
        difference=difference,
        written=written,
        written_memories=memories,
    )


def _counted(
    here: _Side, target: Backend, ready: Readiness, before: _State, progress: _Progress, page_rows: int
) -> tuple[int, int]:
    """The rows that a move would copy, and remove from what is there."""
    total = sum(before.rows.values())
    if ready is not Readiness.UNFINISHED:
        return total, 0
    with target.translated(), closing(target.connect(reading=True)) as connection:
        there = _Side(target, connection)
        differences = [_compared(here, there, table, page_rows, progress) for table in tables()]
    return total - sum(one.equal for one in differences), sum(len(one.wrong) for one in differences)


# ── questions ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _kept(connection: Connection, limit: int) -> Iterable[Row]:
    return list(
        connection.execute(
            "SELECT workspace, project, crew, agent, session, query, id FROM kept_recalls ORDER BY at DESC, n LIMIT ?",
            (limit,),
        )
    )


def _exposed(connection: Connection, limit: int) -> Iterable[Row]:
    return list(
        connection.execute(
            "SELECT m.workspace, m.project, m.crew, m.agent, m.session, x.query, NULL FROM exposures x"
            " JOIN memories m ON m.n = x.memory WHERE x.query <> '' ORDER BY x.at DESC, x.memory, x.kind LIMIT ?",
            (limit,),
        )
    )


def _spread(connection: Connection, limit: int) -> Iterator[Row]:
    """The scopes and texts of memories whose numbers lie at equal distances."""
    first, last = connection.execute("SELECT coalesce(min(n), 0), coalesce(max(n), -1) FROM memories").get
    places = sorted({first + (last - first) * at // max(limit - 1, 1) for at in range(max(limit, 0))})
    for place in places if last >= first else ():
        yield connection.execute(
            "SELECT workspace, project, crew, agent, session, text FROM memories WHERE n >= ? ORDER BY n LIMIT 1",
            (place,),
        ).get
