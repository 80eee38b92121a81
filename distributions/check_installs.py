"""`make test-install`: install what is in dist/ as users do, with each extra, each time in an empty environment.

Other packages come from the package index, in their newest allowed versions. In each environment: `pip check`, the
version by the program and by `python -m`, and a program that uses the extra. Services are those on loopback of
tests/fixtures. Then both sdists are installed, and pipx runs the wheel. The exit code is 1 if anything fails.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import time
import tomllib
import urllib.request
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ROOT: Final = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT / "tests" / "fixtures"))
from embedding_server import EmbeddingServer  # noqa: E402  its folder is found above
from llm_server import LlmServer  # noqa: E402
from ollama_server import OllamaServer  # noqa: E402
from postgres_server import serving  # noqa: E402
from qdrant_server import QdrantServerDouble  # noqa: E402
from rerank_server import RerankServer  # noqa: E402

DIST: Final = ROOT / "dist"
PROJECT: Final = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
VERSION: Final[str] = PROJECT["version"]
MOST_BYTES: Final = 100 * 1024 * 1024
"""The largest file that PyPI accepts without asking."""
SECONDS: Final = 600.0
"""The time limit of one command."""
QUESTION: Final = "how much RAM does the payment service need?"
INITIALIZE: Final = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "initialize",
    "params": {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "check", "version": "1"}},
}
ASK_THE_MODEL: Final = """
import asyncio
from remembrancer import Scope, compose
from remembrancer.config import load
from remembrancer.engine.ask import ask
from remembrancer.ports.language_model import Task
async def main():
    ctx = compose.context(load())
    task = Task(purpose="title", instructions="Name it.", material="m", schema={"type": "object"}, check=lambda _: "")
    print((await ask(ctx, Scope(workspace="default"), task)).value)
    await ctx.llm.close()
    await ctx.store.close()
asyncio.run(main())
"""


class Failed(Exception):
    """A step did not end as it should."""


@dataclass(frozen=True)
class Place:
    """An environment with the program, and a folder to run it in."""

    environment: Path
    folder: Path

    def run(self, *command: str, **variables: str) -> str:
        """The output of a program of the environment. Raises Failed if it fails."""
        ran = subprocess.run(  # noqa: S603  our own programs
            [str(self.environment / "bin" / command[0]), *command[1:]],
            cwd=self.folder,
            env=self.variables(variables),
            capture_output=True,
            text=True,
            check=False,
            timeout=SECONDS,
        )
        if ran.returncode:
            raise Failed(f"{' '.join(command)}: exit code {ran.returncode}: {(ran.stdout + ran.stderr)[-2000:]}")
        return ran.stdout.strip()

    def start(self, *command: str, **variables: str) -> subprocess.Popen[str]:
        """`remembrancer` with these arguments, running."""
        return subprocess.Popen(  # noqa: S603
            [str(self.environment / "bin" / "remembrancer"), *command],
            cwd=self.folder,
            env=self.variables({"REMEMBRANCER_EMBEDDER": "none", **variables}),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def variables(self, more: Mapping[str, str]) -> dict[str, str]:
        """This process's environment without Python's settings, and with the program first on the path."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "REMEMBRANCER_"))}
        path = f"{self.environment / 'bin'}{os.pathsep}{kept.get('PATH', '')}"
        return {**kept, "PATH": path, "NO_PROXY": "127.0.0.1", "REMEMBRANCER_DB": "m.db", **more}

    def recall(self, **variables: str) -> str:
        """Remember, index and recall. Raises Failed where a model was not used."""
        self.run("remembrancer", "remember", "The payment worker ran out of memory; it needs 2 GiB.", **variables)
        self.run("remembrancer", "maintain", **variables)
        answer: Any = json.loads(self.run("remembrancer", "recall", QUESTION, "--json", **variables))
        if answer["degraded"] and variables.get("REMEMBRANCER_EMBEDDER") != "none":
            raise Failed(f"the recall went without a model: {answer['degraded']}")
        return f"recall: {len(answer['hits'])} hit"


# -- what uses an extra ---------------------------------------------------------------------------


def by_words(place: Place) -> str:
    return place.recall(REMEMBRANCER_EMBEDDER="none") + ", by words"


def by_the_local_model(place: Place) -> str:
    vectors = place.recall(REMEMBRANCER_EMBEDDER="local", REMEMBRANCER_DB="local.db")
    doctor = place.run("remembrancer", "doctor", "--json", REMEMBRANCER_EMBEDDER="local", REMEMBRANCER_DB="local.db")
    return f"{vectors}; doctor: {json.loads(doctor)['findings'][-1]['detail']}"


