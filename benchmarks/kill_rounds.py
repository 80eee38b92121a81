"""Kill writers at random statements while others read, round after round, and check all that was promised.

In each round, several processes write to one database (the writes of `benchmarks.kill`: batches, topics, erasures and
others), one runs jobs over turns in a workspace of its own, and several ask questions. All but the readers are killed
with SIGKILL right before a statement whose number is drawn by the seed. Readers check that no answer has a foreign,
half-written or erased text, or a score outside [0, 1], and that the events of one batch are seen together.
Then the database is opened again: everything acknowledged is there, the rows are sound, no byte of the files has an
erased text, and the index answers as one that is derived anew. On PostgreSQL, the server itself is stopped at once
(`pg_ctl stop -m immediate`) in every tenth round.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import logging
import os
import pickle
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Generator, Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast

import apsw
import psycopg
from rich.console import Console
from rich.table import Table

from benchmarks import kill
from remembrancer import AsyncRemembrancer, Remembrancer
from remembrancer.adapters.relational.postgres.dialect import PostgresConnection
from remembrancer.adapters.relational.sqlite import file as sqlite_file
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.domain.job import Job
from remembrancer.domain.recall import Hit
from remembrancer.evaluation.machine import machine_line
from remembrancer.index import workspace
from remembrancer.index.resident import ResidentIndex
from remembrancer.testing.doubles import NOW, HashEmbedder

WRITERS: Final = 3
READERS: Final = 2
ROUNDS: Final = 100
LEAST_STATEMENTS, MOST_STATEMENTS = 100, 2_000
"""Each process is killed before one of these statements, counted after it has opened the store."""
ROUNDS_EACH: Final = 10
"""The rounds on one database. Then a new one begins, because checking takes longer with every row."""
STARTS: Final = 12
"""Times ten seconds that a killed PostgreSQL server has to start again."""
LONGEST_S: Final = 40.0
"""A process that has not come to its statement by then is killed."""
JOBS: Final = "jobs"
TURNS: Final = 12
"""The turns of a session in the workspace of the jobs."""
QUESTIONS: Final = ("kestrel by the barn", "what nested in the wall?", "jackdaw pecks")
FIRST_OF_OURS: Final = 16_384
"""Objects that PostgreSQL makes with a database itself have smaller numbers."""
_WHOLE: Final = re.compile(r"kestrel\S+ was seen by the barn|wren\S+ \d+ times nested in the wall|the round after .*")
_EMBEDDER: Final = 64


@dataclass(frozen=True, slots=True)
class KillRound:
    """The result of one round: acknowledged writes, answers that readers checked, erased rows looked for in the files,
    and faults by kind.
    """

    acknowledged: int
    in_flight: int
    jobs: int
    answers: int
    erased: int
    faults: tuple[str, ...]


@dataclass(slots=True)
class _Place:
    """A database. `erased`: a file with the names of erased rows, a line each, written after the receipt."""

    db: str
    erased: Path
    files: Callable[[], Iterable[Path]]
    settled: dict[str, kill.Facts] = field(default_factory=dict[str, kill.Facts])
    turns: set[str] = field(default_factory=set[str])
    stop_server: Callable[[], None] | None = None
    start_server: Callable[[], None] | None = None


# ── the processes of a round ─────────────────────────────────────────────────────────────────────────────────────────


@dataclass(frozen=True, slots=True)
class _Child:
    pid: int
    out: int

    def lines(self) -> list[str]:
        """What it printed, without a line that was cut off."""
        with open(self.out, encoding="utf-8") as file:  # noqa: PTH123  a descriptor
            lines = file.readlines()
        os.waitpid(self.pid, 0)
        return [line for line in lines if line.endswith("\n")]


def _fork(work: Callable[[], object]) -> _Child:
    """Run `work` in a process with its standard output in a pipe. This process has no threads."""
    reading, writing = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.dup2(writing, 1)
        os.close(reading)
        os.close(writing)
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
        try:
            work()
        except (Exception, SystemExit) as error:  # noqa: BLE001  a server that is stopped ends the process
            print("error", repr(error)[:300].replace("\n", " "), flush=True)
        os._exit(0)
    os.close(writing)
    return _Child(pid, reading)


class _Killer:
    """Kills this process before the statement at `at`, counted over all connections from when it is armed."""

    def __init__(self) -> None:
        self._at = self._count = 0
        setattr(sqlite_file, "connect", self._connect)  # noqa: B010  a name that it imports
        for name in ("execute", "executemany", "insert_many", "count"):
            setattr(PostgresConnection, name, self._counted(getattr(PostgresConnection, name)))

    def arm(self, at: int) -> None:
        self._at = at

    def _connect(self, path: str, *, create: bool) -> Any:
        connection = connect(path, create=create)
        cast("apsw.Connection", connection).exec_trace = self._trace
        return connection

    def _counted(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*given: Any) -> Any:
            self._trace(None, None, None)
            return real(*given)

        return call

    def _trace(self, _cursor: object, _statement: object, _bindings: object) -> bool:
        self._count += bool(self._at)
        if self._at and self._count >= self._at:
            os.kill(os.getpid(), signal.SIGKILL)
        return True


class _Writer(kill.Writer):
    """Also tells readers what was erased."""

    erased: Path

    async def _do(self, write: kill.Write, *, session: str) -> None:
        await super()._do(write, session=session)
        if write[0] == "erase":
            with self.erased.open("a", encoding="ascii") as file:
                file.write(f"{write[1]}\n")


def _write(place: _Place, writer: str, at: int) -> None:
    killer = _Killer()
    _Writer.erased = place.erased

    async def whole() -> None:
        async with await AsyncRemembrancer.open(
            place.db, workspace="killed", agent="ana", role="LEAD", embedder=HashEmbedder(_EMBEDDER)
        ) as rem:
            killer.arm(at)
            callers = (_Writer(rem, f"{writer}x{n}").write_for_ever() for n in range(kill.IN_FLIGHT))
            await asyncio.gather(*callers)

    asyncio.run(whole())


def _run_jobs(place: _Place, name: str, at: int) -> None:
    """Record turns, end their sessions and run all jobs, until the process is killed."""
    killer = _Killer()

    async def whole() -> None:
        async with await AsyncRemembrancer.open(
            place.db, workspace=JOBS, agent="ben", role="LEAD", embedder=HashEmbedder(_EMBEDDER)
        ) as rem:
            killer.arm(at)
            number = 0
            while True:
                session = f"{name}x{number}"
                for n in range(TURNS):
                    await rem.observe(f"jackdaw{session}x{n} pecks", session=session)
                    print("done", f"jackdaw{session}x{n}", flush=True)
                await rem.end_session(session)
                await rem.maintain(force=True)
                print("swept", session, flush=True)
                number += 1

    asyncio.run(whole())


def _read(place: _Place, number: int) -> None:
    """Ask and check until SIGTERM."""
    ended = False

    def end(*_: object) -> None:
        nonlocal ended
        ended = True

    signal.signal(signal.SIGTERM, end)
    answers = 0
    index = ResidentIndex() if number else None  # one of them without the file
    with _opened(place.db, index=index) as rem:
        while not ended:
            for question in QUESTIONS:
                erased = set(place.erased.read_text(encoding="ascii").split())
                for fault in _wrong_hits(rem.recall(question, limit=20), erased):
                    print("fault", fault, flush=True)
                answers += 1
            for fault in _cut_batches([event.text.split()[0] for event in rem.journal.list(limit=200)]):
                print("fault", fault, flush=True)
    print("answers", answers, flush=True)


def _wrong_hits(hits: Iterable[Hit], erased: set[str]) -> Iterator[str]:
    for hit in hits:
        if not _WHOLE.fullmatch(hit.cue.text):
            yield f"a foreign or half text in an answer: {hit.cue.text!r}"
        if (name := hit.cue.text.split()[0]) in erased:
            yield f"an erased text in an answer: {name}"
        if not 0 <= hit.score <= 1:
            yield f"a score of {hit.score}"


def _cut_batches(newest: list[str]) -> Iterator[str]:
    """Batches of which only some events are seen. The oldest one in the list may be cut."""
    batches = Counter(name.partition("y")[0] for name in newest if "y" in name)
    batches.pop(next((name.partition("y")[0] for name in reversed(newest) if "y" in name), ""), None)
    for name, count in batches.items():
        if count != kill.TOGETHER:
            yield f"{count} events of the batch {name} are seen"


def _opened(db: str, *, index: ResidentIndex | None = None, name: str = "killed", clock: Any = None) -> Remembrancer:
    return Remembrancer.open(
        db,
        workspace=name,
        agent="ana" if name == "killed" else "ben",
        role="LEAD",
        embedder=HashEmbedder(_EMBEDDER),
        index=index,
        clock=clock,
        settings={"background_index": False},
    )


# ── a round ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def kill_round(place: _Place, number: int, chance: random.Random, *, writers: int, readers: int) -> KillRound:
    place.erased.touch()
    drawn = [chance.randint(LEAST_STATEMENTS, MOST_STATEMENTS) for _ in range(writers + 1)]
    with_server = place.stop_server is not None and number % 10 == 9
    started = [_fork(lambda n=n: _write(place, f"{number}x{n}", drawn[n])) for n in range(writers)]
    started.append(_fork(lambda: _run_jobs(place, f"{number}", drawn[-1])))
    reading = [_fork(lambda n=n: _read(place, n)) for n in range(readers)]
    if with_server:
        time.sleep(chance.uniform(1.0, 3.0))
        cast("Callable[[], None]", place.stop_server)()
    outcomes = _lines_of(started, LONGEST_S)
    for child in reading:
        with suppress(ProcessLookupError):
            os.kill(child.pid, signal.SIGTERM)
    of_readers = [child.lines() for child in reading]
    if with_server:
        cast("Callable[[], None]", place.start_server)()
    callers: dict[str, kill.Caller] = {}
    for lines in outcomes[:-1]:
        callers.update(kill.callers_of([line for line in lines if line.startswith(("begin", "done"))]))
    place.turns |= {line.split()[1] for line in outcomes[-1] if line.startswith("done")}
    faults = [line.partition(" ")[2].strip() for lines in of_readers for line in lines if line.startswith("fault")]
    if not with_server:
        every = [line for lines in (*outcomes, *of_readers) for line in lines]
        faults += [f"a process ended with {line[6:].strip()}" for line in every if line.startswith("error")]
    checked, found = _in_a_process(lambda: _check(place, number, callers))
    place.settled = found
    return KillRound(
        acknowledged=checked["acknowledged"],
        in_flight=checked["in_flight"],
        jobs=sum(line.startswith("swept") for line in outcomes[-1]),
        answers=sum(int(line.split()[1]) for lines in of_readers for line in lines if line.startswith("answers")),
        erased=checked["erased"],
        faults=(*faults, *checked["faults"]),
    )


def _lines_of(started: list[_Child], longest_s: float) -> list[list[str]]:
    """What the processes printed until they ended; those that take too long are killed."""

    def expired(*_: object) -> None:
        for child in started:
            with suppress(ProcessLookupError):
                os.kill(child.pid, signal.SIGKILL)

    signal.signal(signal.SIGALRM, expired)
    signal.setitimer(signal.ITIMER_REAL, longest_s)
    try:
        return [child.lines() for child in started]
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)


def _in_a_process(work: Callable[[], Any]) -> Any:
    """The result of `work`, which may start threads."""
    with tempfile.NamedTemporaryFile() as file:
        path = Path(file.name)
        lines = _fork(lambda: path.write_bytes(pickle.dumps(work()))).lines()
        assert path.stat().st_size, lines
        return pickle.loads(path.read_bytes())  # noqa: S301  written by our own process


def _check(place: _Place, number: int, callers: dict[str, kill.Caller]) -> tuple[dict[str, Any], dict[str, kill.Facts]]:
    settled = dict(place.settled)
    result = kill.check(place.db, number, callers, settled)
    faults = [*result.faults]
    for kind in ("lost", "unworded", "unvectored", "gaps"):
        if count := getattr(result, kind):
            faults.append(f"{kind}: {count}")
    answers: list[Any] = []
    for index in (None, ResidentIndex()):
        with _opened(place.db, index=index, clock=lambda: NOW.replace(year=2030)) as rem:
            answers.append([[(hit.id, hit.score) for hit in rem.recall(question)] for question in QUESTIONS])
            rem.maintain([Job.HEALTH], force=True)
            if any(receipt.purged_at is None for receipt in rem.erasures()):
                faults.append("an erasure is not finished by the next maintenance")
    if answers[0] != answers[1]:
        faults.append("the index answers otherwise than one that is derived anew")
    faults += _of_jobs(place)
    erased = set(place.erased.read_text(encoding="ascii").split())
    faults += _in_bytes(place.files(), erased)
    counts = {
        "acknowledged": result.acknowledged,
        "in_flight": result.in_flight,
        "erased": len(erased),
        "faults": faults,
    }
    return counts, settled


def _of_jobs(place: _Place) -> Iterator[str]:
    """What is wrong with the turns that jobs ran over: each is there once, and in one episode at most."""
    with _opened(place.db, name=JOBS) as rem, tempfile.TemporaryDirectory() as folder:
        rem.maintain(force=True)
        yield from (f"jobs: {one.check}: {one.detail}" for one in rem.health.doctor() if not one.ok and not one.warning)
        rem.export(Path(folder) / "rows.jsonl")
        rows = [json.loads(line) for line in (Path(folder) / "rows.jsonl").read_text(encoding="utf-8").splitlines()]
    events = Counter(row["text"].split()[0] for row in rows if row["record"] == "event")
    if missing := place.turns - events.keys():
        yield f"jobs: {len(missing)} acknowledged turns are lost"
    if twice := [name for name, count in events.items() if count > 1]:
        yield f"jobs: {len(twice)} turns are there twice"
    told = Counter(
        word
        for row in rows
        if row["record"] == "memory" and row["kind"] == "episode" and row["status"] == "active"
        and not row["superseded_by"]
        for word in set(re.findall(r"jackdaw\S+", row["text"]))
    )  # fmt: skip
    if twice := [name for name, count in told.items() if count > 1]:
        yield f"jobs: {len(twice)} turns are in two episodes"


def _in_bytes(files: Iterable[Path], erased: set[str]) -> list[str]:
    """Erased names in the files. A name is followed by a blank, so that it is not the beginning of another."""
    found: list[str] = []
    for path in files:
        with suppress(FileNotFoundError):
            words = set(re.findall(rb"wren[0-9x]+(?= \d+ times)", path.read_bytes()))
            found += [f"{name} was erased, and is in {path.name}" for name in erased if name.encode() in words]
    return found


@contextmanager
def _in_files(folder: Path) -> Generator[Callable[[int], _Place]]:
    def place(number: int) -> _Place:
        inside = folder / f"files-{number}"
        inside.mkdir()
        return _Place(str(inside / "killed.db"), folder / f"erased-{number}", lambda: sorted(inside.iterdir()))

    yield place


@contextmanager
def _on_a_server(folder: Path) -> Generator[Callable[[int], _Place]]:
    """A PostgreSQL server of our own, with its usual settings of durability."""
    pgserver = import_module("pgserver")  # a development dependency
    data = folder / "data"
    os.environ.setdefault("XDG_RUNTIME_DIR", str(folder))
    server = pgserver.get_server(data)

    def stop() -> None:
        pgserver.pg_ctl(["stop", "-m", "immediate", "-w"], pgdata=data, user=server.system_user, timeout=60)

    def start() -> None:
        for _ in range(STARTS):
            # The library waits ten seconds, and the server may replay its log for longer.
            with suppress(subprocess.TimeoutExpired):
                return server.ensure_postgres_running()
        raise TimeoutError(f"the server did not start in {STARTS} times ten seconds")

    def place(number: int) -> _Place:
        url = server.get_uri()
        name = f"killed_{number}"
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("DO $$ BEGIN CREATE ROLE killer LOGIN; EXCEPTION WHEN duplicate_object THEN END $$")
            connection.execute(f"CREATE DATABASE {name} OWNER killer".encode())
            [(of,)] = connection.execute(f"SELECT oid FROM pg_database WHERE datname = '{name}'".encode())

        def files() -> list[Path]:
            with psycopg.connect(server.get_uri(), autocommit=True) as admin:
                admin.execute("CHECKPOINT")
            inside = data / "base" / str(of)
            numbered = [path for path in inside.iterdir() if path.name.split("_")[0].split(".")[0].isdecimal()]
            return [path for path in numbered if int(path.name.split("_")[0].split(".")[0]) >= FIRST_OF_OURS]

        address = url.replace("postgres:@", "killer:@", 1).replace("/postgres?", f"/{name}?", 1)
        return _Place(address, folder / f"erased-{number}", files, stop_server=stop, start_server=start)

    try:
        yield place
    finally:
        server.cleanup()


def kill_rounds(
    folder: Path, *, postgres: bool, rounds: int, seed: int, writers: int = WRITERS, readers: int = READERS
) -> Iterator[KillRound]:
    chance = random.Random(seed)
    with (_on_a_server if postgres else _in_files)(folder) as new_place:
        place: _Place | None = None
        for number in range(rounds):
            if place is None or number % ROUNDS_EACH == 0:
                place = new_place(number // ROUNDS_EACH)
            yield kill_round(place, number, chance, writers=writers, readers=readers)


def _table(found: dict[str, list[KillRound]]) -> Table:
    drawn = Table(title="Processes killed before random statements", title_justify="left")
    drawn.add_column("database")
    for heading in ("rounds", "writes", "cut off", "sweeps", "answers", "erased, looked for", "faults"):
        drawn.add_column(heading, justify="right")
    for name, rounds in found.items():
        counts = [
            len(rounds),
            *(
                sum(getattr(one, name) for one in rounds)
                for name in ("acknowledged", "in_flight", "jobs", "answers", "erased")
            ),
            sum(len(one.faults) for one in rounds),
        ]
        drawn.add_row(name, *(f"{count:,}" for count in counts))
    return drawn


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill_rounds", description=__doc__)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--writers", type=int, default=WRITERS)
    parser.add_argument("--readers", type=int, default=READERS)
    parser.add_argument("--database", choices=("sqlite", "postgresql", "both"), default="both")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    options = parser.parse_args()
    logging.disable()
    workspace.LEAST_WRITTEN = 200  # type: ignore[misc]  files of small indexes too
    wanted = ("sqlite", "postgresql") if options.database == "both" else (options.database,)
    found: dict[str, list[KillRound]] = {}
    for name in wanted:
        with tempfile.TemporaryDirectory() as folder:
            rounds = found.setdefault(name, [])
            for one in kill_rounds(
                Path(folder),
                postgres=name == "postgresql",
                rounds=options.rounds,
                seed=options.seed,
                writers=options.writers,
                readers=options.readers,
            ):
                rounds.append(one)
                if len(rounds) % ROUNDS_EACH == 0:
                    print(f"{name}: {len(rounds)} of {options.rounds} rounds", file=sys.stderr, flush=True)
                for fault in one.faults:
                    print(f"{name}, round {len(rounds)}: {fault}", file=sys.stderr, flush=True)
    if options.json:
        print(json.dumps({name: [asdict(one) for one in rounds] for name, rounds in found.items()}))
    else:
        console = Console(width=120)
        console.print(machine_line())
        console.print(
            f"{options.writers} writers, one process with jobs, {options.readers} readers, seed {options.seed}"
        )
        console.print(_table(found))
    if any(one.faults for rounds in found.values() for one in rounds):
        sys.exit(1)


if __name__ == "__main__":
    main()
