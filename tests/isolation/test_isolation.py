"""No call of any interface tells of rows beyond its caller's wall, nor changes when these change: in a memory with
siblings it answers as in one without, byte for byte.

The calls are drawn from the signatures (`tests/fixtures/drawn_calls.py`). A run of the whole suite makes a selection of
them; `make test-isolation` makes all, under every preset, and prints how many.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final
from uuid import UUID

import psycopg
import pytest
from drawn_calls import UNSAID, DrawnCall
from isolation_trial import DOORS, WORLDS, Trial, rank, tried
from postgres_server import Schemas
from sibling_worlds import RIVAL, Place

from remembrancer.adapters.reference.store import ReferenceStore
from remembrancer.adapters.relational import journal
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.config import PGVECTOR
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine import context, names
from remembrancer.engine.context import Caller, Context, TailVectors
from remembrancer.errors import NotFound
from remembrancer.ports.changes import ReadView
from remembrancer.presets.catalogue import PRESETS

WHOLE: Final = "REMEMBRANCER_ISOLATION" in os.environ
IN_PROCESS: Final = ("python", "http", "mcp")


@dataclass(frozen=True)
class Setting:
    """`wall`: `workspaces`, or `hidden`, which is between agents, crews and sessions."""

    wall: str
    backend: str
    doors: tuple[str, ...] = tuple(DOORS)
    preset: str = "default"

    def __str__(self) -> str:
        return f"{self.wall}, {self.backend}, {self.preset}, {' '.join(self.doors)}"


SELECTION: Final = (
    Setting("workspaces", "file", ("python", "http", "mcp", "cli")),
    Setting("hidden", "file", IN_PROCESS),
)
ALL: Final = (
    Setting("workspaces", "file"),
    Setting("hidden", "file", IN_PROCESS),  # on the command line an agent's identity is a claim
    Setting("workspaces", "postgres"),
    Setting("hidden", "postgres", IN_PROCESS),
    # The other interfaces call what the Python interface calls, whatever the index and the preset.
    *(Setting(wall, backend, ("python",)) for backend in ("pgvector", "qdrant", "reference") for wall in UNSAID),
    *(Setting(wall, "file", ("python",), name) for name in PRESETS if name != "default" for wall in UNSAID),
)
REFUSED: Final = {
    "http: GET /readyz",  # the server is stopping, so that streams end
    "cli: supersede",  # by then, the memories have successors
    *(
        f"{door}: embedder{point}{step}"
        for door, point in (("python", "."), ("cli", " "))
        for step in ("change", "drop")
    ),
    *(
        f"{door}: embedder{point}{step}"
        for door, point in (("python", "."), ("cli", " "))
        for step in ("switch", "rollback")
    ),
}
"""Members of which every call is refused. There is no other embedder to change to."""
DONE: Final[list[tuple[Setting, Trial]]] = []


def one_of_each(calls: Sequence[DrawnCall]) -> list[DrawnCall]:
    """For each member one call: with a sibling's id or name, if it takes any, else with what it requires."""
    chosen: dict[str, DrawnCall] = {}
    for call in calls:
        name = str(call.member)
        if name not in chosen or ("sibling" in call.label and "sibling" not in chosen[name].label):
            chosen[name] = call
    return list(chosen.values())


def guarded(call: DrawnCall) -> bool:
    """Whether the siblings' rows are read before and after a call: around each of the Python interface that writes,
    which the others call; in a run of the whole suite, around those that name a sibling's row.
    """
    return call.member.door == "python" and rank(call) > 0 and (WHOLE or "sibling" in call.label)


def make_folders(folder: Path) -> None:
    for world in WORLDS:
        (folder / world).mkdir()


def places(setting: Setting, folder: Path, schemas: Callable[[], Schemas]) -> tuple[Place, Place]:
    match setting.backend:
        case "postgres":
            given = schemas()
            return Place(given.take()), Place(given.take())
        case "pgvector":
            given = schemas()
            with psycopg.connect(given.url, autocommit=True) as connection:
                connection.execute("CREATE EXTENSION IF NOT EXISTS vector")
            return Place(given.take(), index=PGVECTOR), Place(given.take(), index=PGVECTOR)
        case "qdrant":
            one, two = (folder / world / "vectors" for world in WORLDS)
            return Place(f"{one}.db", index=f"qdrant://{one}"), Place(f"{two}.db", index=f"qdrant://{two}")
        case "reference":
            return Place(store=ReferenceStore()), Place(store=ReferenceStore())
        case _:
            return Place(str(folder / "one.db")), Place(str(folder / "two.db"))


