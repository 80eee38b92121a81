"""Run the real server in its own process, and read that process's memory and CPU time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final
from urllib.parse import urlsplit

from remembrancer.config import PREFIX

END_TIMEOUT: Final = 60
"""Seconds to wait for the process to end: more than its own shutdown timeout."""
MIB: Final = 1 << 20


@dataclass(frozen=True, slots=True)
class ServerProcess:
    """A server at `host`:`port`. `pids`: of the processes that answer requests."""

    host: str
    port: int
    pids: Sequence[int]

    def resident(self) -> float:
        """Resident memory of the processes in MiB. What they share counts once: each has its share of it."""
        return sum(_kib(pid, "Pss:") for pid in self.pids) * 1024 / MIB

    def cpu_seconds(self) -> float:
        """CPU time of all threads of the processes, in seconds."""
        return sum(map(_cpu_ticks, self.pids)) / os.sysconf("SC_CLK_TCK")

    def memory(self) -> tuple[float, float]:
        """RSS and PSS of the processes in MiB."""
        return (sum(_kib(pid, "Rss:") for pid in self.pids) / 1024, self.resident())

    def descriptors(self) -> int:
        """Open file descriptors of the processes."""
        return sum(len(os.listdir(f"/proc/{pid}/fd")) for pid in self.pids)  # noqa: PTH208  names only

    def threads(self) -> int:
        return sum(len(os.listdir(f"/proc/{pid}/task")) for pid in self.pids)  # noqa: PTH208  names only


def _kib(pid: int, name: str) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="ascii")
    return next(int(line.split()[1]) for line in rollup.splitlines() if line.startswith(name))


def _cpu_ticks(pid: int) -> int:
    status = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    # The second field is the program's name in parentheses, which may contain blanks.
    fields = status.rpartition(")")[2].split()
    return int(fields[11]) + int(fields[12])


@contextmanager
def serving(
    database: Path, log: Path, workers: int = 1, *, jobs: bool = False, embedder: str = "local"
) -> Generator[ServerProcess]:
    """Run `remembrancer serve` on a free port, without rate limits; `log` receives its log.

    Scheduled jobs are off unless `jobs`: over a prepared file, thousands of synthetic sessions that were never
    would keep them busy during the whole measurement.
    """
    command = [sys.executable, "-m", "remembrancer", "serve", "--db", str(database), "--json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    environment[f"{PREFIX}EMBEDDER"] = embedder
    with log.open("w", encoding="utf-8") as written:
        process = subprocess.Popen(
            [*command, "--port", "0", "--rate-limit", "0", "--workers", str(workers), *([] if jobs else ["--no-work"])],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=written,
            text=True,
        )
    assert process.stdout is not None
    try:
        first = process.stdout.readline()
        assert first, f"it did not start: {log.read_text(encoding='utf-8')}"
        status = json.loads(first)
        url: str = status["url"]
        address = urlsplit(url)
        assert address.hostname is not None
        assert address.port is not None
        yield ServerProcess(address.hostname, address.port, status["workers"])
        process.terminate()
        code = process.wait(END_TIMEOUT)
        assert code == 0, f"it ended with {code}: {log.read_text(encoding='utf-8')[-2000:]}"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(END_TIMEOUT)
        process.stdout.close()
