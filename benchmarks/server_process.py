"""Run the real server in its own process, and read that process's memory and CPU time."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Generator
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
    """A server at `host`:`port`."""

    host: str
    port: int
    pid: int

    def resident(self) -> float:
        """Resident memory in MiB."""
        fields = Path(f"/proc/{self.pid}/statm").read_text(encoding="ascii").split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE") / MIB

    def cpu_seconds(self) -> float:
        """CPU time of all threads, in seconds."""
        status = Path(f"/proc/{self.pid}/stat").read_text(encoding="utf-8")
        # The second field is the program's name in parentheses, which may contain blanks.
        fields = status.rpartition(")")[2].split()
        user, system = int(fields[11]), int(fields[12])
        return (user + system) / os.sysconf("SC_CLK_TCK")


@contextmanager
def serving(database: Path, log: Path) -> Generator[ServerProcess]:
    """Run `remembrancer serve` on a free port, with the local embedder and without rate limits; `log` receives its log.

    Scheduled jobs are off: thousands of synthetic sessions that were never segmented would keep them busy during the
    whole measurement.
    """
    command = [sys.executable, "-m", "remembrancer", "serve", "--db", str(database), "--json"]
    environment = {name: value for name, value in os.environ.items() if not name.startswith(PREFIX)}
    environment[f"{PREFIX}EMBEDDER"] = "local"
    with log.open("w", encoding="utf-8") as written:
        process = subprocess.Popen(
            [*command, "--port", "0", "--rate-limit", "0", "--no-work"],
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
        yield ServerProcess(address.hostname, address.port, status["pid"])
        process.terminate()
        code = process.wait(END_TIMEOUT)
        assert code == 0, f"it ended with {code}: {log.read_text(encoding='utf-8')[-2000:]}"
    finally:
        if process.poll() is None:
            process.kill()
            process.wait(END_TIMEOUT)
        process.stdout.close()
