"""What differs between databases: a `Dialect` writes the parts of statements that no two databases share, a `Backend`
opens one database and does what concerns it as a whole.

All other statements of this package are written in the SQL that SQLite and PostgreSQL share. A test looks for what is
SQLite's alone. The tables are the dialect's too: each has its own schema and its own migrations, with the same names of
tables and columns, and texts are compared by their bytes in all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Literal, Protocol
from uuid import UUID

if TYPE_CHECKING:
    from remembrancer.adapters.relational.connection import Binding, Connection
    from remembrancer.domain.memory import Analyse
    from remembrancer.domain.validation import JsonScalar
    from remembrancer.ports.inspection import Finding

Indexed = Literal["cues", "events", "archive"]
"""The tables whose rows are found by their words."""


class Dialect(Protocol):
    """How statements are written for one kind of database. It keeps no state, and every connection has one.

    A method that returns SQL says how many `?` are in it; each takes one binding, in their order.
    """

    @property
    def begin_reading(self) -> str:
        """Begins a transaction that writes nothing: all its statements see one state of the database."""
        ...

    @property
    def begin_writing(self) -> str:
        """Begins a transaction that writes. COMMIT, ROLLBACK and SAVEPOINT are the same everywhere."""
        ...

    @property
    def then_join(self) -> str:
        """JOIN, for a planner that must be told to read the table on its left first."""
        ...

    @property
    def row_is_taken(self) -> type[Exception]:
        """What is raised by a statement that breaks a constraint, such as a key that another row has."""
        ...

    @property
    def cannot_read(self) -> tuple[type[Exception], ...]:
        """What is raised by a statement whose rows are damaged or missing."""
        ...

    def in_list(self, column: str) -> str:
        """A condition: the column is one of the numbers or texts that its one `?` lists (`listed`)."""
        ...

    def listed(self, values: Iterable[int] | Iterable[str]) -> Binding: ...

    def in_ids(self, column: str) -> str:
        """A condition: the column is one of the ids that its one `?` lists (`ids`)."""
        ...

    def ids(self, values: Iterable[UUID]) -> Binding: ...

    def has_tag(self, column: str) -> str:
        """A condition: the column, a JSON list of texts, contains the text bound to its one `?`."""
        ...

    def has_entry(self, column: str, key: str, value: JsonScalar) -> tuple[str, tuple[Binding, ...]]:
        """A condition and its bindings: the column, a JSON object, has this key with this value.

        Numbers are equal by value (1 and 1.0), and to no boolean; null equals null.
        """
        ...

    def matches(self, table: Indexed) -> str:
        """A subquery in parentheses: the numbers `n` of the table's rows, of any workspace, that match the full-text
        query bound to its one `?` (`all_of`, `phrase`).
        """
        ...

    def all_of(self, words: Sequence[frozenset[str]]) -> Binding:
        """A full-text query: one word of each set, anywhere in the row. Words may contain any character but a blank."""
        ...

    def phrase(self, words: Sequence[str]) -> Binding:
        """A full-text query: these words next to each other, in this order. Only for `cues`, whose order is kept."""
        ...

    def add_words(self, connection: Connection, table: Indexed, number: int, words: Iterable[str]) -> None:
        """Index a row by its words, in their order. The schema removes them when the row is deleted."""
        ...

    def overwriting(self, connection: Connection) -> AbstractContextManager[None]:
        """Where it can be done: what is deleted inside leaves no bytes behind."""
        ...

    def size(self, connection: Connection) -> int:
        """Of the whole database, in bytes."""
        ...


class Backend(Protocol):
    """One database: how to connect to it, and what is done to it as a whole."""

    @property
    def name(self) -> str:
        """Its path or address, for messages. No password is in it."""
        ...

    @property
    def is_private(self) -> bool:
        """Whether it has no more than one connection, as a database in memory."""
        ...

    @property
    def failure(self) -> type[Exception]:
        """The base class of what the driver raises."""
        ...

    def translated(self) -> AbstractContextManager[None]:
        """Raise the driver's errors, and UnreadableRow, as RemembrancerError with the database's name."""
        ...

    def connect(self, *, reading: bool = False) -> Connection:
        """A connection that waits LOCK_TIMEOUT_S for locks. `reading`: its statements write nothing."""
        ...

    def prepare(self, connection: Connection, analyse: Analyse) -> None:
        """Make the tables, or bring older ones up to date: of several processes that try at once, one does it, and the
        others wait up to LOCK_TIMEOUT_S. `analyse` fills what older tables lack.

        Raises StoreUnavailable for another program's database, Unsupported
        for one that a newer version wrote.
        """
        ...

    def copy(self, connection: Connection) -> Connection:
        """Of a private database: a connection to a copy of what this one sees."""
        ...

    def purge(self, connection: Connection) -> str:
        """Remove what deleted rows left in the files. Called outside of any transaction.

        Returns "" when nothing is left, else why something may be.
        """
        ...

    def copies(self) -> tuple[str, ...]:
        """The names of its backups, as migrations make them. They still hold what was erased since."""
        ...

    def soundness(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        """What `doctor` looks at first, by name: the library and the file."""
        ...

    def consistency(self, connection: Connection) -> Mapping[str, Callable[[], Finding]]:
        """What `doctor` looks at when the rows can be read, by name: references and full text."""
        ...
