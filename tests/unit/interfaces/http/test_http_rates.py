"""Rate limits."""

from __future__ import annotations

from datetime import timedelta

import httpx
import pytest
from fastapi import APIRouter
from served import HOST, Served, asked

from remembrancer.interfaces.http.access import COOKIE
from remembrancer.interfaces.http.app import Serving
from remembrancer.interfaces.http.rates import FAILURES, Buckets, OwnTable, rate_of
from remembrancer.policies.token_bucket import TokenRate

SLOW = Serving(rate_limit=0.001)  # the least burst, and nothing comes back while a test runs
BURST = 10
WRONG = "rem_" + "A" * 43


router = APIRouter()


@router.get("/ping")
async def ping() -> str:
    """A route open to everybody."""
    return "pong"


class Hand:
    """A stopwatch that is moved by hand."""

    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def bearer(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}"}


async def statuses(http: httpx.AsyncClient, count: int, headers: dict[str, str] | None = None) -> list[int]:
    return [(await http.get("/ping", headers=headers)).status_code for _ in range(count)]


def test_requests_beyond_the_burst_are_refused_with_a_wait() -> None:
    async def steps(served: Served) -> httpx.Response:
        assert await statuses(served.http, BURST) == [200] * BURST
        return await served.http.get("/ping")

    refused = asked(steps, router=router, serving=SLOW)
    assert (refused.status_code, refused.headers["content-type"]) == (429, "application/problem+json")
    assert refused.json()["type"] == "urn:remembrancer:problem:too_many_requests"
    assert int(refused.headers["retry-after"]) in range(900, 1001)
    assert refused.headers["ratelimit"] == '"requests";r=0'


def test_each_answer_has_the_remaining_requests() -> None:
    async def steps(served: Served) -> httpx.Headers:
        await served.http.get("/ping")
        return (await served.http.get("/ping")).headers

    headers = asked(steps, router=router, serving=Serving(rate_limit=100))
    assert headers["ratelimit-policy"] == '"requests";q=200;w=2'
    assert headers["ratelimit"] in {'"requests";r=198', '"requests";r=199'}


def test_without_a_rate_nothing_is_counted_and_no_header_is_sent() -> None:
    async def steps(served: Served) -> httpx.Response:
        await statuses(served.http, 300)
        return await served.http.get("/ping")

    answered = asked(steps, router=router, serving=Serving(rate_limit=0))
    assert answered.status_code == 200
    assert "ratelimit" not in answered.headers


@pytest.mark.parametrize("path", ["/healthz", "/readyz", "/assets/app.css"])
def test_probes_and_assets_are_not_counted(path: str) -> None:
    async def steps(served: Served) -> set[int]:
        return {(await served.http.get(path)).status_code for _ in range(BURST + 5)}

    assert 429 not in asked(steps, router=router, serving=SLOW)


def test_one_key_does_not_use_up_the_limit_of_another() -> None:
    async def steps(served: Served) -> list[int]:
        busy, calm = [(await served.memory.keys.create(name)).token for name in ("busy", "calm")]
        await statuses(served.http, BURST, bearer(busy))
        return await statuses(served.http, 1, bearer(busy)) + await statuses(served.http, 1, bearer(calm))

    assert asked(steps, router=router, serving=SLOW) == [429, 200]


def test_guessing_keys_is_slowed_down_before_the_next_one_is_looked_at() -> None:
    async def steps(served: Served) -> tuple[list[int], httpx.Response]:
        right = (await served.memory.keys.create("right")).token
        guesses = [f"rem_{number:043}" for number in range(int(FAILURES.burst))]
        tried = [(await served.http.get("/metrics", headers=bearer(guess))).status_code for guess in guesses]
        return tried, await served.http.get("/metrics", headers=bearer(right))

    tried, guessed = asked(steps)
    assert set(tried) == {401}
    assert guessed.status_code == 429
    assert "too many keys that are not valid here" in guessed.json()["detail"]


