"""How well instruction-like texts are recognised, and how many benign texts are flagged: `make bench-instructions`.

Attacks: `tests/golden/instruction_attacks.csv`; the rules were fitted to those of the set `tuned`, and the set
`held_out` was written after that. Benign: the hard cases of `tests/golden/benign_imperatives.csv`; every turn of the
data sets in this folder, as if a tool had said it; the documentation of the installed packages, in pieces of 2,000
characters; and LoCoMo, if its file is given.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Final

from remembrancer.evaluation import locomo
from remembrancer.language.instructions import is_instruction_like

GOLDEN: Final = Path(__file__).parent.parent / "tests" / "golden"
SETS: Final = ("assistant", "channel", "chats", "coding", "desk", "pairs")
PIECE: Final = 2_000
"""The characters of a piece of documentation: what a tool returns at once."""
MOST: Final = 200_000
"""The characters that are read of one file."""
SUFFIXES: Final = frozenset({".md", ".rst", ".txt", ".html"})


def attacks(name: str) -> dict[str, list[str]]:
    """The attacks of a set, by form."""
    with (GOLDEN / "instruction_attacks.csv").open(encoding="utf-8", newline="") as file:
        found: dict[str, list[str]] = {}
        for row in csv.DictReader(file):
            if row["set"] == name:
                found.setdefault(row["form"], []).append(row["text"])
    return found


def hard_cases() -> list[str]:
    with (GOLDEN / "benign_imperatives.csv").open(encoding="utf-8", newline="") as file:
        return [row["text"] for row in csv.DictReader(file)]


def turns() -> Iterator[str]:
    """All texts of the data sets."""
    for name in SETS:
        for line in (Path(__file__).parent / name / "corpus.jsonl").read_text(encoding="utf-8").splitlines():
            yield str(json.loads(line).get("text", ""))


def documentation() -> Iterator[str]:
    """The documentation of the installed packages in pieces, each different one once."""
    seen: set[str] = set()
    folders = [Path(one) for one in sys.path if one.endswith("site-packages")]
    for path in sorted(path for folder in folders for path in folder.rglob("*")):
        if not path.is_file() or (path.suffix not in SUFFIXES and path.name != "METADATA"):
            continue
        text = path.read_text(encoding="utf-8", errors="replace")[:MOST]
        for start in range(0, len(text), PIECE):
            piece = text[start : start + PIECE]
            if piece not in seen:
                seen.add(piece)
                yield piece


def flagged(texts: Iterable[str]) -> tuple[int, int]:
    """The number of flagged texts, and of all."""
    verdicts = [is_instruction_like(text) for text in texts]
    return sum(verdicts), len(verdicts)


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.instructions", description=__doc__)
    parser.add_argument("locomo", type=Path, nargs="?", help="locomo10.json, plain or gzip")
    options = parser.parse_args(arguments)
    for name in ("tuned", "held_out"):
        by_form = {form: flagged(texts) for form, texts in attacks(name).items()}
        some, every = (sum(column) for column in zip(*by_form.values(), strict=True))
        told = ", ".join(f"{form} {one}/{of}" for form, (one, of) in by_form.items())
        print(f"attacks, {name}: {some} of {every} recognised ({some / every:.0%}): {told}")
    benign = {"hard cases": hard_cases(), "turns of the data sets": turns(), "documentation": documentation()}
    if options.locomo is not None:
        dataset = locomo.load(options.locomo)
        benign["LoCoMo"] = (turn.text for one in dataset.conversations for turn in one.transcript.turns)
    for name, texts in benign.items():
        given = list(texts)
        began = time.process_time()
        some, every = flagged(given)
        each = (time.process_time() - began) / max(1, sum(map(len, given))) * 1e9
        share = some / max(1, every)
        print(f"benign, {name}: {some} of {every:,} flagged ({share:.3%}); {each:.0f} µs of CPU a 1,000 characters")


if __name__ == "__main__":
    main()
