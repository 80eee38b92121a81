"""Which process answers which workspace: a simulation of tenants whose sizes and traffic follow Zipf's law.

Each process has one core, a queue, and a budget for resident indexes; the least recently used ones are dropped. A
question to a workspace that is not resident loads it first. The costs are those of the resident index, measured on one
machine (`--measure` measures them on this one). The same arguments give the same result.
"""

from __future__ import annotations

import argparse
import asyncio
import random
import time
from collections import OrderedDict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from hashlib import blake2b
from itertools import accumulate
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import Words
from remembrancer import AsyncRemembrancer
from remembrancer.evaluation.machine import machine_line
from remembrancer.index.resident import ResidentIndex
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.panel import Panel, sample
from remembrancer.testing.doubles import WordHashEmbedder

SHARES: Final = (0.05, 0.1, 0.25, 0.5, 1.0)
"""The budgets of all processes together, as shares of the bytes of all workspaces."""
DIM: Final = 384
MEASURED: Final = (1_000, 10_000)
"""The sizes of the workspaces that are measured."""


@dataclass(frozen=True, slots=True)
class Costs:
    """Of the resident index: seconds of a question in an empty workspace, and for each memory in it; seconds of loading
    and bytes, for each memory.
    """

    question_s: float
    question_s_per_memory: float
    load_s: float
    bytes: float

    def __str__(self) -> str:
        return (
            f"a question: {self.question_s * 1e3:.1f} ms and {self.question_s_per_memory * 1e9:.0f} ns a memory;"
            f" loading: {self.load_s * 1e6:.0f} µs a memory; {self.bytes:,.0f} bytes a memory"
        )


COSTS: Final = Costs(question_s=5.7e-3, question_s_per_memory=2.8e-7, load_s=2.5e-5, bytes=1_941.0)
"""As measured over PostgreSQL 18 on an AMD EPYC VM with 2 shared cores."""


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """Workspaces and questions. `size_exponent`, `traffic_exponent`: the n-th largest has a share of 1 / n^exponent.

    `largest`: the most memories of a workspace; larger ones are not held by a resident index. `likeness`, in [0, 1]:
    how far large workspaces are also those that are asked often; 0: not at all. `rate`: questions a second.
    """

    tenants: int = 10_000
    memories: int = 10_000_000
    largest: int = 100_000
    processes: int = 8
    size_exponent: float = 1.0
    traffic_exponent: float = 1.0
    likeness: float = 0.5
    rate: float = 20.0
    questions: int = 100_000
    seed: int = 1


@dataclass(frozen=True, slots=True)
class Question:
    at: float
    workspace: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """`hits`: the share of questions whose workspace was resident. `p50` to `p99`: seconds from the arrival of a
    question to its answer. `bytes`: resident in all processes at the end. `busiest`: the share of the time that the
    busiest process needs for its questions; 1 or more if they come faster than it answers.
    """

    hits: float
    p50: float
    p95: float
    p99: float
    bytes: float
    busiest: float

    @property
    def is_overloaded(self) -> bool:
        """Whether a queue grows without an end, so that the times depend on how long one looks."""
        return self.busiest >= 1.0


class Process:
    """One core with resident indexes."""

    def __init__(self, budget: float) -> None:
        self._budget = budget
        self._resident: OrderedDict[int, float] = OrderedDict()
        self.bytes = 0.0
        self.free_at = 0.0
        self.busy = 0.0

    def has(self, workspace: int, size: float) -> bool:
        """Use a workspace, and drop others if it is new and there is no room. Whether it was resident."""
        if workspace in self._resident:
            self._resident.move_to_end(workspace)
            return True
        self._resident[workspace] = size
        self.bytes += size
        while self.bytes > self._budget and len(self._resident) > 1:
            self.bytes -= self._resident.popitem(last=False)[1]
        return False


Placement = Callable[[int, Sequence[Process]], int]
"""The process for a question to a workspace."""


def sizes_of(world: World) -> list[int]:
    """The memories of each workspace, from 1 to `largest`."""
    weights = [1 / (rank + 1) ** world.size_exponent for rank in range(world.tenants)]
    total = sum(weights)
    return [min(world.largest, max(1, round(world.memories * weight / total))) for weight in weights]