def test_a_known_valid_key_is_accepted_however_many_invalid_ones_are_tried() -> None:
    async def steps(served: Served) -> list[int]:
        right = (await served.memory.keys.create("right")).token
        tried = [right, *[WRONG] * (int(FAILURES.burst) + 1), right]
        return [(await served.http.get("/metrics", headers=bearer(token))).status_code for token in tried]

    assert asked(steps)[-2:] == [429, 200]


def test_a_key_that_was_good_and_is_revoked_is_refused() -> None:
    async def steps(served: Served) -> list[int]:
        other, right = [await served.memory.keys.create(name) for name in ("other", "right")]
        before = (await served.http.get("/metrics", headers=bearer(right.token))).status_code
        await served.memory.keys.revoke(right.key.id)
        after = (await served.http.get("/metrics", headers=bearer(right.token))).status_code
        return [before, after, (await served.http.get("/metrics", headers=bearer(other.token))).status_code]

    assert asked(steps) == [200, 401, 200]


def test_guessing_in_the_dashboards_login_is_slowed_down_too() -> None:
    async def steps(served: Served) -> list[int]:
        await served.memory.keys.create("right")
        headers = {"Content-Type": "application/x-www-form-urlencoded", "Origin": HOST}
        tried = [f"key=rem_{number:043}" for number in range(int(FAILURES.burst) + 1)]
        return [(await served.http.post("/login", content=one, headers=headers)).status_code for one in tried]

    assert asked(steps) == [401] * int(FAILURES.burst) + [429]


def test_a_page_of_another_site_does_not_make_a_good_key_a_failed_one() -> None:
    async def steps(served: Served) -> list[int]:
        token = (await served.memory.keys.create("browser")).token
        headers = {"Cookie": f"{COOKIE}={token}"}
        elsewhere = [{**headers, "Origin": "https://elsewhere.example"}] * (int(FAILURES.burst) + 1)
        return [(await served.http.get("/metrics", headers=one)).status_code for one in [*elsewhere, headers]]

    found = asked(steps)
    assert (set(found[:-1]), found[-1]) == ({403}, 200)


def test_a_key_in_a_cookie_is_counted_as_the_same_key() -> None:
    async def steps(served: Served) -> list[int]:
        token = (await served.memory.keys.create("browser")).token
        await statuses(served.http, BURST, bearer(token))
        return await statuses(served.http, 1, {"Cookie": f"{COOKIE}={token}"})

    assert asked(steps, router=router, serving=SLOW) == [429]


def test_a_request_without_a_key_is_counted_by_address() -> None:
    async def steps(served: Served) -> list[int]:
        await served.memory.keys.create("somebody's")
        transport = httpx.ASGITransport(app=served.app, client=("198.51.100.7", 4711))
        found = await statuses(served.http, BURST + 1)
        async with httpx.AsyncClient(transport=transport, base_url=HOST) as elsewhere:
            return [*found[-2:], *await statuses(elsewhere, 1)]

    assert asked(steps, router=router, serving=SLOW) == [200, 429, 200]


def test_the_burst_is_two_seconds_worth_and_at_least_ten() -> None:
    assert (rate_of(100), rate_of(1), rate_of(0)) == (TokenRate(100, 200), TokenRate(1, 10), None)


def test_only_so_many_buckets_are_kept_the_last_used() -> None:
    table = OwnTable(most=2)
    buckets = Buckets(TokenRate(1, 1), Hand(), table)
    assert [buckets.take(name).is_given for name in ("first", "second", "third", "third")] == [True, True, True, False]
    assert len(table) == 2
    assert buckets.take("second").is_given is False
    assert buckets.take("first").is_given is True  # forgotten meanwhile


def test_a_bucket_is_empty_until_its_next_token() -> None:
    hand = Hand()
    buckets = Buckets(TokenRate(0.5, 1), hand, OwnTable())
    assert not buckets.is_empty("anybody")
    buckets.take("anybody")
    assert buckets.is_empty("anybody")
    assert buckets.take("anybody").wait == timedelta(seconds=2)
    hand.seconds = 2.0
    assert not buckets.is_empty("anybody")
