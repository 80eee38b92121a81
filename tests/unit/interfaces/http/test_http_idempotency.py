"""A writing request with an idempotency key is executed once, however often it is sent."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field, replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, HTTPException, Request, Response
from served import QUIET, Served, asked

from remembrancer.errors import NotFound, StoreUnavailable
from remembrancer.interfaces.http.access import WritableMemory
from remembrancer.interfaces.http.idempotency import HEADER, REPLAYED, DerivedKey, IdempotentRoute
from remembrancer.testing.doubles import FixedClock

NOTHING: dict[str, str] = {}
FAILURES: dict[str, Exception] = {
    "not-there": NotFound("memory", "x"),
    "refused": HTTPException(403, "no"),
    "busy": StoreUnavailable("busy"),
    "unforeseen": ZeroDivisionError(),
}


@dataclass
class Work:
    """Routes of this test, and a record of their calls."""

    done: list[str] = field(default_factory=list[str])
    keys: list[str | None] = field(default_factory=list[str | None])
    begun: asyncio.Event = field(default_factory=asyncio.Event)
    go_on: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def router(self) -> APIRouter:
        router = APIRouter(route_class=IdempotentRoute)

        @router.post("/v1/count", status_code=201)
        async def count(request: Request) -> dict[str, int]:
            self.done.append((await request.body()).decode())
            return {"count": len(self.done)}

        @router.post("/v1/mark", status_code=204)
        async def mark() -> None:
            self.done.append("mark")

        @router.post("/v1/slow")
        async def slow() -> dict[str, int]:
            self.begun.set()
            await self.go_on.wait()
            self.done.append("slow")
            return {"count": len(self.done)}

        @router.post("/v1/fails/{how}")
        async def fails(how: str) -> Response:
            self.done.append(how)
            if how == "answered":
                return Response(status_code=422)
            raise FAILURES[how]

        @router.post("/v1/note")
        async def note(memory: WritableMemory, key: DerivedKey, then: str = "") -> dict[str, str]:
            self.keys.append(key)
            event = await memory.observe("The deploy failed", key=key)
            if then == "break" and len(self.keys) == 1:
                raise ZeroDivisionError
            return {"id": str(event.id)}

        @router.post("/v1/much")
        async def much() -> dict[str, str]:
            self.done.append("much")
            return {"text": "x" * (9 << 20)}

        return router


def key(name: str) -> dict[str, str]:
    return {HEADER: name}


def told(answer: httpx.Response) -> tuple[int, Any, str | None]:
    return answer.status_code, answer.json(), answer.headers.get(REPLAYED)


def posts(work: Work, *requests: tuple[str, Any, dict[str, str]], **given: Any) -> list[httpx.Response]:
    async def steps(served: Served) -> list[httpx.Response]:
        return [await served.http.post(path, json=body, headers=headers) for path, body, headers in requests]

    return asked(steps, router=work.router, **given)


def test_the_same_request_is_done_once_and_answered_twice() -> None:
    work = Work()
    first, second = posts(work, *[("/v1/count", {"n": 1}, key("a"))] * 2)
    assert (told(first), told(second)) == ((201, {"count": 1}, None), (201, {"count": 1}, "true"))
    assert first.headers["content-type"] == second.headers["content-type"]
    assert len(work.done) == 1


def test_an_answer_without_a_body_is_given_again_without_one() -> None:
    work = Work()
    first, second = posts(work, *[("/v1/mark", {"n": 1}, key("a"))] * 2)
    assert [(one.status_code, one.content) for one in (first, second)] == [(204, b"")] * 2
    assert second.headers[REPLAYED] == "true"
    assert work.done == ["mark"]


def test_without_a_key_each_request_is_done() -> None:
    work = Work()
    posts(work, *[("/v1/count", {"n": 1}, NOTHING)] * 2)
    assert len(work.done) == 2


@pytest.mark.parametrize(
    ("path", "body"), [("/v1/count", {"n": 2}), ("/v1/count?x=1", {"n": 1}), ("/v1/fails/refused", {"n": 1})]
)
def test_a_key_of_another_request_is_refused(path: str, body: Any) -> None:
    work = Work()
    _, second = posts(work, ("/v1/count", {"n": 1}, key("a")), (path, body, key("a")))
    assert (second.status_code, second.json()["detail"]) == (409, "Idempotency-Key: 'a' was used with another request")
    assert len(work.done) == 1


def test_of_two_workspaces_each_has_its_own_keys() -> None:
    async def steps(served: Served) -> list[int]:
        answers: list[int] = []
        for memory in (served.memory, served.memory.of_workspace("other")):
            token = (await memory.keys.create("program", "write")).token
            headers = {"Authorization": f"Bearer {token}", **key("a")}
            answers.append((await served.http.post("/v1/count", headers=headers)).json()["count"])
        return answers

    assert asked(steps, router=Work().router) == [1, 2]


def test_one_key_to_a_workspace_does_not_get_the_stored_answer_of_another() -> None:
    async def steps(served: Served) -> list[int]:
        answers: list[int] = []
        for name in ("one", "other"):
            token = (await served.memory.keys.create(name, "write")).token
            headers = {"Authorization": f"Bearer {token}", **key("a")}
            answers.append((await served.http.post("/v1/count", headers=headers)).json()["count"])
        return answers

    assert asked(steps, router=Work().router) == [1, 2]


@pytest.mark.parametrize("how", ["not-there", "refused", "busy", "answered"])
def test_a_request_that_was_refused_can_be_sent_again(how: str) -> None:
    work = Work()
    first, second = posts(work, *[(f"/v1/fails/{how}", NOTHING, key("a"))] * 2)
    assert first.status_code == second.status_code
    assert second.headers.get(REPLAYED) is None
    assert len(work.done) == 2


def test_after_an_unexpected_error_the_state_of_the_write_is_unknown() -> None:
    work = Work()
    first, second = posts(work, *[("/v1/fails/unforeseen", NOTHING, key("a"))] * 2)
    assert (first.status_code, second.status_code) == (500, 409)
    assert second.json()["detail"] == "Idempotency-Key: the first request is still running, or its outcome is not known"
    assert len(work.done) == 1


def test_after_an_interrupted_request_the_state_of_the_write_is_unknown() -> None:
    work = Work()

    async def steps(served: Served) -> int:
        first = asyncio.create_task(served.http.post("/v1/slow", headers=key("a")))
        await work.begun.wait()
        first.cancel()
        await asyncio.wait([first])
        return (await served.http.post("/v1/slow", headers=key("a"))).status_code

    assert asked(steps, router=work.router) == 409


def test_the_same_request_is_not_run_twice_at_the_same_time() -> None:
    work = Work()

    async def steps(served: Served) -> tuple[int, int]:
        first = asyncio.create_task(served.http.post("/v1/slow", headers=key("a")))
        await work.begun.wait()
        second = await served.http.post("/v1/slow", headers=key("a"))
        work.go_on.set()
        return (await first).status_code, second.status_code

    assert asked(steps, router=work.router) == (200, 409)
    assert work.done == ["slow"]


def test_a_write_that_uses_the_key_itself_is_repeated_safely() -> None:
    work = Work()

    async def steps(served: Served) -> tuple[list[httpx.Response], int]:
        answers = [await served.http.post("/v1/note?then=break", headers=key("a")) for _ in range(3)]
        return answers, (await served.memory.health.stats()).events

    answers, events = asked(steps, router=work.router)
    assert [answer.status_code for answer in answers] == [500, 200, 200]
    assert answers[1].json() == answers[2].json()
    assert answers[2].headers[REPLAYED] == "true"
    assert (events, len(work.keys)) == (1, 2)


def test_the_key_that_is_written_under_follows_from_who_asks_and_from_the_header() -> None:
    async def steps(served: Served) -> None:
        for name in ("one", "other"):
            token = (await served.memory.keys.create(name, "write")).token
            for header in ("a", "b"):
                await served.http.post("/v1/note", headers={"Authorization": f"Bearer {token}", **key(header)})
        await served.http.post("/v1/note", headers={"Authorization": f"Bearer {token}"})  # pyright: ignore[reportPossiblyUnboundVariable]

    work = Work()
    asked(steps, router=work.router)
    assert len({*work.keys}) == 5
    assert work.keys[-1] is None
    assert all(one is None or (one.startswith("idem:") and len(one) <= 100) for one in work.keys)


def test_an_answer_that_is_too_long_to_keep_is_not_made_twice() -> None:
    work = Work()
    first, second = posts(work, *[("/v1/much", NOTHING, key("a"))] * 2)
    assert (first.status_code, second.status_code, work.done) == (200, 409, ["much"])
    assert "executed and answered with 200" in second.json()["detail"]


def test_a_key_is_new_again_after_a_day() -> None:
    clock, work = FixedClock(), Work()

    async def steps(served: Served) -> list[int]:
        first = await served.http.post("/v1/count", headers=key("a"))
        clock.advance(timedelta(hours=24, seconds=1))
        second = await served.http.post("/v1/count", headers=key("a"))
        return [first.json()["count"], second.json()["count"]]

    assert asked(steps, router=work.router, clock=clock) == [1, 2]


@pytest.mark.parametrize("name", ["", "x" * 201, "ü", "a\tb", "a\x7f"])
def test_a_key_that_is_none_is_refused(name: str) -> None:
    work = Work()
    headers = [(HEADER.encode(), name.encode("latin-1"))]

    async def steps(served: Served) -> httpx.Response:
        return await served.http.post("/v1/count", headers=headers)

    refused = asked(steps, router=work.router)
    assert (refused.status_code, refused.json()["argument"]) == (400, "Idempotency-Key")
    assert refused.json()["allowed"] == "1 to 200 printable ASCII characters, without spaces at either end"
    assert work.done == []


def test_a_request_without_permission_is_refused_and_claims_no_key() -> None:
    async def steps(served: Served) -> list[int]:
        token = (await served.memory.keys.create("reader", "read")).token
        first = await served.http.post("/v1/note", headers=key("a"))
        second = await served.http.post("/v1/note", headers={"Authorization": f"Bearer {token}", **key("a")})
        return [first.status_code, second.status_code]

    assert asked(steps, router=Work().router) == [401, 403]


def test_the_document_has_the_key_for_every_operation_that_writes() -> None:
    async def steps(served: Served) -> dict[str, Any]:
        return (await served.http.get("/openapi.json")).json()

    operation = asked(steps, router=Work().router)["paths"]["/v1/count"]["post"]
    assert [one["name"] for one in operation["parameters"]] == [HEADER]
    assert {"408", "409", "413", "415"} <= operation["responses"].keys()


NAMED = "ana-novak-1987-05-03"


def test_no_key_of_a_client_is_in_the_file_after_an_erasure_and_the_receipt_names_its_hash(tmp_path: Path) -> None:
    body = {"events": [{"text": "The deploy failed"}]}

    async def steps(served: Served) -> Any:
        written = await served.http.post("/v1/events", json=body, headers=key(NAMED))
        event = written.json()["events"][0]["id"]
        return (await served.http.post("/v1/erasures", json={"events": [event]})).json()

    receipt = asked(steps, settings=replace(QUIET, db=str(tmp_path / "store.db")))
    held = b"".join(file.read_bytes() for file in tmp_path.iterdir())
    assert NAMED.encode() not in held
    [left] = [one for one in receipt["left"] if one["what"] == "hashes of idempotency keys"]
    assert left["why"].startswith("1 request")


def test_a_request_sent_again_after_an_erasure_writes_nothing_anew() -> None:
    body = {"events": [{"text": "The deploy failed"}]}

    async def steps(served: Served) -> tuple[httpx.Response, int]:
        written = await served.http.post("/v1/events", json=body, headers=key("k"))
        await served.http.post("/v1/erasures", json={"events": [written.json()["events"][0]["id"]]})
        again = await served.http.post("/v1/events", json=body, headers=key("k"))
        return again, (await served.memory.health.stats()).events

    again, events = asked(steps)
    assert (again.status_code, events) == (409, 0)
    assert "executed and answered with 201; the response was erased" in again.json()["detail"]
