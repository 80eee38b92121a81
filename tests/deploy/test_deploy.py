"""The files that run the server elsewhere, and the release workflow: linters accept them, and what they name exists."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import sysconfig
import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest
import yaml

from remembrancer.config import PREFIX, Settings
from remembrancer.interfaces.http.probes import PROBES

ROOT = Path(__file__).parents[2]
DOCKERFILE = ROOT / "deploy" / "Dockerfile"
COMPOSE = ROOT / "deploy" / "compose.yaml"
UNIT = ROOT / "deploy" / "remembrancer.service"
WORKFLOW = ROOT / ".github" / "workflows" / "release.yml"
PROGRAMS = Path(sysconfig.get_path("scripts"))


def lint(*command: str | Path) -> None:
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stdout + done.stderr


def composed() -> dict[str, Any]:
    return yaml.safe_load(COMPOSE.read_text(encoding="utf-8"))


def instruction(name: str) -> str:
    """The last instruction of this name in the Dockerfile."""
    text = DOCKERFILE.read_text(encoding="utf-8").replace("\\\n", " ")
    return re.findall(rf"^{name} +(.*)$", text, re.MULTILINE)[-1]


def directives(name: str) -> list[str]:
    return re.findall(rf"^{name}=(.*)$", UNIT.read_text(encoding="utf-8"), re.MULTILINE)


def variables_set() -> list[str]:
    """Every variable of ours that one of the files sets."""
    text = "".join(path.read_text(encoding="utf-8") for path in (DOCKERFILE, COMPOSE, UNIT))
    return sorted(set(re.findall(rf"\b{PREFIX}[A-Z_]+", text)))


def test_the_dockerfile_passes_hadolint() -> None:
    lint(PROGRAMS / "hadolint", DOCKERFILE)


@pytest.mark.parametrize(
    ("schema", "path"),
    [("vendor.compose-spec", COMPOSE), ("vendor.github-workflows", WORKFLOW)],
    ids=["compose", "workflow"],
)
def test_it_follows_its_schema(schema: str, path: Path) -> None:
    lint(PROGRAMS / "check-jsonschema", "--builtin-schema", schema, path)


def test_the_workflow_passes_the_strictest_audit() -> None:
    lint(PROGRAMS / "zizmor", "--offline", "--quiet", "--persona", "pedantic", WORKFLOW)


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    (installed,) = directives("ExecStart")
    program = shlex.split(installed)[0]
    unit = tmp_path / UNIT.name
    unit.write_text(UNIT.read_text(encoding="utf-8").replace(program, sys.executable), encoding="utf-8")
    lint("systemd-analyze", "verify", "--man=no", unit)


def test_the_unit_leaves_the_process_few_rights() -> None:
    # 0: none, 100: all; a unit without restrictions has 96
    lint("systemd-analyze", "security", "--offline=yes", "--threshold=20", UNIT)


def test_every_variable_is_one_of_a_setting() -> None:
    settings = {PREFIX + setting.name.upper() for setting in fields(Settings)}
    assert set(variables_set()) - settings == set()
    assert f"{PREFIX}DB" in variables_set()


@pytest.mark.parametrize(
    "arguments",
    [["--host", "0.0.0.0"], []],  # noqa: S104  in the container
    ids=["container", "unit"],
)
def test_its_command_starts_the_server(arguments: list[str]) -> None:
    command = json.loads(instruction("CMD")) if arguments else shlex.split(directives("ExecStart")[0])[1:]
    assert command == ["serve", *arguments]


def test_the_container_is_healthy_when_the_probe_answers() -> None:
    (asked,) = re.findall(r"127\.0\.0\.1:(\d+)(/\w+)", instruction("HEALTHCHECK"))
    assert asked[0] == instruction("EXPOSE")
    assert asked[1] in PROBES


def test_compose_builds_this_dockerfile_from_the_checkout() -> None:
    built = composed()["services"]["memory"]["build"]
    context = (COMPOSE.parent / built["context"]).resolve()
    assert (context, (context / built["dockerfile"]).resolve()) == (ROOT, DOCKERFILE)


def test_compose_publishes_the_port_to_this_machine_only() -> None:
    assert composed()["services"]["memory"]["ports"] == [f"127.0.0.1:{instruction('EXPOSE')}:{instruction('EXPOSE')}"]


def test_the_memory_outlives_the_container() -> None:
    folder = instruction("VOLUME")
    assert instruction("ENV") == f"{PREFIX}DB={folder}/memory.db"
    assert composed()["services"]["memory"]["volumes"] == [f"memory:{folder}"]


def test_the_image_is_built_from_every_file_that_the_wheels_need() -> None:
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    kept = {line.removeprefix("!") for line in ignored if line.startswith("!")}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    needed = {"Makefile", "pyproject.toml", "src", "distributions", "constraints.txt", project["readme"]}
    assert (needed | set(project["license-files"])) - kept == set()
    assert [name for name in kept if not (ROOT / name).exists()] == []


@pytest.mark.parametrize("target", ["dist-twice", "sbom", "test-install"])
def test_the_makefile_has_the_target_that_the_release_runs(target: str) -> None:
    assert f"make {target}\n" in WORKFLOW.read_text(encoding="utf-8")
    assert re.search(rf"^{target}:", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)


def test_every_file_of_a_release_is_signed_before_it_is_published() -> None:
    jobs = yaml.safe_load(WORKFLOW.read_text(encoding="utf-8"))["jobs"]
    used = [step["uses"].partition("@")[0] for step in jobs["attest"]["steps"]]
    assert used[1:] == ["actions/attest-build-provenance", "actions/attest-sbom", "actions/attest-sbom"]
    assert jobs["attest"]["steps"][1]["with"]["subject-path"].split() == [
        "dist/*.whl",
        "dist/*.tar.gz",
        "dist/*.cdx.json",
    ]
    assert (jobs["publish"]["needs"], jobs["release"]["needs"]) == ("attest", "publish")
    assert jobs["publish"]["steps"][-1]["with"]["attestations"] is True
