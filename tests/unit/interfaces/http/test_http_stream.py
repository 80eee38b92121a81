"""The event stream over a real socket: every entry exactly once, and nothing buffered for a slow client."""

from __future__ import annotations

import asyncio
import json
import socket
import subprocess
import sys
from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
from starlette.types import Message as AsgiMessage
from streaming import PATIENCE, Live, Message, WatchedStreams, live

from remembrancer import EventDraft
from remembrancer.interfaces.http.streams import EventStream, comment
from remembrancer.jobs.worker import Stop

FAST = 0.05
"""Seconds of a heartbeat that a test can wait for."""


def text_of(message: Message) -> str:
    return json.loads(message.data or "")["event"]["text"]


def test_a_stream_begins_with_the_last_entries_in_the_order_of_recording() -> None:
    async def steps(server: Live) -> list[str]:
        await server.memory.observe_many(EventDraft(text=f"{n}") for n in range(5))
        async with server.client(limit=3) as client:
            return [text_of(one) for one in await client.entries(3)]

    assert live(steps) == ["2", "3", "4"]


def test_an_entry_is_reported_with_its_position_under_one_name() -> None:
    async def steps(server: Live) -> Message:
        await server.memory.observe("one")
        await server.memory.observe("two", type="error", payload={"line": "a\nb\r\rc"})
        async with server.client(limit=1) as client:
            (message,) = await client.entries(1)
            return message

    message = live(steps)
    assert (message.id, message.event) == (2, "entry")
    told = json.loads(message.data or "")
    assert (told["position"], told["event"]["type"]) == (2, "error")
    assert told["event"]["payload"] == {"line": "a\nb\r\rc"}


def test_a_stream_is_kept_by_no_cache_and_held_back_by_no_proxy() -> None:
    async def steps(server: Live) -> tuple[httpx.Headers, Message]:
        async with server.client() as client:
            return client.response.headers, await client.next()

    headers, first = live(steps)
    assert headers["content-type"] == "text/event-stream; charset=utf-8"
    assert (headers["cache-control"], headers["x-accel-buffering"]) == ("no-store", "no")
    assert "content-length" not in headers
    assert first.retry == 1000


def test_entries_recorded_by_this_process_are_sent_without_waiting_for_the_next_poll() -> None:
    async def steps(server: Live) -> float:
        async with server.client(limit=0) as client:
            await client.next()
            began = asyncio.get_running_loop().time()
            for n in range(20):
                await server.memory.observe(f"{n}")
                await client.entries(1)
            return asyncio.get_running_loop().time() - began

    assert live(steps) < 10  # twenty looks, one a second, would take twice as long


def test_a_client_that_reconnects_gets_the_entries_recorded_meanwhile_and_none_twice() -> None:
    async def steps(server: Live) -> tuple[list[str], list[str]]:
        recorded = [f"{n}" for n in range(200)]
        heard: list[Message] = []

        async def write() -> None:
            for text in recorded:
                await server.memory.observe(text)

        writing = asyncio.create_task(write())
        while len(heard) < len(recorded):
            headers = {"Last-Event-ID": str(heard[-1].id)} if heard else {}
            async with server.client(headers=headers, after=0) as client:
                heard += await client.entries(min(13, len(recorded) - len(heard)))
        await writing
        return [text_of(one) for one in heard], recorded

    heard, recorded = live(steps)
    assert heard == recorded


def test_a_backlog_of_many_pages_is_reported_whole() -> None:
    async def steps(server: Live) -> list[str]:
        await server.memory.observe_many(EventDraft(text=f"{n}") for n in range(1_000))
        async with server.client(after=0) as client:
            return [text_of(one) for one in await client.entries(1_000)]

    assert live(steps) == [f"{n}" for n in range(1_000)]


def test_the_last_event_id_overrides_after() -> None:
    async def steps(server: Live) -> str:
        await server.memory.observe_many(EventDraft(text=f"{n}") for n in range(3))
        async with server.client(headers={"Last-Event-ID": "2"}, after=0) as client:
            return text_of((await client.entries(1))[0])

    assert live(steps) == "2"


@pytest.mark.parametrize("told", ["x", "-1", "1.5", "", "99"])
def test_a_last_event_id_that_was_never_sent_is_refused(told: str) -> None:
    async def steps(server: Live) -> httpx.Response:
        return await server.http.get("/v1/events/stream", headers={"Last-Event-ID": told})

    answer = live(steps)
    assert (answer.status_code, answer.headers["content-type"]) == (400, "application/problem+json")


def test_only_matching_entries_are_sent() -> None:
    async def steps(server: Live) -> list[str]:
        await server.memory.observe("quiet", severity="info")
        await server.memory.observe("loud", severity="error", type="tool")
        async with server.client(severities="error") as client:
            heard = await client.entries(1)
            await server.memory.observe("quiet again")
            await server.memory.scoped(session="s").observe("loud again", severity="error")
            heard += await client.entries(1)
            return [text_of(one) for one in heard]

    assert live(steps) == ["loud", "loud again"]


def test_a_filter_that_is_none_is_refused() -> None:
    async def steps(server: Live) -> httpx.Response:
        return await server.http.get("/v1/events/stream", params={"severities": "deafening"})

    assert live(steps).status_code == 400


