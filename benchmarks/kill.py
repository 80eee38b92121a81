"""Durability: kill a writing process repeatedly, and check that every acknowledged event is still there.

The writer observes with several calls in flight while memories are indexed in the background, and prints each
acknowledged event. After a random number of events it is killed with SIGKILL. Then the file is opened again, each
acknowledged event is searched by its words and by its vector, and one more event is written.
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
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from remembrancer import AsyncRemembrancer, Remembrancer
from remembrancer.evaluation.machine import machine_line
from remembrancer.testing.doubles import HashEmbedder

IN_FLIGHT: Final = 8
SESSIONS: Final = 3


@dataclass(frozen=True, slots=True)
class Round:
    """One kill. `kept`: rows that were written but never acknowledged, which is allowed.

    `lost`, `unworded`, `unvectored`: acknowledged events that are missing, not found by lexical search, not found by
    vector search. `gaps`: streams whose sequence numbers are not 1, 2, 3 …. `opened`: milliseconds to open the file
    again and write one row.
    """

    acknowledged: int
    kept: int
    lost: int
    unworded: int
    unvectored: int
    gaps: int
    faults: tuple[str, ...]
    opened: float


def kill_rounds(path: Path, *, rounds: int, seed: int) -> Iterator[Round]:
    chance = random.Random(seed)
    before = 0
    for number in range(rounds):
        acknowledged = _acknowledged_before_kill(path, number, chance.randint(20, 200))
        outcome, before = _check(path, number, acknowledged, before)
        yield outcome


def _acknowledged_before_kill(path: Path, number: int, count: int) -> dict[str, str]:
    """The acknowledged events, text by id, of a writer that is killed after it has printed at least `count`."""
    command = [sys.executable, "-m", "benchmarks.kill", "--write", str(path), str(number)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        lines = [process.stdout.readline() for _ in range(count)]
        process.kill()
        lines += process.stdout.readlines()  # acknowledged before the signal arrived
    # A cut last line is dropped: its call had returned, but the acknowledgement did not arrive complete.
    whole = [line.removesuffix("\n").partition(" ") for line in lines if line.endswith("\n")]
    return {event_id: text for event_id, _, text in whole}


def _check(path: Path, number: int, acknowledged: dict[str, str], before: int) -> tuple[Round, int]:
    began = time.perf_counter()
    with _open(path) as rem:
        rem.observe(f"the round after round {number}", session="after")
        opened = (time.perf_counter() - began) * 1000
        places: dict[str | None, list[int]] = defaultdict(list)
        there: set[str] = set()
        for event in rem.journal.list(limit=10_000):
            there.add(str(event.id))
            places[event.scope.session].append(event.seq)
        unworded = sum(
            not _ranked_first(rem, event_id, text.split()[0], "lexical") for event_id, text in acknowledged.items()
        )
        rem.jobs.index_now()
        unvectored = sum(not _ranked_first(rem, event_id, text, "dense") for event_id, text in acknowledged.items())
        faults = tuple(f"{finding.check}: {finding.detail}" for finding in rem.health.doctor() if not finding.ok)
    outcome = Round(
        acknowledged=len(acknowledged),
        kept=len(there) - before - len(acknowledged) - 1,
        lost=len(acknowledged.keys() - there),
        unworded=unworded,
        unvectored=unvectored,
        gaps=sum(sorted(seqs) != list(range(1, len(seqs) + 1)) for seqs in places.values()),
        faults=faults,
        opened=opened,
    )
    return outcome, len(there)


def _ranked_first(rem: Remembrancer, event_id: str, question: str, leg: str) -> bool:
    """Whether that search ranks the event first."""
    hits = rem.recall(question, limit=10).hits
    return any(str(hit.cue.event_id) == event_id and hit.explanation.ranks.get(leg) == 1 for hit in hits)


def _open(path: Path) -> Remembrancer:
    return Remembrancer.open(
        str(path), workspace="killed", agent="ana", embedder=HashEmbedder(64), settings={"background_index": False}
    )


async def _write(path: Path, number: int) -> None:
    """Observe until the process is killed."""

    async def observe(rem: AsyncRemembrancer, worker: int) -> None:
        n = 0
        while True:
            n += 1
            text = f"kestrel{number}x{worker}x{n} was seen by the barn"  # the first word is unique to this event
            event = await rem.observe(text, session=f"session-{n % SESSIONS}")
            print(event.id, text, flush=True)

    async with await AsyncRemembrancer.open(
        str(path), workspace="killed", agent="ana", embedder=HashEmbedder(64)
    ) as rem:
        await asyncio.gather(*(observe(rem, worker) for worker in range(IN_FLIGHT)))


def _table(rounds: list[Round]) -> Table:
    table = Table(title=f"{len(rounds)} writers killed on one file", title_justify="left")
    columns = (
        "round",
        "acknowledged",
        "lost",
        "not by words",
        "not by vector",
        "gaps",
        "faults",
        "unacknowledged",
        "open ms",
    )
    for heading in columns:
        table.add_column(heading, justify="right")
    for number, one in enumerate(rounds, start=1):
        counts = (number, one.acknowledged, one.lost, one.unworded, one.unvectored, one.gaps, len(one.faults), one.kept)
        table.add_row(*map(str, counts), f"{one.opened:.0f}")
    return table


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.kill", description=__doc__)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    return parser


def main() -> None:
    options = _parser().parse_args()
    if options.write:
        path, number = options.write
        asyncio.run(_write(Path(path), int(number)))
        return
    with tempfile.TemporaryDirectory() as folder:
        rounds = list(kill_rounds(Path(folder) / "killed.db", rounds=options.rounds, seed=options.seed))
    if options.json:
        print(json.dumps([asdict(one) for one in rounds]))
        return
    console = Console(width=120)
    console.print(machine_line())
    console.print(_table(rounds))
    acknowledged = sum(one.acknowledged for one in rounds)
    console.print(f"{acknowledged} rows acknowledged, {sum(one.lost for one in rounds)} lost")


if __name__ == "__main__":
    main()
