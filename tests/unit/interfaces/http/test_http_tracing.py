"""OpenTelemetry spans: one per request and per stage of a recall, without any text."""

from __future__ import annotations

import pytest
from fastapi import APIRouter, Request
from opentelemetry import trace
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
from opentelemetry.trace import SpanKind, StatusCode
from served import Served, asked

from remembrancer.interfaces.http.access import ReadableMemory
from remembrancer.interfaces.http.telemetry import observe_recall

router = APIRouter()
TRACE, PARENT = "4bf92f3577b34da6a3ce929d0e0e4736", "00f067aa0ba902b7"


@router.get("/v1/asked")
async def ask(request: Request, memory: ReadableMemory, query: str) -> int:
    recall = await memory.recall(query)
    observe_recall(request.app, recall)
    return len(recall)


@router.get("/v1/broken/{name}")
async def broken(name: str) -> None:
    raise ZeroDivisionError(name)


@pytest.fixture(scope="module")
def exporter() -> InMemorySpanExporter:
    """An exporter of this process's provider: OpenTelemetry allows only one, and a framework may have set it."""
    if not isinstance(trace.get_tracer_provider(), TracerProvider):
        trace.set_tracer_provider(TracerProvider())
    provider, made = trace.get_tracer_provider(), InMemorySpanExporter()
    assert isinstance(provider, TracerProvider)
    provider.add_span_processor(SimpleSpanProcessor(made))
    return made


@pytest.fixture
def exported(exporter: InMemorySpanExporter) -> InMemorySpanExporter:
    exporter.clear()
    return exporter


def spans(exporter: InMemorySpanExporter, path: str, headers: dict[str, str] | None = None) -> list[ReadableSpan]:
    async def steps(served: Served) -> None:
        await served.memory.remember("The deploy failed: the vault's door is xyzzy")
        await served.http.get(path, headers=headers)

    asked(steps, router=router)
    return list(exporter.get_finished_spans())


def test_a_request_is_a_span_of_its_route(exported: InMemorySpanExporter) -> None:
    request = spans(exported, "/v1/asked?query=deploy")[-1]
    assert (request.name, request.kind, request.status.status_code) == (
        "GET /v1/asked",
        SpanKind.SERVER,
        StatusCode.UNSET,
    )
    assert dict(request.attributes or {}) == {
        "http.request.method": "GET",
        "http.route": "/v1/asked",
        "http.response.status_code": 200,
    }


def test_a_request_continues_the_trace_of_its_header(exported: InMemorySpanExporter) -> None:
    request = spans(exported, "/nowhere", {"traceparent": f"00-{TRACE}-{PARENT}-01"})[-1]
    assert request.context
    assert request.parent
    assert f"{request.context.trace_id:032x}" == TRACE
    assert f"{request.parent.span_id:016x}" == PARENT


def test_the_stages_of_a_recall_follow_each_other_within_it(exported: InMemorySpanExporter) -> None:
    *stages, recall, request = spans(exported, "/v1/asked?query=deploy")
    assert [stage.name for stage in stages][:3] == ["recall.plan", "recall.embed", "recall.search"]
    assert recall.name == "recall"
    assert recall.parent == request.context
    assert all(stage.parent == recall.context for stage in stages)
    assert [stage.start_time for stage in stages] == [recall.start_time, *(stage.end_time for stage in stages[:-1])]
    assert stages[-1].end_time == recall.end_time


def test_a_recall_span_has_the_number_of_hits_and_the_degraded_parts(exported: InMemorySpanExporter) -> None:
    *_, recall, _ = spans(exported, "/v1/asked?query=deploy")
    assert dict(recall.attributes or {}) == {
        "remembrancer.hits": 1,
        "remembrancer.degraded": ("dense",),
        "remembrancer.leg.dense": 0,
        "remembrancer.leg.lexical": 1,
        "remembrancer.leg.context": 1,
    }


@pytest.mark.parametrize("path", ["/v1/asked?query=deploy+xyzzy", "/v1/broken/xyzzy", "/nowhere/xyzzy?x=xyzzy"])
def test_no_span_contains_stored_text(exported: InMemorySpanExporter, path: str) -> None:
    told = [span.to_json() for span in spans(exported, path, {"Authorization": "Bearer rem_xyzzy"})]
    assert told
    assert not any("xyzzy" in one for one in told)


def test_an_unforeseen_error_is_an_error_of_its_span(exported: InMemorySpanExporter) -> None:
    request = spans(exported, "/v1/broken/x")[-1]
    assert (request.name, request.status.status_code) == ("GET /v1/broken/{name}", StatusCode.ERROR)
