"""Liveness and readiness probes, and their cost."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from pathlib import Path
from typing import Any

import apsw
import httpx
import pytest
from served import QUIET, Served, asked

import remembrancer
from remembrancer.adapters.deferred import DeferredEmbedder
from remembrancer.engine.search_state import SearchMode, SearchState
from remembrancer.errors import ModelUnavailable
from remembrancer.interfaces.http.app import Serving
from remembrancer.interfaces.http.probes import EmbedderWatch
from remembrancer.ports.embedder import Embedder
from remembrancer.testing.doubles import FailingEmbedder, HashEmbedder


async def health(served: Served) -> httpx.Response:
    return await served.http.get("/healthz")


async def readiness(served: Served) -> httpx.Response:
    return await served.http.get("/readyz")


def test_a_server_whose_embedder_answers_is_well() -> None:
    answer = asked(health, embedder=HashEmbedder())
    assert answer.status_code == 200
    assert answer.json() == {
        "status": "ok",
        "version": remembrancer.__version__,
        "episodic": "vector",
        "episodic_error": None,
        "degraded": {},
    }


def test_without_an_embedder_it_is_healthy_and_reports_sparse_only() -> None:
    answer = asked(health)
    told = answer.json()
    assert (answer.status_code, told["episodic"], told["episodic_error"]) == (200, "sparse-only", None)
    assert "dense" in told["degraded"]


def test_an_embedder_that_fails_is_reported_with_its_error() -> None:
    answer = asked(health, embedder=FailingEmbedder())
    told = answer.json()
    assert (answer.status_code, told["episodic"]) == (200, "vector-degraded")
    assert told["episodic_error"] == "the model does not answer" == told["degraded"]["dense"]


def test_a_server_is_ready_when_its_store_can_be_written() -> None:
    answer = asked(readiness)
    assert (answer.status_code, answer.json()) == (200, {"status": "ready", "reasons": []})


def test_a_server_that_is_stopping_is_alive_and_not_ready() -> None:
    async def steps(served: Served) -> tuple[int, int, Any]:
        served.stop.set()
        ready = await readiness(served)
        return (await health(served)).status_code, ready.status_code, ready.json()["reasons"]

    assert asked(steps) == (200, 503, ["the server is stopping"])


def test_a_store_that_is_closed_makes_it_neither() -> None:
    async def steps(served: Served) -> tuple[httpx.Response, httpx.Response]:
        await served.memory.close()
        return await health(served), await readiness(served)

    alive, ready = asked(steps)
    assert (alive.status_code, ready.status_code) == (503, 503)
    assert alive.json()["status"] == "unavailable"
    assert alive.json()["degraded"]["store"] == "the store cannot be read now"
    assert ready.json()["reasons"] == ["the store cannot be written to now"]


def test_a_store_that_another_writes_to_for_ever_is_alive_and_not_ready(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.interfaces.http.probes.PATIENCE_SECONDS", 0.2)
    db = tmp_path / "a.db"

    async def steps(served: Served) -> tuple[int, int, Any]:
        other = apsw.Connection(str(db))
        other.execute("BEGIN IMMEDIATE")  # pyright: ignore[reportUnknownMemberType]
        try:
            ready = await readiness(served)
            alive = await health(served)
        finally:
            other.close()
        return alive.status_code, ready.status_code, ready.json()["reasons"]

    settings = replace(QUIET, db=str(db))
    assert asked(steps, settings=settings) == (200, 503, ["the store was not writable within 0.2 s"])


def test_probes_need_no_key_and_return_no_protected_data() -> None:
    async def steps(served: Served) -> list[tuple[int, str]]:
        await served.memory.observe("a secret of the workspace")
        await served.memory.keys.create("ci", "read")
        answers = [await served.http.get(path) for path in ("/healthz", "/readyz")]
        return [(answer.status_code, answer.text) for answer in answers]

    for status, text in asked(steps):
        assert status == 200
        assert "secret" not in text


def test_probes_count_against_no_rate() -> None:
    async def steps(served: Served) -> set[int]:
        return {(await served.http.get("/healthz")).status_code for _ in range(50)}

    assert asked(steps, serving=Serving(rate_limit=1)) == {200}


class Asked:
    """Counts the queries for the embedder's state, and answers them when released."""

    def __init__(self) -> None:
        self.times = 0
        self.let = asyncio.Event()

    def __call__(self) -> Awaitable[SearchState]:
        async def answer() -> SearchState:
            self.times += 1
            await self.let.wait()
            return SearchState(SearchMode.VECTOR, "a model")

        return answer()


def test_the_embedder_is_asked_once_for_everybody() -> None:
    async def steps() -> tuple[int, set[SearchMode]]:
        ask = Asked()
        ask.let.set()
        watch = EmbedderWatch(ask)
        states = await asyncio.gather(*(watch.state() for _ in range(20)))
        states.append(await watch.state())
        return ask.times, {state.mode for state in states}

    assert asyncio.run(steps()) == (1, {SearchMode.VECTOR})


def test_the_embedder_is_asked_again_when_its_answer_is_old() -> None:
    async def steps() -> int:
        ask = Asked()
        ask.let.set()
        watch = EmbedderWatch(ask, fresh=0)
        await watch.state()
        await watch.state()
        return ask.times

    assert asyncio.run(steps()) == 2


def test_an_embedder_that_hangs_makes_no_request_wait_and_is_reported() -> None:
    async def steps() -> tuple[SearchState, SearchState]:
        ask = Asked()
        watch = EmbedderWatch(ask, fresh=0, patience=0.01)
        hanging = await watch.state()
        ask.let.set()
        while (answered := await watch.state()).mode is not SearchMode.VECTOR:
            pass
        await watch.stop()
        return hanging, answered

    hanging, answered = asyncio.run(steps())
    assert hanging == SearchState(SearchMode.VECTOR_DEGRADED, "the embedder has not answered yet, for 0.01 s")
    assert answered.detail == "a model"


def test_an_old_answer_holds_while_a_new_one_is_awaited_in_vain() -> None:
    async def steps() -> SearchState:
        ask = Asked()
        ask.let.set()
        watch = EmbedderWatch(ask, fresh=0, patience=0.01)
        await watch.state()
        ask.let.clear()
        state = await watch.state()
        await watch.stop()
        return state

    assert asyncio.run(steps()).mode is SearchMode.VECTOR


@pytest.mark.parametrize("works", [True, False])
def test_the_embedder_is_loaded_before_the_first_request(works: bool) -> None:
    """If it cannot be, the server answers nevertheless, by words."""
    tries: list[bool] = []

    def loaded() -> Embedder:
        tries.append(works)
        if not works:
            raise ModelUnavailable("the weights are gone")
        return HashEmbedder()

    async def steps(served: Served) -> int:
        async with served.app.router.lifespan_context(served.app):
            assert tries == [works]
            return (await served.http.get("/healthz")).status_code

    embedder = DeferredEmbedder(model_id="hash-256", dim=256, reads=str.isascii, load=loaded)
    assert asked(steps, embedder=embedder) == 200
