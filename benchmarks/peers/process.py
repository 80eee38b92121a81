"""Environments and processes of the measured systems. Packages come from the package index; no model is downloaded."""

from __future__ import annotations

import contextlib
import json
import os
import select
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

HERE: Final = Path(__file__).parent
ROOT: Final = HERE.parents[1]
INSTALL_SECONDS: Final = 1800
CALL_SECONDS: Final = 900
"""The longest that a call may take; then the process is killed."""
OWN: Final = "Remembrancer"
END_SECONDS: Final = 30
_ABLE: Final = "import sqlite3, sys; sys.exit(not hasattr(sqlite3.Connection, 'enable_load_extension'))"


class PeerFailed(Exception):
    """A system that could not be installed, or did not answer. The message is its own error."""


@dataclass(frozen=True, slots=True)
class Measurable:
    """A system to measure. `requirements`: its pinned packages; none: it runs in our environment.

    `name`: that of the environment and of the class in `worker.py`. `versioned`: the package whose version is shown.
    `vectors`: whether it is given vectors.
    """

    label: str
    name: str
    requirements: tuple[str, ...] = ()
    environment: str = ""
    versioned: str = ""
    vectors: bool = True

    @property
    def ours(self) -> bool:
        return self.label.startswith(OWN)


MCP: Final = ("mcp-memory-service==11.15.0",)
SYSTEMS: Final = (
    Measurable(OWN, "ours", versioned="remembrancer"),
    Measurable(f"{OWN}, words only", "words", versioned="remembrancer", vectors=False),
    Measurable("numpy, exact cosine", "numpy", versioned="numpy"),
    Measurable("SQLite, rows and FTS5", "sqlite"),
    Measurable("chromadb", "chromadb", ("chromadb==1.5.9",), "chromadb", "chromadb"),
    Measurable(
        "LangGraph SqliteStore",
        "langgraph",
        ("langgraph==1.2.22", "langgraph-checkpoint-sqlite==3.1.2"),
        "langgraph",
        "langgraph-checkpoint-sqlite",
    ),
    Measurable("mcp-memory-service", "mcp", MCP, "mcp", "mcp-memory-service"),
    Measurable("mcp-memory-service, hybrid", "mcp-hybrid", MCP, "mcp", "mcp-memory-service"),
    Measurable(
        "Mnemosyne",
        "mnemosyne",
        ("mnemosyne-memory==3.15.1", "numpy==2.4.6", "sqlite-vec==0.1.9"),
        "mnemosyne",
        "mnemosyne-memory",
    ),
    Measurable("mem0", "mem0", ("mem0ai==2.2.1", "langchain==1.4.7", "qdrant-client==1.20.0"), "mem0", "mem0ai"),
)


def install(systems: Sequence[Measurable], folder: Path) -> dict[str, str]:
    """Make the environments that are missing. Returns the errors, by environment."""
    failed: dict[str, str] = {}
    for system in systems:
        if system.requirements and system.environment not in failed:
            try:
                _environment(folder / system.environment, system.requirements)
            except (PeerFailed, subprocess.TimeoutExpired, OSError) as error:
                failed[system.environment] = str(error)
    return failed


def _environment(place: Path, requirements: Sequence[str]) -> None:
    wanted, written = "\n".join(requirements), place / "requirements.txt"
    if written.exists() and written.read_text(encoding="utf-8") == wanted:
        return
    shutil.rmtree(place, ignore_errors=True)
    _run([_able_interpreter(), "-m", "venv", "--without-pip", str(place)])
    pip = [sys.executable, "-m", "pip", "--quiet", "--disable-pip-version-check"]
    _run([*pip, "--python", str(place / "bin/python"), "install", "--only-binary", ":all:", *requirements])
    written.write_text(wanted, encoding="utf-8")


def _able_interpreter() -> str:
    """A Python whose SQLite loads extensions, which most of the systems need, and some builds of Python lack."""
    found = (os.environ.get("PEER_PYTHON"), sys.executable, "/usr/bin/python3", shutil.which("python3"))
    able = (each for each in found if each and not subprocess.run([each, "-c", _ABLE], check=False).returncode)
    return next(able, sys.executable)


