"""What the wheels and the sdists contain. `make test-install` installs them."""

from __future__ import annotations

import email
import shutil
import subprocess
import sys
import tarfile
import tomllib
from email.message import Message
from pathlib import Path
from typing import Final
from zipfile import ZipFile

import pytest

ROOT: Final = Path(__file__).parents[2]
MINILM: Final = ROOT / "distributions" / "minilm"
MODEL: Final = ("all-MiniLM-L6-v2-int8.onnx", "all-MiniLM-L6-v2-fp32.onnx", "bit-sums.onnx", "tokenizer.json")


def build(project: Path, folder: Path) -> subprocess.CompletedProcess[str]:
    """Build wheel and sdist of `project` into `folder`."""
    hatchling = [sys.executable, "-m", "hatchling", "build", "-d", str(folder)]
    return subprocess.run(hatchling, cwd=project, capture_output=True, text=True, check=False)


def wheel_in(folder: Path) -> ZipFile:
    (path,) = folder.glob("*.whl")
    return ZipFile(path)


def in_sdist(folder: Path) -> set[str]:
    """The files of the sdist, without the folder that holds them all."""
    (path,) = folder.glob("*.tar.gz")
    with tarfile.open(path) as archive:
        return {member.name.partition("/")[2] for member in archive if member.isfile()}


def metadata(wheel: ZipFile) -> Message:
    (name,) = (name for name in wheel.namelist() if name.endswith(".dist-info/METADATA"))
    return email.message_from_bytes(wheel.read(name))


def files_below(folder: Path) -> set[str]:
    """Paths relative to `folder`, as in an archive, without what Python writes."""
    return {str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file() and path.suffix != ".pyc"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    assert build(ROOT, folder).returncode == 0
    return folder


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The distribution of the model with small files in place of the made ones."""
    project = tmp_path_factory.mktemp("minilm")
    shutil.copytree(MINILM, project, dirs_exist_ok=True, ignore=shutil.ignore_patterns("*.onnx", "__pycache__"))
    shutil.copy(ROOT / ".gitignore", project)
    for name in MODEL:
        (project / "src" / "remembrancer_minilm" / name).write_bytes(b"a file of the model")
    assert build(project, project / "dist").returncode == 0
    return project / "dist"


def test_the_wheel_has_every_file_of_the_package_and_nothing_else(built: Path) -> None:
    names = {name for name in wheel_in(built).namelist() if ".dist-info/" not in name}
    assert names == {f"remembrancer/{name}" for name in files_below(ROOT / "src" / "remembrancer")}


def test_the_wheel_has_the_licence_and_the_notice(built: Path) -> None:
    names = {name.rpartition("/")[2] for name in wheel_in(built).namelist() if "/licenses/" in name}
    assert names == {"LICENSE", "NOTICE"}


def test_the_metadata_has_every_extra_and_the_programs_name(built: Path) -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    wheel = wheel_in(built)
    assert set(metadata(wheel).get_all("Provides-Extra", [])) == project["optional-dependencies"].keys()
    (entry_points,) = (name for name in wheel.namelist() if name.endswith("entry_points.txt"))
    assert b"remembrancer = remembrancer.interfaces.cli.main:main" in wheel.read(entry_points)


def test_the_sdist_can_be_worked_with_like_a_checkout(built: Path) -> None:
    names = in_sdist(built)
    needed = {"Makefile", "constraints.txt", "mkdocs.yml", "pyproject.toml", "distributions/minilm/weights.txt"}
    assert needed <= names
    for folder in ("src", "tests", "docs", "benchmarks"):
        assert {f"{folder}/{name}" for name in files_below(ROOT / folder)} <= names


def test_the_sdist_has_no_file_of_the_model(built: Path) -> None:
    assert [name for name in in_sdist(built) if name.endswith(".onnx")] == []


def test_both_forms_of_the_models_distribution_have_its_files_licence_and_notice(model: Path) -> None:
    expected = {*MODEL, "__init__.py", "manifest.json", "py.typed"}
    wheel = wheel_in(model).namelist()
    assert {name.partition("/")[2] for name in wheel if name.startswith("remembrancer_minilm/")} == expected
    assert {name.rpartition("/")[2] for name in wheel if "/licenses/" in name} == {"LICENSE", "NOTICE"}
    sdist = in_sdist(model)
    assert {f"src/remembrancer_minilm/{name}" for name in expected} | {"LICENSE", "NOTICE", "weights.txt"} <= sdist


def test_the_models_distribution_requires_nothing(model: Path) -> None:
    told = metadata(wheel_in(model))
    assert (told["Name"], told["License-Expression"], told.get_all("Requires-Dist")) == (
        "remembrancer-minilm",
        "Apache-2.0",
        None,
    )


def test_without_its_files_the_models_distribution_is_not_built(tmp_path: Path) -> None:
    shutil.copytree(MINILM, tmp_path / "minilm", ignore=shutil.ignore_patterns("*.onnx", "tokenizer.json"))
    ran = build(tmp_path / "minilm", tmp_path / "dist")
    assert ran.returncode != 0
    assert "all-MiniLM-L6-v2-int8.onnx" in ran.stderr
