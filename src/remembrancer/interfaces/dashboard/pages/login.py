"""The login: the browser keeps the key in a cookie that scripts cannot read."""

from __future__ import annotations

from http import HTTPStatus
from typing import Final
from urllib.parse import urlsplit

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from remembrancer.domain.api_key import ApiKey
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import SubmittedForm
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.http.access import COOKIE

router = APIRouter(route_class=PageRoute)

MAX_TOKEN_CHARS: Final = 512
"""The maximum length of a key; longer input is refused."""


@router.get("/login")
async def login_page(request: Request) -> Response:
    """The login form, if there are keys. Without keys, everyone on this machine has access."""
    wanted = local_path(request.query_params.get("next"))
    memory: AsyncRemembrancer = request.app.state.memory
    if not await memory.keys.exist(expired=True):
        # An outdated key would be refused on every page, which would redirect back here.
        return _without_key(wanted, request)
    return _form(wanted, HTTPStatus.OK)


@router.post("/login")
async def login(request: Request, form: SubmittedForm) -> Response:
    """A wrong key is answered with 401, which the rate limit counts as a failure."""
    memory: AsyncRemembrancer = request.app.state.memory
    wanted = local_path(form.get("next"))
    token = form.get("key", "").strip()
    key = await memory.keys.find(token) if 0 < len(token) <= MAX_TOKEN_CHARS else None
    if key is None:
        return _form(wanted, HTTPStatus.UNAUTHORIZED, "This key is not valid here: it is unknown, expired or revoked.")
    answer = RedirectResponse(wanted, HTTPStatus.SEE_OTHER)
    answer.set_cookie(
        COOKIE,
        token,
        max_age=_seconds_left(key, memory),
        path="/",
        httponly=True,
        samesite="strict",
        secure=request.url.scheme == "https",
    )
    return answer


@router.post("/logout")
async def logout(request: Request, form: SubmittedForm) -> Response:
    return _without_key("/login", request)


def local_path(wanted: str | None) -> str:
    r"""The path to go to after the login: one of this server, otherwise `/`.

    A browser reads `//host` and `/\host` as another server, and removes line breaks and tabs first.

    >>> local_path("/search?q=deploy"), local_path("//elsewhere.example/"), local_path("/\\elsewhere.example")
    ('/search?q=deploy', '/', '/')
    """
    if wanted is None or not wanted.startswith("/") or wanted[1:2] in ("/", "\\") or not wanted.isprintable():
        return "/"
    try:
        parts = urlsplit(wanted)
    except ValueError:
        return "/"
    return "/" if parts.scheme or parts.netloc else wanted


def _without_key(path: str, request: Request) -> RedirectResponse:
    """A redirect that deletes the cookie with the key."""
    answer = RedirectResponse(path, HTTPStatus.SEE_OTHER)
    answer.delete_cookie(COOKIE, path="/", httponly=True, samesite="strict", secure=request.url.scheme == "https")
    return answer


def _form(wanted: str, status: HTTPStatus, wrong: str | None = None) -> HTMLResponse:
    return page(None, "login.html", title="Log in", status=status, wanted=wanted, wrong=wrong)


def _seconds_left(key: ApiKey, memory: AsyncRemembrancer) -> int | None:
    """Seconds until the key expires; None if it does not: the browser then keeps the cookie until it is closed."""
    return None if key.expires_at is None else max(int((key.expires_at - memory.now).total_seconds()), 1)