def test_another_process_s_entries_are_reported(tmp_path: Path) -> None:
    db = tmp_path / "a.db"

    async def steps(server: Live) -> str:
        async with server.client(limit=0) as client:
            await client.next()
            command = [sys.executable, "-m", "remembrancer", "observe", "from afar"]
            done = await asyncio.to_thread(
                subprocess.run, [*command, "--db", str(db), "--embedder", "none"], capture_output=True, check=False
            )
            assert done.returncode == 0, done.stderr
            return text_of((await client.entries(1))[0])

    assert live(steps, db=db) == "from afar"


def test_all_who_wait_share_one_look() -> None:
    async def steps(server: Live) -> int:
        async with AsyncExitStack() as clients:
            for _ in range(10):
                client = await clients.enter_async_context(server.client(limit=0))
                await client.next()
            return sum(task.get_name() == "remembrancer-arrivals" for task in asyncio.all_tasks())

    assert live(steps) == 1


def test_heartbeats_carry_the_position_to_resume_from() -> None:
    async def steps(server: Live) -> Message:
        await server.memory.observe("one")
        async with server.client(limit=0) as client:
            await client.next()
            return await client.next()

    assert live(steps, streams=WatchedStreams(heartbeat=FAST)) == Message(id=1, event=None, data=None)


def test_a_heartbeat_moves_past_entries_that_were_left_out() -> None:
    async def steps(server: Live) -> int:
        async with server.client(limit=0, types="never") as client:
            await client.next()
            await server.memory.observe_many(EventDraft(text=f"{n}") for n in range(7))
            while (await client.next()).id != 7:
                pass
            return client.seen[-1].id or 0

    assert live(steps, streams=WatchedStreams(heartbeat=FAST)) == 7


def test_a_stream_ends_when_the_server_is_to_stop() -> None:
    async def steps(server: Live) -> list[Message]:
        async with server.client(limit=0) as client:
            await client.next()
            server.stop.set()
            return await client.rest()

    assert live(steps)[-1].comments == ("the server is stopping",)


def test_a_stream_ends_when_its_key_is_revoked() -> None:
    async def steps(server: Live) -> tuple[list[Message], int]:
        key = await server.memory.keys.create("reader", "read")
        headers = {"Authorization": f"Bearer {key.token}"}
        async with server.client(headers=headers, limit=0) as client:
            await client.next()
            await server.memory.keys.revoke(key.key.id)
            rest = await client.rest()
        await server.memory.keys.create("other", "read")
        again = await server.http.get("/v1/events/stream", headers=headers)
        return rest, again.status_code

    rest, again = live(steps, streams=WatchedStreams(heartbeat=FAST))
    assert rest[-1].comments[0].startswith("this key is not valid here")
    assert again == 401


def test_a_place_is_free_again_when_its_client_has_gone() -> None:
    async def steps(server: Live) -> int:
        for _ in range(3):
            async with server.client() as client:
                await client.next()
                await server.streams.until(1)
            await server.streams.until(0)
        return server.streams.open

    assert live(steps, streams=WatchedStreams(at_most=1)) == 0


@pytest.mark.parametrize("streams", [WatchedStreams(at_most=1), WatchedStreams(of_one=1)])
def test_one_stream_too_many_is_refused_with_a_wait(streams: WatchedStreams) -> None:
    async def steps(server: Live) -> httpx.Response:
        async with server.client() as client:
            await client.next()
            return await server.http.get("/v1/events/stream")

    answer = live(steps, streams=streams)
    assert (answer.status_code, answer.headers["retry-after"]) == (503, "5")
    assert answer.json()["detail"].startswith("1 streams")


def test_a_refused_stream_takes_no_place() -> None:
    async def steps(server: Live) -> int:
        await server.http.get("/v1/events/stream", params={"limit": 9_999})
        await server.http.get("/v1/events/stream", headers={"Last-Event-ID": "99"})
        return server.streams.open

    assert live(steps) == 0


def test_a_client_that_takes_nothing_is_given_up() -> None:
    async def steps(server: Live) -> int:
        filling = "-" * 60_000
        await server.memory.observe_many(EventDraft(text=filling) for _ in range(150))
        with socket.socket() as deaf:
            deaf.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            deaf.connect(("127.0.0.1", server.port))
            request = f"GET /v1/events/stream?after=0 HTTP/1.1\r\nHost: 127.0.0.1:{server.port}\r\n\r\n"
            deaf.sendall(request.encode())
            await server.streams.until(1)
            await server.streams.until(0)  # 9 MB were to be told: more than all buffers between the two take
        return server.streams.open

    # Under crewship nothing is remembered of a message, which makes recording long ones quick.
    assert live(steps, streams=WatchedStreams(patience=0.2), preset="crewship") == 0


def test_for_a_client_that_does_not_listen_nothing_more_is_read() -> None:
    async def steps() -> tuple[int, int]:
        read, taken = 0, 0
        stop, blocked = Stop(), asyncio.Event()

        async def told() -> AsyncGenerator[str, None]:
            nonlocal read
            while True:
                read += 1
                yield comment(f"{read}")

        async def send(message: AsgiMessage) -> None:
            nonlocal taken
            if message["type"] == "http.response.body":
                if taken == 3:
                    blocked.set()
                    await asyncio.Event().wait()
                taken += 1

        async def receive() -> AsgiMessage:
            await asyncio.Event().wait()
            raise AssertionError("a client that stays says nothing")

        stream = EventStream(told(), stop=stop, patience=PATIENCE)
        telling = asyncio.create_task(stream({"type": "http"}, receive, send))
        async with asyncio.timeout(PATIENCE):
            await blocked.wait()
            stop.set()
            await telling
        return taken, read

    assert asyncio.run(steps()) == (3, 4)
