"""Probes for supervisors: liveness and readiness. They need no key and tell nothing of what is remembered."""

from __future__ import annotations

import asyncio
import logging
from http import HTTPStatus
from typing import Final

from fastapi import APIRouter, Request, Response

import remembrancer
from remembrancer.engine.inspect import ready
from remembrancer.engine.search_state import SearchMode
from remembrancer.errors import StoreUnavailable
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.embedder_watch import EmbedderWatch
from remembrancer.interfaces.wire.probes import AliveOut, ReadyOut
from remembrancer.jobs.worker import Stop

PATIENCE_SECONDS: Final = 2.0
"""How long a probe waits for the store."""

_log = logging.getLogger("remembrancer.server")

router = APIRouter(tags=["probes"], generate_unique_id_function=lambda route: route.name)


@router.get(
    "/healthz",
    summary="Liveness probe",
    responses={503: {"model": AliveOut, "description": "The store does not answer."}},
)
async def healthz(request: Request, response: Response) -> AliveOut:
    """200 while the server runs and its store can be read, even if recall is degraded; otherwise 503.

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
    """200 if the store can be read and written and the server is not stopping; otherwise 503 with the reasons."""
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
        # Who asks without a key is not told where the file lies.
        _log.warning("a probe: %s", error)
        return f"the store cannot be {'written to' if writing else 'read'} now"
    return ""
