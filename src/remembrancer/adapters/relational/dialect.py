"""Differences between databases: a `Dialect` writes the parts of statements that differ, a `Backend` opens one database
and runs operations on it as a whole.

All other statements of this package use the SQL that SQLite and PostgreSQL share; a test looks for SQLite-only syntax.
Each dialect has its own schema and migrations, with the same names of tables and columns. Texts are compared by bytes.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Final, Literal, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from pathlib import Path

    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.adapters.relational.schema import Readiness
    from remembrancer.domain.memory import Analyse
    from remembrancer.domain.validation import JsonScalar
    from remembrancer.ports.candidate_source import CandidateSource
    from remembrancer.ports.inspection import Finding
    from remembrancer.ports.notifications import Subscription
    from remembrancer.ports.transfer import BackupReport, OnPages

Indexed = Literal["cues", "events", "archive"]
"""The tables with a full-text index."""
BEGINNING_CHARS: Final = 40
"""The characters of a memory's text that are indexed."""


class Dialect(Protocol):
    """SQL for one kind of database. Stateless; every connection has one.

    A method that returns SQL documents its number of `?`; each takes one binding, in order.
    """

    @property
    def begin_reading(self) -> str:
        """Begins a transaction that writes nothing; all its statements see one snapshot."""
        ...

    @property
    def begin_writing(self) -> str:
        """Begins a transaction that writes. COMMIT, ROLLBACK and SAVEPOINT are the same everywhere."""
        ...

    def serialise(self, connection: Connection, workspaces: Sequence[str]) -> None:
        """Wait until no other transaction writes to these workspaces, given in ascending order, and keep others waiting
        until this one ends. Called first in each transaction that writes.
        """
        ...

    @property
    def then_join(self) -> str:
        """The keyword JOIN; if the planner accepts such a hint, a join that reads the left table first."""
        ...

    @property
    def beginning(self) -> str:
        """The first BEGINNING_CHARS characters of the text of memories `m`, as they are indexed."""
        ...

    def unique(self, *columns: str) -> str:
        """The columns of a unique key in `ON CONFLICT (…)`, for a table without a workspace in SQLite."""
        ...

    @property
    def row_is_taken(self) -> type[Exception]:
        """The error of a statement that violates a constraint, such as a duplicate key."""
        ...

    @property
    def cannot_read(self) -> tuple[type[Exception], ...]:
        """The errors of a statement whose rows are damaged or missing."""
        ...

    def in_list(self, column: str) -> str:
        """A condition: the column is one of the numbers or texts bound to its one `?` (`listed`)."""
        ...

    def listed(self, values: Iterable[int] | Iterable[str]) -> Binding: ...

    def in_ids(self, column: str) -> str:
        """A condition: the column is one of the ids bound to its one `?` (`ids`)."""
        ...

    def ids(self, values: Iterable[UUID]) -> Binding: ...

    def in_few_ids(self, column: str, values: Sequence[UUID]) -> tuple[str, tuple[Binding, ...]]:
        """A condition and its bindings: the column is one of these ids, of which there are at most some hundred. Each
        database has the form that it executes fastest.
        """
        ...

    def has_tag(self, column: str) -> str:
        """A condition: the column, a JSON list of texts, contains the text bound to its one `?`."""
        ...

    def has_entry(self, column: str, key: str, value: JsonScalar) -> tuple[str, tuple[Binding, ...]]:
        """A condition and its bindings: the column, a JSON object, has this key with this value.

        Numbers are equal by value (1 and 1.0), and to no boolean; null equals null.
        """
        ...

    def matches(self, table: Indexed) -> str:
        """A subquery in parentheses: the numbers `n` of the table's rows that match the full-text query bound to its
        one `?` (`all_of`, `phrase`). They may be of any workspace.
        """
        ...

    def all_of(self, words: Sequence[frozenset[str]]) -> Binding:
        """A full-text query: one word of each set, anywhere in the row. Words may contain any character but a blank."""
        ...

    def phrase(self, words: Sequence[str]) -> Binding:
        """A full-text query: these words next to each other, in this order. Only for `cues`, which keep word order."""
        ...

    def add_words(
        self,
        connection: Connection,
        table: Indexed,
        rows: Sequence[tuple[int, Iterable[str]]],
        *,
        at_once: bool = False,
    ) -> None:
        """Index rows, by number, by their words, in their order. The schema removes them when the row is deleted.

        `matches` finds them from now on, but the database may put words of a few rows aside, and index them with later
        ones. `at_once`: not so, because it is migrating and has no place for them yet.
        """
        ...

    def overwriting(self, connection: Connection) -> AbstractContextManager[None]:
        """A context in which deleted rows are overwritten, if the database supports it."""
        ...

    def new_numbers(self, connection: Connection, counts: Mapping[str, int]) -> Mapping[str, Sequence[int]]:
        """Numbers `n` for so many new rows of each table, in ascending order. They are for rows that this transaction
        inserts before it asks again.
        """
        ...

    def last_number(self, connection: Connection, table: str) -> int:
        """The last number `n` that the table gave to a row, if numbers of deleted rows are not given again; else 0."""
        ...

    def continue_after(self, connection: Connection, table: str, number: int) -> None:
        """Give the table's next row a number above this one, which no row of the table exceeds."""
        ...

    def octets(self, column: str) -> str:
        """An expression: the length of a text in bytes of UTF-8."""
        ...


