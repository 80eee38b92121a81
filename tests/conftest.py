"""How tests run: generated ones with no clock on a single example and, on a build server, the same examples each time;
where all of them write, and in which order they come.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from itertools import chain
from pathlib import Path
from typing import Final

import log_canaries
import pytest
from hypothesis import HealthCheck, settings
from postgres_server import Schemas, serving

settings.register_profile(
    "remembrancer",
    max_examples=25,
    deadline=None,
    database=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("remembrancer")

MEMORY: Final = Path("/dev/shm")  # noqa: S108  pytest makes folders there that only their owner may enter
ROOM: Final = 4 << 30
"""Bytes that must be free there: several times what a run writes."""

TOGETHER: Final = ("tests/browser",)
"""Folders of which all files share what is dear to make: one worker runs them."""
APART: Final = ("tests/e2e", "tests/faults", "tests/migrations")
"""Folders whose files each share something: each is run by one worker."""


def pytest_configure(config: pytest.Config) -> None:
    """Look for texts and secrets in all logs. Let the programs that tests start, and the workers, keep the bytecode
    that they compile; write files in memory.

    Thousands of SQLite files are made, and each waits for the disk when it is closed: 30 ms of 40 on a busy one. A
    `TMPDIR` that is set stays, to run on a disk.
    """
    log_canaries.install(log_canaries.CANARIES)
    config.pluginmanager.register(log_canaries.Plugin())
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)  # without it a program compiles the whole package at each start
    if "TMPDIR" in os.environ or not os.access(MEMORY, os.W_OK) or shutil.disk_usage(MEMORY).free < ROOM:
        return
    os.environ["TMPDIR"] = str(MEMORY)  # for the programs that tests start, too
    tempfile.tempdir = None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Where several workers run them: each begins with its part of the slow files, whole, and ends with small tests.

    `--dist worksteal` gives each worker an equal stretch of the list, and whoever is done takes from the end of
    another's. A file that were torn apart so would have its servers and stores made twice.
    """
    workers: int = getattr(config, "workerinput", {}).get("workercount", 1)
    if workers == 1:
        return
    files: dict[str, list[pytest.Item]] = {}
    small: list[pytest.Item] = []
    for item in items:
        place = next((folder for folder in TOGETHER if item.nodeid.startswith(f"{folder}/")), None)
        if place is None and item.nodeid.startswith(APART):
            place = item.nodeid.partition("::")[0]
        (small if place is None else files.setdefault(place, [])).append(item)
    parts = [list(chain.from_iterable(list(files.values())[worker::workers])) for worker in range(workers)]
    items[:] = list(stretched(parts, small))


def stretched(parts: Sequence[list[pytest.Item]], small: list[pytest.Item]) -> Iterator[pytest.Item]:
    """Each part of slow files, followed by as many small tests as make all stretches equally long."""
    total, given, begun = sum(map(len, parts)) + len(small), 0, 0
    for number, part in enumerate(parts, start=1):
        begun += len(part)
        until = max(given, total * number // len(parts) - begun)
        yield from chain(part, small[given:until])
        given = until


def pytest_collection_finish() -> None:
    """Collected tests live until the end: exclude them from garbage collection."""
    gc.collect()
    gc.freeze()


@pytest.fixture(scope="session")
def server_of_postgres() -> Iterator[Schemas]:
    """A PostgreSQL server, started once for all tests of a worker that need one."""
    with tempfile.TemporaryDirectory(prefix="remembrancer-postgres-") as folder, serving(Path(folder)) as schemas:
        yield schemas


@pytest.fixture
def postgres(server_of_postgres: Schemas) -> Iterator[Schemas]:
    """Addresses of empty schemas, which are emptied after the test."""
    yield server_of_postgres
    server_of_postgres.empty()
