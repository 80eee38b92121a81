"""What outcomes of tasks are worth: simulations with real embeddings, on invented memories (`outcomes_data.py`).

1. A popular distractor: memories that resemble every question about a port and answer none, shown beside the right one.
2. An agent over a made-up month: it asks, uses the first hit, and the world says whether the task succeeded. Several
   memories of a task look equally plausible, one of them is right, and for half of the tasks another one from the
   middle of the month on.
3. What one call changes: the rank of the first hit before and after a rating or a failure, under each preset.

Every arm of a seed sees the same tasks and the same luck. "Counts views" is the default ranking times crewship's law
for references, 1 + log2(shown + 1) / 8; crewship itself is measured too. Writes `outcomes.svg` into a folder.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import random
import time
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from concurrent.futures import Executor, ProcessPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

import numpy as np
from markupsafe import Markup

from benchmarks.outcomes_data import DISTRACTORS, GOLD, OTHERS, PORT_QUESTION, QUESTIONS, SERVICES, TASKS, WAYS
from benchmarks.weights_embedder import KeptEmbedder
from remembrancer import AsyncRemembrancer
from remembrancer.config import Settings
from remembrancer.evaluation.machine import machine_line
from remembrancer.evaluation.statistics import bootstrap_intervals
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.panel import Panel, sample
from remembrancer.models import choose_embedder
from remembrancer.policies.forgetting.dynamics import Dynamics
from remembrancer.policies.forgetting.reinforcement import LogarithmicGain
from remembrancer.policies.ranking.scoring import Expression, Product, Saturating, Signal
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import Preset

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from remembrancer.domain.recall import Recall
    from remembrancer.ports.embedder import EmbeddedQuestion, TokenEmbedder

START: Final = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)
WEEKS: Final = 4
SEEDS: Final = 20
A_DAY: Final = 10
"""Tasks of one day."""
PLAUSIBLE: Final = 4
"""Memories for each kind of task, of which one is right."""
RIGHT_WORKS: Final = 0.95
WRONG_WORKS: Final = 0.1
"""How often a task succeeds with the right memory, and with another one."""
SHOWN: Final = 5
"""Hits that the agent is shown, and whose views are counted."""
FOLDER: Final = Path("build/outcomes")


@dataclass(slots=True)
class Clock:
    now: datetime = START

    def __call__(self) -> datetime:
        return self.now


@dataclass(slots=True)
class Embeddings(KeptEmbedder):
    """Embeds each passage and each question once, because the same ones come again under every seed."""

    asked: dict[str, EmbeddedQuestion] = field(default_factory=dict[str, "EmbeddedQuestion"])

    def question_now(self, text: str) -> EmbeddedQuestion:
        if text not in self.asked:
            self.asked[text] = KeptEmbedder.question_now(self, text)
        return self.asked[text]


def by_views(preset: Preset) -> Preset:
    """The preset's ranking, times crewship's law for references. Without outcomes and thresholds."""

    def counted(score: Expression) -> Expression:
        return Saturating(Product((score, Signal("reinforcement"))))

    ranking = preset.ranking
    assert ranking.first_stage is not None
    return replace(
        preset,
        name="counts-views",
        ranking=replace(
            ranking,
            score=counted(ranking.score),
            first_stage=counted(ranking.first_stage),
            threshold=None,
            outcome_weight=0.0,
        ),
        messages=None,
        dynamics=Dynamics(
            curve=preset.dynamics.curve, counted=CREWSHIP.dynamics.counted, gain=LogarithmicGain(divisor=8)
        ),
    )


@dataclass(frozen=True, slots=True)
class Arm:
    """A way to learn: a preset, and what the agent reports."""

    name: str
    hue: str
    preset: Preset
    views: bool = False
    outcomes: bool = False
    dash: str | None = None


NOTHING: Final = Arm("nothing reported", "ink", DEFAULT)
EXPOSED: Final = Arm("only views reported", "ink", DEFAULT, views=True, dash="5 4")
OUTCOMES: Final = Arm("outcomes", "green", DEFAULT, views=True, outcomes=True)
VIEWS: Final = Arm("counts views", "red", by_views(DEFAULT), views=True)
CREWSHIP_NOTHING: Final = Arm("crewship, nothing reported", "ochre", CREWSHIP, dash="5 4")
CREWSHIP_VIEWS: Final = Arm("crewship, counts views", "ochre", CREWSHIP, views=True)
DISTRACTOR_ARMS: Final = (EXPOSED, OUTCOMES, VIEWS, CREWSHIP_NOTHING, CREWSHIP_VIEWS)
MONTH_ARMS: Final = (NOTHING, OUTCOMES, VIEWS)


@asynccontextmanager
async def remembering(
    preset: Preset, embedder: Embeddings, texts: Sequence[str], clock: Clock
) -> AsyncGenerator[AsyncRemembrancer]:
    rem = await AsyncRemembrancer.open(
        ":memory:", preset=preset, agent="ops", embedder=embedder, clock=clock, settings={"background_index": False}
    )
    async with rem:
        await rem.remember_many(texts)
        await rem.jobs.index_now()
        yield rem


async def asked(rem: AsyncRemembrancer, arm: Arm, question: str) -> Recall:
    found = await rem.recall(question, limit=SHOWN, mark=False)
    if arm.views and found.hits:
        await rem.mark(found, "shown")
    return found


async def told(rem: AsyncRemembrancer, arm: Arm, found: Recall, *, works: bool, task: str) -> None:
    if arm.outcomes and found.hits:
        await rem.outcome("success" if works else "failure", memories=[found[0]], task=task)


def place(found: Recall, right: str) -> int:
    """The rank of a text among the hits; 0: it is not there."""
    return next((hit.rank for hit in found if hit.memory.text == right), 0)


# ── 1. A popular distractor ──────────────────────────────────────────────────────────────────────────────────────────


async def distracted(arm: Arm, embedder: Embeddings, seed: int) -> NDArray[np.float64]:
    """Recall of the right memory at 1 and at 5 by week: shape (weeks, 2). Every question is asked once a week."""
    chance = random.Random(seed)
    ports = dict(zip(SERVICES, chance.sample(range(3000, 9999), len(SERVICES)), strict=True))
    gold = {service: GOLD.format(service=service, port=port) for service, port in ports.items()}
    texts = [*DISTRACTORS, *gold.values(), *(line.format(service=one) for one in SERVICES for line in OTHERS)]
    chance.shuffle(texts)
    clock, weeks = Clock(), list[list[float]]()
    async with remembering(arm.preset, embedder, texts, clock) as rem:
        for _ in range(WEEKS):
            ranks: list[int] = []
            for service in chance.sample(SERVICES, len(SERVICES)):
                clock.now += timedelta(days=7) / len(SERVICES)
                question = PORT_QUESTION.format(service=service)
                found = await asked(rem, arm, question)
                ranks.append(place(found, gold[service]))
                await told(rem, arm, found, works=ranks[-1] == 1, task=question)
            weeks.append([float(np.mean([rank == 1 for rank in ranks])), float(np.mean([rank > 0 for rank in ranks]))])
    return np.array(weeks)


# ── 2. A month of tasks ──────────────────────────────────────────────────────────────────────────────────────────────


async def worked(arm: Arm, embedder: Embeddings, seed: int) -> NDArray[np.float64]:
    """The share of tasks whose right memory is first, and of those that succeed, by week: shape (weeks, 2)."""
    chance = random.Random(seed)
    plausible = {task: [way.format(task=task) for way in chance.sample(WAYS, PLAUSIBLE)] for task in TASKS}
    right = {task: chance.choice(ways) for task, ways in plausible.items()}
    changing = set(chance.sample(TASKS, len(TASKS) // 2))
    later = {
        task: chance.choice([way for way in plausible[task] if way != right[task]]) if task in changing else right[task]
        for task in TASKS
    }
    texts = [text for ways in plausible.values() for text in ways]
    chance.shuffle(texts)
    days = WEEKS * 7
    clock, weeks = Clock(), np.zeros((WEEKS, 2))
    async with remembering(arm.preset, embedder, texts, clock) as rem:
        for day in range(days):
            for _ in range(A_DAY):
                clock.now += timedelta(days=1) / A_DAY
                task, luck = chance.choice(TASKS), chance.random()
                question = chance.choice(QUESTIONS).format(task=task)
                found = await asked(rem, arm, question)
                is_first = place(found, (right if day < days // 2 else later)[task]) == 1
                works = luck < (RIGHT_WORKS if is_first else WRONG_WORKS)
                weeks[day // 7] += (is_first, works)
                await told(rem, arm, found, works=works, task=question)
    return weeks / (7 * A_DAY)


# ── 3. One call ──────────────────────────────────────────────────────────────────────────────────────────────────────


async def demoted(preset: Preset, embedder: Embeddings, change: str, times: int) -> NDArray[np.float64]:
    """Over every other kind of task: the rank of the first hit after it was rated or failed so many times, and its
    score after divided by that before. Shape (tasks, 2).
    """
    chance, rows = random.Random(0), list[tuple[float, float]]()
    plausible = {task: [way.format(task=task) for way in chance.sample(WAYS, PLAUSIBLE)] for task in TASKS}
    clock = Clock()
    async with remembering(preset, embedder, [text for ways in plausible.values() for text in ways], clock) as rem:
        clock.now += timedelta(days=3)
        for task in TASKS[::2]:
            question = QUESTIONS[0].format(task=task)
            before = await rem.recall(question, limit=50, mark=False)
            first = before[0]
            for _ in range(times):
                if change == "failure":
                    await rem.outcome("failure", memories=[first])
                else:
                    await rem.feedback(first.id, change)
            after = await rem.recall(question, limit=50, mark=False)
            hit = next((hit for hit in after if hit.id == first.id), None)
            rows.append((51.0, 0.0) if hit is None else (float(hit.rank), hit.score / first.score))
    return np.array(rows)


SIMULATIONS: Final = {"distractor": distracted, "month": worked}


# ── report ───────────────────────────────────────────────────────────────────────────────────────────────────────────

Weekly = Mapping[str, "NDArray[np.float64]"]
"""For each arm the figures of each seed: shape (seeds, weeks, 2)."""


def simulated(task: tuple[str, str, int]) -> NDArray[np.float64]:
    """One simulation of one arm and seed, in a process of its own."""
    simulation, name, seed = task
    arm = next(arm for arm in (*DISTRACTOR_ARMS, *MONTH_ARMS) if arm.name == name)
    return asyncio.run(SIMULATIONS[simulation](arm, _embedder(), seed))


@cache
def _embedder() -> Embeddings:
    """The local embedder of this process. Raises SystemExit if it is not installed."""
    choice = choose_embedder(Settings(embedder="local"))
    if choice.embedder is None:
        raise SystemExit(choice.absent)
    return Embeddings(cast("TokenEmbedder", choice.embedder), FOLDER / "nothing kept")


def over_seeds(pool: Executor, simulation: str, arms: Iterable[Arm], seeds: int) -> Weekly:
    runs = {
        arm.name: list(pool.map(simulated, [(simulation, arm.name, seed) for seed in range(seeds)])) for arm in arms
    }
    return {name: np.array(several) for name, several in runs.items()}


def interval(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """95 % bootstrap intervals of the means over seeds: shape (columns, 2)."""
    return bootstrap_intervals(values, rng=np.random.default_rng(0))


def table(title: str, found: Weekly, metric: int, against: Iterable[tuple[Arm, Arm]] = ()) -> str:
    weeks = range(1, WEEKS + 1)
    lines = [f"| {title} | " + " | ".join(f"week {week}" for week in weeks) + " |", "|---|" + "---:|" * WEEKS]
    rows = {name: values[:, :, metric] for name, values in found.items()}
    rows |= {f"{one.name} − {other.name}": rows[one.name] - rows[other.name] for one, other in against}
    for name, values in rows.items():
        sign = "+" if "−" in name else ""
        cells = [
            f"{mean:{sign}.3f} ({low:{sign}.3f} to {high:{sign}.3f})"
            for mean, (low, high) in zip(values.mean(axis=0), interval(values), strict=True)
        ]
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def picture(first: Weekly, second: Weekly, seeds: int) -> str:
    arms = {arm.name: arm for arm in (*DISTRACTOR_ARMS, *MONTH_ARMS)}
    weeks = range(1, WEEKS + 1)
    panels = [Panel(x=(0.7, WEEKS + 0.3), y=(0.0, 1.0), left=60.0 + 490.0 * number, width=420.0) for number in range(2)]
    marks = Markup()
    for panel, found, title in zip(panels, (first, second), ("a popular distractor", "a month of tasks"), strict=True):
        marks += panel.levels(f"right memory first: {title}") + panel.names((week, f"week {week}") for week in weeks)
        for name, values in found.items():
            edges, hue = interval(values[:, :, 0]), arms[name].hue
            low, high = (list(zip(weeks, edges[:, side].tolist(), strict=True)) for side in range(2))
            means = zip(weeks, values[:, :, 0].mean(axis=0).tolist(), strict=True)
            marks += panel.area([*low, *reversed(high)], hue, 0.15) + panel.line(means, hue, arms[name].dash)
    legend = [(sample(arm.hue, dash=arm.dash), arm.name) for arm in arms.values()]
    description = f"Share of questions, means over {seeds} seeds with 95 % intervals."
    return document("outcomes", "Outcomes against views", description, [panels[0].picture(marks)], legend)


def run(seeds: int, folder: Path) -> None:
    began, cpu = time.perf_counter(), os.times()
    with ProcessPoolExecutor(os.cpu_count()) as pool:
        first = over_seeds(pool, "distractor", DISTRACTOR_ARMS, seeds)
        second = over_seeds(pool, "month", MONTH_ARMS, seeds)
    print(f"## 1. A popular distractor: {len(SERVICES)} questions a week, {seeds} seeds\n")
    print(table("recall@1", first, 0, [(OUTCOMES, EXPOSED), (VIEWS, EXPOSED), (CREWSHIP_VIEWS, CREWSHIP_NOTHING)]))
    print(table("recall@5", first, 1, [(VIEWS, EXPOSED), (CREWSHIP_VIEWS, CREWSHIP_NOTHING)]))
    print(
        f"## 2. A month of tasks: {A_DAY} a day, {len(TASKS)} kinds of {PLAUSIBLE} plausible memories, {seeds} seeds\n"
    )
    print(table("right memory first", second, 0, [(OUTCOMES, VIEWS), (OUTCOMES, NOTHING)]))
    print(table("tasks that succeeded", second, 1, [(OUTCOMES, VIEWS)]))
    print(asyncio.run(calls()))
    folder.mkdir(parents=True, exist_ok=True)
    drawn = folder / "outcomes.svg"
    drawn.write_text(picture(first, second, seeds))
    spent = sum(os.times()[:4]) - sum(cpu[:4])
    took = f"{time.perf_counter() - began:.0f} s, {spent:.0f} s of CPU; load {os.getloadavg()[0]:.1f}"
    print(f"{machine_line(_embedder())}. {took}. Picture: {drawn}")


async def calls() -> str:
    """The third part, as a table."""
    changes = (("failure", 1), ("failure", 3), ("unhelpful", 1), ("harmful", 1), ("harmful", 3))
    lines = ["## 3. The first hit after one call: mean rank (score after / before)\n"]
    lines.append("| preset | " + " | ".join(f"{times} × {change}" for change, times in changes) + " |")
    lines.append("|---|" + "---:|" * len(changes))
    for name, preset in PRESETS.items():
        cells = [(await demoted(preset, _embedder(), *change)).mean(axis=0) for change in changes]
        lines.append(f"| {name} | " + " | ".join(f"{rank:.1f} (× {share:.3f})" for rank, share in cells) + " |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=SEEDS)
    parser.add_argument("--out", type=Path, default=FOLDER)
    given = parser.parse_args()
    run(given.seeds, given.out)


if __name__ == "__main__":
    main()