def _run(command: Sequence[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, timeout=INSTALL_SECONDS, check=False)
    if done.returncode:
        raise PeerFailed(last_words(done.stderr))


def last_words(text: str) -> str:
    """The last line that is not empty, or the last one that names an error."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    errors = [line for line in lines if "Error" in line or line.startswith("ERROR")]
    return (errors or lines or ["no error message"])[-1][:300]


class Running:
    """A system in a process of its own, over the store in `folder`."""

    def __init__(
        self,
        system: Measurable,
        folder: Path,
        *,
        environments: Path,
        texts: Path,
        dim: int,
        command: Sequence[str] | None = None,
        path: Sequence[Path] = (),
    ) -> None:
        """`command`: another one than that of `benchmarks.peers`. `path`: folders of modules, before all others."""
        self.system = system
        self.folder = folder
        self.log = folder.with_suffix(".log")
        home = folder.with_suffix(".home")
        for each in (folder, home):
            each.mkdir(parents=True, exist_ok=True)
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                command or _command(system, folder, environments, texts),
                env={**_variables(home, dim), **(_our_path(path) if system.ours else {})},
                cwd=ROOT,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                text=True,
            )

    def do(self, name: str, **arguments: Any) -> Any:
        """The answer to a call. Raises PeerFailed."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        with contextlib.suppress(BrokenPipeError):
            self._process.stdin.write(json.dumps([name, arguments]) + "\n")
            self._process.stdin.flush()
        if not select.select([self._process.stdout], [], [], CALL_SECONDS)[0]:
            self.kill()
            raise PeerFailed(f"no answer to {name} within {CALL_SECONDS} s")
        line = self._process.stdout.readline()
        if not line:
            self.kill()
            raise PeerFailed(last_words(self.log.read_text(encoding="utf-8", errors="replace")))
        return json.loads(line)

    def close(self) -> None:
        """Close the store and end the process. Raises PeerFailed."""
        self.do("close")
        try:
            self._process.communicate(timeout=END_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        self._process.kill()
        self._process.communicate()


def _command(system: Measurable, folder: Path, environments: Path, texts: Path) -> list[str]:
    if system.ours:
        return [sys.executable, "-m", "benchmarks.peers.ours", str(folder), str(texts) if system.vectors else "words"]
    return [interpreter(system, environments), str(HERE / "worker.py"), system.name, str(folder)]


def interpreter(system: Measurable, environments: Path) -> str:
    """The Python that runs a system."""
    return str(environments / system.environment / "bin/python") if system.requirements else sys.executable


def _our_path(before: Sequence[Path]) -> Mapping[str, str]:
    return {"PYTHONPATH": os.pathsep.join(str(Path(path).resolve()) for path in (*before, *sys.path) if path)}


def _variables(home: Path, dim: int) -> Mapping[str, str]:
    """The environment of a process: a home of its own, no downloads, no telemetry."""
    dropped = ("PYTHON", "PIP_", "REMEMBRANCER_", "MNEMOSYNE_", "MCP_", "MEM0_", "OPENAI_")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(dropped)}
    return kept | {
        "HOME": str(home),
        "PEER_DIM": str(dim),
        "HF_HUB_OFFLINE": "1",
        "TRANSFORMERS_OFFLINE": "1",
        "ANONYMIZED_TELEMETRY": "False",
        "DO_NOT_TRACK": "1",
        "MEM0_TELEMETRY": "False",
        "MEM0_DIR": str(home),
        "MNEMOSYNE_DATA_DIR": str(home),
        "MNEMOSYNE_EMBEDDING_API_URL": "http://127.0.0.1:9/v1",
        "MNEMOSYNE_EMBEDDING_DIM": str(dim),
        "MNEMOSYNE_WM_MAX_ITEMS": "100000000",
    }
