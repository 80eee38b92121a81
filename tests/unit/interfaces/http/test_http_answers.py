"""Headers of every response, and unexpected errors."""

from __future__ import annotations

import logging

import httpx
import pytest
from fastapi import APIRouter, Response
from fastapi.responses import StreamingResponse
from served import Served, asked

from remembrancer.errors import RemembrancerError
from remembrancer.interfaces.http.problems import STATUS

QUOTED = "the vault's door is xyzzy"
router = APIRouter()


@router.get("/v1/broken")
async def broken() -> None:
    raise ZeroDivisionError(QUOTED)


@router.get("/v1/cut")
async def cut() -> StreamingResponse:
    async def parts() -> object:
        yield b"begun"
        raise ZeroDivisionError(QUOTED)

    return StreamingResponse(parts())  # pyright: ignore[reportArgumentType]


@router.get("/kept")
async def kept() -> Response:
    return Response("x", headers={"Cache-Control": "public, max-age=3600"})


def got(path: str) -> httpx.Response:
    async def steps(served: Served) -> httpx.Response:
        return await served.http.get(path)

    return asked(steps, router=router)


@pytest.mark.parametrize("path", ["/openapi.json", "/v1/broken", "/nowhere"])
def test_every_answer_is_safe_in_a_browser(path: str) -> None:
    headers = got(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "same-origin"
    assert headers["cache-control"] == "no-store"
    policy = dict(part.split(" ", 1) for part in headers["content-security-policy"].split("; "))
    assert policy == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "'self' data:",
        "connect-src": "'self'",
        "font-src": "'self'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
        "base-uri": "'none'",
    }


def test_an_answer_that_may_be_cached_has_its_own_header() -> None:
    assert got("/kept").headers["cache-control"] == "public, max-age=3600"


def test_an_unforeseen_error_is_a_problem_without_its_words() -> None:
    broken = got("/v1/broken")
    assert (broken.status_code, broken.headers["content-type"]) == (500, "application/problem+json")
    assert broken.json()["detail"] == "unexpected, please report it: ZeroDivisionError"


def test_an_unforeseen_error_is_logged_with_its_place_and_without_its_words(caplog: pytest.LogCaptureFixture) -> None:
    got("/v1/broken")
    [record] = [one for one in caplog.records if one.exc_info]
    assert record.getMessage() == "unforeseen ZeroDivisionError in /v1/broken"
    told = logging.Formatter().format(record)
    assert "in broken" in told
    assert QUOTED not in told


def test_an_answer_interrupted_in_the_middle_gives_the_web_server_nothing_to_log() -> None:
    async def steps(served: Served) -> BaseException | None:
        transport = httpx.ASGITransport(app=served.app, raise_app_exceptions=True)
        async with httpx.AsyncClient(transport=transport, base_url="http://127.0.0.1") as http:
            with pytest.raises(RuntimeError, match=r"^ZeroDivisionError$") as raised:
                await http.get("/v1/cut")
        return raised.value

    error = asked(steps, router=router)
    assert error is not None
    assert error.__suppress_context__


def test_every_error_that_is_raised_on_purpose_has_a_status() -> None:
    assert set(STATUS) == set(RemembrancerError.__subclasses__())
