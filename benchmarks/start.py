"""CPU time of short programs, each in a fresh process, compared with that of `import numpy`.

The programs alternate, so that other work on the machine affects all of them alike. CPU time is user and system time of
the process with all its threads; that of `import numpy` includes its idle OpenBLAS threads.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Final

from rich.console import Console
from rich.table import Table

from remembrancer.evaluation.machine import machine_line

NUMPY: Final = "import numpy"
HELP: Final = "remembrancer --help"
RECALL: Final = "open a new file, one recall"
_RECALL: Final = """
import sys
from remembrancer import Remembrancer
with Remembrancer.open(sys.argv[1], embedder="none") as rem:
    rem.recall("What does Sam like to drink?")
"""
PROGRAMS: Final[dict[str, tuple[str, ...]]] = {
    NUMPY: ("-c", "import numpy"),
    "python -c pass": ("-c", "pass"),
    HELP: ("-m", "remembrancer", "--help"),
    "remembrancer recall --help": ("-m", "remembrancer", "recall", "--help"),
    RECALL: ("-c", _RECALL, "new.db"),
    "open a file, one recall with a hit": ("-c", _RECALL, "old.db"),
    "remembrancer recall, a hit": ("-m", "remembrancer", "recall", "tea", "--db", "old.db", "--embedder", "none"),
}
"""The Python arguments of each program. `new.db` does not exist, `old.db` has one memory."""


def run(*programs: str, rounds: int) -> dict[str, list[tuple[float, float]]]:
    """CPU and wall time in milliseconds of `import numpy` and of these programs, in each of `rounds` rounds after an
    uncounted one. Raises CalledProcessError for a program that fails.
    """
    costs: dict[str, list[tuple[float, float]]] = {name: [] for name in (NUMPY, *programs)}
    with tempfile.TemporaryDirectory() as folder:
        cost_of(
            Path(folder), "-m", "remembrancer", "remember", "Sam drinks tea", "--db", "old.db", "--embedder", "none"
        )
        for _ in range(rounds + 1):
            for name, taken in costs.items():
                taken.append(cost_of(Path(folder), *PROGRAMS[name]))
    return {name: taken[1:] for name, taken in costs.items()}


def cost_of(folder: Path, *arguments: str) -> tuple[float, float]:
    """CPU and wall time of one Python process in a folder, in milliseconds. Raises CalledProcessError."""
    for file in folder.glob("new.db*"):
        file.unlink()
    paths = os.pathsep.join(str(Path(path).resolve()) for path in sys.path if path)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "REMEMBRANCER_"))}
    began = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, *arguments],
        cwd=folder,
        env=kept | {"PYTHONPATH": paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, used = os.wait4(process.pid, 0)
    wall = time.perf_counter() - began
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return (used.ru_utime + used.ru_stime) * 1000, wall * 1000


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=15)
    costs = run(*PROGRAMS, rounds=parser.parse_args().rounds)
    medians = {name: [statistics.median(part) for part in zip(*taken, strict=True)] for name, taken in costs.items()}
    table = Table(title="Start-up: medians", caption=machine_line())
    for heading in ("program", "CPU ms", "wall ms", "× import numpy"):
        table.add_column(heading, justify="left" if heading == "program" else "right")
    for name, (cpu, wall) in medians.items():
        table.add_row(name, f"{cpu:.0f}", f"{wall:.0f}", f"{cpu / medians[NUMPY][0]:.2f}")
    Console().print(table)


if __name__ == "__main__":
    main()