@pytest.fixture(scope="module", autouse=True)
def told(pytestconfig: pytest.Config) -> Iterator[Callable[[str], None]]:
    """Prints a line at once. In the end, a line about all trials is printed."""
    capture: Any = pytestconfig.pluginmanager.get_plugin("capturemanager")

    def tell(line: str) -> None:
        with capture.global_and_fixture_disabled():
            sys.stdout.write(f"\n{line}\n")
            sys.stdout.flush()

    yield tell
    total = sum((trial.done for _, trial in DONE), Counter[str]())
    by_door = ", ".join(f"{door} {count:,}" for door, count in total.items())
    leaks = sum(len(trial.leaks) for _, trial in DONE)
    calls = total.total()
    tell(f"{calls:,} calls ({by_door}) in two worlds, {2 * calls:,} searches for a sibling's word: {leaks} leaks")


def line_of(setting: Setting, trial: Trial) -> str:
    return (
        f"{setting}: {trial.done.total():,} calls of {len(trial.members)} members, between them {trial.pulses:,}"
        f" writes of siblings; after {trial.guarded:,} the siblings' rows compared; {trial.index_files} index files;"
        f" {len(trial.leaks)} leaks"
    )


@pytest.mark.parametrize("setting", ALL if WHOLE else SELECTION, ids=str)
def test_siblings_change_no_answer(
    setting: Setting, tmp_path: Path, request: pytest.FixtureRequest, told: Callable[[str], None]
) -> None:
    make_folders(tmp_path)
    given = places(setting, tmp_path, lambda: request.getfixturevalue("postgres"))
    chosen = list[DrawnCall] if WHOLE else one_of_each
    trial = asyncio.run(
        tried(
            *(given, tmp_path),
            wall=setting.wall,
            preset=setting.preset,
            doors=setting.doors,
            chosen=chosen,
            guarded=guarded,
        )
    )
    DONE.append((setting, trial))
    told(line_of(setting, trial))
    assert trial.leaks == {}
    assert set(trial.control.values()) == {True}, trial.control
    if WHOLE and setting == ALL[0]:
        assert trial.members - trial.succeeded == REFUSED


# ── the suite fails if something leaks ────────────────────────────────────────────────────────────────────────────


def leaks_of(members: set[str], folder: Path, wall: str) -> dict[str, str]:
    def some(calls: Sequence[DrawnCall]) -> list[DrawnCall]:
        return [call for call in calls if call.member.name in members]

    make_folders(folder)
    given = places(Setting(wall, "file"), folder, lambda: pytest.fail("no server is needed"))
    return asyncio.run(tried(given, folder, wall=wall, doors=("python",), chosen=some)).leaks


def test_a_query_that_counts_another_workspace_s_rows_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = journal.count_events

    def of_two(connection: Any, reader: Reader, where: Any) -> int:
        rival = replace(reader, scope=replace(reader.scope, workspace=RIVAL))
        return real(connection, reader, where) + real(connection, rival, where)

    monkeypatch.setattr(journal, "count_events", of_two)
    assert "python: journal.count (as it must be)" in leaks_of({"journal.count"}, tmp_path, "workspaces")


def test_a_write_into_another_workspace_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = RelationalStore.set_status

    async def of_two(store: RelationalStore, reader: Reader, *given: Any, **named: Any) -> Any:
        with suppress(NotFound):
            await real(store, replace(reader, scope=replace(reader.scope, workspace=RIVAL)), *given, **named)
        return await real(store, reader, *given, **named)

    monkeypatch.setattr(RelationalStore, "set_status", of_two)
    leaks = leaks_of({"forget"}, tmp_path, "workspaces")
    assert "python: forget (as it must be) changes a sibling's rows" in leaks


def test_a_cache_that_workspaces_share_and_that_ignores_texts_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    known, keep = TailVectors.known, TailVectors.keep

    def known_to_all(vectors: TailVectors, _: str, texts: Mapping[UUID, str]) -> Any:
        return known(vectors, "", texts)

    def kept_for_all(vectors: TailVectors, _: str, new: Any) -> None:
        keep(vectors, "", new)

    def same(_: str) -> bytes:
        return b"same"

    monkeypatch.setattr(context, "digest", same)
    monkeypatch.setattr(TailVectors, "known", known_to_all)
    monkeypatch.setattr(TailVectors, "keep", kept_for_all)
    assert leaks_of({"journal.conversation"}, tmp_path, "workspaces") != {}


def test_a_row_beyond_the_reach_of_a_bound_caller_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def unbound(_: Context, caller: Caller) -> Reader:
        return Reader(caller.scope)

    monkeypatch.setattr(context, "widest_reader", unbound)
    leaks = leaks_of({"why_not", "remember", "learnings.promote"}, tmp_path, "hidden")
    assert {"python: why_not", "python: remember"} <= {call.partition(" (")[0] for call in leaks}


def test_a_name_from_a_row_beyond_the_callers_wall_is_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    real = names.learned

    def of_all(ctx: Context, view: ReadView, reader: Reader, *given: Any) -> Any:
        return real(ctx, view, Reader(Scope(workspace=reader.scope.workspace)), *given)

    monkeypatch.setattr(names, "learned", of_all)
    assert "python: recall" in {call.partition(" (")[0] for call in leaks_of({"recall"}, tmp_path, "hidden")}
