"""The commands that a coding agent runs as hooks, and the server that answers them."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: an event must be handled within 80 ms

from __future__ import annotations

import asyncio
import json
import logging
import os
import sys
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Annotated, Final

import typer

from remembrancer.domain import validation
from remembrancer.errors import RemembrancerError
from remembrancer.interfaces.cli.invocation import Invocation

IDLE_MINUTES: Final = 30.0


_READS: Final = """\
Reads the event on stdin, as Claude Code writes it. The store is the file of --db or REMEMBRANCER_DB, else
~/.remembrancer/claude-code.db; every repository has a workspace of its own. A server that keeps the memory open is
started when none runs, and ends when idle. Whatever fails, the session goes on."""


def _on(event: str, summary: str) -> Callable[[Invocation], None]:
    def handle(call: Invocation) -> None:
        from remembrancer.interfaces.hooks import client

        raise typer.Exit(client.run(event, call.db))

    handle.__doc__ = f"{summary}\n\n{_READS}\n\nExample: remembrancer hook {event} < event.json"
    return handle


session_start = _on("session-start", "Tell the agent what was said last in this project.")
user_prompt = _on("user-prompt", "Tell the agent what is relevant to the user's message.")
post_tool = _on("post-tool", "Record what the agent's tools did.")
pre_compact = _on("pre-compact", "Record the conversation before the agent shortens it.")
stop = _on("stop", "Record the agent's answer.")
session_end = _on("session-end", "Record the rest of the session, and end it.")


def serve(
    call: Invocation,
    *,
    idle: Annotated[float, "MINUTES", "End after so many minutes without a hook."] = IDLE_MINUTES,
) -> None:
    """Answer the hooks of this machine's user, until idle.

    A hook starts this server when none runs; a second one for the same store ends at once. It records the transcripts
    that hooks noted, runs the background jobs of their projects, and ends after --idle minutes without a hook.

    Example: remembrancer hook serve --db agent.db --idle 5
    """
    from remembrancer.interfaces.cli.main import collect_garbage_as_usual
    from remembrancer.interfaces.hooks.place import place_of

    minutes = validation.number("idle", idle, 0.01, 10_080)
    place = place_of(call.db)
    place.make()
    logging.basicConfig(stream=sys.stderr, level=logging.INFO, format="%(asctime)s %(message)s")
    logging.getLogger("remembrancer").setLevel(logging.INFO)
    collect_garbage_as_usual()
    asyncio.run(_serve(call, place.store, timedelta(minutes=minutes)))


async def _serve(call: Invocation, store: str, idle: timedelta) -> None:
    from remembrancer import AsyncRemembrancer
    from remembrancer.interfaces.hooks.place import Place
    from remembrancer.interfaces.hooks.server import HookServer, tell_failure, the_only_server

    place = Place(store)
    if the_only_server(place) is None:
        return
    try:
        settings = replace(call.lasting_settings(), db=store)
        async with AsyncRemembrancer.open(settings=settings) as memory:
            tell_failure(place, None)
            ready = (
                json.dumps({"pid": os.getpid(), "store": store}) if call.as_json else f"answers the hooks of {store}"
            )
            await HookServer(memory, place, idle, lambda: call.write(ready)).run()
    except (RemembrancerError, OSError) as error:
        tell_failure(place, error)
        raise


def mcp(call: Invocation) -> None:
    """Serve this project's memory to MCP clients.

    Serves over stdin and stdout, from the store of the hooks. The project is the git repository of the current folder,
    unless --workspace names one.

    Example: remembrancer hook mcp
    """
    from remembrancer.interfaces.cli.serve import mcp as serve_mcp
    from remembrancer.interfaces.hooks.place import place_of, project_of

    place = place_of(call.db)
    place.make()
    serve_mcp(replace(call, db=place.store, workspace=call.workspace or project_of(Path.cwd())))


def status(call: Invocation) -> None:
    """Show whether the hooks' server runs.

    Also the project of the current folder, how many transcripts wait to be recorded, and why the last server did not
    start, if it did not.

    Example: remembrancer hook status
    """
    from remembrancer.interfaces.hooks.place import place_of
    from remembrancer.interfaces.hooks.status import HookStatus, lines

    found = HookStatus.of(place_of(call.db), Path.cwd())
    if call.as_json:
        call.write(found.as_json())
    else:
        call.page(lines(found))
