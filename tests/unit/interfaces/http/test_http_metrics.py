"""Prometheus metrics: counts and durations, without any text."""

from __future__ import annotations

from typing import Any

import httpx
from fastapi import APIRouter, Request
from prometheus_client.parser import text_string_to_metric_families
from served import Served, asked

from remembrancer.interfaces.http.access import ReadableMemory
from remembrancer.interfaces.http.app import Serving
from remembrancer.interfaces.http.telemetry import AppMetrics, observe_recall

router = APIRouter()


@router.get("/v1/things/{name}")
async def thing(name: str) -> str:
    return name


@router.get("/v1/asked")
async def ask(request: Request, memory: ReadableMemory) -> int:
    recall = await memory.recall("why did the deploy fail?")
    observe_recall(request.app, recall)
    return len(recall)


def samples(text: str) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    return {
        (sample.name, tuple(sorted(sample.labels.items()))): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
    }


def measured(*paths: str, **given: Any) -> dict[tuple[str, tuple[tuple[str, str], ...]], float]:
    async def steps(served: Served) -> str:
        await served.memory.remember("The deploy failed: the payment worker ran out of memory")
        for path in paths:
            await served.http.get(path)
        return (await served.http.get("/metrics")).text

    return samples(asked(steps, router=router, **given))


def count(found: dict[tuple[str, tuple[tuple[str, str], ...]], float], name: str, **labels: str) -> float | None:
    return found.get((name, tuple(sorted(labels.items()))))


def test_requests_are_counted_by_route_method_and_status() -> None:
    found = measured("/v1/things/a", "/v1/things/b", "/nowhere/xyzzy")
    name = "remembrancer_http_requests_total"
    assert count(found, name, method="GET", route="/v1/things/{name}", status="200") == 2
    assert count(found, name, method="GET", route="(none)", status="404") == 1
    assert "xyzzy" not in str(found)


def test_an_unknown_method_makes_no_series_of_its_own() -> None:
    async def steps(served: Served) -> str:
        await served.http.request("BREW", "/v1/things/a")
        return (await served.http.get("/metrics")).text

    found = samples(asked(steps, router=router))
    assert (
        count(found, "remembrancer_http_requests_total", method="other", route="/v1/things/{name}", status="405") == 1
    )


def test_how_long_requests_take_is_described_by_route() -> None:
    found = measured("/v1/things/a")
    name = "remembrancer_http_request_seconds_count"
    assert count(found, name, method="GET", route="/v1/things/{name}") == 1


def test_requests_under_way_are_reported() -> None:
    assert count(measured(), "remembrancer_http_requests_under_way") == 1  # the one that asks


def test_each_stage_of_a_recall_is_reported() -> None:
    found = measured("/v1/asked", "/v1/asked")
    stages = {dict(labels)["stage"] for name, labels in found if name == "remembrancer_recall_stage_seconds_count"}
    assert {"plan", "embed", "search", "score", "gather"} <= stages
    assert count(found, "remembrancer_recall_seconds_count") == 2
    assert count(found, "remembrancer_recall_hits_sum") == 2


def test_degraded_recalls_are_counted() -> None:
    assert count(measured("/v1/asked"), "remembrancer_recalls_degraded_total", part="dense") == 1


def test_rate_limited_requests_are_counted() -> None:
    async def steps(served: Served) -> float | None:
        for _ in range(12):
            await served.http.get("/v1/things/a")
        measured: AppMetrics = served.app.state.metrics
        return measured.registry.get_sample_value("remembrancer_rate_limited_total", {"whose": "key"})

    assert asked(steps, router=router, serving=Serving(rate_limit=0.001)) == 2


def test_apps_count_apart() -> None:
    name = "remembrancer_http_requests_total"
    labels = {"method": "GET", "route": "/v1/things/{name}", "status": "200"}
    assert [count(measured("/v1/things/a"), name, **labels) for _ in range(2)] == [1, 1]


def test_the_numbers_need_a_key_where_there_are_keys() -> None:
    async def steps(served: Served) -> list[int]:
        made = await served.memory.keys.create("prometheus", "read")
        headers: list[httpx.Headers | dict[str, str]] = [{}, {"Authorization": f"Bearer {made.token}"}]
        return [(await served.http.get("/metrics", headers=one)).status_code for one in headers]

    assert asked(steps) == [401, 200]
