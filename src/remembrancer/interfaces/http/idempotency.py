"""Idempotency keys: a writing request is executed once, however often it is sent with the same `Idempotency-Key`."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Coroutine
from datetime import timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Any, Final

from fastapi import Depends, HTTPException, Request, Response
from fastapi.dependencies.models import Dependant
from fastapi.exceptions import RequestValidationError
from fastapi.routing import APIRoute

from remembrancer.domain.reply import Claimed, IdempotencyClaim, Reply, ReplyNotStored, RequestRunning
from remembrancer.engine.keys import claim_request
from remembrancer.errors import Conflict, InvalidInput, RemembrancerError, StoreUnavailable
from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.access import AUTHENTICATION, Principal

HEADER: Final = "Idempotency-Key"
REPLAYED: Final = "Idempotency-Replayed"
_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
_KEY: Final = re.compile(r"[!-~](?:[ -~]{0,198}[!-~])?")
_ALLOWED: Final = "1 to 200 printable ASCII characters, without spaces at either end"
_NEVER: Final = timedelta(days=36_500)
"""Used as the age after which a running request counts as interrupted: never, because the effect of a handler that
cannot run again is unknown.
"""
_PARAMETER: Final = {
    "name": HEADER,
    "in": "header",
    "required": False,
    "description": (
        "A unique name for this request. A request with the same name within 24 hours is not executed again: it gets "
        f"the same response, with `{REPLAYED}: true`."
    ),
    "schema": {"type": "string", "minLength": 1, "maxLength": 200, "pattern": "^[!-~]([ -~]*[!-~])?$"},
    "example": "checkout-42-deploy-failed",
}
_ANSWERS: Final = problems.described(
    {
        408: "The body took too long to arrive",
        409: f"A conflict with existing data, or with another request with the same `{HEADER}`",
        413: "The body is too large",
        415: "The body is not JSON",
    }
)

_Handler = Callable[[Request], Coroutine[Any, Any, Response]]


async def _derived_key(request: Request) -> str | None:
    return request.scope.get("remembrancer.derived_key")


DerivedKey = Annotated[str | None, Depends(_derived_key)]
"""The key under which a handler writes if the body names none, derived from the `Idempotency-Key`; None without one.

A handler that takes it must write every event and memory under it (under `KEY:0`, `KEY:1` … if there are several).
Running the handler again then has no further effect, so an interrupted request is simply run again.
"""


class IdempotentRoute(APIRoute):
    """A route whose writing methods take an `Idempotency-Key`. Its responses must have a body and must not
    be streams.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **described: Any) -> None:
        methods: set[str] = {method.upper() for method in described.get("methods") or ["GET"]}
        self._writes = bool(methods - _SAFE)
        if self._writes:
            extra: dict[str, Any] = described.get("openapi_extra") or {}
            parameters = [_PARAMETER, *extra.get("parameters", [])]
            described["openapi_extra"] = {**extra, "parameters": parameters}
            described["responses"] = {**_ANSWERS, **(described.get("responses") or {})}
        super().__init__(path, endpoint, **described)

    def get_route_handler(self) -> _Handler:
        handle = super().get_route_handler()
        if not self._writes:
            return handle
        may_run_again = _takes_key(self.dependant)

        async def once(request: Request) -> Response:
            name = request.headers.get(HEADER)
            if name is None:
                return await handle(request)
            if not _KEY.fullmatch(name):
                raise InvalidInput(HEADER, name, _ALLOWED)
            principal = request.scope.get(AUTHENTICATION)
            if not isinstance(principal, Principal):  # no key or an invalid one: the handler answers with the error
                return await handle(request)
            request.scope["remembrancer.derived_key"] = _derived(principal, name)
            return await _once(request, principal, name, handle, may_run_again=may_run_again)

        return once


async def _once(
    request: Request, principal: Principal, name: str, handle: _Handler, *, may_run_again: bool
) -> Response:
    key = _derived(principal, name)
    try:
        ctx, scope = principal.memory.context, principal.memory.scope
        outcome = await claim_request(ctx, scope, key, await _fingerprint(request, principal), longest=_NEVER)
    except Conflict as error:
        raise Conflict(f"{HEADER}: {name!r} was used with another request") from error
    match outcome:
        case Reply():
            return Response(outcome.body, outcome.status, headers={REPLAYED: "true"}, media_type=outcome.media_type)
        case Claimed(claim):
            return await _claimed(request, principal, claim, handle)
        case RequestRunning(claim) if (
            may_run_again
        ):  # may run beside the first try: both write under the same key, so every row exists once
            return await _claimed(request, principal, claim, handle)
        case RequestRunning():
            detail = f"{HEADER}: the first request is still running, or its outcome is not known"
            return problems.problem("conflict", HTTPStatus.CONFLICT, detail)
        case ReplyNotStored(status, erased):
            if may_run_again and not erased:
                return await handle(request)
            why = "was erased" if erased else "was too long to keep"
            detail = f"{HEADER}: the request was executed and answered with {status}; the response {why}"
            return problems.problem("conflict", HTTPStatus.CONFLICT, detail)


async def _claimed(request: Request, principal: Principal, claim: IdempotencyClaim, handle: _Handler) -> Response:
    """Run the handler for a claimed request. A refused request had no effect, so its key is released. After any other
    failure the effect is not known, and the claim stays.
    """
    try:
        return await _answered(request, principal, claim, handle)
    except (RemembrancerError, RequestValidationError):
        await _released(principal, claim)
        raise
    except HTTPException as error:
        if error.status_code < HTTPStatus.INTERNAL_SERVER_ERROR:
            await _released(principal, claim)
        raise


async def _answered(request: Request, principal: Principal, claim: IdempotencyClaim, handle: _Handler) -> Response:
    response = await handle(request)
    if response.status_code >= HTTPStatus.BAD_REQUEST:
        await _released(principal, claim)
        return response
    media_type = response.headers.get("content-type", "application/octet-stream")
    reply = Reply(response.status_code, bytes(response.body), media_type)
    await _kept(principal.memory.context.store.answer(principal.memory.scope, claim, reply))
    return response


async def _released(principal: Principal, claim: IdempotencyClaim) -> None:
    await _kept(principal.memory.context.store.release(principal.memory.scope, claim))


async def _kept(note: Awaitable[None]) -> None:
    """Store or release a claim. A failure must not fail the request, which has had its effect; only a retry would
    notice.
    """
    try:
        await note
    except StoreUnavailable:
        return


async def _fingerprint(request: Request, principal: Principal) -> bytes:
    """The SHA-256 of the request. Each part is preceded by its length, so that no two requests give the same bytes."""
    digest = sha256()
    for part in (
        principal.memory.scope.workspace.encode(),
        request.method.encode(),
        request.scope["path"].encode("utf-8", "surrogatepass"),
        request.scope["query_string"],
        await request.body(),
    ):
        digest.update(len(part).to_bytes(8, "big"))
        digest.update(part)
    return digest.digest()


def _derived(principal: Principal, name: str) -> str:
    """The stored form of a client's key: a hash, because the client's key may name a person.

    API keys to one workspace have separate names, so no caller gets the response to another one's request.
    """
    return f"idem:{sha256(f'{principal.name}:{name}'.encode()).hexdigest()}"


def _takes_key(dependant: Dependant) -> bool:
    return dependant.call is _derived_key or any(_takes_key(inner) for inner in dependant.dependencies)
