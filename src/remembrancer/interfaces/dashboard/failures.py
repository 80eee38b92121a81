"""Error pages: the problem details of the API, rendered as a page."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Coroutine
from http import HTTPStatus
from inspect import isawaitable
from typing import Any, Final

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import RedirectResponse, Response
from fastapi.routing import APIRoute
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from remembrancer.errors import RemembrancerError
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import address
from remembrancer.interfaces.http import problems

_OF_PROGRAMS: Final = ("/v1", "/api", "/mcp")
"""Paths for programs: an unknown path below them is answered with problem details."""

_Told = Callable[[Request, Exception], Response | Awaitable[Response]]

_TITLES: Final = {
    HTTPStatus.BAD_REQUEST: "Invalid request",
    HTTPStatus.FORBIDDEN: "Not allowed",
    HTTPStatus.NOT_FOUND: "Nothing here",
    HTTPStatus.CONFLICT: "Changed in the meantime",
    HTTPStatus.SERVICE_UNAVAILABLE: "Busy",
}


class PageRoute(APIRoute):
    """The route of a page. An unexpected error is logged and answered with a page, both without its message."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def guarded(request: Request) -> Response:
            try:
                return await handle(request)
            except (RemembrancerError, RequestValidationError, HTTPException, ClientDisconnect):
                raise
            except Exception as error:  # noqa: BLE001  outermost handler of a page
                problems.log_unforeseen(self.path, error)
                return _page(request, problems.unforeseen(error))

        return guarded


def install(app: FastAPI) -> None:
    """Register handlers that render errors of pages as pages. Call it after the app's other error handlers are
    installed.
    """
    for kind in (RemembrancerError, RequestValidationError, HTTPException):
        told: _Told = app.exception_handlers[kind]
        app.add_exception_handler(kind, _as_page(told))


def _as_page(told: _Told) -> Callable[[Request, Exception], Awaitable[Response]]:
    async def handler(request: Request, error: Exception) -> Response:
        answer = told(request, error)
        problem = await answer if isawaitable(answer) else answer
        return _page(request, problem) if _is_page(request) else problem

    return handler


def _is_page(request: Request) -> bool:
    """Whether the request is for a page, or a browser's request for an unknown path."""
    route: object = request.scope.get("route")
    if route is not None:
        return isinstance(route, PageRoute)
    path: str = request.scope["path"]
    if any(path == prefix or path.startswith(f"{prefix}/") for prefix in _OF_PROGRAMS):
        return False
    return request.method == "GET" and "text/html" in request.headers.get("accept", "")


def _page(request: Request, problem: Response) -> Response:
    status = HTTPStatus(problem.status_code)
    if status is HTTPStatus.UNAUTHORIZED:
        wanted = str(request.url.replace(scheme="", netloc="")) if request.method == "GET" else None
        return RedirectResponse(address("/login", {"next": wanted}), HTTPStatus.SEE_OTHER)
    said = json.loads(bytes(problem.body))
    again = {name: problem.headers[name] for name in ("Retry-After", "Allow") if name in problem.headers}
    return page(
        None,
        "problem.html",
        title=_TITLES.get(status, status.phrase),
        status=status,
        headers=again,
        number=int(status),
        detail=said["detail"],
        retry=status is HTTPStatus.SERVICE_UNAVAILABLE,
        address=str(request.url.replace(scheme="", netloc="")) if request.method == "GET" else None,
    )
