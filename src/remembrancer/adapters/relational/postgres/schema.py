"""Creates and migrates the tables, with SQLite's statements translated. The oldest version on PostgreSQL is 20.

Every table has the workspace of its rows, which is a part of each of its keys, and shows a transaction the rows of its
workspace only (row-level security).
"""

from __future__ import annotations

import re
from functools import cache
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from remembrancer.adapters.relational import schema as source
from remembrancer.adapters.relational.connection import EVERY_WORKSPACE
from remembrancer.adapters.relational.dialect import BEGINNING_CHARS
from remembrancer.adapters.relational.postgres.dialect import WORKSPACE
from remembrancer.errors import InvalidInput, StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from remembrancer.adapters.relational.connection import Connection
    from remembrancer.adapters.relational.postgres.dialect import PostgresConnection

_SHARED: Final = ("api_keys",)
"""Tables that are also read for every workspace: a key is found by its digest, which is unique in all of them."""
_DIFFERENCES: Final = (
    (
        r"CREATE VIRTUAL TABLE (\w+)_fts USING fts5 \(.*?\n\);",
        r"""CREATE TABLE \1_words (n INTEGER NOT NULL REFERENCES \1 (n) ON DELETE CASCADE, words tsvector NOT NULL,
        PRIMARY KEY (n)); CREATE INDEX \1_by_words ON \1_words USING gin (words);""",
    ),
    (r"CREATE TRIGGER.*?END;|DROP TRIGGER \w+;|CREATE TABLE waiting_words .*?\n\);", ""),
    (r"\bINTEGER\b", "bigint"),
    (r"\bREAL\b", "double precision"),
    (r"\bBLOB\b", "bytea"),
    (r"\bTEXT\b", 'text COLLATE "C"'),  # texts are compared by bytes
    (
        # Of a column, because PostgreSQL searches no index of an expression if it has to check the rows.
        r"CREATE INDEX memories_by_beginning .*?;",
        rf"""ALTER TABLE memories ADD COLUMN beginning text COLLATE "C"
        GENERATED ALWAYS AS (substr(text, 1, {BEGINNING_CHARS})) STORED;
        CREATE INDEX memories_by_beginning ON memories (workspace, beginning);""",
    ),
    (r"cues_by_workspace ON cues \(workspace\)", "cues_by_workspace ON cues (workspace, n)"),
)
"""SQLite's syntax, and PostgreSQL's for the same. A full-text index is a table with a foreign key to its own."""
_WORDS: Final = "_words"
"""The end of the names of the tables of full text."""
_TABLE: Final = "remembrancer"
"""Holds the version of the tables, in its one row."""
_FOR_EACH: Final = """DO $$ DECLARE one regclass; BEGIN FOR one IN SELECT oid FROM pg_class
WHERE relnamespace = current_schema()::regnamespace AND relrowsecurity
LOOP EXECUTE format('ALTER TABLE %s {} ROW LEVEL SECURITY', one); END LOOP; END $$"""
"""Whether the owner of the tables, who migrates them, is subject to their policies."""
_SAID: Final = (
    "actor answer beginning body error heading item key metadata name note origin payload query reason receipt refs"
    " salt signs tags task terms text title topic_key vector words"
).split()
"""Columns with texts of callers, or what is made of them. PostgreSQL keeps samples of a column in its catalogue, where
an erased text would stay: not of these, which are searched by indexes of one value or of words.
"""
_NO_SAMPLES: Final = f"""DO $$ DECLARE one record; BEGIN FOR one IN SELECT a.attrelid::regclass AS of,
string_agg(format('ALTER %I SET STATISTICS 0', a.attname), ', ') AS how
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid WHERE c.relnamespace = current_schema()::regnamespace
AND c.relkind IN ('r', 'p') AND a.attnum > 0 AND a.attname = ANY ('{{{",".join(_SAID)}}}') GROUP BY a.attrelid
LOOP EXECUTE format('ALTER TABLE %s %s', one.of, one.how); END LOOP; END $$"""
_REFERENCE: Final = r"(\w+) bigint( NOT NULL)? REFERENCES (\w+) \(n\)( ON DELETE CASCADE)?"
_KEY: Final = r"(PRIMARY KEY|UNIQUE) \((?![^)]*\bworkspace\b)([^)]*)\)"


def translated(statements: str, partitions: int = 0) -> str:
    """SQLite's statements for tables and indexes, as PostgreSQL's. `partitions`: the number of each table; 0: none."""
    for pattern, replacement in _DIFFERENCES:
        statements = re.sub(pattern, replacement, statements, flags=re.DOTALL)

    def table(match: re.Match[str]) -> str:
        return _table(match[1], match[2], partitions)

    return re.sub(r"CREATE TABLE (\w+) \((.*?)\)(?: WITHOUT ROWID)?;", table, statements, flags=re.DOTALL)


