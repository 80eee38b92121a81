"""One server process with an open memory: it builds the app, and answers requests at a listening socket."""

from __future__ import annotations

import gc
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http import server
from remembrancer.interfaces.http.app import Serving, build_app
from remembrancer.interfaces.http.connections import ConnectionLimits
from remembrancer.interfaces.loopback import is_loopback
from remembrancer.interfaces.mcp.oauth import oauth_of
from remembrancer.jobs.worker import Stop

if TYPE_CHECKING:
    from remembrancer import AsyncRemembrancer, Settings
    from remembrancer.adapters.siblings.shared import Siblings


async def needs_key(memory: AsyncRemembrancer, settings: Settings) -> bool:
    """Whether requests need a key, because there is one, or because OAuth is set up. Raises InvalidInput if there is
    neither, and the server would listen on an address that other machines reach.
    """
    keyed = oauth_of(settings) is not None or await memory.keys.exist()
    if not keyed and not is_loopback(settings.host):
        allowed = "127.0.0.1 while there is no usable key: create one with `remembrancer keys create`"
        raise InvalidInput("host", settings.host, allowed)
    return keyed


async def answer(
    memory: AsyncRemembrancer,
    settings: Settings,
    listener: socket.socket,
    on_ready: Callable[[Stop], Awaitable[None] | None],
    *,
    work: bool,
    siblings: Siblings | None = None,
    orders: server.Orders | None = None,
) -> None:
    """Answer requests until `orders` say to stop. `work`: also run the jobs. `on_ready` and `orders`: as in
    `server.serve`.
    """
    stop = Stop()
    serving = Serving(
        host=settings.host,
        request_timeout=settings.request_timeout,
        rate_limit=settings.rate_limit,
        work=work,
        vaults=None if settings.vaults is None else Path(settings.vaults),
        oauth=oauth_of(settings),
        siblings=siblings,
    )
    app = build_app(memory, serving, stop)
    # These objects live until the process ends. Unless frozen, they would be traversed by each full garbage collection,
    # during which no request is answered for some 100 ms.
    gc.collect()
    gc.freeze()
    limits = ConnectionLimits(
        most=settings.max_connections,
        per_address=settings.max_connections_per_address,
        header_seconds=settings.header_timeout,
    )
    await server.serve(
        app,
        listener,
        stop,
        lambda: on_ready(stop),
        limits=limits,
        trusted_proxies=settings.trusted_proxies,
        orders=orders,
    )
