"""The locks: the packages that each environment of the Makefile has, with the SHA-256 of their files.

`python -m tools.lock COMPILED` writes requirements.lock (all checks), requirements-local.lock (`make demo`) and
requirements-build.lock (building the wheels) from what pip-compile made of constraints.txt. pip installs them with
`--require-hashes --no-deps`, so nothing else is installed, on no platform.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from supply_chain import EXTRAS, PROJECT, ROOT, brought_by, locked

BUILDERS: Final = ("editables", "hatchling", "numpy", "onnx")
"""`editables`: hatchling asks for it to install in editable mode."""
OWN: Final = {"remembrancer", "remembrancer-minilm"}


def closure(lines: Iterable[str]) -> set[str]:
    """The names of what requirements install, without this repository's own distributions."""
    names: set[str] = set()
    for line in lines:
        if canonicalize_name(Requirement(line).name) not in OWN:
            names |= brought_by(line)
    return names - OWN


def with_markers(compiled: Path) -> dict[str, str]:
    """The entries by name, each with the marker of the requirement that brings it on some platforms only."""
    markers = {canonicalize_name(one.name): one.marker for one in map(Requirement, EXTRAS["dev"]) if one.marker}
    entries = {name: entry.text for name, entry in sorted(locked(compiled).items())}
    for name in markers.keys() & entries.keys():
        pin, _, hashes = entries[name].partition(" \\\n")
        entries[name] = f"{pin.partition(' ;')[0]} ; {markers[name]} \\\n{hashes}"
    return entries


def main(compiled: Path) -> None:
    entries = with_markers(compiled)
    groups = {
        "requirements.lock": set(entries),
        "requirements-local.lock": closure((*PROJECT["dependencies"], *EXTRAS["local"])),
        "requirements-build.lock": closure(BUILDERS),
    }
    for file, names in groups.items():
        text = "".join(f"{entry}\n" for name, entry in entries.items() if name in names)
        (ROOT / file).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