def _table(name: str, body: str, partitions: int) -> str:
    """A table whose rows have their workspace, in its keys and in its references too: a row refers to none of another
    workspace, and the table can be divided by workspaces.
    """
    added = [
        f"FOREIGN KEY ({column}, workspace) REFERENCES {other} (n, workspace){cascade}"
        for column, _, other, cascade in re.findall(_REFERENCE, body)
    ]
    body = re.sub(_REFERENCE, r"\1 bigint\2", body)
    body, numbered = re.subn(r"\bn bigint PRIMARY KEY( AUTOINCREMENT)?", "n bigserial", body)
    body = re.sub(_KEY, r"\1 (\2, workspace)", body)
    if numbered:
        added.append("PRIMARY KEY (n, workspace)")  # found by its number alone, whoever reads
    if not re.search(r"\bworkspace text\b", body):
        added.append(f'workspace text COLLATE "C" NOT NULL DEFAULT {WORKSPACE}')
    made = f"CREATE TABLE {name} ({''.join(f'{part}, ' for part in added)}{body})"
    if partitions and name not in _SHARED:
        made += " PARTITION BY HASH (workspace)"
    else:
        partitions = 0
    policies = [f"CREATE POLICY workspace ON {name} USING (workspace = {WORKSPACE})"]
    if name in _SHARED:
        policies.append(f"CREATE POLICY every ON {name} FOR SELECT USING ({WORKSPACE} = '{EVERY_WORKSPACE}')")
    if name.endswith(_WORDS):  # PostgreSQL searches no full-text index of a table whose rows it has to check
        policies.append(f"CREATE POLICY words ON {name} FOR SELECT USING (true)")
    # A partition has no policy: nobody reads it by its own name.
    parts = [
        f"CREATE TABLE {name}_{place} PARTITION OF {name} FOR VALUES WITH (MODULUS {partitions}, REMAINDER {place})"
        for place in range(partitions)
    ]
    secured = [
        f"ALTER TABLE {each} ENABLE ROW LEVEL SECURITY, FORCE ROW LEVEL SECURITY"
        for each in (name, *(f"{name}_{place}" for place in range(partitions)))
    ]
    return "\n".join(f"{statement};" for statement in (made, *parts, *secured, *policies))


def prepare(
    connection: PostgresConnection,
    name: str,
    *,
    create: bool,
    partitions: int = 0,
    fills: Mapping[int, Callable[[Connection], None]] = MappingProxyType({}),
    migrated: Callable[[Connection], None] = lambda _connection: None,
) -> None:
    """Create the tables in the connection's schema if it has none (`create`), and migrate older ones. Of several
    processes, one does it. `partitions`: the number that each table is created with, or has; 0: any. `fills`: by
    migration number, what runs after its statements; `migrated`: after all of them; in their transaction.

    Raises StoreUnavailable if there are none, or those of another program; Unsupported for those of a newer version;
    InvalidInput for those of another number of partitions.
    """
    _prepare(connection, name, create=create, partitions=partitions, fills=fills, migrated=migrated)
    if partitions and (there := _partitions(connection)) != partitions:
        raise InvalidInput("partitions", partitions, f"{there or 'none'}, as its tables were created")


def _prepare(
    connection: PostgresConnection,
    name: str,
    *,
    create: bool,
    partitions: int,
    fills: Mapping[int, Callable[[Connection], None]],
    migrated: Callable[[Connection], None],
) -> None:
    if version_of(connection, name) == source.current_version():
        return
    connection.execute("BEGIN")
    try:
        connection.dialect.serialise(connection, ("",))
        version = version_of(connection, name)  # another process may have made them meanwhile
        if version == 0:
            _create(connection, name, create=create, partitions=partitions)
        elif version < source.current_version():
            _migrate(connection, version, fills)
            migrated(connection)
        set_version(connection, source.current_version())
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise


def version_of(connection: Connection, name: str) -> int:
    """The version of the tables in the connection's schema; 0: there are none. Raises Unsupported for a newer one,
    StoreUnavailable while they are being filled.
    """
    version = stored_version(connection)
    source.require_finished(version, name)
    return version


def obey_policies(connection: Connection, *, owner: bool) -> None:
    """Subject the owner of the tables to their policies, or not."""
    connection.execute(_FOR_EACH.format("FORCE" if owner else "NO FORCE"))


def stored_version(connection: Connection) -> int:
    """The number in the table; negative while a move fills the others."""
    if connection.execute("SELECT to_regclass(current_schema() || '.' || ?)", (_TABLE,)).get is None:
        return 0
    return connection.execute(f"SELECT version FROM {_TABLE}").get


def set_version(connection: Connection, version: int) -> None:
    connection.execute(f"UPDATE {_TABLE} SET version = ?", (version,))


def _create(connection: Connection, name: str, *, create: bool, partitions: int) -> None:
    if not create:
        raise StoreUnavailable(f"{name}: it has no memory yet; `remembrancer remember` or `ingest` begins one")
    if taken := tables(connection):
        raise StoreUnavailable(f"{name}: another program's tables, such as {taken[0]}; give it a database of its own")
    connection.execute(translated(source.schema_sql(), partitions))
    connection.execute(f"CREATE TABLE {_TABLE} (version bigint NOT NULL)")
    connection.execute(f"INSERT INTO {_TABLE} VALUES (0)")
    connection.execute(_NO_SAMPLES)


def _migrate(connection: Connection, version: int, fills: Mapping[int, Callable[[Connection], None]]) -> None:
    partitions = _partitions(connection)
    for step in source.migrations()[version:]:
        obey_policies(connection, owner=False)  # so that a migration's statements are for every workspace
        connection.execute(translated(step.sql, partitions))
        if step.number in fills:
            fills[step.number](connection)
    obey_policies(connection, owner=True)
    connection.execute(_NO_SAMPLES)


def _partitions(connection: Connection) -> int:
    """The number of partitions of each table; 0: they are not partitioned."""
    return connection.execute("SELECT count(*) FROM pg_inherits WHERE inhparent = to_regclass('memories')").get


@cache
def names() -> tuple[str, ...]:
    """The names of the tables of the record."""
    return tuple(re.findall(r"^CREATE TABLE (\w+)", translated(source.schema_sql()), re.MULTILINE))


def tables(connection: Connection) -> list[str]:
    """The names of the tables in the connection's schema, in ascending order."""
    return [
        name
        for (name,) in connection.execute(
            "SELECT c.relname FROM pg_class c WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'"
            " ORDER BY c.relname"
        )
    ]
