"""A short program starts quickly: it loads what it needs and no more."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks.start import HELP, NUMPY, PROGRAMS, RECALL, run

SOURCE = str(Path(__file__).parents[2] / "src")
ATTEMPTS = 5


@pytest.mark.parametrize(("program", "most"), [(RECALL, 2.0), (HELP, 1.0)])
def test_a_program_starts_within_its_share_of_the_cpu_time_of_importing_numpy(program: str, most: float) -> None:
    """Other processes on the same cores can only add to the program's time, and take away from that of numpy's idle
    threads. So the least of the one is compared with the greatest of the other.
    """
    least, greatest = float("inf"), 0.0
    for _ in range(ATTEMPTS):
        costs = run(program, rounds=4)
        least = min(least, *(cpu for cpu, _ in costs[program]))
        greatest = max(greatest, *(cpu for cpu, _ in costs[NUMPY]))
        if least <= most * greatest:
            return
    pytest.fail(f"{least:.0f} ms, more than {most} × {greatest:.0f} ms")


def loaded(folder: Path, *arguments: str) -> set[str]:
    """The modules that a Python process has loaded when it ends."""
    program = (
        "import atexit, json, runpy, sys; arguments = sys.argv[1:]\n"
        "atexit.register(lambda: print(json.dumps(sorted(sys.modules)), file=sys.stderr))\n"
        "sys.argv = arguments[1:]\n"
        "exec(arguments[1]) if arguments[0] == '-c' else runpy.run_module(arguments[1], run_name='__main__')"
    )
    environment = {"PYTHONPATH": SOURCE, "REMEMBRANCER_EMBEDDER": "none"}
    ran = subprocess.run(
        [sys.executable, "-c", program, *arguments],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=True,
    )
    return set(json.loads(ran.stderr.splitlines()[-1]))


def test_the_help_loads_nothing_but_the_table_of_commands(tmp_path: Path) -> None:
    ours = {name for name in loaded(tmp_path, *PROGRAMS[HELP]) if name.partition(".")[0] == "remembrancer"}
    assert ours == {
        "remembrancer",
        "remembrancer.errors",
        "remembrancer.interfaces",
        "remembrancer.interfaces.cli",
        "remembrancer.interfaces.cli.main",
        "remembrancer.interfaces.text",
    }


@pytest.mark.parametrize("module", ["asyncio", "click", "dataclasses", "inspect", "logging", "numpy", "rich", "typer"])
def test_the_help_does_not_load(tmp_path: Path, module: str) -> None:
    assert module not in loaded(tmp_path, *PROGRAMS[HELP])


NOT_FOR_A_RECALL = """
    click httpx importlib.metadata importlib.resources numpy.ma onnxruntime pydantic rich starlette tempfile tokenizers
    typer yaml zipfile remembrancer.adapters.embedders remembrancer.adapters.llm remembrancer.adapters.reference
    remembrancer.adapters.relational.journal remembrancer.adapters.relational.memories
    remembrancer.adapters.relational.rows remembrancer.adapters.relational.sqlite.doctor remembrancer.engine.walk
    remembrancer.evaluation remembrancer.interfaces remembrancer.jobs.indexer remembrancer.presets.forms
    remembrancer.testing
""".split()


@pytest.fixture(scope="module")
def loaded_for_a_recall(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    return loaded(tmp_path_factory.mktemp("recall"), *PROGRAMS[RECALL])


@pytest.mark.parametrize("module", NOT_FOR_A_RECALL)
def test_a_lexical_recall_over_a_new_file_does_not_load(loaded_for_a_recall: set[str], module: str) -> None:
    assert module not in loaded_for_a_recall


@pytest.mark.parametrize("given", [{}, {"OPENBLAS_THREAD_TIMEOUT": "24"}])
def test_the_environment_is_as_before_once_numpy_is_loaded(given: dict[str, str]) -> None:
    program = (
        "import json, os\n"
        "from remembrancer import Remembrancer\n"
        "print(json.dumps({name: value for name, value in os.environ.items() if 'TIMEOUT' in name}))"
    )
    environment = {"PYTHONPATH": SOURCE, **given}
    ran = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True, check=True)
    assert json.loads(ran.stdout) == given


@pytest.mark.parametrize("arguments", [["--help"], ["--version"], ["recall", "--help"], ["nothing"]])
def test_the_module_prints_the_same_as_the_program(tmp_path: Path, arguments: list[str]) -> None:
    program = "import sys; from remembrancer.interfaces.cli.main import main; sys.exit(main())"
    environment = {"PYTHONPATH": SOURCE}
    said = [
        subprocess.run(
            [sys.executable, *how, *arguments], cwd=tmp_path, env=environment, capture_output=True, check=False
        )
        for how in (["-c", program], ["-m", "remembrancer"])
    ]
    assert [(ran.returncode, ran.stdout, ran.stderr) for ran in said[:1]] == [
        (ran.returncode, ran.stdout, ran.stderr) for ran in said[1:]
    ]
