"""Durability: kill writing processes repeatedly, and check that every acknowledged write is still there.

Several processes write to one database, each with several calls in flight: they observe one event or several, remember,
update (by id and by topic), rate, mark, retire, restore, supersede, link, set priorities and erase, while memories are
indexed in the background. Each prints a write before it begins and after it is acknowledged, and is killed with SIGKILL
after a random number of them, while the others go on. Then it is opened again and compared with what was acknowledged:
the rows of each caller are as after its last acknowledged write, or as after the one that was in flight, never between.
Acknowledged events are searched by their words and by their vectors, and one more event is written.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from rich.console import Console
from rich.table import Table

from remembrancer import AsyncRemembrancer, Remembrancer
from remembrancer.evaluation.machine import machine_line
from remembrancer.testing.doubles import HashEmbedder

WRITERS: Final = 3
IN_FLIGHT: Final = 4
SESSIONS: Final = 3
TOGETHER: Final = 4
"""The events of one `observe_many`."""
SEARCHED: Final = 40
"""How many acknowledged events of a round are searched."""

Write = tuple[str, ...]
"""A kind of write, and the names of the rows that it is about. The name of a row is the first word of its text."""
Facts = frozenset[tuple[Any, ...]]


@dataclass(frozen=True, slots=True)
class Bird:
    """A memory, as far as the writes change it."""

    version: int = 1
    helped: int = 0
    used: int = 0
    status: str = "active"
    successor: str = ""


@dataclass(slots=True)
class Rows:
    """The rows of one caller: events by name with their priority, memories by name, and the links between these."""

    events: dict[str, str] = field(default_factory=dict[str, str])
    memories: dict[str, Bird] = field(default_factory=dict[str, Bird])
    links: set[tuple[str, str]] = field(default_factory=set[tuple[str, str]])

    def apply(self, write: Write) -> None:
        kind, name, *other = write
        match kind:
            case "observe":
                self.events[name] = "normal"
            case "observe_many":
                self.events.update(dict.fromkeys(together(name), "normal"))
            case "priority":
                self.events[name] = "high"
            case "remember":
                self.memories[name] = Bird()
            case "erase":
                del self.memories[name]
            case "link":
                self.links.add((name, other[0]))
            case "supersede":
                self.memories[name] = replace(self.memories[name], successor=other[0])
            case _:
                bird = self.memories[name]
                self.memories[name] = {
                    "update": replace(bird, version=bird.version + 1),
                    "topic": replace(bird, version=bird.version + 1),
                    "helpful": replace(bird, helped=bird.helped + 1),
                    "used": replace(bird, used=bird.used + 1),
                    "retire": replace(bird, status="retired"),
                    "restore": replace(bird, status="active"),
                }[kind]

    def facts(self) -> Facts:
        memories = [(name, *asdict(bird).values()) for name, bird in self.memories.items()]
        return frozenset([*self.events.items(), *memories, *(("link", *ends) for ends in self.links)])

    def next_write(self, chance: random.Random, name: str) -> Write:
        """A write that these rows allow. `name`: that of a new row."""
        current = [one for one, bird in self.memories.items() if bird.status == "active" and not bird.successor]
        retired = [one for one, bird in self.memories.items() if bird.status == "retired"]
        tied = {end for ends in self.links for end in ends} | {bird.successor for bird in self.memories.values()}
        alone = [one for one in current if one not in tied]
        plain = [one for one, priority in self.events.items() if priority == "normal"]
        choices: list[Write] = [("observe", f"kestrel{name}"), ("remember", f"wren{name}")]
        choices.append(("observe_many", f"kestrel{name}"))
        if current:
            choices += [(kind, chance.choice(current)) for kind in ("update", "topic", "helpful", "used", "retire")]
        if len(current) > 1:
            old, new = chance.sample(current, 2)
            choices += [("link", old, new), ("supersede", old, new)]
        if retired:
            choices.append(("restore", chance.choice(retired)))
        if plain:
            choices.append(("priority", chance.choice(plain)))
        if alone and chance.random() < 0.5:  # each rewrites a file
            choices.append(("erase", chance.choice(alone)))
        return chance.choice(choices)


def together(name: str) -> list[str]:
    """The names of the events that are observed together."""
    return [f"{name}y{number}" for number in range(TOGETHER)]


def event_text(name: str) -> str:
    return f"{name} was seen by the barn"


def memory_text(name: str, version: int) -> str:
    return f"{name} {version} times nested in the wall"


@dataclass(slots=True)
class Caller:
    """The acknowledged rows of one caller, how many writes of each kind made them, and the write in flight."""

    rows: Rows = field(default_factory=Rows)
    acknowledged: list[str] = field(default_factory=list[str])
    in_flight: Write | None = None

    def may_be(self) -> list[Facts]:
        """What may be in the database: the acknowledged rows, or those and the write in flight."""
        states = [self.rows.facts()]
        if self.in_flight is not None:
            self.rows.apply(self.in_flight)
            states.append(self.rows.facts())
        return states


@dataclass(frozen=True, slots=True)
class Round:
    """One kill of each writer. `kinds`: the acknowledged writes by kind.

    `lost`: rows that are not as acknowledged. `unworded`, `unvectored`: acknowledged events that are not found by
    lexical search, not found by vector search. `gaps`: streams whose sequence numbers are not 1, 2, 3 …. `opened`:
    milliseconds to open it again and write one row.
    """

    acknowledged: int
    kinds: dict[str, int]
    in_flight: int
    lost: int
    unworded: int
    unvectored: int
    gaps: int
    faults: tuple[str, ...]
    opened: float


def kill_rounds(db: str, *, rounds: int, seed: int) -> Iterator[Round]:
    """`db`: a file or the address of a server."""
    chance = random.Random(seed)
    settled: dict[str, Facts] = {}
    for number in range(rounds):
        callers: dict[str, Caller] = {}
        with ThreadPoolExecutor(WRITERS) as threads:
            told = [
                threads.submit(_told_before_kill, db, f"{number}x{writer}", chance.randint(20, 200))
                for writer in range(WRITERS)
            ]
            for lines in told:
                callers.update(callers_of(lines.result()))
        yield check(db, number, callers, settled)


def _told_before_kill(db: str, writer: str, count: int) -> list[str]:
    """The lines of a writer that is killed after it has acknowledged at least `count` writes."""
    command = [sys.executable, "-m", "benchmarks.kill", "--write", db, writer]
    lines: list[str] = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        acknowledged = 0
        while acknowledged < count and (line := process.stdout.readline()):
            lines.append(line)
            acknowledged += line.startswith("done")
        process.kill()
        lines += process.stdout.readlines()  # printed before the signal reached it
    # A cut last line is dropped: its call had returned, but the acknowledgement did not arrive complete.
    return [line for line in lines if line.endswith("\n")]


def callers_of(lines: list[str]) -> dict[str, Caller]:
    callers: dict[str, Caller] = defaultdict(Caller)
    for line in lines:
        said, name, *write = line.split()
        caller = callers[name]
        if said == "begin":
            caller.in_flight = tuple(write)
        else:
            caller.rows.apply(tuple(write))
            caller.acknowledged.append(write[0])
            caller.in_flight = None
    return callers


def check(db: str, number: int, callers: dict[str, Caller], settled: dict[str, Facts]) -> Round:
    """Compare the database with what was acknowledged, in this round and before. `settled`: the rows of earlier rounds,
    to which those of this one are added.
    """
    began = time.perf_counter()
    with _open(db) as rem, tempfile.TemporaryDirectory() as folder:
        rem.observe(f"the round after round {number}", session="after")
        opened = (time.perf_counter() - began) * 1000
        found = _found(rem, Path(folder) / "round.jsonl")
        lost = sum(len(facts ^ found.get(name, frozenset())) for name, facts in settled.items())
        acknowledged = [name for caller in callers.values() for name in caller.rows.events]
        kinds = [kind for caller in callers.values() for kind in caller.acknowledged]
        in_flight = sum(caller.in_flight is not None for caller in callers.values())
        for name, caller in callers.items():
            settled[name] = found.get(name, frozenset())
            lost += min(len(facts ^ settled[name]) for facts in caller.may_be())
        places: dict[str | None, list[int]] = defaultdict(list)
        for event in rem.journal.list(limit=10_000):
            places[event.scope.session].append(event.seq)
        searched = random.Random(number).sample(acknowledged, min(SEARCHED, len(acknowledged)))
        unworded = sum(not _ranked_first(rem, name, name, "lexical") for name in searched)
        rem.jobs.index_now()
        unvectored = sum(not _ranked_first(rem, name, event_text(name), "dense") for name in searched)
        faults = tuple(f"{finding.check}: {finding.detail}" for finding in rem.health.doctor() if not finding.ok)
    return Round(
        acknowledged=len(kinds),
        kinds={kind: kinds.count(kind) for kind in sorted(set(kinds))},
        in_flight=in_flight,
        lost=lost,
        unworded=unworded,
        unvectored=unvectored,
        gaps=sum(sorted(seqs) != list(range(1, len(seqs) + 1)) for seqs in places.values()),
        faults=faults,
        opened=opened,
    )


def _found(rem: Remembrancer, export: Path) -> dict[str, Facts]:
    """What the database holds of each caller."""
    rem.export(export)
    exported = [json.loads(line) for line in export.read_text(encoding="utf-8").splitlines()]
    of = {row["id"]: row["text"].split()[0] for row in exported if row["record"] == "memory"}
    found: dict[str, Rows] = defaultdict(Rows)
    for row in exported:
        match row["record"]:
            case "event":
                name = row["text"].split()[0]
                found[_caller_of(name)].events[name] = row["priority"]
            case "memory" if row["text"].startswith("wren"):
                name, version, *_ = row["text"].split()
                successor = of.get(row["superseded_by"] or "", "")
                bird = Bird(int(version), row["helped"], row["used"], row["status"], successor)
                found[_caller_of(name)].memories[name] = bird
            case "relation" if row["kind"] == "supports":
                found[_caller_of(of[row["source"]])].links.add((of[row["source"]], of[row["target"]]))
            case _:
                pass
    return {name: rows.facts() for name, rows in found.items()}


def _caller_of(name: str) -> str:
    """The caller in the name of a row, such as 0x1x2 in kestrel0x1x2x17."""
    return "x".join(name.removeprefix("kestrel").removeprefix("wren").split("x")[:3])


def _ranked_first(rem: Remembrancer, name: str, question: str, leg: str) -> bool:
    """Whether the leg ranks the event first."""
    hits = rem.recall(question, limit=10).hits
    return any(hit.cue.text == event_text(name) and hit.explanation.ranks.get(leg) == 1 for hit in hits)


def _open(db: str) -> Remembrancer:
    return Remembrancer.open(
        db, workspace="killed", agent="ana", embedder=HashEmbedder(64), settings={"background_index": False}
    )


class Writer:
    """One caller of a writing process: writes until the process is killed."""

    def __init__(self, rem: AsyncRemembrancer, name: str) -> None:
        self._rem = rem
        self._name = name
        self._rows = Rows()
        self._ids: dict[str, UUID] = {}

    async def write_for_ever(self) -> None:
        chance = random.Random(self._name)
        number = 0
        while True:
            number += 1
            write = self._rows.next_write(chance, f"{self._name}x{number}")
            print("begin", self._name, *write, flush=True)
            await self._do(write, session=f"session-{number % SESSIONS}")
            self._rows.apply(write)
            print("done", self._name, *write, flush=True)

    async def _do(self, write: Write, *, session: str) -> None:
        kind, name, *other = write
        rem, identifier = self._rem, self._ids.get(name)
        match kind:
            case "observe":
                self._ids[name] = (await rem.observe(event_text(name), session=session)).id
            case "observe_many":
                drafts = [{"text": event_text(one), "session": session} for one in together(name)]
                self._ids |= {event.text.split()[0]: event.id for event in await rem.observe_many(drafts)}
            case "remember":
                self._ids[name] = (await rem.remember(memory_text(name, 1), topic_key=name)).id
            case "topic":
                version = self._rows.memories[name].version + 1
                assert (await rem.remember(memory_text(name, version), topic_key=name)).id == identifier
            case "supersede" | "link":
                target = self._ids[other[0]]
                await (rem.supersede if kind == "supersede" else self._link)(self._ids[name], target)
            case _:
                assert identifier is not None
                doing: dict[str, Callable[[], Awaitable[object]]] = {
                    "update": lambda: rem.update(
                        identifier, text=memory_text(name, self._rows.memories[name].version + 1)
                    ),
                    "helpful": lambda: rem.feedback(identifier, "helpful"),
                    "used": lambda: rem.mark([identifier], "used"),
                    "retire": lambda: rem.forget(identifier),
                    "restore": lambda: rem.restore(identifier),
                    "priority": lambda: rem.journal.set_priority(identifier, "high", "it matters"),
                    "erase": lambda: rem.erase(ids=[identifier]),
                }
                await doing[kind]()

    async def _link(self, source: UUID, target: UUID) -> None:
        await self._rem.link(source, target, "supports")


async def write(db: str, writer: str) -> None:
    """Write until the process is killed."""
    async with await AsyncRemembrancer.open(
        db, workspace="killed", agent="ana", role="LEAD", embedder=HashEmbedder(64)
    ) as rem:
        await asyncio.gather(*(Writer(rem, f"{writer}x{n}").write_for_ever() for n in range(IN_FLIGHT)))


def _table(rounds: list[Round]) -> Table:
    table = Table(title=f"{len(rounds)} times {WRITERS} writers killed on one database", title_justify="left")
    columns = (
        "round",
        "writes",
        "kinds",
        "lost",
        "not by words",
        "not by vector",
        "gaps",
        "faults",
        "cut off",
        "open ms",
    )
    for heading in columns:
        table.add_column(heading, justify="right")
    for number, one in enumerate(rounds, start=1):
        counts = (
            number, one.acknowledged, len(one.kinds), one.lost, one.unworded, one.unvectored, one.gaps, len(one.faults),
            one.in_flight,
        )  # fmt: skip
        table.add_row(*map(str, counts), f"{one.opened:.0f}")
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--db", metavar="URL", help="an empty database (a new SQLite file)")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    return parser


def main() -> None:
    options = _parser().parse_args()
    if options.write:
        asyncio.run(write(*options.write))
        return
    with tempfile.TemporaryDirectory() as folder:
        db = options.db or f"{folder}/killed.db"
        rounds = list(kill_rounds(db, rounds=options.rounds, seed=options.seed))
    if options.json:
        print(json.dumps([asdict(one) for one in rounds]))
        return
    console = Console(width=120)
    console.print(machine_line())
    console.print(_table(rounds))
    acknowledged = sum(one.acknowledged for one in rounds)
    console.print(f"{acknowledged} writes acknowledged, {sum(one.lost for one in rounds)} rows not as acknowledged")


if __name__ == "__main__":
    main()
