"""Simulate two weeks of work under each preset, and report what was formed, reviewed, condensed and forgotten each day.

Six agents of three crews produce 20,000 events, notes, questions and feedback on answers, with a simulated clock
(benchmarks/life_days.py). Jobs run on their schedule, checked every ten minutes by day and every hour by night; on one
day none runs, and the next round catches up. Then a month passes without events. At the end all rows are checked
against invariants (benchmarks/life_audit.py); the exit code is 1 if one is violated.

For presets whose jobs need a language model, a rule-based stand-in answers (benchmarks/life_model.py); its texts say
nothing about the quality of a real model. It is unavailable for four hours of one day. `default` runs without it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.life_days import DAYS, START, Life, make_life
from benchmarks.life_run import DOWN, MEASURES, ORDER, LifeResult, live
from remembrancer.config import Settings
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.evaluation.machine import machine_line
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder
from remembrancer.presets.catalogue import PRESETS, preset_named

EVENTS: Final = 20_000
QUIET_DAYS: Final = 31
WIDTH: Final = 160


def needs_model(name: str) -> bool:
    """Whether the preset has a job that calls a language model."""
    preset = PRESETS[name]
    asking = (preset.review, preset.facts, preset.extraction, preset.rules, preset.sleep, preset.clusters)
    return any(part is not None for part in asking)


async def run(
    names: Sequence[str],
    life: Life,
    embedder: Embedder | None,
    *,
    with_model: bool,
    quiet_days: int,
    often: timedelta,
    out: Path | None,
) -> list[LifeResult]:
    results: list[LifeResult] = []
    for name in names:
        print(f"living under {name} …", file=sys.stderr, flush=True)
        with tempfile.TemporaryDirectory() as folder:
            results.append(
                await live(
                    life,
                    preset_named(name),
                    embedder,
                    Path(folder) / "life.db",
                    with_model=with_model and needs_model(name),
                    quiet_days=quiet_days,
                    often=often,
                    out=out,
                )
            )
    return results


def day_by_day(lived: LifeResult) -> Table:
    """One row per day, one for the quiet period and one for the total; only columns with a count."""
    total = lived.total
    measures = [measure for measure in MEASURES if total[measure]]
    drawn = Table(title=f"{lived.preset} (model: {lived.model}, embedder: {lived.embedder})", title_justify="left")
    drawn.add_column("day")
    for measure in measures:
        drawn.add_column(measure, justify="right")
    for number, day in enumerate(lived.days):
        quiet = number == DAYS
        name = "quiet" if quiet else f"{START.replace(day=START.day + number):%a %d}"
        drawn.add_row(name, *(f"{day.get(measure, 0):,}" for measure in measures), end_section=number >= DAYS - 1)
    drawn.add_row("all", *(f"{total[measure]:,}" for measure in measures))
    return drawn


def side_by_side(several: Sequence[LifeResult]) -> Table:
    """One column per preset: totals, and the state of its memory at the end."""
    drawn = Table(title="In all", title_justify="left")
    drawn.add_column("")
    for one in several:
        drawn.add_column(one.preset, justify="right")
    rows = {measure: [one.total[measure] for one in several] for measure in MEASURES}
    statuses = sorted({status for one in several for status in one.audit.statuses})
    rows |= {f"memories {status}": [one.audit.statuses.get(status, 0) for one in several] for status in statuses}
    rows |= {
        "of them expired": [one.audit.expired for one in several],
        "of them superseded": [one.audit.superseded for one in several],
        "current after two weeks": [one.current[0] for one in several],
        "faded by then": [one.faded[0] for one in several],
        "faded a month later": [one.faded[1] for one in several],
        "file, MB": [one.bytes // 1_000_000 for one in several],
    }
    for name, values in rows.items():
        if any(values):
            drawn.add_row(name, *(f"{value:,}" for value in values))
    return drawn


def timed(several: Sequence[LifeResult]) -> Table:
    """Seconds of wall-clock time, by kind of work."""
    drawn = Table(title="Seconds", title_justify="left")
    drawn.add_column("")
    for one in several:
        drawn.add_column(one.preset, justify="right")
    for work in ORDER:
        values = [one.seconds.get(work, 0.0) for one in several]
        if any(values):
            drawn.add_row(work, *(f"{value:.1f}" if value else "" for value in values))
    drawn.add_section()
    drawn.add_row("all", *(f"{sum(one.seconds.values()):.1f}" for one in several))
    return drawn


def counts_text(counts: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in counts.items()) or "nothing"


def page(console: Console, several: Sequence[LifeResult]) -> None:
    for one in several:
        console.print(day_by_day(one))
        if one.catch_up is not None:
            caught = one.catch_up
            console.print(
                f"No job ran from {DOWN[0]:%a %d %H:%M} to {DOWN[1]:%a %d %H:%M}."
                f" Then waited: {counts_text(caught.waiting)};"
                f" after one round of {caught.seconds:.1f} s: {counts_text(caught.left)}."
            )
        console.print(f"In the end waits: {counts_text(one.waiting)}.")
        for rule, count in one.audit.checked.items():
            console.print(f"  {rule}: {count:,} rows", highlight=False)
        for fault in one.audit.faults:
            console.print(f"  BROKEN {fault}", style="bold red")
        for path in one.pictures:
            console.print(f"  drew {path}")
        console.print()
    console.print(side_by_side(several))
    console.print(timed(several))


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.life", description=__doc__)
    parser.add_argument("--events", type=int, default=EVENTS)
    parser.add_argument("--presets", nargs="+", default=sorted(PRESETS), metavar="NAME")
    parser.add_argument("--embedder", choices=("local", "none"), default="local")
    parser.add_argument("--no-model", action="store_true", help="no stand-in for a language model")
    parser.add_argument("--quiet-days", type=int, default=QUIET_DAYS, help="days after it in which only jobs run")
    parser.add_argument("--round-minutes", type=int, default=10, help="between two rounds of the jobs by day")
    parser.add_argument("--out", type=Path, metavar="FOLDER", help="where the pictures of fading go")
    parser.add_argument("--json", action="store_true", help="the figures as JSON")
    return parser


async def _run(options: argparse.Namespace, life: Life) -> list[LifeResult]:
    embedder = choose_embedder(Settings(embedder=options.embedder)).embedder
    try:
        return await run(
            options.presets,
            life,
            embedder,
            with_model=not options.no_model,
            quiet_days=options.quiet_days,
            often=timedelta(minutes=options.round_minutes),
            out=options.out,
        )
    finally:
        if embedder is not None:
            await embedder.close()


def main() -> int:
    parser = _parser()
    options = parser.parse_args()
    least_of = {"events": 1, "quiet-days": 0, "round-minutes": 1}
    for name, least in least_of.items():
        given = getattr(options, name.replace("-", "_"))
        if given < least:
            parser.error(f"--{name}: {given} is not allowed; expected {least} or more")
    if options.out is not None:
        options.out.mkdir(parents=True, exist_ok=True)
    life = make_life(options.events)
    load = os.getloadavg()[0]
    try:
        for name in options.presets:
            preset_named(name)
        several = asyncio.run(_run(options, life))
    except (InvalidInput, ModelUnavailable) as error:
        parser.error(str(error))
    if options.json:
        print(json.dumps([asdict(one) for one in several]))
    else:
        console = Console(width=WIDTH)
        console.print(f"{machine_line()}; load {load:.1f} as it began, {os.getloadavg()[0]:.1f} in the end")
        console.print(f"{options.events:,} events, {life.texts:,} different texts of {life.patterns:,} patterns\n")
        page(console, several)
    return 1 if any(one.audit.faults for one in several) else 0


if __name__ == "__main__":
    sys.exit(main())
