"""The commands that serve the memory: over HTTP, and over the Model Context Protocol."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
import importlib
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Annotated, Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput, Unsupported
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.main import collect_garbage_as_usual
from remembrancer.interfaces.text import one_line

if TYPE_CHECKING:
    from remembrancer import Settings
    from remembrancer.jobs.worker import Stop

MCP_HOST: Final = "127.0.0.1"
MCP_PORT: Final = 8766


def serve(
    call: Invocation,
    *,
    host: Annotated[str | None, "The address to listen on. Default: 127.0.0.1."] = None,
    port: Annotated[int | None, "The port; 0 for any free one. Default: 8765."] = None,
    rate_limit: Annotated[float | None, "Sustained requests per second per key; 0 for no limit. Default: 100."] = None,
    request_timeout: Annotated[float | None, "The time limit of a request in seconds. Default: 60."] = None,
    workers: Annotated[int | None, "The number of processes that answer requests. Default: 1."] = None,
    no_work: Annotated[bool, "Do not run the jobs; use this with a separate worker."] = False,
) -> None:
    """Serve the memory over HTTP, with a dashboard.

    The dashboard is at /, and /openapi.json describes the API. Without keys, only this machine is served: to listen on
    other addresses, first create one with `keys create`. With --workers, that many processes share the address: as many
    as there are cores answer most requests a second. Ctrl+C or SIGTERM lets requests in progress finish, and a
    second one cancels them.

    Example: remembrancer serve --db agent.db
    """
    settings = call.lasting_settings(
        host=host, port=port, rate_limit=rate_limit, request_timeout=request_timeout, workers=workers
    )
    _need_packages()
    collect_garbage_as_usual()
    _serve(call, settings, work=not no_work)


def mcp(
    call: Invocation,
    *,
    http: Annotated[bool, "Over streamable HTTP, instead of stdin and stdout."] = False,
    host: Annotated[str, "With --http: the loopback address to listen on."] = MCP_HOST,
    port: Annotated[int, "With --http: the port; 0 for any free one."] = MCP_PORT,
    work: Annotated[bool, "Also run the jobs, as `worker` does."] = False,
    count_use: Annotated[bool, "Record exposures: retrieved, shown and used memories."] = False,
) -> None:
    """Serve the memory to MCP clients.

    Serves over stdin and stdout until the client that started it disconnects; with --http, at http://127.0.0.1:8766/mcp
    for clients on this machine, until stopped. The options of every command set the scope; tools cannot change it.
    Stdout carries only the protocol.

    Example: remembrancer mcp --db agent.db --workspace acme --agent coder
    """
    if call.as_json:
        raise InvalidInput("--json", "with mcp", "no --json: stdout carries only the protocol")
    if not http and (host, port) != (MCP_HOST, MCP_PORT):
        raise InvalidInput("--host or --port", "without --http", "--http with them: stdin has no address")
    if find_spec("mcp") is None:
        raise Unsupported("serving MCP needs mcp: pip install 'remembrancer[mcp]'")
    from remembrancer.interfaces.mcp.serving import ListenAddress, log_to_stderr
    from remembrancer.interfaces.mcp.serving import serve as serve_mcp

    address = ListenAddress(host, validation.whole("port", port, 0, 65_535)) if http else None
    log_to_stderr()
    collect_garbage_as_usual()
    asyncio.run(serve_mcp(call.lasting_settings(), address=address, works=work, counts_use=count_use, tell=call.note))


def _need_packages() -> None:
    try:
        for module in ("app", "server"):
            importlib.import_module(f"remembrancer.interfaces.http.{module}")
    except ModuleNotFoundError as error:
        if error.name is None or error.name.partition(".")[0] == "remembrancer":
            raise
        raise Unsupported(f"the server needs {error.name}: pip install 'remembrancer[server]'") from error


def _serve(call: Invocation, settings: Settings, *, work: bool) -> None:
    from remembrancer.interfaces.http import server
    from remembrancer.interfaces.http.logs import write_to

    readable = call.err.is_terminal
    with write_to(sys.stderr, readable=readable):
        if settings.workers == 1:
            asyncio.run(_serve_alone(call, settings, work=work))
            return
        from remembrancer import compose
        from remembrancer.interfaces.http.workers import supervise

        compose.require_shareable(settings)
        keyed, workspace = asyncio.run(_checked(settings))
        with server.listening(settings.host, settings.port) as listener:
            address = server.address_of(settings.host, listener)
            on_ready = partial(_say, call, address, workspace, keyed=keyed)
            supervise(settings, listener, on_ready, work=work, readable=readable)


async def _serve_alone(call: Invocation, settings: Settings, *, work: bool) -> None:
    from remembrancer import AsyncRemembrancer
    from remembrancer.interfaces.http import server
    from remembrancer.interfaces.http.serving import answer, needs_key

    async with AsyncRemembrancer.open(settings=settings) as memory:
        keyed = await needs_key(memory, settings)
        with server.listening(settings.host, settings.port) as listener:
            address = server.address_of(settings.host, listener)

            def say(_: Stop) -> None:
                _say(call, address, memory.scope.workspace, [os.getpid()], keyed=keyed)

            await answer(memory, settings, listener, say, work=work)


async def _checked(settings: Settings) -> tuple[bool, str]:
    """Open the memory once before the workers do, so that what is wrong is said once, and the file is made or migrated.
    Returns whether a key is needed, and the workspace.
    """
    from remembrancer import AsyncRemembrancer
    from remembrancer.interfaces.http.serving import needs_key

    async with AsyncRemembrancer.open(settings=replace(settings, background_index=False)) as memory:
        return await needs_key(memory, settings), memory.scope.workspace


def _say(call: Invocation, address: str, workspace: str, workers: Sequence[int], *, keyed: bool) -> None:
    if call.as_json:
        call.write(json.dumps({"url": address, "pid": os.getpid(), "workers": [*workers]}))
        return
    access = "a key is required" if keyed else "no keys: every program on this machine has access, and nothing else"
    several = f", {len(workers)} workers" if len(workers) > 1 else ""
    call.write(f"{address} (API, and dashboard in a browser) of {one_line(workspace)}{several}; {access}")