class Backend(Protocol):
    """One database: connections to it, and operations on it as a whole."""

    @property
    def name(self) -> str:
        """Its path or address for messages, without a password."""
        ...

    @property
    def is_private(self) -> bool:
        """Whether it has only one connection, as a database in memory has."""
        ...

    @property
    def is_file(self) -> bool:
        """Whether it is read from a file by this process, so that a row takes microseconds."""
        ...

    @property
    def lanes(self) -> int:
        """The number of connections with which this process writes at the same time, at least 1."""
        ...

    @property
    def failure(self) -> type[Exception]:
        """The base class of the driver's errors."""
        ...

    def translated(self) -> AbstractContextManager[None]:
        """Raise the driver's errors, and UnreadableRow, as RemembrancerError with the database's name."""
        ...

    def connect(self, *, reading: bool = False) -> Connection:
        """A connection that waits LOCK_TIMEOUT_S for locks. `reading`: its statements write nothing."""
        ...

    def prepare(self, analyse: Analyse) -> Connection:
        """The connection for writing, to a database whose tables exist: creates them, or migrates older ones.

        Of several concurrent processes, one does it; the others wait up to LOCK_TIMEOUT_S. `analyse` fills columns that
        older tables lack. Raises StoreUnavailable for another program's database, Unsupported for one of a newer
        version.
        """
        ...

    def readiness(self) -> Readiness:
        """Whether it can be opened as a store. Creates and changes nothing."""
        ...

    def fill(self, analyse: Analyse) -> Connection:
        """The only connection to a database that is empty or UNFINISHED, which is UNFINISHED from now on.

        Creates the tables. Until `finish`, it can be opened in no other way. Raises StoreUnavailable if another process
        has it open, or fills it.
        """
        ...

    def read_everything(self, connection: Connection) -> None:
        """Begin a transaction that reads the rows of all workspaces, in one snapshot, and writes nothing.

        If the database hides the rows of other workspaces from this user, its tables are locked until the end of the
        transaction. Raises StoreUnavailable if this user may not read everything.
        """
        ...

    def finish(self, connection: Connection) -> None:
        """Let the database that this connection has filled be opened as a store."""
        ...

    def require_in_place(self) -> None:
        """Raises StoreUnavailable if files of the prepared database were deleted, moved or replaced: what is written
        to an open file that has no name is lost. Called before and after each commit, so it must be cheap.
        """
        ...

    def notify(self, connection: Connection, workspaces: Collection[str]) -> None:
        """Notify the subscribers of all processes, if the database supports it, that a transaction of this connection
        wrote to these workspaces. Called after its commit; what it raises is ignored.
        """
        ...

    def subscribe(self, workspace: str, wake: Callable[[], None]) -> Subscription:
        """See `Notifications.subscribe`."""
        ...

    def close(self) -> None:
        """End the subscriptions. Called once, after the connections were closed."""
        ...

    def copy(self, connection: Connection) -> Connection:
        """A connection to a copy of the state that this one sees."""
        ...

    def purge(self, connection: Connection) -> str:
        """Remove the remains of deleted rows from the files. Called outside of any transaction.

        Returns "" if nothing is left, otherwise the reason why something may be.
        """
        ...

    def back_up(self, connection: Connection, path: Path, on_pages: OnPages | None) -> BackupReport:
        """Copy the state that this connection reads to a new file. See `Transfer.backup`."""
        ...

    def candidate_source(self, model: str | None, dim: int, *, install: bool) -> CandidateSource | None:
        """Choose candidates in this database, with an index of the vectors of a model (None: of no model), which is
        built if there is none. `install`: also install what it needs on the server; otherwise None if that is missing
        or the index of so many vectors is better built on request.

        Raises Unsupported for a database that cannot, or too many dimensions; StoreUnavailable.
        """
        ...

    def copies(self) -> tuple[str, ...]:
        """The names of its copies, made by migrations and restorations. They still contain rows erased later."""
        ...

    def soundness(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        """The first checks of `doctor`, by name: the library and the file."""
        ...

    def consistency(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        """The checks of `doctor` that need readable rows, by name: references and full text."""
        ...
