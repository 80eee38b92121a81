"""Several processes on one file: writers that share streams, and readers that recall and list at the same time.

Counts rows and errors, and measures each call in the process that makes it. Nothing is embedded: the subject is the
file.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from typing import IO, Any, Final

from rich.console import Console
from rich.table import Table

from remembrancer import Remembrancer, RemembrancerError
from remembrancer.evaluation.machine import machine_line

STREAMS: Final = 3
"""Streams, each written by several processes."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One process: number of calls, error texts, and call times in milliseconds."""

    role: str
    calls: int
    errors: tuple[str, ...]
    p50: float
    p95: float
    slowest: float


@dataclass(frozen=True, slots=True)
class SharedFileResult:
    """The result. `gaps`: streams whose sequence numbers are not 1, 2, 3 …; `faults`: failed checks of the doctor."""

    processes: tuple[Outcome, ...]
    seconds: float
    rows: int
    expected: int
    gaps: tuple[str, ...]
    faults: tuple[str, ...]


def share(db: str, *, writers: int, writes: int, readers: int) -> SharedFileResult:
    """Run the processes on a file or the address of a server. All are started before the first one writes."""
    roles = [("write", number, writes) for number in range(writers)] + [("read", n, 0) for n in range(readers)]
    started = [_start(db, role, number, count) for role, number, count in roles]
    try:
        for process in started:
            _line(process.stdout)  # the process has finished its imports
        began = time.perf_counter()
        for process in started:
            _signal(process)
        outcomes = [_outcome(process) for process in started[:writers]]
        seconds = time.perf_counter() - began
        for process in started[writers:]:
            _signal(process)  # stop reading
        outcomes += [_outcome(process) for process in started[writers:]]
    finally:
        for process in started:
            process.kill()
            process.communicate()
    return _check(db, tuple(outcomes), seconds, writers * writes)


def _check(db: str, outcomes: tuple[Outcome, ...], seconds: float, expected: int) -> SharedFileResult:
    with _open(db) as rem:
        places: dict[str, list[int]] = defaultdict(list)
        for stream in range(STREAMS):
            for event in rem.journal.list(session=f"stream-{stream}", limit=10_000):
                places[f"stream-{stream}"].append(event.seq)
        return SharedFileResult(
            processes=outcomes,
            seconds=seconds,
            rows=rem.health.stats().events,
            expected=expected,
            gaps=tuple(name for name, seqs in places.items() if sorted(seqs) != list(range(1, len(seqs) + 1))),
            faults=tuple(f"{finding.check}: {finding.detail}" for finding in rem.health.doctor() if not finding.ok),
        )


def _open(db: str) -> Remembrancer:
    return Remembrancer.open(db, workspace="shared", agent="ana", embedder="none")


# ── one of the processes ─────────────────────────────────────────────────────────────────────────────────────────────


def _write(db: str, number: int, count: int) -> Outcome:
    times: list[float] = []
    errors: list[str] = []
    with _open(db) as rem:
        for n in range(count):
            text = f"writer {number} notes that kestrel{number}x{n} came to the old barn"
            _timed(lambda text=text, n=n: rem.observe(text, session=f"stream-{n % STREAMS}"), times, errors)
    return _summary("writer", times, errors)


def _read(db: str) -> Outcome:
    times: list[float] = []
    errors: list[str] = []
    enough = threading.Event()
    threading.Thread(target=lambda: (sys.stdin.readline(), enough.set()), daemon=True).start()
    with _open(db) as rem:
        while not enough.is_set():
            _timed(lambda: rem.recall("who came to the old barn?", limit=10), times, errors)
            _timed(lambda: rem.recent(limit=20), times, errors)
    return _summary("reader", times, errors)


def _timed(call: Callable[[], object], times: list[float], errors: list[str]) -> None:
    began = time.perf_counter()
    try:
        call()
    except RemembrancerError as error:
        errors.append(str(error))
    times.append((time.perf_counter() - began) * 1000)


def _summary(role: str, times: Sequence[float], errors: Sequence[str]) -> Outcome:
    p95 = statistics.quantiles(times, n=20)[-1] if len(times) > 1 else max(times)
    return Outcome(role, len(times), tuple(errors), statistics.median(times), p95, max(times))


# ── between processes ────────────────────────────────────────────────────────────────────────────────────────────────


def _start(db: str, role: str, number: int, count: int) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "benchmarks.processes", "--as", role, db, str(number), str(count)]
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)


def _signal(process: subprocess.Popen[str]) -> None:
    assert process.stdin is not None
    process.stdin.write("\n")
    process.stdin.flush()


def _line(stream: IO[str] | None) -> str:
    assert stream is not None
    line = stream.readline()
    assert line, "a process ended before it was fields to"
    return line


def _outcome(process: subprocess.Popen[str]) -> Outcome:
    fields: dict[str, Any] = json.loads(_line(process.stdout))
    fields["errors"] = tuple(fields["errors"])
    return Outcome(**fields)


def _run_role(role: str, db: str, number: int, count: int) -> None:
    print(flush=True)
    sys.stdin.readline()
    outcome = _write(db, number, count) if role == "write" else _read(db)
    print(json.dumps(asdict(outcome)), flush=True)


# ── the table ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _table(shared: SharedFileResult) -> Table:
    table = Table(title=f"{len(shared.processes)} processes on one file", title_justify="left")
    for heading in ("process", "calls", "errors", "p50 ms", "p95 ms", "slowest ms"):
        table.add_column(heading, justify="left" if heading == "process" else "right")
    for outcome in shared.processes:
        figures = (f"{figure:.1f}" for figure in (outcome.p50, outcome.p95, outcome.slowest))
        table.add_row(outcome.role, str(outcome.calls), str(len(outcome.errors)), *figures)
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.processes", description=__doc__)
    parser.add_argument("--writers", type=int, default=8)
    parser.add_argument("--writes", type=int, default=500, help="of each writer")
    parser.add_argument("--readers", type=int, default=2)
    parser.add_argument("--db", metavar="URL", help="an empty database (a new SQLite file)")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--as", dest="part", nargs=4, help=argparse.SUPPRESS)
    return parser


def main() -> None:
    options = _parser().parse_args()
    if options.part:
        role, db, number, count = options.part
        _run_role(role, db, int(number), int(count))
        return
    with tempfile.TemporaryDirectory() as folder:
        db = options.db or f"{folder}/shared.db"
        shared = share(db, writers=options.writers, writes=options.writes, readers=options.readers)
    if options.json:
        print(json.dumps(asdict(shared)))
        return
    console = Console(width=120)
    console.print(machine_line())
    console.print(_table(shared))
    console.print(
        f"{shared.rows} of {shared.expected} rows are there, {shared.expected / shared.seconds:.0f} writes a second;"
        f" streams with gaps: {len(shared.gaps)}; faults: {', '.join(shared.faults) or 'none'}"
    )


if __name__ == "__main__":
    main()
