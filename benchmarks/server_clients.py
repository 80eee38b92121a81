"""HTTP clients for the load test: each is a connection that sends its next request when the last one is answered.

They use plain sockets and requests built before the measurement, so that they take little CPU time from the server on
the same machine.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle
from typing import Final

from benchmarks.corpus import Words
from benchmarks.server_process import ServerProcess
from remembrancer import EventDraft

HITS: Final = 10
"""Hits per recall."""
BATCH: Final = 100
"""Events per `observe 100` request."""
DISTINCT_REQUESTS: Final = 2_000
"""Distinct requests per kind, then repeated."""
ANSWER_TIMEOUT: Final = 120.0
"""Seconds to wait for an answer: more than the server's own timeout."""
RECALL: Final = "recall"
OBSERVE: Final = "observe"
OBSERVE_MANY: Final = f"observe {BATCH}"
MIXED: Final = "mixed"
LOADS: Final = (RECALL, OBSERVE, OBSERVE_MANY, MIXED)
GOOD: Final = {RECALL: 200, OBSERVE: 201, OBSERVE_MANY: 201}
EVENTS: Final = {RECALL: 0, OBSERVE: 1, OBSERVE_MANY: BATCH}
"""Memories added per request."""


@dataclass(frozen=True, slots=True)
class Request:
    """`content`: the raw bytes of head and body."""

    kind: str
    content: bytes


@dataclass(slots=True)
class Answers:
    """Results of the requests of one kind: time of each in milliseconds, and number of requests by status.

    A status is the server's, or the class name of a connection error.
    """

    kind: str
    times: list[float] = field(default_factory=list[float])
    statuses: Counter[str] = field(default_factory=Counter[str])

    @property
    def errors(self) -> dict[str, int]:
        return {status: count for status, count in self.statuses.items() if status != str(GOOD[self.kind])}

    @property
    def events(self) -> int:
        """Number of events recorded."""
        return self.statuses[str(GOOD[self.kind])] * EVENTS[self.kind]

    def quantiles(self) -> tuple[float, float, float]:
        """50th, 95th and 99th percentile of the times, in milliseconds."""
        hundredths = statistics.quantiles(
            self.times if len(self.times) > 1 else self.times * 2, n=100, method="inclusive"
        )
        return hundredths[49], hundredths[94], hundredths[98]


@dataclass(frozen=True, slots=True)
class Loaded:
    """Results of a load. `seconds`: wall-clock time; `of_clients`, `of_server`: CPU seconds."""

    seconds: float
    of_clients: float
    of_server: float
    answers: dict[str, Answers]

    @property
    def events(self) -> int:
        return sum(answers.events for answers in self.answers.values())

    @property
    def errors(self) -> Counter[str]:
        return sum((Counter(answers.errors) for answers in self.answers.values()), Counter[str]())


class Requests:
    """An endless sequence of requests, of one kind or mixed: four recalls per observe."""

    def __init__(self, load: str, key: str, words: Words) -> None:
        self._key = key
        makers: dict[str, Callable[[], Iterator[bytes]]] = {
            RECALL: lambda: self._recalls(words),
            OBSERVE: lambda: self._observes(words, 1),
            OBSERVE_MANY: lambda: self._observes(words, BATCH),
        }
        kinds = [RECALL, OBSERVE] if load == MIXED else [load]
        drawn = {kind: list(makers[kind]()) for kind in kinds}
        order = [RECALL] * 4 + [OBSERVE] if load == MIXED else [load]
        self._endless = {kind: cycle(contents) for kind, contents in drawn.items()}
        self._order = cycle(order)

    def next(self) -> Request:
        kind = next(self._order)
        return Request(kind, next(self._endless[kind]))

    def _recalls(self, words: Words) -> Iterator[bytes]:
        for _ in range(DISTINCT_REQUESTS):
            yield self._post("/v1/recall", {"query": words.question(), "limit": HITS})

    def _observes(self, words: Words, each: int) -> Iterator[bytes]:
        for first in range(0, DISTINCT_REQUESTS, each):
            events = [_as_json(words.event(number)) for number in range(first, first + each)]
            yield self._post("/v1/events", {"events": events})

    def _post(self, path: str, value: object) -> bytes:
        body = json.dumps(value).encode()
        head = (
            f"POST {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self._key}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
        )
        return head.encode() + body


def _as_json(draft: EventDraft) -> dict[str, str | None]:
    return {
        "text": draft.text,
        "actor": draft.actor,
        "session": draft.session,
        "severity": draft.severity.value,
    }


async def drive(
    server: ServerProcess, requests: Requests, *, clients: int, seconds: float | None = None, each: int | None = None
) -> Loaded:
    """Run `clients` clients at once, either for `seconds` or until each has had `each` answers."""
    assert (seconds is None) != (each is None)
    answers: dict[str, Answers] = {}
    own, others, began = time.process_time(), server.cpu_seconds(), time.perf_counter()
    end = None if seconds is None else began + seconds

    async def client() -> None:
        line = Connection(server)
        count = 0
        try:
            while count != each and (end is None or time.perf_counter() < end):
                request = requests.next()
                asked = time.perf_counter()
                status = await line.status_of(request.content)
                of_kind = answers.setdefault(request.kind, Answers(request.kind))
                of_kind.times.append((time.perf_counter() - asked) * 1000)
                of_kind.statuses[status] += 1
                count += 1
        finally:
            line.hang_up()

    async with asyncio.TaskGroup() as group:
        for _ in range(clients):
            group.create_task(client())
    return Loaded(
        seconds=time.perf_counter() - began,
        of_clients=time.process_time() - own,
        of_server=server.cpu_seconds() - others,
        answers=answers,
    )


class Connection:
    """A keep-alive connection that is reopened when it is lost."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._ends: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = None

    async def status_of(self, content: bytes) -> str:
        """The status of the answer, or the class name of the error."""
        try:
            async with asyncio.timeout(ANSWER_TIMEOUT):
                return await self._ask(content)
        except (OSError, TimeoutError, asyncio.IncompleteReadError) as error:
            self.hang_up()
            return type(error).__name__

    def hang_up(self) -> None:
        if self._ends is not None:
            self._ends[1].close()
            self._ends = None

    async def _ask(self, content: bytes) -> str:
        if self._ends is None:
            self._ends = await asyncio.open_connection(self._server.host, self._server.port)
        reader, writer = self._ends
        writer.write(content)
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        first, _, fields = head.partition("\r\n")
        await reader.readexactly(_length(fields.split("\r\n")))
        return first.split(" ")[1]


def _length(fields: Sequence[str]) -> int:
    """The length of the body; the server sends it with every answer that is not a stream."""
    for field_ in fields:
        name, _, value = field_.partition(":")
        if name.lower() == "content-length":
            return int(value)
    return 0
