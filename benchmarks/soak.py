"""Soak test of the HTTP server: does its memory, its latency or its number of open files grow with time?

`remembrancer serve` runs with its jobs on a new file. Each client writes turns, remembers, asks questions, gives single
messages, rates, forgets and ends sessions, pausing between requests. Old sessions are erased, so that the number of
memories reaches a level; what grows afterwards is a leak, but for the audit trail and the receipts of erasures, which
only grow. The verdict compares the rest of the run with its warm-up, by limits that are constants of this file. Linux
only.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import random
import statistics
import sys
import tempfile
import time
from collections import Counter, deque
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

import apsw
import httpx
from markupsafe import Markup
from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Words
from benchmarks.server_process import MIB, ServerProcess, serving
from remembrancer import Remembrancer
from remembrancer.domain.api_key import Right
from remembrancer.domain.job import Job
from remembrancer.evaluation.machine import machine_line
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.frame import Picture
from remembrancer.interfaces.charts.panel import Panel, sample
from remembrancer.interfaces.charts.scale import round_above

MINUTES: Final = 60.0
CLIENTS: Final = 64
WINDOW_MINUTES: Final = 5.0
PAUSE_S: Final = 3.0
"""The mean pause of a client between two requests, in seconds (exponentially distributed)."""
SAMPLE_S: Final = 10.0
TURNS: Final = 30
"""The turns after which a client ends its session and begins another."""
KEPT_SESSIONS: Final = 2
"""Ended sessions of a client that are not erased yet."""
OPERATOR_MINUTES: Final = 3.0
"""The time between two runs of all jobs, besides those on their schedule."""
TIMEOUT_S: Final = 90.0

WARM_UP: Final = 1 / 3
"""The share of the run that is not judged: the sessions reach their level, caches fill, the allocator grows."""
MOST_GROWTH: Final = 24.0
"""The greatest slope of the server's memory (RSS) after the warm-up, in MiB an hour. PSS is shown, but not judged: it
falls when other programs map the same libraries.
"""
MOST_SLOWER: Final = 2.0
"""The greatest ratio of the last window's CPU time for each request to that of the second window, and of its median
latency. Latency is judged by quiet windows, because other programs' load makes requests wait.
"""
QUIET: Final = 1.5
"""A window is quiet if the load average of the machine, for each of its CPUs, is at most this."""
MOST_FILES: Final = 1.5
"""The greatest ratio of the largest size of the database and its index after the warm-up to that within it, without
`APPENDED`; and of the medians of the log. An erasure writes the whole file into the log, which is then truncated: the
log's largest size tells only whether a sample was taken at that moment.
"""
APPENDED: Final = ("audit_trail", "erasures", "sqlite_autoindex_erasures_1")
"""The tables that only grow, by design, and their index."""
MOST_DESCRIPTORS: Final = 16
"""By how many open files the end of the run may exceed the warm-up."""

KINDS: Final = {
    "recall": 30,
    "message": 20,
    "observe": 25,
    "remember": 8,
    "feedback": 8,
    "forget": 3,
    "listing": 6,
}
"""The requests that a client draws from, with weights. Sessions are ended and erased by the number of their turns."""


@dataclass(frozen=True, slots=True)
class Sample:
    """Figures of the server at `at` seconds after the start; memory and files in MiB, `cpu` in seconds."""

    at: float
    rss: float
    pss: float
    descriptors: int
    threads: int
    database: float
    appended: float
    """Of `database`, the pages of `APPENDED`."""
    log: float
    index: float
    cpu: float
    load: float
    """The load average of the last minute, for each CPU of the machine."""


@dataclass(frozen=True, slots=True)
class Window:
    """Requests that were answered between `begin` and `end`, in minutes. Times in milliseconds; `cpu_ms`: CPU time of
    the server for each request, jobs included.
    """

    begin: float
    end: float
    requests: int
    p50: float
    p95: float
    p99: float
    cpu_ms: float
    load: float
    errors: int


@dataclass(frozen=True, slots=True)
class Limit:
    """A figure of the run, and the greatest value that is allowed."""

    name: str
    value: float
    most: float

    @property
    def is_kept(self) -> bool:
        return self.value <= self.most


@dataclass(frozen=True, slots=True)
class SoakReport:
    machine: str
    minutes: float
    clients: int
    samples: tuple[Sample, ...]
    windows: tuple[Window, ...]
    kinds: dict[str, int]
    errors: dict[str, int]
    limits: tuple[Limit, ...]


def slope(points: Sequence[tuple[float, float]]) -> float:
    """The slope of the regression line through the points; 0 for fewer than two."""
    return statistics.linear_regression(*zip(*points, strict=True)).slope if len(points) > 1 else 0.0


def verdict(samples: Sequence[Sample], windows: Sequence[Window], errors: int) -> tuple[Limit, ...]:
    """The limits of a run that lasted until the last sample. Latency is left out without two quiet windows."""
    begin = samples[-1].at * WARM_UP
    warming = [one for one in samples if one.at < begin]
    judged = [one for one in samples if one.at >= begin]
    after_first = windows[min(1, len(windows) - 1) :]
    second, last = after_first[0], after_first[-1]
    quiet = [one for one in after_first if one.load <= QUIET]
    slower = "median latency, last quiet window to first"
    latency = [Limit(slower, quiet[-1].p50 / quiet[0].p50, MOST_SLOWER)] if len(quiet) > 1 else []
    return (
        Limit("memory, MiB an hour", slope([(one.at / 3600, one.rss) for one in judged]), MOST_GROWTH),
        *latency,
        Limit("CPU time a request, last window to second", last.cpu_ms / second.cpu_ms, MOST_SLOWER),
        Limit(
            "size of what may be erased, after the warm-up to within", _largest(judged) / _largest(warming), MOST_FILES
        ),
        Limit("size of the log, after the warm-up to within", _of_log(judged) / _of_log(warming), MOST_FILES),
        Limit(
            "open files, end to warm-up",
            judged[-1].descriptors - max(one.descriptors for one in warming),
            MOST_DESCRIPTORS,
        ),
        Limit("requests that failed", errors, 0),
    )


def _largest(samples: Sequence[Sample]) -> float:
    return max(one.database - one.appended + one.index for one in samples)


def _of_log(samples: Sequence[Sample]) -> float:
    return statistics.median(one.log for one in samples)


@dataclass(slots=True)
class _Answered:
    """Every answered request as (seconds since the start, kind, milliseconds), and the errors by kind and status."""

    began: float = field(default_factory=time.perf_counter)
    times: list[tuple[float, str, float]] = field(default_factory=list[tuple[float, str, float]])
    errors: Counter[str] = field(default_factory=Counter[str])
    failed_at: list[float] = field(default_factory=list[float])

    async def ask(self, http: httpx.AsyncClient, kind: str, method: str, path: str, **given: Any) -> Any:
        """The answer; None if it failed. 404 and 409 are right answers where another client was faster."""
        asked = time.perf_counter()
        try:
            answer = await http.request(method, path, **given)
            failure = "" if answer.is_success or answer.status_code in {404, 409} else str(answer.status_code)
        except httpx.HTTPError as error:
            answer, failure = None, type(error).__name__
        ended = time.perf_counter()
        self.times.append((ended - self.began, kind, (ended - asked) * 1000))
        if failure:
            self.errors[f"{kind}: {failure}"] += 1
            self.failed_at.append(ended - self.began)
        return answer.json() if answer is not None and answer.is_success else None


class _Client:
    """One agent: a session after the other, of which the older ones are erased."""

    def __init__(self, number: int, http: httpx.AsyncClient, answered: _Answered, pause: float, turns: int) -> None:
        self._number = number
        self._http = http
        self._answered = answered
        self._pause = pause
        self._turns = turns
        self._chance = random.Random(number)
        self._words = Words(seed=number)
        self._sessions: deque[str] = deque()
        self._begun = self._said = 0
        self._session = ""
        self._seen: deque[str] = deque(maxlen=20)

    async def run(self, end: float) -> None:
        await asyncio.sleep(self._chance.uniform(0, self._pause))
        self._next_session()
        while time.perf_counter() < end:
            await getattr(self, f"_{self._chance.choices(list(KINDS), list(KINDS.values()))[0]}")()
            if self._said >= self._turns:
                await self._end_session()
            await asyncio.sleep(min(self._chance.expovariate(1 / self._pause), max(0.0, end - time.perf_counter())))

    def _next_session(self) -> None:
        self._begun += 1
        self._said = 0
        self._session = f"client-{self._number}-{self._begun}"

    async def _ask(self, kind: str, method: str, path: str, body: Any = None) -> Any:
        scope = {"agent": f"agent-{self._number}", "session": self._session}
        return await self._answered.ask(self._http, kind, method, path, params=scope, json=body)

    async def _observe(self) -> None:
        event = self._words.event(self._said)
        told = {"text": event.text, "actor": event.actor, "severity": event.severity.value}
        await self._ask("observe", "POST", "/v1/events", {"events": [told]})
        self._said += 1

    async def _remember(self) -> None:
        topic = f"{self._session}-topic-{self._chance.randrange(4)}"
        found = await self._ask("remember", "POST", "/v1/memories", {"text": self._words.text(), "topic_key": topic})
        if found:
            self._seen.append(found["id"])

    async def _recall(self) -> None:
        self._saw(await self._ask("recall", "POST", "/v1/recall", {"query": self._words.question(), "limit": 10}))

    async def _message(self) -> None:
        self._saw(await self._ask("message", "POST", "/v1/recall", {"query": self._words.text(), "mode": "message"}))

    def _saw(self, answer: Any) -> None:
        hits: list[Any] = answer["hits"] if answer else []
        self._seen.extend(hit["memory"]["id"] for hit in hits[:3])

    async def _feedback(self) -> None:
        if self._seen:
            verdict = self._chance.choice(("helpful", "helpful", "unhelpful"))
            path = f"/v1/memories/{self._chance.choice(self._seen)}/feedback"
            await self._ask("feedback", "POST", path, {"verdict": verdict})

    async def _forget(self) -> None:
        if self._seen:
            await self._ask("forget", "DELETE", f"/v1/memories/{self._seen.popleft()}")

    async def _listing(self) -> None:
        await self._ask("listing", "GET", self._chance.choice(("/v1/memories", "/v1/events", "/v1/timeline")))

    async def _end_session(self) -> None:
        await self._ask("end", "POST", f"/v1/sessions/{self._session}/end")
        self._sessions.append(self._session)
        if len(self._sessions) > KEPT_SESSIONS:
            await self._ask("erase", "POST", "/v1/erasures", {"session": self._sessions.popleft()})
        self._next_session()


async def _operate(http: httpx.AsyncClient, answered: _Answered, end: float, every_s: float) -> None:
    """Run all jobs from time to time, and read what operators read."""
    while (left := end - time.perf_counter()) > 0:
        await asyncio.sleep(min(every_s, left))
        for job in Job:  # one at a time: all together may take longer than a request may
            await answered.ask(http, "maintain", "POST", "/v1/maintain", json={"only": [job], "force": True})
        for path in ("/v1/health/memory", "/v1/stats", "/v1/jobs", "/metrics"):
            asked = await http.get(path)
            assert asked.status_code in {200, 503}, asked.text


async def _watch(process: ServerProcess, file: Path, answered: _Answered, end: float, every_s: float) -> list[Sample]:
    samples: list[Sample] = []
    while time.perf_counter() < end:
        await asyncio.sleep(every_s)
        rss, pss = process.memory()
        samples.append(
            Sample(
                at=time.perf_counter() - answered.began,
                rss=rss,
                pss=pss,
                descriptors=process.descriptors(),
                threads=process.threads(),
                database=_mib(file),
                appended=_appended(file),
                log=_mib(file.with_name(f"{file.name}-wal")),
                index=sum(map(_mib, file.parent.glob(f"{file.name}.*.index*"))),
                cpu=process.cpu_seconds(),
                load=os.getloadavg()[0] / (os.cpu_count() or 1),
            )
        )
    return samples


def _mib(file: Path) -> float:
    try:
        return file.stat().st_size / MIB
    except FileNotFoundError:  # index files come and go
        return 0.0


def _appended(file: Path) -> float:
    opened: Any = apsw.Connection(str(file), flags=apsw.SQLITE_OPEN_READONLY)  # Any: its statements have no types
    with closing(opened) as connection:
        connection.set_busy_timeout(int(TIMEOUT_S * 1000))
        pages = f"SELECT total(pgsize) FROM dbstat('main', 1) WHERE name IN ({', '.join('?' * len(APPENDED))})"
        return float(connection.execute(pages, APPENDED).get) / MIB


def windows_of(answered: _Answered, samples: Sequence[Sample], minutes: float) -> tuple[Window, ...]:
    """Windows of equal length; the last one is whole."""
    seconds, total = minutes * 60, samples[-1].at
    windows: list[Window] = []
    for number in range(max(1, round(total / seconds))):
        begin, end = number * seconds, (number + 1) * seconds
        times = [took for at, kind, took in answered.times if begin <= at < end and kind != "maintain"]
        within = [one for one in samples if begin <= one.at < end]
        if len(times) < 2 or len(within) < 2:
            continue
        hundredths = statistics.quantiles(times, n=100, method="inclusive")
        windows.append(
            Window(
                begin=begin / 60,
                end=end / 60,
                requests=len(times),
                p50=hundredths[49],
                p95=hundredths[94],
                p99=hundredths[98],
                cpu_ms=(within[-1].cpu - within[0].cpu) * 1000 / len(times),
                load=statistics.fmean(one.load for one in within),
                errors=sum(begin <= at < end for at in answered.failed_at),
            )
        )
    return tuple(windows)


async def soak(
    folder: Path,
    *,
    minutes: float = MINUTES,
    clients: int = CLIENTS,
    window: float = WINDOW_MINUTES,
    pause: float = PAUSE_S,
    sample_s: float = SAMPLE_S,
    turns: int = TURNS,
    operator_minutes: float = OPERATOR_MINUTES,
    embedder: str = "local",
) -> SoakReport:
    """Run the load on a new file in `folder`."""
    file = folder / "soak.db"
    with Remembrancer.open(str(file), embedder="none", settings={"background_index": False}) as memory:
        key = memory.keys.create("soak", Right.ADMIN).token
    with serving(file, folder / "soak.log", jobs=True, embedder=embedder) as process:
        async with httpx.AsyncClient(
            base_url=f"http://{process.host}:{process.port}",
            headers={"Authorization": f"Bearer {key}"},
            timeout=TIMEOUT_S,
            limits=httpx.Limits(max_connections=clients + 2, max_keepalive_connections=clients + 2),
            trust_env=False,
        ) as http:
            answered = _Answered()
            end = answered.began + minutes * 60
            async with asyncio.TaskGroup() as group:
                watching = group.create_task(_watch(process, file, answered, end, sample_s))
                group.create_task(_operate(http, answered, end, operator_minutes * 60))
                for number in range(clients):
                    group.create_task(_Client(number, http, answered, pause, turns).run(end))
            samples = watching.result()
    windows = windows_of(answered, samples, window)
    return SoakReport(
        machine=machine_line(),
        minutes=samples[-1].at / 60,
        clients=clients,
        samples=tuple(samples),
        windows=windows,
        kinds=dict(sorted(Counter(kind for _, kind, _ in answered.times).items())),
        errors=dict(answered.errors),
        limits=verdict(samples, windows, answered.errors.total()),
    )


def picture(report: SoakReport) -> str:
    """Memory, files and latency over time, as SVG."""
    last = max(report.samples[-1].at / 60, report.windows[-1].end)
    memory, files, latency = (
        Panel(x=(0.0, last), y=(0.0, round_above(most)), left=50.0, width=940.0, height=180.0)
        for most in (
            max(one.rss for one in report.samples),
            max(one.database + one.log + one.index for one in report.samples),
            max(one.p99 for one in report.windows),
        )
    )
    over = [(one.at / 60, one) for one in report.samples]
    drawn: list[tuple[Panel, str, list[tuple[str, str, list[tuple[float, float]]]]]] = [
        (
            memory,
            "memory of the server, MiB",
            [
                ("RSS", "blue", [(at, one.rss) for at, one in over]),
                ("PSS", "violet", [(at, one.pss) for at, one in over]),
            ],
        ),
        (
            files,
            "size of the files, MiB",
            [
                ("database", "green", [(at, one.database) for at, one in over]),
                ("audit trail and receipts", "violet", [(at, one.appended) for at, one in over]),
                ("log", "ochre", [(at, one.log) for at, one in over]),
                ("index", "red", [(at, one.index) for at, one in over]),
            ],
        ),
        (
            latency,
            "latency by window, ms",
            [
                (name, hue, [((one.begin + one.end) / 2, getattr(one, name)) for one in report.windows])
                for name, hue in (("p50", "blue-2"), ("p95", "violet-2"), ("p99", "red-2"))
            ],
        ),
    ]
    pictures, legend = list[Picture](), list[tuple[Markup, str]]()
    for panel, label, lines in drawn:
        marks = panel.levels(label) + panel.uprights("minutes")
        for name, hue, points in lines:
            marks += panel.line(points, hue)
            legend.append((sample(hue), name))
        pictures.append(panel.picture(marks))
    kept = "all limits kept" if all(one.is_kept for one in report.limits) else "a limit was exceeded"
    requests = sum(report.kinds.values())
    load = f"{report.clients} clients, {requests:,} requests in {report.minutes:.0f} minutes, jobs on"
    description = f"{load}; {kept}. {report.machine}"
    return document("soak", "A server under load that lasts", description, pictures, legend)


def windows_table(report: SoakReport) -> Table:
    drawn = Table(title=f"{report.clients} clients for {report.minutes:.0f} minutes, jobs on", title_justify="left")
    for heading in (
        "minutes", "requests", "p50 ms", "p95 ms", "p99 ms", "CPU ms", "load", "errors", "RSS", "PSS", "file",
        "appended", "log", "index", "open files", "threads",
    ):  # fmt: skip
        drawn.add_column(heading, justify="right")
    for one in report.windows:
        at = [each for each in report.samples if one.begin <= each.at / 60 < one.end][-1]
        sizes = (at.rss, at.pss, at.database, at.appended, at.log, at.index)
        drawn.add_row(
            f"{one.begin:g}-{one.end:g}",
            f"{one.requests:,}",
            *(f"{value:.1f}" for value in (one.p50, one.p95, one.p99, one.cpu_ms, one.load)),
            str(one.errors),
            *(f"{value:.1f}" for value in sizes),
            str(at.descriptors),
            str(at.threads),
        )
    return drawn


def limits_table(report: SoakReport) -> Table:
    drawn = Table(title="Verdict", title_justify="left")
    drawn.add_column("figure")
    for heading in ("value", "limit", "kept"):
        drawn.add_column(heading, justify="right")
    for one in report.limits:
        drawn.add_row(one.name, f"{one.value:.2f}", f"{one.most:g}", "yes" if one.is_kept else "no")
    return drawn


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=MINUTES)
    parser.add_argument("--clients", type=int, default=CLIENTS)
    parser.add_argument("--window", type=float, default=WINDOW_MINUTES, help="minutes of a window")
    parser.add_argument("--pause", type=float, default=PAUSE_S, help="mean seconds between two requests of a client")
    parser.add_argument("--embedder", default="local")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="write soak.json and soak.svg there")
    return parser


def main() -> None:
    parser = _parser()
    options = parser.parse_args()
    if not Path("/proc/self/smaps_rollup").exists():
        parser.error("it reads processes' figures from /proc, which this system does not have: Linux only")
    if (
        not 0 < options.minutes <= 24 * 60
        or not 1 <= options.clients <= 256
        or options.window <= 0
        or options.pause < 0.01
    ):
        parser.error("--minutes: at most a day; --clients: 1 to 256; --window: above 0; --pause: 0.01 or more")
    with tempfile.TemporaryDirectory() as folder:
        report = asyncio.run(
            soak(
                Path(folder),
                minutes=options.minutes,
                clients=options.clients,
                window=min(options.window, options.minutes / 3),
                sample_s=min(SAMPLE_S, options.minutes * 60 / 40),
                pause=options.pause,
                embedder=options.embedder,
            )
        )
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
        (options.out / "soak.json").write_text(json.dumps(asdict(report)), encoding="utf-8")
        (options.out / "soak.svg").write_text(picture(report), encoding="utf-8")
    console = Console(width=140)
    console.print(report.machine)
    console.print(windows_table(report))
    console.print(", ".join(f"{kind}: {count:,}" for kind, count in report.kinds.items()))
    if report.errors:
        console.print(f"errors: {report.errors}")
    console.print(limits_table(report))
    if not all(one.is_kept for one in report.limits):
        sys.exit("a limit was exceeded")


if __name__ == "__main__":
    main()
