"""The login: which key gives access, and the redirect after it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import Final

import httpx
import pytest
from served import HOST, Served, asked

from remembrancer.interfaces.dashboard.pages.login import local_path

OURS: Final = {"origin": HOST}


def with_a_key(
    steps: Callable[[Served, str], Awaitable[httpx.Response]], *, expires_in: timedelta | None = None
) -> httpx.Response:
    async def whole(served: Served) -> httpx.Response:
        token = (await served.memory.keys.create("one", "read", expires_in)).token
        return await steps(served, token)

    return asked(whole)


async def logging_in(served: Served, token: str, wanted: str = "/journal") -> httpx.Response:
    return await served.http.post("/login", data={"key": token, "next": wanted}, headers=OURS)


def test_a_page_without_a_key_leads_to_the_login() -> None:
    answer = with_a_key(lambda served, _: served.http.get("/search?q=a%26b"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/login?next=%2Fsearch%3Fq%3Da%2526b")


def test_a_form_without_a_key_leads_to_the_login_and_not_back() -> None:
    answer = with_a_key(lambda served, _: served.http.post("/memories/any/forget", headers=OURS))
    assert (answer.status_code, answer.headers["location"]) == (303, "/login")


def test_the_right_key_leads_where_one_wanted() -> None:
    answer = with_a_key(logging_in)
    assert (answer.status_code, answer.headers["location"]) == (303, "/journal")


def test_the_cookie_is_for_this_server_alone() -> None:
    told = with_a_key(logging_in).headers["set-cookie"].lower()
    assert [part in told for part in ("httponly", "samesite=strict", "path=/", "secure")] == [True, True, True, False]


def test_over_https_the_cookie_is_secure() -> None:
    async def steps(served: Served, token: str) -> httpx.Response:
        secure = HOST.replace("http:", "https:")
        return await served.http.post(f"{secure}/login", data={"key": token}, headers={"origin": secure})

    assert "secure" in with_a_key(steps).headers["set-cookie"].lower()


def test_the_cookie_lasts_as_long_as_the_key() -> None:
    answer = with_a_key(logging_in, expires_in=timedelta(hours=2))
    assert "max-age=7200" in answer.headers["set-cookie"].lower()


def test_a_page_is_shown_to_who_has_logged_in() -> None:
    async def steps(served: Served, token: str) -> httpx.Response:
        await logging_in(served, token)
        return await served.http.get("/journal")

    assert with_a_key(steps).status_code == 200


@pytest.mark.parametrize("token", ["", "wrong", "rem_" + "x" * 43, "x" * 600])
def test_a_wrong_key_sets_no_cookie(token: str) -> None:
    answer = with_a_key(lambda served, _: logging_in(served, token))
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
    assert "not valid here" in answer.text


def test_a_client_with_too_many_wrong_keys_has_to_wait() -> None:
    async def steps(served: Served, _: str) -> httpx.Response:
        answers = [await logging_in(served, "wrong") for _ in range(30)]
        return answers[-1]

    answer = with_a_key(steps)
    assert (answer.status_code, int(answer.headers["retry-after"]) >= 1) == (429, True)


def test_a_login_from_another_site_is_refused() -> None:
    async def steps(served: Served, token: str) -> httpx.Response:
        return await served.http.post("/login", data={"key": token}, headers={"origin": "https://elsewhere.example"})

    answer = with_a_key(steps)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)


def test_a_logout_takes_the_cookie_away() -> None:
    async def steps(served: Served, token: str) -> httpx.Response:
        await logging_in(served, token)
        await served.http.post("/logout", headers={**OURS, "content-type": "application/x-www-form-urlencoded"})
        return await served.http.get("/journal")

    assert with_a_key(steps).status_code == 303


def test_without_keys_nobody_needs_to_log_in() -> None:
    answer = asked(lambda served: served.http.get("/login?next=/journal"))
    assert (answer.status_code, answer.headers["location"]) == (303, "/journal")


def test_a_key_of_other_times_is_taken_away_where_there_are_no_keys() -> None:
    async def steps(served: Served) -> list[httpx.URL]:
        served.http.cookies.set("remembrancer_key", "of-other-times", domain="127.0.0.1")
        answer = await served.http.get("/journal", follow_redirects=True)
        return [one.url for one in (*answer.history, answer)]

    assert [url.path for url in asked(steps)] == ["/journal", "/login", "/journal"]


@pytest.mark.parametrize(
    ("wanted", "led"),
    [
        (None, "/"),
        ("", "/"),
        ("/", "/"),
        ("/search?q=a b", "/search?q=a b"),
        ("/memories/1#text", "/memories/1#text"),
        ("search", "/"),
        ("//elsewhere.example", "/"),
        ("/\\elsewhere.example", "/"),
        ("\\\\elsewhere.example", "/"),
        ("https://elsewhere.example/", "/"),
        ("javascript:alert(1)", "/"),
        ("/\t/elsewhere.example", "/"),
        ("/\n/elsewhere.example", "/"),
        ("/search\r\nSet-Cookie: a=b", "/"),
        (" //elsewhere.example", "/"),
    ],
)
def test_only_pages_of_this_server_are_led_to(wanted: str | None, led: str) -> None:
    assert local_path(wanted) == led
