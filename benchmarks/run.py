"""Every measurement, one after another: what `make bench` runs."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

MEASUREMENTS: Final = ("recall_latency", "ingest", "own_ways", "processes", "kill", "server")


def main() -> None:
    """Each in a process of its own, so that none runs in memory that another has warmed."""
    for name in MEASUREMENTS:
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
