"""The benchmark behind docs/scaling.md, with few memories."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import asdict, replace
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from remembrancer.testing.doubles import WordHashEmbedder

SIZE = 40


@pytest.fixture(scope="module")
def scaling() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(Path(__file__).parents[2]), *sys.path])
        return import_module("benchmarks.scaling")


@pytest.fixture(scope="module")
def measured(scaling: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    file, embedder = tmp_path_factory.mktemp("scaling") / "memories.db", WordHashEmbedder()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scaling, "WRITTEN", 5)
        asyncio.run(scaling.fill(file, scaling.Words(seed=SIZE), SIZE, embedder))
        return asyncio.run(scaling.measure("resident-on-sqlite", file, SIZE, embedder, asked=5))


def test_a_backend_is_measured(measured: Any) -> None:
    assert (measured.backend, measured.size) == ("resident-on-sqlite", SIZE)
    assert min(measured.p50_ms, measured.p95_ms, measured.cpu_ms, measured.built_ms, measured.write_ms) > 0
    assert measured.rss_mb > measured.grown_mb
    assert measured.bytes > 1_000


def test_results_become_a_table_and_a_picture(scaling: Any, measured: Any, tmp_path: Path) -> None:
    several = [replace(measured, backend=name, size=size) for name in scaling.BACKENDS for size in (100_000, 10_000)]
    for number, one in enumerate(several):
        (tmp_path / f"{number}.json").write_text(json.dumps(asdict(one)), encoding="utf-8")
    lines = scaling.render(tmp_path).splitlines()
    assert [line.split(" | ")[1] for line in lines[2:4]] == ["10,000", "100,000"]
    assert len(lines) == 2 + len(several)
    assert "CPU time of a recall" in (tmp_path / "scaling.svg").read_text(encoding="utf-8")


def test_the_cpu_of_a_server_is_added(scaling: Any) -> None:
    assert 0 < scaling.cpu_s(None) <= scaling.cpu_s(1)
