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
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final

import pytest
from drawn_calls import UNSAID, DrawnCall
from isolation_trial import DOORS, Trial, tried
from postgres_server import Schemas
from sibling_worlds import Place

from remembrancer.adapters.reference.store import ReferenceStore
from remembrancer.adapters.relational import lookup, memories
from remembrancer.domain.scope import Scope
from remembrancer.engine import context
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
    Setting("workspaces", "postgres", ("python",)),
    Setting("workspaces", "reference", ("python",)),
)
ALL: Final = (
    *(Setting(wall, "file") for wall in UNSAID),
    *(Setting(wall, "postgres", IN_PROCESS) for wall in UNSAID),
    *(Setting(wall, "reference", IN_PROCESS) for wall in UNSAID),
    Setting("workspaces", "postgres", ("cli",)),
    *(Setting(wall, "file", ("python", "http"), name) for name in PRESETS if name != "default" for wall in UNSAID),
)
DONE: Final[list[tuple[Setting, Trial]]] = []


def one_of_each(calls: Sequence[DrawnCall]) -> list[DrawnCall]:
    """For each member one call: with a sibling's id or name, if it takes any, else with what it requires."""
    chosen: dict[str, DrawnCall] = {}
    for call in calls:
        name = str(call.member)
        if name not in chosen or ("sibling" in call.label and "sibling" not in chosen[name].label):
            chosen[name] = call
    return list(chosen.values())


def places(setting: Setting, folder: Path, schemas: Callable[[], Schemas]) -> tuple[Place, Place]:
    match setting.backend:
        case "postgres":
            given = schemas()
            return Place(given.take()), Place(given.take())
        case "reference":
            return Place(store=ReferenceStore()), Place(store=ReferenceStore())
        case _:
            return Place(str(folder / "one.db")), Place(str(folder / "two.db"))


@pytest.fixture(scope="module", autouse=True)
def printed(pytestconfig: pytest.Config) -> Iterator[None]:
    """Print how much was tried, and what leaked."""
    yield
    capture: Any = pytestconfig.pluginmanager.get_plugin("capturemanager")
    with capture.global_and_fixture_disabled():
        sys.stdout.write("\n" + "\n".join(summary()) + "\n")


def summary() -> Iterator[str]:
    total: Counter[str] = Counter()
    for setting, trial in DONE:
        total += trial.done
        yield (
            f"{setting}: {trial.done.total():,} calls of {len(trial.members)} members, {trial.pulses:,} writes of siblings"
            f" between them, {trial.index_files} index files; {len(trial.leaks)} leaks"
        )
    leaks = sum(len(trial.leaks) for _, trial in DONE)
    by_door = ", ".join(f"{door} {count:,}" for door, count in total.items())
    words = 2 * total.total()
    yield f"{total.total():,} calls ({by_door}) in two worlds, {words:,} searches for a sibling's word: {leaks} leaks"


@pytest.mark.parametrize("setting", ALL if WHOLE else SELECTION, ids=str)
def test_siblings_change_no_answer(setting: Setting, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    given = places(setting, tmp_path, lambda: request.getfixturevalue("postgres"))
    chosen = (lambda calls: calls) if WHOLE else one_of_each
    trial = asyncio.run(
        tried(given, tmp_path, wall=setting.wall, preset=setting.preset, doors=setting.doors, chosen=chosen)
    )
    DONE.append((setting, trial))
    assert trial.leaks == {}
    assert set(trial.control.values()) == {True}, trial.control


# ── the suite fails if something leaks ────────────────────────────────────────────────────────────────────────────
