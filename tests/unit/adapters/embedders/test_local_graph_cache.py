"""The cache of built graphs: never a wrong graph, never an error of its own."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from remembrancer.adapters.embedders.local.graph_cache import cached

NAME = "model.onnx"


def must_not_build() -> bytes:
    raise AssertionError("built although the graph was kept")


def test_a_kept_graph_is_not_built_again(tmp_path: Path) -> None:
    cached(tmp_path, NAME, lambda: b"graph")
    assert cached(tmp_path, NAME, must_not_build) == b"graph"


def test_a_damaged_file_is_replaced_by_a_new_graph(tmp_path: Path) -> None:
    cached(tmp_path, NAME, lambda: b"graph")
    kept = (tmp_path / NAME).read_bytes()
    (tmp_path / NAME).write_bytes(kept[:-1] + b"?")
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
