"""The query plans of statements that would be slow in a large workspace: they use an index."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import pytest

from remembrancer.adapters.relational import (
    access,
    archive,
    embeddings,
    journal,
    lookup,
    memories,
    reviews,
    schema,
    streams,
)
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.feed import RelationalView
from remembrancer.adapters.relational.health import health_inputs
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.domain.event import Priority, Severity
from remembrancer.domain.journal import ListingPosition
from remembrancer.domain.listing import MemoryPlace
from remembrancer.domain.memory import PINNED
from remembrancer.domain.query import Filter
from remembrancer.domain.strength import Exposure
from remembrancer.engine.preferences import statements_by_kind
from remembrancer.language.cues import analysed
from remembrancer.ports.journal import Aged, EventFilter
from remembrancer.testing.contract.world import a_claim, a_key
from remembrancer.testing.doubles import NOW, READER, SCOPE, a_memory, an_event

CURRENT = Filter(current_at=NOW)


@pytest.fixture
def connection() -> Iterator[Connection]:
    made = connect(":memory:")
    made.execute(schema.schema_sql())
    yield made
    made.close()


def plans(connection: Connection, work: Callable[[], object], *tables: str) -> list[str]:
    """What SQLite does with these tables, known by their names in the statements that `work` makes."""
    asked: list[tuple[str, Any]] = []

    def trace(_: object, sql: str, bindings: Any) -> bool:
        asked.append((sql, bindings))
        return True

    tracing = cast("Any", connection)
    tracing.exec_trace = trace
    work()
    tracing.exec_trace = None
    steps = [row[-1] for sql, bindings in asked for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", bindings)]
    looks = tuple(f"{verb} {table} " for verb in ("SEARCH", "SCAN") for table in tables)
    return [step for step in steps if step.startswith(looks)]


def test_a_memory_s_edges_are_looked_up_and_not_searched_for_among_all_memories(connection: Connection) -> None:
    steps = plans(connection, lambda: health_inputs(connection, READER, CURRENT, model="model-a", shown_since=NOW), "o")
    assert steps == ["SEARCH o USING INTEGER PRIMARY KEY (rowid=?)"] * 2


def test_candidates_are_looked_up_and_not_searched_for_among_all_memories(connection: Connection) -> None:
    def work() -> None:
        view, memory = RelationalView(connection), a_memory("owl")
        list(view.changed(SCOPE, [memory.id], model="model-a"))
        view.memories_of(SCOPE, [1])
        view.passages(READER, CURRENT, [memory.id])
        view.around(READER, CURRENT, [memory.id])
        view.with_terms(READER, CURRENT, {"owl": 1.0}, limit=10)

    for step in plans(connection, work, "m", "c", "e", "o", "p", "v"):
        assert re.search(r"INTEGER PRIMARY KEY|\((workspace=\? AND (id|project)|memory|event|cue)=\?", step), step


def test_whether_all_cues_have_a_vector_is_known_without_reading_any(connection: Connection) -> None:
    steps = plans(
        connection, lambda: health_inputs(connection, READER, CURRENT, model="model-a", shown_since=NOW), "c", "v"
    )
    assert [step for step in steps if "COVERING INDEX" not in step] == []


def test_exposures_are_looked_up_memory_by_memory(connection: Connection) -> None:
    steps = plans(connection, lambda: health_inputs(connection, READER, CURRENT, model="model-a", shown_since=NOW), "x")
    assert steps == ["SEARCH x USING PRIMARY KEY (memory=? AND kind=? AND at>?)"]


def test_edges_are_looked_up_from_the_memories_requested(connection: Connection) -> None:
    steps = plans(connection, lambda: lookup.relations(connection, READER, [a_memory().id]), "m", "r", "s", "t")
    assert steps == [
        "SEARCH m USING COVERING INDEX sqlite_autoindex_memories_1 (workspace=? AND id=?)",
        "SEARCH r USING PRIMARY KEY (source=?)",
        "SEARCH r USING INDEX relations_by_target (target=?)",
        "SEARCH s USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH t USING INTEGER PRIMARY KEY (rowid=?)",
    ]


def test_vectors_are_looked_up_by_memory_and_cue(connection: Connection) -> None:
    steps = plans(connection, lambda: embeddings.vectors(connection, READER, "model-a", [a_memory().id]), "m", "v", "w")
    assert [step for step in steps if not step.startswith("SEARCH")] == []
    assert "SEARCH m USING INDEX sqlite_autoindex_memories_1 (workspace=? AND id=?)" in steps


@pytest.mark.parametrize("word", ["session", "source"])
def test_rows_of_a_session_or_a_source_are_read_from_its_index_by_time(connection: Connection, word: str) -> None:
    where = Filter(current_at=NOW, session="monday") if word == "session" else Filter(current_at=NOW, source="mail")
    steps = plans(connection, lambda: lookup.memories(connection, READER, where, limit=9), "m")
    assert steps == [f"SEARCH m USING INDEX memories_by_{word} (workspace=? AND {word}=?)"]


@pytest.mark.parametrize(("oldest_first", "sign"), [(True, ">"), (False, "<")])
def test_a_page_of_memories_is_read_by_time_from_where_it_begins(
    connection: Connection, oldest_first: bool, sign: str
) -> None:
    place = MemoryPlace.of(a_memory())
    steps = plans(
        connection,
        lambda: lookup.memories(connection, READER, CURRENT, limit=9, oldest_first=oldest_first, after=place),
        "m",
    )
    assert steps == [f"SEARCH m USING INDEX memories_by_time (workspace=? AND occurred_to{sign}?)"]


def test_pinned_memories_are_read_by_their_index(connection: Connection) -> None:
    where = replace(CURRENT, tags=frozenset({PINNED}))
    steps = plans(connection, lambda: lookup.memories(connection, READER, where, limit=9), "m")
    assert steps == ["SEARCH m USING INDEX memories_pinned (workspace=?)"]


def test_memories_of_a_kind_are_read_by_their_index(connection: Connection) -> None:
    where = replace(CURRENT, kinds=frozenset({"preference"}))
    steps = plans(connection, lambda: lookup.memories(connection, READER, where, limit=9), "m")
    assert steps == ["SEARCH m USING INDEX memories_by_kind (workspace=? AND kind=?)"]


def test_the_audit_of_a_memory_is_read_by_its_key(connection: Connection) -> None:
    steps = plans(connection, lambda: memories.audit(connection, READER, a_memory().id), "m", "a")
    assert steps == [
        "SEARCH m USING INDEX sqlite_autoindex_memories_1 (workspace=? AND id=?)",
        "SEARCH a USING PRIMARY KEY (memory=?)",
    ]


def test_events_are_read_by_their_ids(connection: Connection) -> None:
    where = EventFilter(ids=frozenset({an_event().id}))
    steps = plans(connection, lambda: journal.count_events(connection, READER, where), "e")
    assert steps == ["SEARCH e USING COVERING INDEX sqlite_autoindex_events_1 (workspace=? AND id=?)"]


BEHIND = ListingPosition.of(an_event())


@pytest.mark.parametrize("oldest_first", [True, False])
def test_a_page_of_the_journal_is_read_in_its_order_from_where_it_begins(
    connection: Connection, oldest_first: bool
) -> None:
    for after, range_ in ((None, ""), (BEHIND, f" AND (occurred_at,seq,id){'>' if oldest_first else '<'}(?,?,?)")):
        steps = plans(
            connection,
            lambda after=after: journal.events(
                connection, READER, EventFilter(), limit=9, oldest_first=oldest_first, after=after
            ),
            "e",
            "USE",
        )
        assert steps == [f"SEARCH e USING INDEX events_by_time (workspace=?{range_})"]


@pytest.mark.parametrize(
    ("where", "index"),
    [
        (EventFilter(priorities=frozenset({Priority.PIN})), "events_marked"),
        (EventFilter(severities=frozenset({Severity.WARN, Severity.ERROR})), "events_severe"),
    ],
)
def test_rare_rows_are_read_from_a_partial_index(connection: Connection, where: EventFilter, index: str) -> None:
    steps = plans(connection, lambda: journal.events(connection, READER, where, limit=9), "e")
    assert steps == [f"SEARCH e USING INDEX {index} (workspace=?)"]


def test_entries_are_read_from_their_position_on(connection: Connection) -> None:
    connection.execute("INSERT INTO positions VALUES ('acme', 9)")
    steps = plans(
        connection, lambda: journal.recorded(connection, READER, EventFilter(), after=7, limit=9), "e", "positions"
    )
    assert steps == [
        "SEARCH positions USING PRIMARY KEY (workspace=?)",
        "SEARCH e USING INDEX events_by_position (workspace=? AND position>?)",
    ]


def test_streams_that_are_read_to_their_end_are_passed_over(connection: Connection) -> None:
    steps = plans(
        connection,
        lambda: streams.tails(connection, SCOPE, at_least=2, silent_since=NOW, limit=9, after=SCOPE),
        "s",
        "l",
        "f",
        "e",
    )
    assert (
        steps[0] == "SEARCH s USING INDEX streams_with_tails (workspace=? AND (project,crew,agent,session)>(?,?,?,?))"
    )
    stream = "workspace=? AND project=? AND crew=? AND agent=? AND session=?"
    assert set(steps[1:]) == {
        "SEARCH l USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH f USING INTEGER PRIMARY KEY (rowid=?)",
        f"SEARCH e USING COVERING INDEX events_by_stream ({stream} AND seq>?)",
    }


def test_a_tail_is_looked_up_by_its_stream(connection: Connection) -> None:
    steps = plans(connection, lambda: streams.tail(connection, SCOPE), "s", "l", "f", "e")
    assert [step for step in steps if not step.startswith("SEARCH")] == []


def test_the_oldest_of_a_type_are_read_from_its_index(connection: Connection) -> None:
    journal.add_events(connection, an_event().scope.workspace, [an_event()], [()])
    aged = Aged(types=frozenset({"mess*"}), keep=frozenset({Priority.PIN}), before=NOW)
    steps = plans(connection, lambda: archive.archive(connection, SCOPE, aged, NOW, 9, analysed), "e", "l", "c")
    assert steps == [
        "SEARCH e USING INDEX events_by_type (workspace=? AND type=? AND occurred_at<?)",
        "SEARCH l USING COVERING INDEX memory_events_by_event (event=?)",
        "SEARCH c USING COVERING INDEX cues_by_event (event=?)",
    ]


def test_an_index_finds_whether_a_cue_names_a_leaving_event(connection: Connection) -> None:
    """What SQLite does for a foreign key stands in its program alone: it opens the index, and not the table."""
    pages = {page: name for name, page in connection.execute("SELECT name, rootpage FROM sqlite_schema")}
    connection.execute("PRAGMA foreign_keys = on")
    program = list(connection.execute("EXPLAIN DELETE FROM events WHERE n = 1"))
    read = {pages[step[3]] for step in program if step[1] == "OpenRead"}
    assert read == {"memory_events_by_event", "cues_by_event"}


def test_only_memories_with_exposures_are_looked_at_for_a_review(connection: Connection) -> None:
    steps = plans(connection, lambda: reviews.unreviewed(connection, SCOPE, Exposure.USED, limit=9), "m", "x", "r")
    assert set(steps) == {
        "SEARCH m USING INTEGER PRIMARY KEY (rowid=?)",
        "SEARCH x USING PRIMARY KEY (memory=? AND kind=? AND at>?)",
        "SEARCH r USING PRIMARY KEY (memory=?)",
    }


def test_a_sweep_reads_from_where_it_was(connection: Connection) -> None:
    def sweep() -> object:
        return lookup.workspace_memories(connection, SCOPE, CURRENT, limit=9, after=a_memory(), unconsolidated=True)

    assert plans(connection, sweep, "m") == ["SEARCH m USING INDEX memories_by_time (workspace=? AND occurred_to>?)"]


def test_a_key_is_looked_up_by_its_digest(connection: Connection) -> None:
    steps = plans(connection, lambda: access.key_of(connection, a_key().digest), "k")
    assert all(step.startswith("SEARCH k USING ") for step in steps)
    assert "(digest=?)" in steps[0]


def test_claims_are_looked_up_by_their_key_and_forgotten_by_their_time(connection: Connection) -> None:
    steps = plans(connection, lambda: access.claim(connection, SCOPE, a_claim(), forget_before=NOW), "claims")
    assert steps == [
        "SEARCH claims USING INDEX claims_by_time (workspace=? AND at<?)",
        "SEARCH claims USING INDEX sqlite_autoindex_claims_1 (workspace=? AND key=?)",
    ]


def test_the_same_content_is_looked_up_by_its_beginning(connection: Connection) -> None:
    assert plans(connection, lambda: lookup.by_content(connection, a_memory()), "m") == [
        "SEARCH m USING INDEX memories_by_beginning (workspace=? AND <expr>=?)"
    ]


def test_the_preferences_are_looked_up_by_their_kinds_and_tags(connection: Connection) -> None:
    view = RelationalView(connection)
    filters = [*statements_by_kind(CURRENT)]
    steps = plans(connection, lambda: [view.memories(READER, where, limit=10) for where in filters], "m")
    assert [step.split()[4] for step in steps] == ["memories_by_kind"] * (len(filters) - 1) + ["memories_tagged"]
