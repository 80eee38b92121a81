"""The server's ASGI app: its routes, middleware and shared state."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from pathlib import Path
from typing import Any, Final

from fastapi import FastAPI
from starlette.middleware import Middleware

import remembrancer
from remembrancer import engine
from remembrancer.adapters.siblings.shared import Siblings
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.dashboard import failures, rendering
from remembrancer.interfaces.dashboard.kept import KeptResults
from remembrancer.interfaces.dashboard.router import dashboard
from remembrancer.interfaces.http import probes, problems, telemetry
from remembrancer.interfaces.http.access import AccessTokens, Authenticator
from remembrancer.interfaces.http.background import Background, JobRunner
from remembrancer.interfaces.http.document import DocumentedApp
from remembrancer.interfaces.http.dropin import crewship_journal, crewship_memory, plastmem
from remembrancer.interfaces.http.logs import RequestLog
from remembrancer.interfaces.http.mcp_route import McpEndpoint
from remembrancer.interfaces.http.middleware import BodyLimits, ResponseHeaders, TimeLimit, Unforeseen
from remembrancer.interfaces.http.probes import EmbedderWatch
from remembrancer.interfaces.http.rates import RateLimit
from remembrancer.interfaces.http.routes import (
    audit,
    background_work,
    erasures,
    events,
    files,
    keys,
    memories,
    recall,
    retention,
    state,
    times,
)
from remembrancer.interfaces.http.streams import Streams
from remembrancer.interfaces.http.telemetry import AppMetrics, Measured, Traced
from remembrancer.interfaces.mcp.oauth import JwtVerifier, OAuth
from remembrancer.jobs.worker import Stop
from remembrancer.values import dataclass

DESCRIPTION: Final = """\
An episodic memory for AI agents: it keeps what happened, recalls what is relevant, and explains each result.

An API key (`Authorization: Bearer KEY`) determines the workspace and the right: read, write or admin. Errors are \
problem details (RFC 9457). Requests that write accept an `Idempotency-Key`: a request sent again with the same \
key is not executed again, and gets the same response.
"""


_PROBLEMS: Final = problems.described(
    {
        400: "A value is not allowed",
        401: "The key is missing or not valid",
        403: "The key does not have the required right",
        429: "Too many requests: retry after `Retry-After` seconds",
        503: "The store or a model is not available",
        504: "The request took too long",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Serving:
    """Settings of the server. `rate_limit`: sustained requests per second and key, 0: unlimited. `request_timeout`: in
    seconds. `work`: run the jobs of the workspaces that receive requests. `vaults`: the folder with a vault for
    each workspace, by its name; None: no vaults. `oauth`: whose access tokens MCP accepts; None: nobody's.
    `siblings`: what it shares with the other processes of the server; None: there are none.
    """

    host: str = "127.0.0.1"
    request_timeout: float = 60.0
    rate_limit: float = 100.0
    work: bool = False
    vaults: Path | None = None
    oauth: OAuth | None = None
    siblings: Siblings | None = None


def build_app(memory: AsyncRemembrancer, serving: Serving, stop: Stop) -> FastAPI:
    """The app for an open memory, which the caller closes. Setting `stop` ends the streams."""
    oauth = serving.oauth
    tokens = None if oauth is None else AccessTokens(oauth, JwtVerifier(oauth))
    authenticator = Authenticator(memory, serving.host, tokens)
    measured = AppMetrics()
    job_runner = JobRunner(memory, stop)
    background = Background(None if serving.siblings is None else serving.siblings.locks)
    watch = EmbedderWatch(memory.health.search_state)

    mcp_endpoint = McpEndpoint()

    @asynccontextmanager
    async def running(_: FastAPI) -> AsyncGenerator[None, None]:
        async with AsyncExitStack() as parts:
            rendering.prepare()
            parts.push_async_callback(watch.stop)
            await parts.enter_async_context(background)
            await parts.enter_async_context(mcp_endpoint.run())
            if serving.work:
                await parts.enter_async_context(job_runner)
            await engine.asking.load_embedder(memory.context)
            if serving.siblings is None:  # a worker has loaded it before
                background.begin("load the index", engine.asking.load_index(memory.context, memory.scope))
            yield

    app = DocumentedApp(
        title="Remembrancer",
        version=remembrancer.__version__,
        description=DESCRIPTION,
        docs_url=None,  # FastAPI's default page loads its scripts from another site
        redoc_url=None,
        separate_input_output_schemas=False,
        responses=_PROBLEMS,
        lifespan=running,
        # FastAPI's own telemetry would record query strings and error messages.
        telemetry={"tracing": False, "metrics": False, "logs": False, "auto_configure": False},
        middleware=[  # outermost first
            Middleware(RequestLog),
            Middleware(Measured, metrics=measured),
            Middleware(Traced),
            Middleware(ResponseHeaders),
            Middleware(Unforeseen),
            Middleware(TimeLimit, seconds=serving.request_timeout),
            Middleware(
                RateLimit,
                authenticator=authenticator,
                requests_per_second=serving.rate_limit,
                metrics=measured,
                job_runner=job_runner,
                siblings=serving.siblings,
            ),
            Middleware(BodyLimits, max_text_bytes=memory.context.max_event_mb << 20),
        ],
    )
    app.state.authenticator = authenticator
    app.state.memory = memory
    app.state.metrics = measured
    app.state.connections = None if serving.siblings is None else serving.siblings.connections
    app.state.stop = stop
    app.state.background = background
    app.state.embedder_watch = watch
    app.state.kept = KeptResults[dict[str, Any]]()
    app.state.streams = Streams(on_change=measured.streams.set)
    app.state.vaults = serving.vaults
    problems.install(app)
    failures.install(app)
    # Without a prefix, because requests are counted by the paths of the routes.
    app.include_router(telemetry.router)
    # A request's path is compared with the routes in their order.
    app.include_router(recall.questions)
    for noun in (
        recall,
        events,
        memories,
        probes,
        times,
        state,
        background_work,
        erasures,
        audit,
        retention,
        keys,
        files,
    ):
        app.include_router(noun.router)
    app.include_router(files.exchange)
    for system in (crewship_journal, crewship_memory, plastmem):
        app.include_router(system.router)
    app.include_router(dashboard)
    app.router.routes += [mcp_endpoint.route, *(() if oauth is None else oauth.routes)]
    return app
