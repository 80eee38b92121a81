"""Limits on the size, type and time of a request."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, Request
from fastapi.responses import StreamingResponse
from served import Served, asked

from remembrancer.interfaces.http.app import Serving
from remembrancer.interfaces.http.middleware import MAX_BODY_BYTES

router = APIRouter()


@router.post("/v1/echo")
async def echo(request: Request) -> int:
    return len(await request.body())


@router.post("/v1/never")
async def never(request: Request) -> None:
    await request.body()
    await asyncio.Event().wait()


@router.get("/v1/drip")
async def drip() -> StreamingResponse:
    async def drops() -> AsyncIterator[str]:
        yield "data: 1\n\n"
        await asyncio.sleep(1.3)  # longer than the limit that it is tried with
        yield "data: 2\n\n"

    return StreamingResponse(drops(), media_type="text/event-stream")


def posted(content: Any, headers: dict[str, str] | None = None, path: str = "/v1/echo", timeout: float = 60) -> Any:
    async def steps(served: Served) -> httpx.Response:
        return await served.http.post(path, content=content, headers=headers)

    return asked(steps, router=router, serving=Serving(rate_limit=0, request_timeout=timeout))


JSON = {"Content-Type": "application/json"}


async def chunks(count: int) -> AsyncIterator[bytes]:
    for _ in range(count):
        yield b" " * (1 << 20)


def test_a_body_of_the_largest_size_is_read() -> None:
    assert posted(b" " * MAX_BODY_BYTES, JSON).json() == MAX_BODY_BYTES


def test_a_body_with_a_larger_content_length_is_refused() -> None:
    refused = posted(b" " * (MAX_BODY_BYTES + 1), JSON)
    assert (refused.status_code, refused.headers["content-type"]) == (413, "application/problem+json")
    assert refused.json()["type"] == "urn:remembrancer:problem:content_too_large"
    assert refused.json()["detail"] == "a request body may have at most 8,388,608 bytes"


def test_a_body_without_a_content_length_is_counted() -> None:
    refused = posted(chunks(9), JSON)
    assert (refused.status_code, refused.json()["type"]) == (413, "urn:remembrancer:problem:content_too_large")


@pytest.mark.parametrize(
    "kind", ["application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "text/plain", "application/jsonp"]
)
def test_content_types_that_a_form_can_send_are_refused(kind: str) -> None:
    refused = posted(b"{}", {"Content-Type": kind})
    assert (refused.status_code, refused.json()["type"]) == (415, "urn:remembrancer:problem:unsupported_media_type")


def test_a_body_of_no_kind_is_not_read() -> None:
    assert posted(b"{}").status_code == 415


def test_a_form_without_a_body_is_not_taken_either() -> None:
    assert posted(b"", {"Content-Type": "text/plain"}).status_code == 415


@pytest.mark.parametrize("kind", ["application/json", "application/json; charset=utf-8", "Application/Problem+JSON"])
def test_json_content_types_are_accepted(kind: str) -> None:
    assert posted(b"{}", {"Content-Type": kind}).json() == 2


def test_no_body_needs_no_kind() -> None:
    assert posted(b"").json() == 0


def test_a_slow_request_is_interrupted_with_advice() -> None:
    late = posted(b"{}", JSON, "/v1/never", timeout=0.5)  # the body has to be there by then
    assert (late.status_code, late.json()["type"]) == (504, "urn:remembrancer:problem:gateway_timeout")
    assert "may have written something: send it again with the same Idempotency-Key" in late.json()["detail"]


def test_for_a_body_that_arrives_too_slowly_the_answer_says_that_nothing_was_done() -> None:
    async def slowly() -> AsyncIterator[bytes]:
        yield b"{"
        await asyncio.Event().wait()

    late = posted(slowly(), JSON, timeout=0.05)
    assert (late.status_code, late.json()["type"]) == (408, "urn:remembrancer:problem:request_timeout")
    assert late.json()["detail"] == "the request did not arrive within 0.05 seconds; nothing was done"


def test_a_stream_of_events_may_last_longer() -> None:
    async def steps(served: Served) -> str:
        return (await served.http.get("/v1/drip")).text

    assert asked(steps, router=router, serving=Serving(rate_limit=0, request_timeout=1)) == "data: 1\n\ndata: 2\n\n"
