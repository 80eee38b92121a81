"""Fuzz targets under atheris: `PYTHONPATH=tools:tests/fixtures python -m fuzz [--cases N] [--jobs N] [--keep] [NAME …]`.

Each target runs in a process of its own. Half of the inputs are mutated by libFuzzer, guided by the code that they
reach, and half by `fuzz.mutation`. Prints for each target its cases, seconds and findings; findings are minimised, and
written to build/fuzz. `--cases`: of all targets together. `--keep`: also add inputs that reach new lines to the corpus.
Exits with 1 if there is a finding.
"""

from __future__ import annotations

import argparse
import base64
import importlib
import io
import json
import os
import shutil
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import redirect_stderr
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any, Final

OUT: Final = Path("build/fuzz")
MOST_MB: Final = 2_048
"""The memory that a target may take."""
STUCK_S: Final = 60
"""A case that takes so long ends its target's run, as a finding."""


@dataclass(frozen=True)
class Options:
    cases: int | None
    jobs: int
    keep: bool
    seed: int
    names: list[str]

    @classmethod
    def of_command(cls) -> Options:
        parser = argparse.ArgumentParser(prog="fuzz", description=__doc__.partition("\n")[0] if __doc__ else None)
        parser.add_argument("--cases", type=int, help="of all targets together; default: those that each target names")
        parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="targets that run at the same time")
        parser.add_argument("--keep", action="store_true", help="add inputs that reach new lines to the corpus")
        parser.add_argument("--seed", type=int, default=int(time.time()))
        parser.add_argument("names", nargs="*", help="targets; default: all")
        return cls(**vars(parser.parse_args()))


def fuzz(atheris: Any, target: Any, cases: int, seed: int, out: Path) -> None:
    """Run a target in this process, which ends with it."""
    from fuzz import corpus  # noqa: PLC0415  the package is imported by what instruments it
    from fuzz.mutation import mutated  # noqa: PLC0415
    from fuzz.target import run_case  # noqa: PLC0415

    known = [*target.seeds, *corpus.kept(target.name)]
    for number, data in enumerate(known):
        (out / "corpus" / f"known-{number}").write_bytes(data)
    found: set[str] = set()
    done = 0
    began = time.monotonic()
    with target.opened() as check, (out / "findings.jsonl").open("w", encoding="utf-8") as findings:

        def case(data: bytes) -> None:
            nonlocal done
            done += 1
            finding = run_case(check, data)
            if finding is not None and finding.key not in found:
                found.add(finding.key)
                told = {"key": finding.key, "report": finding.report, "input": base64.b64encode(data).decode()}
                findings.write(json.dumps(told) + "\n")
                findings.flush()
            if done % 100 == 0 or done >= cases:
                told = {"cases": done, "seconds": time.monotonic() - began, "cpu": time.process_time()}
                (out / "ran.json").write_text(json.dumps(told), encoding="utf-8")

        def mutate(data: bytes, most: int, number: int) -> bytes:
            random = Random(number)
            if random.random() < 0.5:
                return atheris.Mutate(data, most)
            return mutated(data, random, target.words, known)[:most]

        options = [f"-runs={cases}", f"-seed={seed}", f"-max_len={target.max_bytes}", f"-rss_limit_mb={MOST_MB}"]
        options += [f"-timeout={STUCK_S}", f"-artifact_prefix={out}/stuck-", "-verbosity=0"]
        atheris.Setup([sys.argv[0], *options, str(out / "corpus")], case, custom_mutator=mutate)
        atheris.Fuzz()


def keep(target: Any, out: Path) -> None:
    """Write the inputs of the run that reach new lines, and those that were kept before, to the corpus."""
    from fuzz import corpus  # noqa: PLC0415
    from fuzz.coverage import fewest  # noqa: PLC0415

    before = corpus.kept(target.name)
    found = [path.read_bytes() for path in (out / "corpus").iterdir()]
    with target.opened() as check:
        corpus.keep(target.name, [*before, *fewest(check, found, [*target.seeds, *before])])


