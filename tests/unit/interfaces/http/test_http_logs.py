"""The request log: one line per request, without any text."""

from __future__ import annotations

import io
import json
import logging
from typing import Any

import httpx
import pytest
from fastapi import APIRouter
from served import Served, asked

from remembrancer.interfaces.http.logs import LOGGER, write_to

QUOTED = "the vault's door is xyzzy"
router = APIRouter()


@router.get("/v1/things/{name}")
async def thing(name: str) -> str:
    return name


@router.get("/v1/broken")
async def broken() -> None:
    raise ZeroDivisionError(QUOTED)


def logged(*paths: str, headers: dict[str, str] | None = None, readable: bool = False) -> tuple[list[str], list[Any]]:
    """The lines that these requests left, and their answers."""
    stream = io.StringIO()

    async def steps(served: Served) -> list[httpx.Response]:
        return [await served.http.get(path, headers=headers) for path in paths]

    with write_to(stream, readable=readable):
        answers = asked(steps, router=router)
    lines = [line for line in stream.getvalue().splitlines() if "sparse-only" not in line]
    return lines, answers


def test_a_line_has_the_principal_the_route_the_duration_and_the_status() -> None:
    [line], [answer] = logged("/v1/things/door?code=xyzzy")
    told = json.loads(line)
    assert told.pop("ms") >= 0
    assert told.pop("time").endswith("+00:00")
    assert told == {
        "level": "info",
        "request_id": answer.headers["x-request-id"],
        "method": "GET",
        "route": "/v1/things/{name}",
        "status": 200,
        "bytes": len(answer.content),
        "principal": "local",
    }


def test_no_line_contains_an_address_a_query_or_a_key() -> None:
    lines, _ = logged(
        "/v1/things/door-xyzzy?code=xyzzy",
        "/xyzzy?x=xyzzy",
        headers={"Authorization": "Bearer rem_xyzzy", "Cookie": "a=xyzzy"},
    )
    assert [json.loads(line)["route"] for line in lines] == ["/v1/things/{name}", "(none)"]
    assert not any("xyzzy" in line for line in lines)


def test_a_request_with_a_key_is_logged_with_the_keys_id() -> None:
    stream = io.StringIO()

    async def steps(served: Served) -> tuple[str, str]:
        made = await served.memory.keys.create("program")
        await served.http.get("/metrics", headers={"Authorization": f"Bearer {made.token}"})
        return str(made.key.id), made.token

    with write_to(stream, readable=False):
        identifier, token = asked(steps)
    assert json.loads(stream.getvalue().splitlines()[-1])["principal"] == identifier
    assert token not in stream.getvalue()


@pytest.mark.parametrize("given", ["ab-12", "4bf92f3577b34da6a3ce929d0e0e4736", "req:7/a=b+c@d.e_f"])
def test_a_request_keeps_the_name_that_it_came_with(given: str) -> None:
    [line], [answer] = logged("/v1/things/a", headers={"X-Request-Id": given})
    assert (json.loads(line)["request_id"], answer.headers["x-request-id"]) == (given, given)


@pytest.mark.parametrize("given", ["", "a b", 'a"b', "x" * 129, "a\x1bb"])
def test_a_name_that_is_none_is_replaced(given: str) -> None:
    [line], [answer] = logged("/v1/things/a", headers={"X-Request-Id": given})
    made = answer.headers["x-request-id"]
    assert made != given
    assert len(made) == 32
    assert json.loads(line)["request_id"] == made


def test_an_unforeseen_error_leaves_its_place_and_a_line_of_its_request() -> None:
    [error, request], _ = logged("/v1/broken")
    told = json.loads(error)
    assert (told["level"], told["message"]) == ("error", "unforeseen ZeroDivisionError in /v1/broken")
    assert "in broken" in told["traceback"]
    assert (json.loads(request)["status"], json.loads(request)["level"]) == (500, "error")
    assert "xyzzy" not in error + request


def test_a_person_reads_a_line_that_fits_a_terminal() -> None:
    [line], _ = logged("/v1/things/a", readable=True)
    at, told = line.split(" ", 1)
    assert len(at) == len("12:00:00")
    assert told.startswith("GET /v1/things/{name} 200 ")
    assert told.endswith(" ms, 3 bytes, local")


@pytest.mark.parametrize("readable", [True, False])
def test_nothing_that_is_logged_steers_a_terminal(readable: bool) -> None:
    stream = io.StringIO()
    with write_to(stream, readable=readable):
        logging.getLogger(LOGGER).warning("a job \x1b[31mfailed\x07\nGET /v1/forged 200")
    assert len(stream.getvalue().splitlines()) == 1
    assert stream.getvalue().strip("\n").isprintable()


def test_after_it_nothing_is_written_any_more() -> None:
    stream = io.StringIO()
    with write_to(stream, readable=False):
        pass
    logging.getLogger(LOGGER).warning("late")
    assert stream.getvalue() == ""
