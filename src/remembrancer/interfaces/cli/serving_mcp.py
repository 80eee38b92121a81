"""The command that serves the memory over the Model Context Protocol: mcp."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import asyncio
from importlib.util import find_spec
from typing import Annotated, Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput, Unsupported
from remembrancer.interfaces.cli.invocation import Invocation

HOST: Final = "127.0.0.1"
PORT: Final = 8766


def mcp(
    call: Invocation,
    *,
    http: Annotated[bool, "Over streamable HTTP, instead of stdin and stdout."] = False,
    host: Annotated[str, "With --http: the loopback address to listen on."] = HOST,
    port: Annotated[int, "With --http: the port; 0: any free one."] = PORT,
    work: Annotated[bool, "Also run the jobs, as `worker` does."] = False,
    count_use: Annotated[bool, "Record exposures: retrieved, shown and used memories."] = False,
) -> None:
    """Serve the memory to MCP clients.

    Over stdin and stdout until the client that started it disconnects; with --http to clients on this machine at
    http://127.0.0.1:8766/mcp, until stopped. The options of every command determine the scope; tools cannot change it.
    Stdout carries only the protocol.

    Example: remembrancer mcp --db agent.db --workspace acme --agent coder
    """
    if call.as_json:
        raise InvalidInput("--json", "with mcp", "no --json: what is on stdout is the protocol's")
    if not http and (host, port) != (HOST, PORT):
        raise InvalidInput("--host or --port", "without --http", "--http with them: stdin has no address")
    if find_spec("mcp") is None:
        raise Unsupported("serving MCP needs mcp: pip install 'remembrancer[mcp]'")
    from remembrancer.interfaces.mcp.serving import ListenAddress, log_to_stderr, serve

    address = ListenAddress(host, validation.whole("port", port, 0, 65_535)) if http else None
    log_to_stderr()
    asyncio.run(serve(call.lasting_settings(), address=address, works=work, counts_use=count_use, tell=call.note))
