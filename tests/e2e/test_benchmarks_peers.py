"""The comparison behind `make bench`, with few memories and without other systems' packages."""

from __future__ import annotations

import asyncio
import json
import sys
from dataclasses import replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from remembrancer.evaluation import questions
from remembrancer.testing.doubles import WordHashEmbedder

SIZE = 40
DIM = 8

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="it reads processes' figures from /proc")


def one_vector(text: str) -> NDArray[np.float32]:
    return np.ones(DIM, dtype=np.float32)


def nothing(line: str) -> None: ...


@pytest.fixture(scope="module")
def peers() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(Path(__file__).parents[2]), *sys.path])
        patch.setattr(import_module("benchmarks.peers.measure"), "FIRSTS", 1)
        yield import_module("benchmarks.run")


@pytest.fixture(scope="module")
def start(peers: Any, tmp_path_factory: pytest.TempPathFactory) -> Any:
    folder = tmp_path_factory.mktemp("peers")

    def start(system: Any, store: str, dim: int = DIM) -> Any:
        return peers.Running(system, folder / store / system.name, environments=folder, texts=folder, dim=dim)

    return start


@pytest.fixture(scope="module")
def real(peers: Any) -> Any:
    vectors = np.eye(DIM, dtype=np.float32)
    return import_module("benchmarks.peers.ours").RealTexts(vectors, [vectors[:2]] * DIM)


@pytest.fixture(scope="module")
def measured(peers: Any, start: Any, real: Any) -> dict[str, Any]:
    known = {system.name: system for system in peers.SYSTEMS}
    broken = peers.Measurable("broken", "broken")
    places = {system: partial(start, system, "40") for system in (known["words"], known["numpy"], broken)}
    told = peers.speeds(SIZE, places, real, one_vector, fill_seconds=60.0, tell=nothing, questions=4)
    return {speed.system: speed for speed in told}


@pytest.mark.parametrize("system", ["Remembrancer, words only", "numpy, exact cosine"])
def test_a_system_writes_and_recalls_in_a_process_of_its_own(measured: dict[str, Any], system: str) -> None:
    one = measured[system]
    assert not one.error
    assert min(one.cpu_p50, one.wall_p50, one.together, one.singly, one.first_wall, one.bytes, one.resident) > 0


def test_exact_search_returns_as_many_as_were_asked_for(measured: dict[str, Any]) -> None:
    assert measured["numpy, exact cosine"].hits == 10


def test_a_system_that_does_not_run_is_reported_with_its_own_error(measured: dict[str, Any]) -> None:
    assert measured["broken"].error == "KeyError: 'broken'"


def test_a_package_that_cannot_be_installed_is_reported(peers: Any, tmp_path: Path) -> None:
    missing = peers.Measurable("missing", "missing", ("not a requirement",), "missing")
    assert "not a requirement" in peers.install([missing], tmp_path)["missing"]


def test_what_another_system_finds_is_judged_by_the_evidence(peers: Any, start: Any, tmp_path: Path) -> None:
    corpus, asked = tmp_path / "corpus.jsonl", tmp_path / "questions.jsonl"
    turns = [{"id": f"t{n}", "text": text} for n, text in enumerate(["red boats", "green tea", *["a b c"] * 18])]
    corpus.write_text("".join(f"{json.dumps(turn)}\n" for turn in turns), encoding="utf-8")
    asked.write_text(json.dumps({"question": "green tea", "gold": ["t1"]}), encoding="utf-8")
    embedder = WordHashEmbedder()
    (numpy,) = (system for system in peers.SYSTEMS if system.name == "numpy")
    (found,) = asyncio.run(peers.found(questions.load(corpus, asked), [numpy], start, embedder, tell=nothing))
    assert (found.recall, found.ndcg, found.error) == (1.0, 1.0, "")


def test_our_process_answers_by_the_vectors_it_was_given(peers: Any, real: Any, tmp_path: Path) -> None:
    ours = import_module("benchmarks.peers.ours")
    vectors = ours.PreparedQuestions()
    system = ours.Ours(tmp_path, vectors, embedder=ours.GivenVectors(vectors, real))
    items = [
        {
            "key": f"m{n}",
            "text": text,
            "at": "2026-01-01T00:00:00+00:00",
            "actor": "Ana",
            "role": "user",
            "session": "s",
        }
        for n, text in enumerate(["red boats", "green tea"])
    ]
    vector = import_module("benchmarks.peers.measure").packed(real.vectors[0])
    vectors.take([item | {"vector": vector} for item in items])
    system.write(items, together=True)
    read = system.embedded("tea?")
    vectors.questions[read] = ours.EmbeddedQuestion(real.vectors[0], real.vectors[:1], ("tea",))
    assert len(system.recall({"text": "tea?"}, 10)) == 2
    system.close()


def test_results_are_kept_and_put_between_the_marks_of_a_page(
    peers: Any, measured: dict[str, Any], tmp_path: Path
) -> None:
    report = peers.Report(
        machine="A machine",
        load=(0.1, 0.2),
        minutes=1.0,
        speeds=tuple(replace(one, version="1.0") for one in measured.values()),
        questions="Chats",
        found=(peers.Found(system="numpy, exact cosine", recall=0.5),),
        outputs={"python -m benchmarks.start": "a line"},
        packages={},
    )
    peers.save(report, tmp_path)
    page, drawn = tmp_path / "page.md", tmp_path / "page.svg"
    page.write_text("before\n<!-- bench -->\nold\n<!-- end of bench -->\nafter\n", encoding="utf-8")
    peers.put_into_page(peers.saved(tmp_path), page, drawn)
    text = page.read_text(encoding="utf-8")
    assert text.startswith("before\n<!-- bench -->\n\nA machine")
    assert "| numpy, exact cosine | 1.0 | 0.500 |" in text
    assert "broken, 40 memories: left out, KeyError: 'broken'" in text
    assert "old" not in text
    assert "CPU time of a recall" in drawn.read_text(encoding="utf-8")
