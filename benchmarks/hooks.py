"""How long a coding agent waits for each hook: `python -m benchmarks.hooks`, with a project of 50,000 turns.

Every hook is a fresh process, as the agent starts it, timed from its start to its end. The first hooks find no server
and start one, the others find it warm; the last ones find it stopped and unable to start. Beside each wall time stands
the CPU time of the hook's process; that of the server is the time of a recall.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from benchmarks.corpus import BATCH, Words, embed_as_drawn, open_memory
from remembrancer.config import Settings
from remembrancer.domain.scope import Scope
from remembrancer.evaluation.machine import machine_line
from remembrancer.interfaces.hooks.client import EVENTS
from remembrancer.interfaces.hooks.place import Place, project_of
from remembrancer.models import choose_embedder
from remembrancer.ports.embedder import Embedder

TURNS: Final = 50_000
ROUNDS: Final = 50
TARGET_MS: Final = 80
READY_SECONDS: Final = 60


async def fill(store: Path, project: str, turns: int, embedder: Embedder) -> None:
    words = Words(seed=7)
    async with await open_memory(store, embedder) as memory:
        of_project = memory.of_workspace(project)
        for start in range(0, turns, BATCH):
            await of_project.observe_many([words.event(number) for number in range(start, min(start + BATCH, turns))])
    await embed_as_drawn(store, embedder, Scope(workspace=project), turns)


def timed(store: Path, project: Path, event: str, prompt: str = "") -> tuple[float, float, int]:
    """The wall and the CPU time of one hook, in milliseconds, and the characters that it printed."""
    told = {
        "session_id": "measured",
        "transcript_path": str(project / "measured.jsonl"),
        "cwd": str(project),
        "hook_event_name": EVENTS[event],
        "source": "startup",
        "prompt": prompt,
    }
    command = [sys.executable, "-m", "remembrancer", "hook", event, "--db", str(store)]
    before, began = os.times(), time.perf_counter()
    ran = subprocess.run(command, input=json.dumps(told).encode(), capture_output=True, check=True)
    wall, after = time.perf_counter() - began, os.times()
    cpu = after.children_user + after.children_system - before.children_user - before.children_system
    return wall * 1e3, cpu * 1e3, len(ran.stdout)


def until_ready(place: Place, store: Path, project: Path, words: Words) -> float:
    """Seconds until a server that was just started answers a message."""
    began = time.perf_counter()
    while time.perf_counter() - began < READY_SECONDS:
        if (place.folder / Place.SOCKET).exists() and timed(store, project, "user-prompt", words.question())[2]:
            return time.perf_counter() - began
    raise TimeoutError(f"no answer of the server within {READY_SECONDS} s: see {place.log}")


def measure(folder: Path, turns: int, rounds: int, embedder: Embedder) -> Table:
    project, store, words = folder / "project", folder / "memory.db", Words(seed=11)
    (project / ".git").mkdir(parents=True)
    (project / "measured.jsonl").touch()
    asyncio.run(fill(store, project_of(project), turns, embedder))
    place = Place(str(store))
    rows = {"no server runs: session-start": [timed(store, project, "session-start")]}
    ready = until_ready(place, store, project, words)
    for event in EVENTS:
        rows[f"warm: {event}"] = [timed(store, project, event, words.text()) for _ in range(rounds)]
    os.kill(int(place.lock.read_text(encoding="ascii")), signal.SIGKILL)
    place.failure.write_text(json.dumps({"at": time.time() + 3_600, "why": "stopped by the benchmark"}))
    for event in ("session-start", "user-prompt"):
        rows[f"cannot be started: {event}"] = [timed(store, project, event, words.text()) for _ in range(rounds)]
    table = Table("hook", "p50 ms", "p95 ms", "CPU ms", "says", title=f"{turns:,} turns; answers after {ready:.1f} s")
    for name, measured in rows.items():
        walls = sorted(wall for wall, _, _ in measured)
        says = sum(printed > 0 for _, _, printed in measured) / len(measured)
        p95 = walls[min(len(walls) - 1, round(0.95 * len(walls)))]
        cpu = statistics.median(cpu for _, cpu, _ in measured)
        table.add_row(name, f"{statistics.median(walls):.0f}", f"{p95:.0f}", f"{cpu:.0f}", f"{says:.0%}")
    return table


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.hooks", description=__doc__)
    parser.add_argument("--turns", type=int, default=TURNS)
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    embedder = choose_embedder(Settings(embedder="local")).embedder
    assert embedder is not None
    with tempfile.TemporaryDirectory() as folder:
        Console(width=100).print(
            measure(Path(folder), options.turns, options.rounds, embedder),
            f"The target is {TARGET_MS} ms for each hook. {machine_line(embedder)}",
        )


if __name__ == "__main__":
    main()