def by_ollama(place: Place) -> str:
    with OllamaServer() as server:
        url = f"http://{server.address}"
        said = place.recall(
            REMEMBRANCER_EMBEDDER="ollama:nomic-embed-text", REMEMBRANCER_OLLAMA_URL=url, REMEMBRANCER_DB="ollama.db"
        )
        return f"{said}, Ollama was called {len(server.asked)} times"


def by_a_service(place: Place) -> str:
    with EmbeddingServer() as server:
        said = place.recall(
            REMEMBRANCER_EMBEDDER="openai:m",
            REMEMBRANCER_EMBEDDER_URL=f"http://{server.address}/v1",
            REMEMBRANCER_DB="remote.db",
        )
        return f"{said}, the service was called {len(server.asked)} times"


def reranked(place: Place) -> str:
    with RerankServer() as server:
        chosen = {"REMEMBRANCER_RERANKER": f"http://{server.address}/rerank", "REMEMBRANCER_RERANKER_MODEL": "m"}
        place.recall(REMEMBRANCER_EMBEDDER="none", REMEMBRANCER_DB="rerank.db", **chosen)
        if not server.asked:
            raise Failed("the reranker was not called")
        return f"recall: the reranker was called {len(server.asked)} times"


def in_postgresql(place: Place) -> str:
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as schemas:
        return place.recall(REMEMBRANCER_EMBEDDER="none", REMEMBRANCER_DB=schemas.take()) + ", from PostgreSQL"


def by_a_shared_worker(place: Place) -> str:
    with tempfile.TemporaryDirectory() as folder, serving(Path(folder)) as schemas:
        shared = {
            "REMEMBRANCER_EMBEDDER": "none",
            "REMEMBRANCER_DB": schemas.take(),
            "REMEMBRANCER_JOBS": "distributed",
        }
        place.run("remembrancer", "remember", "The payment worker needs 2 GiB.", "--embedder", "none", **shared)
        working = place.start("worker", "--json", **shared)
        line = working.stdout.readline() if working.stdout else ""
        working.terminate()
        _, err = working.communicate(timeout=SECONDS)
        if working.returncode or not line:
            raise Failed(f"worker: exit code {working.returncode}: {err}")
        return f"worker: ran {json.loads(line)['job']}, passed to it by the queue"


def with_qdrant(place: Place) -> str:
    place.recall(
        REMEMBRANCER_EMBEDDER="none", REMEMBRANCER_DB="folder.db", REMEMBRANCER_INDEX=f"qdrant://{place.folder}/i"
    )
    with tempfile.TemporaryDirectory() as folder, QdrantServerDouble(Path(folder)) as server:
        place.recall(REMEMBRANCER_EMBEDDER="none", REMEMBRANCER_DB="server.db", REMEMBRANCER_INDEX=server.url())
        return f"recall: with a folder, and with {len(server.calls)} calls to a server"


def with_a_language_model(place: Place) -> str:
    with LlmServer(always={"title": "Deploy"}) as server:
        chosen = {"REMEMBRANCER_LLM": "openai:m", "REMEMBRANCER_LLM_URL": server.url("openai"), "OPENAI_API_KEY": "k"}
        return "a task: " + place.run("python", "-c", ASK_THE_MODEL, **chosen, REMEMBRANCER_DB=":memory:")


def with_a_vault(place: Place) -> str:
    (place.folder / "notes").mkdir()
    place.run("remembrancer", "vault", "sync", "notes", REMEMBRANCER_EMBEDDER="none")
    watching = place.start("vault", "watch", "notes")
    time.sleep(5)
    if watching.poll() is not None:
        raise Failed(f"vault watch: exit code {watching.returncode}: {watching.communicate()[1]}")
    watching.terminate()
    watching.communicate(timeout=SECONDS)
    return "vault sync wrote, and vault watch watched until it was stopped"


def with_a_picture(place: Place) -> str:
    place.run("remembrancer", "remember", "The payment worker needs 2 GiB.", REMEMBRANCER_EMBEDDER="none")
    place.run("remembrancer", "presets", "compare", QUESTION, "--png", "c.png", REMEMBRANCER_EMBEDDER="none")
    return f"presets compare --png: {(place.folder / 'c.png').stat().st_size} bytes"


def over_mcp(place: Place) -> str:
    said, err = place.start("mcp").communicate(json.dumps(INITIALIZE) + "\n", timeout=SECONDS)
    if '"serverInfo"' not in said:
        raise Failed(f"mcp: {said} {err}")
    return f"mcp: {json.loads(said.splitlines()[0])['result']['serverInfo']['name']} answered initialize"


