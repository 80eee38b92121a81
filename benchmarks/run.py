"""Run all benchmarks one after another, for `make bench`."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

MEASUREMENTS: Final = ("start", "recall_latency", "ingest", "own_ways", "processes", "kill", "server", "dashboard")


def main() -> None:
    """Run each in its own process, so that none is affected by another's memory and caches."""
    for name in MEASUREMENTS:
        subprocess.run([sys.executable, "-m", f"benchmarks.{name}"], check=True)


if __name__ == "__main__":
    main()