def asked_in(world: World) -> list[Question]:
    """The questions, as a Poisson process."""
    chance = random.Random(world.seed)
    # A copy of the ranks by size, disturbed: the more, the less alike.
    disturbed = [
        world.likeness * rank / world.tenants + (1 - world.likeness) * chance.random() for rank in range(world.tenants)
    ]
    by_traffic = sorted(range(world.tenants), key=disturbed.__getitem__)
    weights = list(accumulate(1 / (rank + 1) ** world.traffic_exponent for rank in range(world.tenants)))
    drawn = chance.choices(by_traffic, cum_weights=weights, k=world.questions)
    arrivals = accumulate(chance.expovariate(world.rate) for _ in drawn)
    return [Question(at, workspace) for at, workspace in zip(arrivals, drawn, strict=True)]


def simulate(world: World, asked: Sequence[Question], costs: Costs, place: Placement, share: float) -> Outcome:
    """`share`: the budget of all processes together, as a share of the bytes of all workspaces. The first half of the
    questions fills the caches and is not counted.
    """
    sizes = sizes_of(world)
    budget = share * sum(sizes) * costs.bytes / world.processes
    processes = [Process(budget) for _ in range(world.processes)]
    took, hits, counted = list[float](), 0, len(asked) // 2
    for number, question in enumerate(asked):
        process = processes[place(question.workspace, processes)]
        size = sizes[question.workspace]
        resident = process.has(question.workspace, size * costs.bytes)
        busy = costs.question_s + costs.question_s_per_memory * size + (0.0 if resident else costs.load_s * size)
        process.free_at = max(process.free_at, question.at) + busy
        if number >= len(asked) - counted:
            process.busy += busy
            hits += resident
            took.append(process.free_at - question.at)
    took.sort()
    return Outcome(
        hits=hits / counted,
        p50=took[counted // 2],
        p95=took[counted * 95 // 100],
        p99=took[counted * 99 // 100],
        bytes=sum(process.bytes for process in processes),
        busiest=max(process.busy for process in processes) / (asked[-1].at - asked[-counted].at),
    )


def ranked(workspace: int, processes: int) -> list[int]:
    """The processes of a workspace by rendezvous hashing (Thaler and Ravishankar, 1998): the one whose hash together
    with the workspace is the greatest comes first.
    """
    return sorted(range(processes), key=lambda process: _hashed(f"{workspace} {process}"), reverse=True)


def _hashed(text: str) -> bytes:
    return blake2b(text.encode(), digest_size=8).digest()


def rendezvous(world: World) -> Placement:
    """A workspace has one process."""
    first = [ranked(workspace, world.processes)[0] for workspace in range(world.tenants)]
    return lambda workspace, _: first[workspace]


def rendezvous_of_two(world: World) -> Placement:
    """A workspace has two processes; the one that is free first answers."""
    two = [ranked(workspace, world.processes)[:2] for workspace in range(world.tenants)]
    return lambda workspace, processes: min(two[workspace], key=lambda one: processes[one].free_at)


def at_random(world: World) -> Placement:
    chance = random.Random(world.seed + 1)
    return lambda _, processes: chance.randrange(len(processes))


def in_turn(world: World) -> Placement:
    last = -1

    def place(_: int, processes: Sequence[Process]) -> int:
        nonlocal last
        last = (last + 1) % len(processes)
        return last

    return place


PLACEMENTS: Final[dict[str, tuple[Callable[[World], Placement], str]]] = {
    "rendezvous": (rendezvous, "blue"),
    "rendezvous of two": (rendezvous_of_two, "green"),
    "random": (at_random, "ochre"),
    "round robin": (in_turn, "violet"),
}
"""Each with its colour."""


def moved(world: World) -> float:
    """The share of workspaces that change their process when one process is added, by rendezvous hashing."""
    before = (ranked(workspace, world.processes)[0] for workspace in range(world.tenants))
    after = (ranked(workspace, world.processes + 1)[0] for workspace in range(world.tenants))
    return sum(one != other for one, other in zip(before, after, strict=True)) / world.tenants


Outcomes = dict[str, dict[float, Outcome]]
"""By placement and share."""


def outcomes(world: World, costs: Costs, shares: Sequence[float] = SHARES) -> Outcomes:
    asked = asked_in(world)
    return {
        name: {share: simulate(world, asked, costs, made(world), share) for share in shares}
        for name, (made, _) in PLACEMENTS.items()
    }


def sheet(found: Outcomes) -> Table:
    table = Table(title="Workspaces on processes")
    table.add_column("placement")
    for head in ("budget", "resident", "p50 ms", "p95 ms", "p99 ms", "GB", "busiest"):
        table.add_column(head, justify="right")
    for name, by_share in found.items():
        for share, one in by_share.items():
            times = ["∞" if one.is_overloaded else f"{seconds * 1e3:,.0f}" for seconds in (one.p50, one.p95, one.p99)]
            table.add_row(
                name, f"{share:.0%}", f"{one.hits:.1%}", *times, f"{one.bytes / 1e9:.1f}", f"{one.busiest:.0%}"
            )
    return table


def picture(found: Outcomes, world: World) -> str:
    """An SVG: the share of questions that find their workspace resident, by budget."""
    shares = [share for by_share in found.values() for share in by_share]
    panel = Panel(x=(min(shares), max(shares)), log=True, left=50.0, width=940.0)
    marks = panel.levels("share of questions whose workspace is resident")
    marks += panel.names(
        [(share, f"{share:.0%}") for share in sorted(set(shares))],
        "memory of all processes together, as a share of all workspaces' indexes",
    )
    for name, by_share in found.items():
        hue = PLACEMENTS[name][1]
        points = [(share, one.hits) for share, one in by_share.items()]
        marks += panel.line(points, hue)
        for point in points:
            marks += panel.dot(point, hue)
    description = (
        f"{world.tenants:,} workspaces with {sum(sizes_of(world)):,} memories, sizes and traffic by Zipf's law;"
        f" {world.processes} processes; {world.questions:,} questions. Simulated."
    )
    legend = [(sample(hue), name) for name, (_, hue) in PLACEMENTS.items()]
    return document("placement", "Workspaces on processes", description, [panel.picture(marks)], legend)


async def measured(address: str) -> Costs:
    """The costs of the resident index over an empty store, on this machine, from workspaces of two sizes: CPU of this
    process, so that other programs do not disturb it. What a server computes for it is not counted.
    """
    words, embedder = Words(seed=1), WordHashEmbedder(DIM)
    seconds, loading, nbytes = dict[int, float](), dict[int, float](), dict[int, float]()
    for size in MEASURED:
        async with await AsyncRemembrancer.open(address, embedder=embedder, workspace=f"w{size}") as rem:
            await rem.observe_many([words.event(number) for number in range(size)])
            await rem.jobs.index_now()
        cold, warm = list[float](), list[float]()
        for _ in range(3):
            index, settings = ResidentIndex(), {"background_index": False}
            async with await AsyncRemembrancer.open(
                address, embedder=embedder, workspace=f"w{size}", settings=settings, index=index
            ) as rem:
                times = [await _asked(rem, words.question()) for _ in range(30)]
                cold.append(times[0])
                warm += times[5:]
                nbytes[size] = index.nbytes
        warm.sort()
        seconds[size] = warm[len(warm) // 2]
        loading[size] = max(0.0, min(cold) - seconds[size])
    small, large = MEASURED
    slope = max(0.0, (seconds[large] - seconds[small]) / (large - small))
    return Costs(
        question_s=seconds[small] - slope * small,
        question_s_per_memory=slope,
        load_s=loading[large] / large,
        bytes=nbytes[large] / large,
    )


async def _asked(rem: AsyncRemembrancer, question: str) -> float:
    began = time.process_time()
    await rem.recall(question)
    return time.process_time() - began


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    usual = World()
    for name in ("tenants", "memories", "largest", "processes", "questions", "seed"):
        parser.add_argument(f"--{name}", type=int, default=getattr(usual, name))
    for name in ("size_exponent", "traffic_exponent", "likeness", "rate"):
        parser.add_argument(f"--{name.replace('_', '-')}", type=float, default=getattr(usual, name))
    parser.add_argument("--measure", action="store_true", help="measure the costs on this machine (a minute)")
    parser.add_argument("--db", help="the empty store to measure over, such as postgresql://…; else a file")
    parser.add_argument("--out", type=Path, help="write the picture, an SVG, to this file")
    given = vars(parser.parse_args())
    console, costs = Console(width=110), COSTS
    measure, db, out = (given.pop(name) for name in ("measure", "db", "out"))
    if measure:
        with TemporaryDirectory() as folder:
            costs = asyncio.run(measured(db or f"{folder}/measured.db"))
        console.print(machine_line())
    console.print(str(costs))
    world = replace(usual, **given)
    found = outcomes(world, costs)
    console.print(sheet(found))
    console.print(f"a process more: {moved(world):.1%} of the workspaces change their process (rendezvous)")
    if out is not None:
        out.write_text(picture(found, world), encoding="utf-8")


if __name__ == "__main__":
    main()
