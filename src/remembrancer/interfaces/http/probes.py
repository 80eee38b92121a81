"""Probes for supervisors: liveness and readiness. They need no key and show nothing of the content."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request, Response

import remembrancer
from remembrancer.engine.inspect import ready
from remembrancer.engine.search_state import SearchMode, SearchState
from remembrancer.errors import StoreUnavailable
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.wire.state import AliveOut, ReadyOut
from remembrancer.jobs.worker import Stop

PROBES: Final = ("/healthz", "/readyz")
FRESH_SECONDS: Final = 30.0
"""The time that an answer of the embedder is used."""
EMBEDDER_SECONDS: Final = 1.0
"""The time that a probe waits for an answer of the embedder."""


class EmbedderWatch:
    """Asks the embedder at most every `fresh` seconds. An embedder that hangs delays a caller by `patience` seconds at
    most.
    """

    def __init__(
        self,
        ask: Callable[[], Awaitable[SearchState]],
        *,
        fresh: float = FRESH_SECONDS,
        patience: float = EMBEDDER_SECONDS,
    ) -> None:
        self._ask = ask
        self._fresh = fresh
        self._patience = patience
        self._known: SearchState | None = None
        self._asked_at = float("-inf")
        self._asking: asyncio.Task[None] | None = None

    async def state(self) -> SearchState:
        """The latest known state; the previous one if the embedder does not answer in time."""
        if self._asking is None and time.monotonic() - self._asked_at >= self._fresh:
            self._asked_at = time.monotonic()
            self._asking = asyncio.get_running_loop().create_task(self._look(), name="remembrancer-embedder-watch")
        if self._asking is not None:
            await asyncio.wait([self._asking], timeout=self._patience)
        if self._known is not None:
            return self._known
        return SearchState(SearchMode.VECTOR_DEGRADED, f"the embedder has not answered yet, for {self._patience:g} s")

    async def stop(self) -> None:
        """Stop waiting for an answer."""
        task, self._asking = self._asking, None
        if task is not None:
            task.cancel()
            await asyncio.wait([task])

    async def _look(self) -> None:
        try:
            self._known = await self._ask()
        finally:
            self._asking = None


PATIENCE_SECONDS: Final = 2.0
"""The time that a probe waits for the store."""

_log = logging.getLogger("remembrancer.server")

router = APIRouter(tags=["probes"], generate_unique_id_function=lambda route: route.name)


@router.get(
    "/healthz",
    summary="Liveness probe",
    responses={503: {"model": AliveOut, "description": "The store does not answer."}},
)
async def healthz(request: Request, response: Response) -> AliveOut:
    """Responds 200 while the server runs and its store can be read, even if recall is degraded; otherwise 503.

    The embedder is asked at most every 30 s, and the answer is shared by all probes.
    """
    watch: EmbedderWatch = request.app.state.embedder_watch
    state = await watch.state()
    degraded: dict[str, str] = {}
    if state.mode is not SearchMode.VECTOR:
        degraded["dense"] = state.detail
    trouble = await _trouble(request, writing=False)
    if trouble:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
        degraded["store"] = trouble
    return AliveOut(
        status="unavailable" if trouble else "ok",
        version=remembrancer.__version__,
        episodic=state.mode,
        episodic_error=state.detail if state.mode is SearchMode.VECTOR_DEGRADED else None,
        degraded=degraded,
    )


@router.get(
    "/readyz",
    summary="Readiness probe",
    responses={503: {"model": ReadyOut, "description": "The server should not be sent requests; `reasons` says why."}},
)
async def readyz(request: Request, response: Response) -> ReadyOut:
    """Responds 200 if the store can be read and written and the server is not stopping; otherwise 503
    with the reasons.
    """
    stop: Stop = request.app.state.stop
    reasons = ["the server is stopping"] if stop.is_set() else []
    trouble = await _trouble(request, writing=True)
    if trouble:
        reasons.append(trouble)
    if reasons:
        response.status_code = HTTPStatus.SERVICE_UNAVAILABLE
    return ReadyOut(status="not ready" if reasons else "ready", reasons=reasons)


async def _trouble(request: Request, *, writing: bool) -> str:
    """Why the store cannot be used; empty if it can."""
    memory: AsyncRemembrancer = request.app.state.memory
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            await (ready(memory.context, memory.scope) if writing else memory.keys.exist())
    except TimeoutError:
        return f"the store was not {'writable' if writing else 'readable'} within {PATIENCE_SECONDS:g} s"
    except StoreUnavailable as error:
        # Callers without a key must not learn the path of the file.
        _log.warning("a probe: %s", error)
        return f"the store cannot be {'written to' if writing else 'read'} now"
    return ""
