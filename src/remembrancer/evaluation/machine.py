"""Describe the machine that a measurement ran on."""

from __future__ import annotations

import os
import platform
import re
from pathlib import Path
from typing import Final

from remembrancer.ports.embedder import Embedder, arithmetic

_CPU_NAMES: Final = Path("/proc/cpuinfo")


def machine_line(embedder: Embedder | None = None) -> str:
    """Processor, CPU count, system and Python version in one line; then the arithmetic that `embedder` uses on this
    processor, if it reports that.
    """
    system = f"{platform.system()} {platform.machine()}"
    machine = f"{_cpu()}, {os.cpu_count()} CPUs, {system}, Python {platform.python_version()}"
    return "; ".join(filter(None, (machine, arithmetic(embedder))))


def _cpu() -> str:
    """The processor's name, from /proc/cpuinfo if that exists."""
    try:
        named = re.search(r"^model name\s*:\s*(.+)$", _CPU_NAMES.read_text(encoding="utf-8"), re.MULTILINE)
    except OSError:  # not Linux
        named = None
    return named.group(1) if named else platform.processor() or "unnamed processor"
