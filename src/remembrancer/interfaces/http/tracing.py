"""OpenTelemetry traces: a span for each request and for each stage of a recall, with names and numbers but no content.

Without an OpenTelemetry SDK in the process, tracing costs almost nothing.
"""

from __future__ import annotations

import time
from typing import Final

from opentelemetry import propagate, trace
from opentelemetry.trace import SpanKind, StatusCode
from starlette.datastructures import Headers
from starlette.types import Receive, Scope, Send

import remembrancer
from remembrancer.domain.recall import Recall
from remembrancer.interfaces.http.middleware import HttpMiddleware, NotedStatus
from remembrancer.interfaces.http.route_name import NO_ROUTE, route_of

SCOPE: Final = "remembrancer"
_NANOSECONDS: Final = 1_000_000_000


class Traced(HttpMiddleware):
    """Starts a server span for each request, in the trace of its `traceparent`."""

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
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
