"""The command `serve`."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
import gc
import importlib
import json
import os
import sys
from typing import TYPE_CHECKING, Annotated

from remembrancer.errors import InvalidInput, Unsupported
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.text import one_line

if TYPE_CHECKING:
    from remembrancer import AsyncRemembrancer, Settings


def serve(
    call: Invocation,
    *,
    host: Annotated[str | None, "The address to listen on. Default: 127.0.0.1."] = (None),
    port: Annotated[int | None, "The port; 0: any free one. Default: 8765."] = None,
    rate_limit: Annotated[float | None, "Sustained requests per second and key; 0: unlimited. Default: 100."] = None,
    request_timeout: Annotated[float | None, "The time limit of a request in seconds. Default: 60."] = None,
    no_work: Annotated[bool, "Do not run the jobs; use this with a separate worker."] = False,
) -> None:
    """Serve the memory over HTTP, with a dashboard.

    The API is described at /openapi.json, the dashboard is at /. Without keys only this machine is served: create one
    with `keys create` to listen on other addresses. Ctrl+C or SIGTERM lets requests under way finish, a second one
    cancels them.

    Example: remembrancer serve --db agent.db
    """
    settings = call.lasting_settings(host=host, port=port, rate_limit=rate_limit, request_timeout=request_timeout)
    _need_packages()
    asyncio.run(_serve(call, settings, work=not no_work))


def _need_packages() -> None:
    try:
        for module in ("app", "server"):
            importlib.import_module(f"remembrancer.interfaces.http.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "remembrancer":
            raise
        raise Unsupported(f"the server needs {error.name}: pip install 'remembrancer[server]'") from error


async def _serve(call: Invocation, settings: Settings, *, work: bool) -> None:
    from remembrancer import AsyncRemembrancer
    from remembrancer.interfaces.http import server
    from remembrancer.interfaces.http.app import Serving, build_app
    from remembrancer.interfaces.http.logs import write_to
    from remembrancer.interfaces.loopback import is_loopback
    from remembrancer.jobs.worker import Stop

    with write_to(sys.stderr, readable=call.err.is_terminal):
        async with await AsyncRemembrancer.open(settings=settings) as memory:
            keyed = await memory.keys.exist()
            if not keyed and not is_loopback(settings.host):
                allowed = "127.0.0.1 while there is no key that can be used: make one with `remembrancer keys create`"
                raise InvalidInput("host", settings.host, allowed)
            serving = Serving(
                host=settings.host,
                request_timeout=settings.request_timeout,
                rate_limit=settings.rate_limit,
                work=work,
            )
            stop = Stop()
            with server.listening(settings.host, settings.port) as listener:
                address = server.address_of(settings.host, listener)
                app = build_app(memory, serving, stop)
                # What is there now stays to the end. Otherwise the collector of garbage looks through all of it again
                # and again, each time for some 100 ms in which nobody is answered.
                gc.collect()
                gc.freeze()
                await server.serve(app, listener, stop, lambda: _say(call, memory, address, keyed=keyed))


def _say(call: Invocation, memory: AsyncRemembrancer, address: str, *, keyed: bool) -> None:
    if call.as_json:
        call.write(json.dumps({"url": address, "pid": os.getpid()}))
        return
    access = "a key is needed" if keyed else "no keys: this machine only, whoever is on it"
    call.write(f"{address} (API, and dashboard in a browser) of {one_line(memory.scope.workspace)}; {access}")
