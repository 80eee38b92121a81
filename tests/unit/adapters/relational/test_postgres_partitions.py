"""Tables divided by workspace on PostgreSQL: how many partitions a statement reads, and what the address may say."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

import psycopg
import pytest
from postgres_server import Schemas

from remembrancer import Remembrancer
from remembrancer.errors import InvalidInput

PARTITIONS = 3
PLANNED = re.compile(rb"\s*(SELECT|INSERT|UPDATE|DELETE|WITH)\b")


@pytest.fixture(scope="module")
def url(server_of_postgres: Schemas) -> Iterator[str]:
    yield server_of_postgres.take(partitions=PARTITIONS)
    server_of_postgres.empty()


@pytest.fixture
def plans(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The plan of each statement that is executed."""
    found: list[dict[str, Any]] = []
    execute: Any = psycopg.Connection.execute
    executemany: Any = psycopg.Cursor.executemany

    def explain(connection: Any, statement: Any, bindings: Any) -> None:
        if isinstance(statement, bytes) and PLANNED.match(statement):
            [[plan]] = execute(connection, b"EXPLAIN (FORMAT JSON) " + statement, bindings)
            found.extend(json.loads(plan) if isinstance(plan, str) else plan)

    def execute_explained(self: Any, statement: Any, bindings: Any = None, **rest: Any) -> Any:
        explain(self, statement, bindings)
        return execute(self, statement, bindings, **rest)

    def executemany_explained(self: Any, statement: Any, rows: Any, **rest: Any) -> Any:
        rows = list(rows)
        if rows:
            explain(self.connection, statement, rows[0])
        return executemany(self, statement, rows, **rest)

    monkeypatch.setattr(psycopg.Connection, "execute", execute_explained)
    monkeypatch.setattr(psycopg.Cursor, "executemany", executemany_explained)
    return found


def read(node: Any) -> set[str]:
    """The tables that a plan reads."""
    inner = {table for plan in node.get("Plans", ()) for table in read(plan)}
    return inner | ({node["Relation Name"]} if "Scan" in node["Node Type"] and "Relation Name" in node else set())


def partitions_of(plans: list[dict[str, Any]]) -> set[str]:
    """The numbers of the partitions that the plans read."""
    tables = {table for plan in plans for table in read(plan["Plan"])}
    assert len(tables) > 3
    return {match[1] for table in tables if (match := re.search(r"_(\d+)$", table))}


def test_a_recall_reads_one_partition(url: str, plans: list[dict[str, Any]]) -> None:
    with Remembrancer.open(url, embedder="none", workspace="acme") as rem:
        rem.observe("The pump of line 3 leaks.", session="s")
        rem.observe("Who repaired the pump?", session="s")
        plans.clear()
        assert rem.recall('who repaired "the pump"?', explain=True)
        assert len(partitions_of(plans)) == 1


def test_observing_and_remembering_touch_one_partition(url: str, plans: list[dict[str, Any]]) -> None:
    with Remembrancer.open(url, embedder="none", workspace="acme") as rem:
        rem.observe("Line 3 runs again.", session="s", key="k")
        rem.remember("Line 3 is red", topic_key="line-3")
        rem.observe("Line 3 stands still.", session="s", key="l")
        assert len(partitions_of(plans)) == 1


def test_workspaces_lie_in_different_partitions(url: str, plans: list[dict[str, Any]]) -> None:
    for workspace in ("w1", "w2", "w3", "w4", "w5", "w6"):
        with Remembrancer.open(url, embedder="none", workspace=workspace) as rem:
            rem.observe("a")
            assert len(rem.recent()) == 1
    assert partitions_of(plans) == {str(number) for number in range(PARTITIONS)}


def test_a_store_is_opened_with_its_number_of_partitions_or_with_none(url: str) -> None:
    with Remembrancer.open(url.replace(f"&partitions={PARTITIONS}", ""), embedder="none") as rem:
        assert rem.health.doctor()
    with pytest.raises(InvalidInput, match=f"partitions.* 4 .*{PARTITIONS}, as its tables were created"):
        Remembrancer.open(url.replace(f"partitions={PARTITIONS}", "partitions=4"), embedder="none")


@pytest.mark.parametrize("number", ["1", "257", "many", ""])
def test_a_wrong_number_of_partitions_is_refused(number: str) -> None:
    with pytest.raises(InvalidInput, match="a whole number from 2 to 256"):
        Remembrancer.open(f"postgresql://db/memory?partitions={number}", embedder="none")


def test_a_partition_shows_nothing_by_its_own_name(url: str) -> None:
    with Remembrancer.open(url, embedder="none", workspace="acme") as rem:
        rem.observe("The pump leaks.")
    with psycopg.connect(url.replace(f"&partitions={PARTITIONS}", "")) as connection:
        connection.execute("SET remembrancer.workspace = 'acme'")
        [[whole]] = connection.execute("SELECT count(*) FROM events")
        parts = [connection.execute(f"SELECT count(*) FROM events_{n}".encode()).fetchone() for n in range(PARTITIONS)]
    assert whole > 0
    assert parts == [(0,)] * PARTITIONS
