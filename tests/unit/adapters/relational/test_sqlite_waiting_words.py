"""Words that wait for the full-text index of a file are found as if they were in it."""

from __future__ import annotations

import asyncio
from pathlib import Path
from uuid import UUID

from hypothesis import given, settings
from hypothesis import strategies as st

from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.rows import INDEXED
from remembrancer.adapters.relational.schema import schema_sql
from remembrancer.adapters.relational.sqlite.dialect import MOST_WAITING, connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.language.cues import analysed
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.testing.doubles import READER, SCOPE, an_event

words = st.sampled_from(["owl", "owls", 'o"wl', "(owl)", "and", "≠", "部", "x", "a-b", "*", "é"])
texts = st.lists(words, min_size=1, max_size=6)


def a_database() -> Connection:
    connection = connect(":memory:")
    connection.execute(schema_sql())
    return connection


def waiting(connection: Connection) -> int:
    return connection.execute("SELECT count(*) FROM waiting_words").get


def found(connection: Connection, query: object) -> list[int]:
    assert isinstance(query, str)
    return sorted(n for (n,) in connection.execute(f"SELECT n FROM {connection.dialect.matches('cues')} f", (query,)))


@settings(max_examples=150, deadline=None)
@given(st.lists(texts, max_size=4), st.lists(st.frozensets(words, min_size=1), min_size=1, max_size=3), texts)
def test_waiting_words_match_as_indexed_ones_do(
    rows: list[list[str]], asked: list[frozenset[str]], phrase: list[str]
) -> None:
    apart, indexed = a_database(), a_database()
    numbered = list(enumerate(rows, start=1))
    apart.dialect.add_words(apart, "cues", numbered)
    indexed.dialect.add_words(indexed, "cues", numbered, at_once=True)
    assert (waiting(apart), waiting(indexed)) == (len(rows), 0)
    for query in (apart.dialect.all_of(asked), apart.dialect.phrase(phrase)):
        assert found(apart, query) == found(indexed, query)


def test_words_that_waited_are_indexed_once() -> None:
    connection = a_database()
    query = connection.dialect.all_of([frozenset({"owl"})])
    for number in range(1, MOST_WAITING + 3):
        connection.dialect.add_words(connection, "cues", [(number, ["owl"])])
        assert found(connection, query) == list(range(1, number + 1))
    assert waiting(connection) == 2


def test_the_words_of_a_deleted_row_do_not_wait() -> None:
    async def steps() -> tuple[int, list[bool]]:
        store = RelationalStore(SqliteFile(":memory:"), analyse=analysed)
        try:
            await store.append(SCOPE, [Entry(an_event("the owl")), Entry(an_event("a fox"))])

            def forget(connection: Connection) -> int:
                connection.execute("DELETE FROM events WHERE text = 'the owl'")
                return waiting(connection)

            left = await store.database.write(forget)
            return left, [finding.ok for finding in await store.check(SCOPE, None) if finding.check == "full text"]
        finally:
            await store.close()

    assert asyncio.run(steps()) == (1, [True])


def test_writes_that_fail_leave_no_words_behind(tmp_path: Path) -> None:
    async def steps() -> tuple[int, int]:
        store = RelationalStore(SqliteFile(str(tmp_path / "store.db")), analyse=analysed)
        try:
            taken = an_event("the owl", event_id=UUID(int=7))
            several = [Entry(taken), Entry(an_event("a fox")), Entry(taken)]
            done = await asyncio.gather(*(store.append(SCOPE, [one]) for one in several), return_exceptions=True)
            count = await store.database.read(waiting)
            return sum(isinstance(one, BaseException) for one in done), count
        finally:
            await store.close()

    assert asyncio.run(steps()) == (1, 2)


def test_events_recorded_one_by_one_are_found_as_those_of_a_batch(tmp_path: Path) -> None:
    said = [an_event(f"owl {'fox ' * (n % 3)}{n}", event_id=UUID(int=n + 1)) for n in range(MOST_WAITING + 40)]

    async def answers(name: str, size: int) -> list[object]:
        store = RelationalStore(SqliteFile(str(tmp_path / name)), analyse=analysed)
        try:
            for start in range(0, len(said), size):
                await store.append(SCOPE, [Entry(event) for event in said[start : start + size]])
            weights = {"fox": 3, "owl": 1, "11": 9}
            by_words = await store.read(lambda v: v.events_by_words(READER, EventFilter(), weights, limit=500))
            where = EventFilter(words=(frozenset({"fox"}), frozenset({"7", "160"})))
            return [by_words, await store.events(READER, where, limit=500)]
        finally:
            await store.close()

    assert asyncio.run(answers("one.db", 1)) == asyncio.run(answers("batch.db", len(said)))


def test_every_table_with_full_text_may_wait() -> None:
    connection = a_database()
    for table in INDEXED:
        connection.dialect.add_words(connection, table, [(1, ["owl"])])
    query = connection.dialect.all_of([frozenset({"owl"})])
    tables = [
        len(list(connection.execute(f"SELECT n FROM {connection.dialect.matches(t)} f", (query,)))) for t in INDEXED
    ]
    assert tables == [1, 1, 1]
