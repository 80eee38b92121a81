"""The cache of built graphs never returns a wrong graph and never raises an error."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from hashlib import sha256
from pathlib import Path

import pytest

from remembrancer.adapters.embedders.local.graph_cache import opened
from remembrancer.errors import ModelUnavailable

NAME = "model.onnx"


def cached(folder: Path, name: str, build: Callable[[], bytes]) -> bytes:
    """The graph as it is loaded."""
    return opened(folder, name, build, lambda graph: graph)


def kept(folder: Path, graph: bytes) -> Path:
    """A file with its right checksum."""
    file = folder / NAME
    file.write_bytes(sha256(graph).digest() + graph)
    file.chmod(0o600)
    return file


def must_not_build() -> bytes:
    raise AssertionError("built although the graph was kept")


def test_a_kept_graph_is_not_built_again(tmp_path: Path) -> None:
    cached(tmp_path, NAME, lambda: b"graph")
    assert cached(tmp_path, NAME, must_not_build) == b"graph"


def test_a_damaged_file_is_replaced_by_a_new_graph(tmp_path: Path) -> None:
    cached(tmp_path, NAME, lambda: b"graph")
    whole = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(whole[:-1] + b"?")
    assert cached(tmp_path, NAME, lambda: b"rebuilt") == b"rebuilt"
    assert cached(tmp_path, NAME, must_not_build) == b"rebuilt"


def test_an_empty_file_is_not_a_graph(tmp_path: Path) -> None:
    (tmp_path / NAME).touch()
    assert cached(tmp_path, NAME, lambda: b"graph") == b"graph"


def test_a_folder_is_made_for_its_user_alone(tmp_path: Path) -> None:
    cached(tmp_path / "cache" / "graphs", NAME, lambda: b"graph")
    assert (tmp_path / "cache" / "graphs").stat().st_mode & 0o077 == 0


def test_a_folder_that_cannot_be_made_does_not_prevent_the_build(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    assert cached(tmp_path / "file", NAME, lambda: b"graph") == b"graph"


def test_a_file_that_cannot_be_replaced_leaves_nothing_behind(tmp_path: Path) -> None:
    (tmp_path / NAME).mkdir()
    assert cached(tmp_path, NAME, lambda: b"graph") == b"graph"
    assert list(tmp_path.iterdir()) == [tmp_path / NAME]


def test_racing_writers_leave_one_whole_file(tmp_path: Path) -> None:
    graph = b"graph" * 100_000
    with ThreadPoolExecutor(8) as threads:
        racers = [threads.submit(cached, tmp_path, NAME, lambda: graph) for _ in range(32)]
    assert [racer.result() for racer in racers] == [graph] * 32
    assert list(tmp_path.iterdir()) == [tmp_path / NAME]
    assert cached(tmp_path, NAME, must_not_build) == graph


def refusing(graph: bytes) -> bytes:
    """A loader that refuses every graph except the built one."""
    if graph != b"graph":
        raise ModelUnavailable("it is not this graph")
    return graph


def test_a_forged_file_is_replaced_and_reported_as_another_graph(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    file = kept(tmp_path, b"forged")
    assert opened(tmp_path, NAME, lambda: b"graph", refusing) == b"graph"
    assert [record.getMessage() for record in caplog.records] == [
        f"the cached model {file} is not used, but built anew: it is not this graph"
    ]
    assert cached(tmp_path, NAME, must_not_build) == b"graph"


def test_a_damaged_file_is_reported(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = kept(tmp_path, b"graph")
    file.write_bytes(file.read_bytes() + b"!")
    cached(tmp_path, NAME, lambda: b"graph")
    assert "does not match its checksum: it is damaged, or was changed" in caplog.text


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no such modes")
@pytest.mark.parametrize("mode", [0o620, 0o602, 0o666])
def test_a_file_that_others_may_write_to_is_not_used(
    mode: int, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    kept(tmp_path, b"forged").chmod(mode)
    assert cached(tmp_path, NAME, lambda: b"graph") == b"graph"
    assert f"other users may write to it (mode {mode:o})" in caplog.text


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="Windows has no user ids")
def test_a_file_of_another_user_is_not_used(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4711)
    file = kept(tmp_path, b"forged")
    if file.stat().st_uid == 0:
        os.chown(file, 4712, -1)
    assert cached(tmp_path, NAME, lambda: b"graph") == b"graph"
    assert "it belongs to another user (uid " in caplog.text


def test_a_first_start_warns_of_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    cached(tmp_path, NAME, lambda: b"graph")
    assert caplog.records == []


def test_a_built_graph_that_cannot_be_loaded_is_not_kept(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match="not this graph"):
        opened(tmp_path, NAME, lambda: b"wrong", refusing)
    assert list(tmp_path.iterdir()) == []
