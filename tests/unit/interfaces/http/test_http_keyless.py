"""Without keys only this machine is served, also against proxies and DNS rebinding."""

from __future__ import annotations

from datetime import timedelta

import pytest
from served import Served, asked

from remembrancer.interfaces.http.app import Serving
from remembrancer.testing.doubles import FixedClock


def status(headers: dict[str, str], serving: Serving | None = None) -> int:
    async def steps(served: Served) -> int:
        return (await served.http.get("/metrics", headers=headers)).status_code

    return asked(steps, serving=serving)


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost", "[::1]:8765", "127.8.9.1"])
def test_this_machine_is_served_by_its_own_names(host: str) -> None:
    assert status({"Host": host}) == 200


@pytest.mark.parametrize(
    "host", ["memory.example", "127.0.0.1.example:8765", "10.0.0.1", "", "[::1", "@", "127.0.0.1@x"]
)
def test_another_name_is_not_answered(host: str) -> None:
    assert status({"Host": host}) == 403


@pytest.mark.parametrize("origin", ["https://elsewhere.example", "null", "", "http://[", "http://127.0.0.1:1"])
def test_a_page_of_another_site_is_not_answered(origin: str) -> None:
    assert status({"Origin": origin}) == 403


def test_a_page_of_ours_is_answered() -> None:
    assert status({"Origin": "http://127.0.0.1:8765"}) == 200


@pytest.mark.parametrize(
    "header",
    [
        {"X-Forwarded-For": "198.51.100.7"},
        {"Forwarded": "for=198.51.100.7"},
        {"Via": "1.1 proxy"},
        {"X-Real-IP": "127.0.0.1"},
    ],
)
def test_a_request_forwarded_by_a_proxy_needs_a_key(header: dict[str, str]) -> None:
    assert status(header) == 401


def test_an_address_that_others_reach_needs_a_key() -> None:
    assert status({}, Serving(host="0.0.0.0")) == 401  # noqa: S104


def test_an_expired_key_does_not_reopen_access_without_keys() -> None:
    clock = FixedClock()

    async def steps(served: Served) -> int:
        await served.memory.keys.create("program", "read", timedelta(days=1))
        clock.advance(timedelta(days=2))
        return (await served.http.get("/metrics")).status_code

    assert asked(steps, clock=clock) == 401


def test_when_the_last_key_is_revoked_this_machine_is_served_again() -> None:
    async def steps(served: Served) -> list[int]:
        made = await served.memory.keys.create("program")
        before = (await served.http.get("/metrics")).status_code
        await served.memory.keys.revoke(made.key.id)
        return [before, (await served.http.get("/metrics")).status_code]

    assert asked(steps) == [401, 200]
