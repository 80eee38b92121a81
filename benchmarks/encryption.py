"""What encryption costs: the same memories in a plain and in an encrypted file, measured in alternation.

Times are CPU times of the process, medians, in milliseconds; a ratio is the median of the ratios of pairs.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any, Final, cast

from benchmarks.corpus import Words, fill
from remembrancer import Remembrancer, Settings, compose, models, restore_backup
from remembrancer.adapters.relational.sqlite import row_keys
from remembrancer.evaluation.machine import machine_line
from remembrancer.interfaces.text import size as shown_size

KEY: Final = "00112233445566778899aabbccddeeff" * 2
OTHER: Final = "ffeeddccbbaa99887766554433221100" * 2
PAIRS: Final = 41
BATCH: Final = 100


def opened(path: Path, key: str | None, **settings: Any) -> Remembrancer:
    given = {"embedder": "local", "background_index": False, **settings}
    return Remembrancer.open(str(path), encryption_key=key, settings=given)


def first_answer(path: Path, key: str | None) -> float:
    """The CPU milliseconds of opening a store and answering one question, in a new process that has loaded the program
    and the model.
    """
    command = [sys.executable, "-m", "benchmarks.encryption", "--first", str(path), *(["encrypted"] if key else [])]
    return float(subprocess.run(command, capture_output=True, text=True, check=True, timeout=600).stdout)


def print_first_answer(path: Path, key: str | None) -> None:
    with tempfile.TemporaryDirectory() as folder, opened(Path(folder) / "warm.db", key) as rem:
        rem.remember("warm")
        rem.recall("warm")
    began = time.process_time()
    with opened(path, key) as rem:
        rem.recall("What did we decide about the release?")
        print((time.process_time() - began) * 1000)


def cpu(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def in_pairs(plain: Callable[[], object], encrypted: Callable[[], object], pairs: int = PAIRS) -> dict[str, float]:
    """Both in alternation, the first of a pair by turns."""
    times: list[tuple[float, float]] = []
    for number in range(pairs):
        if number % 2:
            late = cpu(encrypted)
            times.append((cpu(plain), late))
        else:
            times.append((cpu(plain), cpu(encrypted)))
    return compared(times[1:] or times)  # the first pair warms up


def compared(times: list[tuple[float, float]]) -> dict[str, float]:
    return {
        "plain": median(one for one, _ in times),
        "encrypted": median(other for _, other in times),
        "ratio": median(other / one for one, other in times),
    }


def measured(folder: Path, size: int, embedder: Any) -> dict[str, Any]:
    plain, encrypted = folder / "plain.db", folder / "encrypted.db"
    asyncio.run(fill(plain, Words(seed=3), size, embedder))
    shutil.copy(plain, encrypted)
    wall = time.perf_counter()
    compose.change_encryption(str(encrypted), old=None, new=KEY)
    rows: dict[str, Any] = {"enable, wall s": time.perf_counter() - wall}
    rows["file, bytes"] = {"plain": plain.stat().st_size, "encrypted": encrypted.stat().st_size}
    sides = ((plain, None), (encrypted, KEY))
    without = [tuple(first_answer(path, key) for path, key in sides) for _ in range(3) if not _forget_index(folder)]
    rows["open and first answer, no index file"] = compared([(one, other) for one, other in without])
    for path, key in sides:  # leaves an index file
        with opened(path, key) as rem:
            rem.recall("What did we decide?")
    kept = [tuple(first_answer(path, key) for path, key in sides) for _ in range(5)]
    rows["open and first answer, with an index file"] = compared([(one, other) for one, other in kept])
    rows["index file, bytes"] = {
        name: sum(one.stat().st_size for one in folder.glob(f"{name}.db.*.index")) for name in ("plain", "encrypted")
    }
    words = Words(seed=5)
    with opened(plain, None) as one, opened(encrypted, KEY) as other:
        questions = iter([words.question() for _ in range(PAIRS * 2)])
        pair = [next(questions) for _ in range(PAIRS)]
        asked = {side: iter(pair) for side in ("plain", "encrypted")}
        rows["recall"] = in_pairs(
            lambda: one.recall(next(asked["plain"])), lambda: other.recall(next(asked["encrypted"]))
        )
        texts = [words.text() for _ in range(PAIRS)]
        said = {side: iter(texts) for side in ("plain", "encrypted")}
        rows["observe"] = in_pairs(
            lambda: one.observe(next(said["plain"])), lambda: other.observe(next(said["encrypted"]))
        )
        batches = [[{"text": words.text()} for _ in range(BATCH)] for _ in range(9)]
        many = {side: iter(batches) for side in ("plain", "encrypted")}
        rows[f"observe_many of {BATCH}"] = in_pairs(
            lambda: one.observe_many(next(many["plain"])), lambda: other.observe_many(next(many["encrypted"])), pairs=9
        )
        numbers = iter(range(1000))
        rows["backup"] = in_pairs(
            lambda: one.backup(folder / f"p{next(numbers)}"),
            lambda: other.backup(folder / f"e{next(numbers)}"),
            pairs=3,
        )
    rows.update(sealed(folder, encrypted))
    wall, began = time.perf_counter(), time.process_time()
    compose.change_encryption(str(encrypted), old=KEY, new=OTHER)
    rows["rotate, wall s"] = time.perf_counter() - wall
    rows["rotate, CPU s"] = time.process_time() - began
    return rows


def sealed(folder: Path, encrypted: Path) -> dict[str, float]:
    backup, target = folder / "sealed.db", folder / "restored.db"
    with opened(encrypted, KEY, sealed_backups=True) as rem:
        sealing = cpu(lambda: rem.backup(backup))
    shutil.copy(row_keys.path_of(str(encrypted)), row_keys.path_of(str(target)))
    restoring = cpu(lambda: restore_backup(backup, str(target), encryption_key=KEY))
    return {
        "sealed backup, CPU s": sealing / 1000,
        "its restoration, CPU s": restoring / 1000,
        "sealed backup, bytes": backup.stat().st_size,
        "its keys, bytes": row_keys.path_of(str(encrypted)).stat().st_size,
    }


def _forget_index(folder: Path) -> None:
    for one in folder.glob("*.index"):
        one.unlink()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[1_000, 10_000])
    parser.add_argument("--first", nargs="+", help=argparse.SUPPRESS)
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    given = parser.parse_args()
    if given.first:
        print_first_answer(Path(given.first[0]), KEY if "encrypted" in given.first else None)
        return
    embedder = models.choose_embedder(Settings(embedder="local")).embedder
    print(machine_line())
    told: dict[str, Any] = {}
    for size in given.sizes:
        with tempfile.TemporaryDirectory() as folder:
            told[str(size)] = rows = measured(Path(folder), size, embedder)
        print(f"\n{size:,} memories")
        for name, value in rows.items():
            print(f"  {name:44} {_shown(name, value)}")
    if given.json:
        given.json.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def _shown(name: str, value: Any) -> str:
    sides = _sides(value)
    if name.endswith("bytes"):
        return ", ".join(f"{side} {shown_size(one)}".strip() for side, one in sides.items())
    if len(sides) > 1:
        return f"plain {sides['plain']:.2f} ms, encrypted {sides['encrypted']:.2f} ms, ratio {sides['ratio']:.2f}"
    return f"{sides['']:.2f}"


def _sides(value: Any) -> dict[str, Any]:
    """A figure by side; by "" if it is of one side only."""
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {"": value}


if __name__ == "__main__":
    main()
