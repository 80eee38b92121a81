"""The program as a process: exit code, pipes, signals, and loaded modules."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from typing import IO

import pytest
from driver import Cli

PROGRAM = (sys.executable, "-m", "remembrancer")
SOURCE = str(Path(__file__).parents[2] / "src")


@pytest.fixture
def environment(folder: Path) -> dict[str, str]:
    assert folder.exists()
    return {**os.environ, "PYTHONPATH": SOURCE}


def test_an_error_is_one_line_without_a_traceback(environment: dict[str, str]) -> None:
    ran = subprocess.run([*PROGRAM, "recent"], env=environment, capture_output=True, text=True, check=False)
    assert (ran.returncode, ran.stdout) == (3, "")
    assert len(ran.stderr.splitlines()) == 1
    assert ran.stderr.startswith("error: remembrancer.db: no such file")


def test_a_closed_pipe_is_no_error(environment: dict[str, str]) -> None:
    subprocess.run([*PROGRAM, "remember", "anything"], env=environment, check=True, capture_output=True)
    reading, writing = os.pipe()
    os.close(reading)
    ran = subprocess.run([*PROGRAM, "recent"], env=environment, stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (ran.returncode, ran.stderr) == (141, b"")


def test_an_interrupt_is_quiet(environment: dict[str, str]) -> None:
    with subprocess.Popen(
        [*PROGRAM, "observe", "--stdin"],
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as running:
        assert running.stdin
        assert running.stderr
        running.stdin.write(b"bad\n")
        running.stdin.flush()
        assert running.stderr.readline().startswith(b"stdin:1: ")  # from here on it waits for more
        running.send_signal(signal.SIGINT)
        assert running.wait(30) == 130
        assert running.stderr.read() == b""


def test_a_killed_writer_leaves_whole_batches_and_a_sound_file(environment: dict[str, str], cli: Cli) -> None:
    with subprocess.Popen(
        [*PROGRAM, "observe", "--stdin"], env=environment, stdin=subprocess.PIPE, stderr=subprocess.PIPE
    ) as running:
        assert running.stdin
        assert running.stderr
        lines = [b'{"text": "turn %d", "key": "k%d"}\n' % (number, number) for number in range(500)]
        running.stdin.write(b"".join([*lines, b'{"text": "not yet recorded"}\n', b"bad\n"]))
        running.stdin.flush()
        assert running.stderr.readline().startswith(b"stdin:502: ")
        running.kill()
    assert cli.done("doctor", "--json").json["ok"]
    assert cli.done("stats", "--json").json["events"] == 500
    cli.done("observe", "--stdin", stdin=b"".join(lines))
    assert cli.done("stats", "--json").json["events"] == 500


LOADED = """
import sys
from remembrancer.interfaces.cli.main import run
code = run(sys.argv[1:])
print(code, *sorted({"apsw", "numpy", "onnxruntime", "tokenizers"} & sys.modules.keys()), file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("arguments", "loaded"),
    [(("--help",), b""), (("recall", "--help"), b""), (("recent",), b" apsw numpy")],
)
def test_a_command_loads_only_the_modules_that_it_needs(
    environment: dict[str, str], arguments: tuple[str, ...], loaded: bytes
) -> None:
    environment = {**environment, "REMEMBRANCER_EMBEDDER": "auto", "REMEMBRANCER_DB": "x.db"}
    if loaded:
        subprocess.run([*PROGRAM, "remember", "x", "--no-index"], env=environment, check=True, capture_output=True)
    ran = subprocess.run([sys.executable, "-c", LOADED, *arguments], env=environment, capture_output=True, check=False)
    assert ran.stderr.splitlines()[-1] == b"0" + loaded


def test_colours_are_for_terminals_that_want_them(environment: dict[str, str]) -> None:
    environment = {**environment, "FORCE_COLOR": "1", "TERM": "xterm"}
    coloured = subprocess.run([*PROGRAM, "demo"], env=environment, check=True, capture_output=True).stdout
    assert b"\x1b[36m" in coloured
    plain = subprocess.run(
        [*PROGRAM, "demo"], env={**environment, "NO_COLOR": "1"}, check=True, capture_output=True
    ).stdout
    assert b"\x1b[36m" not in plain


def _exits(program: str, stdout: int | IO[bytes] = subprocess.PIPE) -> subprocess.CompletedProcess[bytes]:
    """Run a program in which `main.main` runs a command of the program's own."""
    started = f"import atexit, sys\nfrom remembrancer.interfaces.cli import main\n{program}\nmain.main()"
    return subprocess.run([sys.executable, "-c", started], stdout=stdout, stderr=subprocess.PIPE, check=False)


def test_what_a_command_registered_for_the_exit_runs_and_the_output_is_written() -> None:
    ran = _exits("main.run = lambda _: (print('said'), atexit.register(print, 'last'), 3)[2]")
    assert (ran.returncode, ran.stdout.split()) == (3, [b"said", b"last"])


def test_an_error_that_the_program_does_not_handle_ends_it_with_a_traceback() -> None:
    ran = _exits("main.run = lambda _: 1 / 0")
    assert (ran.returncode, ran.stderr.splitlines()[-1]) == (1, b"ZeroDivisionError: division by zero")


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_an_output_that_cannot_be_written_at_the_exit_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("PYTHONUNBUFFERED", raising=False)
    with open("/dev/full", "wb") as full:  # noqa: PTH123  a device
        ran = _exits("main.run = lambda _: print('said') or 0", full)
    assert ran.returncode == 120
    assert b"No space left on device" in ran.stderr


def test_what_another_program_registered_before_runs_too() -> None:
    ran = _exits("main.run = lambda _: print('said') or 3\natexit.register(print, 'last')")
    assert (ran.returncode, ran.stdout.split()) == (3, [b"said", b"last"])