def over_http(place: Place) -> str:
    serving = place.start("serve", "--port", "0", "--json")
    try:
        line = serving.stdout.readline() if serving.stdout else ""
        if not line:
            raise Failed(f"serve: {serving.communicate(timeout=SECONDS)[1]}")
        url: str = json.loads(line)["url"]
        with urllib.request.urlopen(url, timeout=60) as page:  # noqa: S310  our own address
            return f"serve: the dashboard answers {page.status}"
    finally:
        serving.terminate()
        serving.communicate(timeout=SECONDS)


Use = Callable[[Place], str]
USES: Final[Mapping[str, Use]] = {
    "": by_words,
    "local": by_the_local_model,
    "ollama": by_ollama,
    "remote": by_a_service,
    "rerank": reranked,
    "postgres": in_postgresql,
    "distributed": by_a_shared_worker,
    "qdrant": with_qdrant,
    "llm": with_a_language_model,
    "vault": with_a_vault,
    "plot": with_a_picture,
    "mcp": over_mcp,
    "server": over_http,
}


# -- installations --------------------------------------------------------------------------------


def environment(folder: Path) -> Place:
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True)  # noqa: S603
    (folder / "run").mkdir()
    return Place(folder / "venv", folder / "run")


def installed(folder: Path, *requirements: str, uses: Mapping[str, Use]) -> list[str]:
    """Install the requirements in an empty environment and use the program. The lines say what was seen."""
    place = environment(folder)
    place.run("pip", "install", "--quiet", "--find-links", str(DIST), *requirements)
    lines = [place.run("pip", "check")]
    for program in (["remembrancer"], ["python", "-m", "remembrancer"]):
        if (version := place.run(*program, "--version")) != VERSION:
            raise Failed(f"{program}: {version}")
        lines.append(f"{' '.join(program)} --version: {version}")
    return [*lines, *(use(place) for use in uses.values())]


def run_by_pipx(folder: Path, extra: str) -> list[str]:
    place = environment(folder)
    place.run("pip", "install", "--quiet", "pipx")
    wheel = f"{DIST / f'remembrancer-{VERSION}-py3-none-any.whl'}{extra}"
    line = ["pipx", "run", "--spec", wheel, "--pip-args", f"--find-links {DIST}", "remembrancer"]
    said = [f"pipx run --spec WHEEL{extra} remembrancer --version: {place.run(*line, '--version', **pipx_in(folder))}"]
    if extra:
        demo = place.run(*line, "demo", **pipx_in(folder))
        said.append(f"pipx run --spec WHEEL{extra} remembrancer demo: {len(demo.splitlines())} lines")
    return said


def pipx_in(folder: Path) -> dict[str, str]:
    return {"PIPX_HOME": str(folder / "pipx"), "PIPX_BIN_DIR": str(folder / "bin")}


def sdists(folder: Path) -> list[str]:
    archives = sorted(DIST.glob("*.tar.gz"))
    extra = [f"{path}[local]" if path.name.startswith("remembrancer-") else str(path) for path in archives]
    return installed(folder, *extra, uses={"local": by_the_local_model})


def sizes(_: Path) -> list[str]:
    """The sizes of the files. Raises Failed for one that PyPI would refuse."""
    files = sorted(path for path in DIST.iterdir() if path.name.endswith((".whl", ".tar.gz")))
    if too_large := [path.name for path in files if path.stat().st_size > MOST_BYTES]:
        raise Failed(f"larger than PyPI's 100 MiB: {too_large}")
    return [f"{path.name}: {path.stat().st_size:,} bytes" for path in files]


def main() -> int:
    steps: dict[str, Callable[[Path], list[str]]] = {"files": sizes}
    for extra in ("", *(one for one in PROJECT["optional-dependencies"] if one not in {"dev", "testing"})):
        uses = USES if extra == "all" else {extra: USES[extra]}
        wanted = f"remembrancer[{extra}]=={VERSION}" if extra else f"remembrancer=={VERSION}"
        steps[wanted] = lambda folder, wanted=wanted, uses=uses: installed(folder, wanted, uses=uses)
    steps["both sdists"] = sdists
    steps["pipx"] = lambda folder: run_by_pipx(folder, "")
    steps["pipx with [local]"] = lambda folder: run_by_pipx(folder, "[local]")
    failures = 0
    for name, step in steps.items():
        started = time.monotonic()
        with tempfile.TemporaryDirectory() as folder:
            try:
                mark, lines = "ok", step(Path(folder))
            except (Failed, OSError, ValueError, subprocess.SubprocessError) as error:
                mark, lines, failures = "FAILED", [str(error)], failures + 1
        print(f"{mark}  {name}  ({time.monotonic() - started:.0f} s)", *lines, sep="\n      ", flush=True)  # noqa: T201
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
