"""Prometheus metrics and OpenTelemetry traces of requests and of the stages of recall: names and numbers only."""

from __future__ import annotations

import time
from functools import cache, partial
from typing import Final

from fastapi import APIRouter, FastAPI, Request, Response
from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, StatusCode
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram
from prometheus_client import multiprocess as prometheus_processes
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

import remembrancer
from remembrancer.config import has_shared_metrics
from remembrancer.domain.recall import Recall
from remembrancer.interfaces.http.access import Authenticated
from remembrancer.interfaces.http.middleware import NO_ROUTE, HttpMiddleware, NotedStatus, route_of

SCOPE: Final = "remembrancer"
_NANOSECONDS: Final = 1_000_000_000
_METHODS: Final = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})
_SECONDS: Final = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0, 60.0)
_HITS: Final = (0, 1, 2, 5, 10, 20, 50, 100, 200)


class AppMetrics:
    """The metrics of one app, in a registry of its own. With several worker processes, `text` has their sums."""

    def __init__(self) -> None:
        registry = self.registry = CollectorRegistry()
        counter = partial(Counter, registry=registry)
        gauge = partial(Gauge, registry=registry, multiprocess_mode="livesum")
        duration = partial(Histogram, registry=registry, buckets=_SECONDS)
        self.requests = counter(
            "remembrancer_http_requests", "Requests that were answered.", ("method", "route", "status")
        )
        told = "Time from a request's first byte to the last byte of its answer."
        self.seconds = duration("remembrancer_http_request_seconds", told, ("method", "route"))
        self.under_way = gauge("remembrancer_http_requests_under_way", "Requests that are being answered.")
        self.streams = gauge("remembrancer_streams", "Streams of events that are open.")
        self.connections = gauge("remembrancer_connections", "Open connections.")
        self.connections_closed = counter(
            "remembrancer_connections_closed", "Connections that were refused, or closed at a limit.", ("why",)
        )
        self.rate_limited = counter(
            "remembrancer_rate_limited",
            "Rejected requests over a rate limit: per key, per address without a key, and with invalid keys (failed).",
            ("whose",),
        )
        self.recall_seconds = duration("remembrancer_recall_seconds", "A whole recall.")
        self.stage_seconds = duration("remembrancer_recall_stage_seconds", "Each stage of a recall.", ("stage",))
        # Each label is checked and looked up under a lock, which takes longer than counting.
        self._seconds_of_stage = cache(self.stage_seconds.labels)
        told = "Number of hits per recall."
        self.hits = Histogram("remembrancer_recall_hits", told, buckets=_HITS, registry=registry)
        self.degraded = counter("remembrancer_recalls_degraded", "Recalls with a degraded part, by part.", ("part",))

    def text(self) -> bytes:
        """The metrics in Prometheus' text format."""
        if not has_shared_metrics():
            return generate_latest(self.registry)
        registry = CollectorRegistry()
        prometheus_processes.MultiProcessCollector(registry)
        return generate_latest(registry)

    def recalled(self, recall: Recall) -> None:
        """Count a recall and the duration of its stages."""
        for stage, took in recall.timings.items():
            self._seconds_of_stage(stage).observe(took.total_seconds())
        self.recall_seconds.observe(sum(took.total_seconds() for took in recall.timings.values()))
        self.hits.observe(len(recall))
        for without in recall.degraded:
            self.degraded.labels(without).inc()


class Measured(HttpMiddleware):
    """Counts requests by route."""

    def __init__(self, app: ASGIApp, *, metrics: AppMetrics) -> None:
        super().__init__(app)
        self._metrics = metrics

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        noted = NotedStatus(send)
        began = time.perf_counter()
        try:
            with self._metrics.under_way.track_inprogress():
                await self.app(scope, receive, noted)
        finally:
            method = scope["method"] if scope["method"] in _METHODS else "other"
            route = route_of(scope)
            self._metrics.requests.labels(method, route, str(noted.status or "none")).inc()
            self._metrics.seconds.labels(method, route).observe(time.perf_counter() - began)


router = APIRouter(tags=["operation"])


@router.get(
    "/metrics",
    summary="Prometheus metrics",
    operation_id="metrics",
    response_class=Response,
    responses={200: {"content": {"text/plain": {"schema": {"type": "string"}}}, "description": "Prometheus' text"}},
)
async def metrics(request: Request, _: Authenticated) -> Response:
    """Counters and histograms of this server in Prometheus' text format, for any key."""
    measured: AppMetrics = request.app.state.metrics
    return Response(measured.text(), media_type=CONTENT_TYPE_PLAIN_0_0_4)


class Traced(HttpMiddleware):
    """Starts a server span for each request, in the trace of its `traceparent`."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        if isinstance(trace.get_tracer_provider(), trace.ProxyTracerProvider):  # nobody collects spans
            await self.app(scope, receive, send)
            return
        method: str = scope["method"]
        parent = propagate.extract(Headers(scope=scope))
        with _tracer().start_as_current_span(
            method, context=parent, kind=SpanKind.SERVER, record_exception=False, set_status_on_exception=False
        ) as span:
            if not span.is_recording():
                await self.app(scope, receive, send)
                return
            noted = NotedStatus(send)
            span.set_attribute("http.request.method", method)
            try:
                await self.app(scope, receive, noted)
            finally:
                route = route_of(scope)
                if route != NO_ROUTE:
                    span.update_name(f"{method} {route}")
                    span.set_attribute("http.route", route)
                if noted.status:
                    span.set_attribute("http.response.status_code", noted.status)
                if not noted.status or noted.status >= 500:
                    span.set_status(StatusCode.ERROR)


def trace_recall(recall: Recall) -> None:
    """A span `recall` that ends now, with a child span for each stage."""
    if not trace.get_current_span().is_recording():
        return
    tracer = _tracer()
    lengths = {stage: round(took.total_seconds() * _NANOSECONDS) for stage, took in recall.timings.items()}
    end = time.time_ns()
    at = end - sum(lengths.values())
    whole = tracer.start_span("recall", start_time=at)
    whole.set_attributes({"remembrancer.hits": len(recall), "remembrancer.degraded": sorted(recall.degraded)})
    whole.set_attributes({f"remembrancer.leg.{leg}": found for leg, found in recall.trace.legs.items()})
    inside = trace.set_span_in_context(whole)
    for stage, length in lengths.items():
        tracer.start_span(f"recall.{stage}", context=inside, start_time=at).end(at + length)
        at += length
    whole.end(end)


def _tracer() -> trace.Tracer:
    return trace.get_tracer(SCOPE, remembrancer.__version__)


def observe_recall(app: FastAPI, recall: Recall) -> None:
    """Count and trace a recall. A route calls it after the recall and before it answers."""
    metrics: AppMetrics = app.state.metrics
    metrics.recalled(recall)
    trace_recall(recall)