def in_child(work: Callable[[], None], log: Path) -> int:
    """Fork a process that does the work; its id. What it prints goes to the log."""
    child = os.fork()
    if child:
        return child
    try:
        descriptor = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.dup2(descriptor, 1)
        os.dup2(descriptor, 2)
        work()
        code = 0
    except BaseException:  # noqa: BLE001  a child never returns
        traceback.print_exc()
        code = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def minimal(target: Any, told: dict[str, str]) -> bytes:
    from fuzz.target import Finding, minimised  # noqa: PLC0415

    with target.opened() as check:
        return minimised(check, base64.b64decode(told["input"]), Finding(told["key"], told["report"]))


def report(target: Any, out: Path, kept: int) -> tuple[int, int]:
    """Print a target's line, and its findings. Returns the cases and the findings."""
    ran = (
        json.loads((out / "ran.json").read_text())
        if (out / "ran.json").exists()
        else {"cases": 0, "seconds": 0, "cpu": 0}
    )
    findings = [json.loads(line) for line in (out / "findings.jsonl").read_text().splitlines()]
    stuck = [path.name for path in out.iterdir() if path.name.startswith("stuck-")]
    if ran["cases"] == 0:
        stuck.append("the target did not run, see log.txt")
    new = sum(not path.name.startswith("known-") for path in (out / "corpus").iterdir())
    count = len(findings) + len(stuck)
    sys.stdout.write(
        f"{target.name:26}{ran['cases']:>10,}{ran['seconds']:>9.1f}{ran['cpu']:>9.1f}{new:>9}{kept:>7}{count:>10}\n"
    )
    for number, told in enumerate(findings):
        data = minimal(target, told)
        (out / f"finding-{number}").write_bytes(data)
        lines = told["report"].strip().splitlines()[-6:]
        sys.stdout.write(f"  {told['key']}\n    input: {data[:200]!r}\n" + "".join(f"    {line}\n" for line in lines))
    for name in stuck:
        sys.stdout.write(f"  {name}\n")
    sys.stdout.flush()
    return ran["cases"], count


def main() -> int:
    options = Options.of_command()
    try:
        atheris: Any = importlib.import_module("atheris")
    except ImportError:
        sys.stderr.write("error: atheris is missing: run `make fuzz`, which installs it (CPython 3.11 to 3.13)\n")
        return 2
    with redirect_stderr(io.StringIO()), atheris.instrument_imports(include=["remembrancer"]):  # it names each module
        targets: dict[str, Any] = importlib.import_module("fuzz.targets").TARGETS
    from fuzz import corpus  # noqa: PLC0415

    chosen = [targets[name] for name in options.names or targets]
    share = 1.0 if options.cases is None else options.cases / sum(target.cases for target in chosen)
    shutil.rmtree(OUT, ignore_errors=True)
    sys.stdout.write(
        f"seed {options.seed}\n{'target':26}{'cases':>10}{'seconds':>9}{'CPU s':>9}{'corpus':>9}{'kept':>7}{'findings':>10}\n"
    )
    sys.stdout.flush()
    # The targets that take longest begin first.
    waiting = sorted(chosen, key=lambda target: -target.cases / target.fresh)[::-1]
    running: dict[int, tuple[Any, bool]] = {}
    cases = findings = 0
    while waiting or running:
        while waiting and len(running) < options.jobs:
            target = waiting.pop(0)
            out = OUT.absolute() / target.name
            (out / "corpus").mkdir(parents=True)
            (out / "findings.jsonl").touch()
            count = max(1, int(target.cases * share))
            child = in_child(
                lambda t=target, c=count, o=out: fuzz(atheris, t, c, options.seed % 2**31, o), out / "log.txt"
            )
            running[child] = target, options.keep
        child, _ = os.wait()
        target, then_keep = running.pop(child)
        out = OUT.absolute() / target.name
        if then_keep:
            running[in_child(lambda t=target, o=out: keep(t, o), out / "log.txt")] = target, False
            continue
        done, found = report(target, out, len(corpus.kept(target.name)))
        cases, findings = cases + done, findings + found
    sys.stdout.write(f"{'all':26}{cases:>10,}{'':34}{findings:>10}\n")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
