"""One event of a coding agent, in a process that ends within some 50 ms.

It notes that the transcript has new lines, asks the server what to tell the agent, and prints the answer. Whatever
fails, the agent's session goes on: the exit code is never 2, which would block it.
"""

from __future__ import annotations

import fcntl
import json
import os
import socket
import sys
import time
import zlib
from pathlib import Path
from typing import Any, Final, cast

from remembrancer.interfaces.hooks.place import Place, is_inside_a_hook, place_of, project_of, server_environment

EVENTS: Final = {
    "session-start": "SessionStart",
    "user-prompt": "UserPromptSubmit",
    "post-tool": "PostToolUse",
    "pre-compact": "PreCompact",
    "stop": "Stop",
    "session-end": "SessionEnd",
}
"""The events by the word on the command line, with the agent's own name of each."""
ASKS: Final = ("session-start", "user-prompt")
"""The events at which the memory may tell the agent something."""

WAITS_SECONDS: Final = 0.5
"""The time in which the server must answer. A warm one needs some 20 ms."""
RETRY_SECONDS: Final = 60
"""After a server failed to start, none is started for so long."""
MAX_INPUT_BYTES: Final = 64 * 1024 * 1024
MAX_PROMPT_CHARS: Final = 65_536


def run(event: str, store: str | None = None) -> int:
    """Handle the event that is described on stdin. Returns the exit code: 0, or 1 for input that is no event."""
    if is_inside_a_hook():
        return 0
    told = _told()
    if told is None:
        sys.stderr.write("error: stdin: allowed is the JSON object that Claude Code gives to a hook\n")
        return 1
    if told.get("agent_id"):  # of a subagent, whose words are not part of the conversation
        return 0
    place = place_of(store)
    try:
        sys.stdout.write(_handled(event, told, place))
        sys.stdout.flush()
    except OSError as error:
        _log(place, error)
    return 0


def _told() -> dict[str, Any] | None:
    raw = sys.stdin.buffer.read(MAX_INPUT_BYTES + 1)
    try:
        told = json.loads(raw) if len(raw) <= MAX_INPUT_BYTES else None
    except (ValueError, RecursionError):
        return None
    return cast("dict[str, Any]", told) if isinstance(told, dict) else None


def _handled(event: str, told: dict[str, Any], place: Place) -> str:
    place.make()
    workspace = project_of(Path(_path(told, "cwd") or "."))
    session, transcript = _text(told, "session_id"), _path(told, "transcript_path")
    if transcript:
        _note(place, {"transcript": transcript, "workspace": workspace, "session": session}, event == "session-end")
    request = {
        "event": event,
        "workspace": workspace,
        "session": session,
        "source": _text(told, "source"),
        "prompt": _text(told, "prompt")[:MAX_PROMPT_CHARS],
    }
    try:
        return _asked(place, request, waits=event in ASKS)
    except (FileNotFoundError, ConnectionRefusedError):
        return _start(place, event)
    except TimeoutError:
        return ""


def _text(told: dict[str, Any], name: str) -> str:
    value = told.get(name)
    return value if isinstance(value, str) else ""


def _path(told: dict[str, Any], name: str) -> str:
    """The text, unless it has a null character or a lone surrogate, which no path has."""
    text = _text(told, name)
    try:
        os.fsencode(text)
    except UnicodeEncodeError:
        return ""
    return "" if "\0" in text else text


def _note(place: Place, note: dict[str, str], ended: bool) -> None:
    """Leave a note that the transcript has new lines. The server removes it when they are recorded, so nothing is lost
    if it is killed.
    """
    name = f"{'end' if ended else 'read'}-{zlib.crc32(note['transcript'].encode(errors='replace')):08x}"
    written = place.waiting / f".{name}-{os.getpid()}"
    written.touch(mode=0o600)
    written.write_text(json.dumps(note), encoding="utf-8")
    written.replace(place.waiting / f"{name}.json")


def _asked(place: Place, request: dict[str, str], *, waits: bool) -> str:
    """The server's answer; "" where none is waited for."""
    os.chdir(place.folder)
    deadline = time.monotonic() + WAITS_SECONDS
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
        connection.settimeout(WAITS_SECONDS)
        connection.connect(str(Place.SOCKET))
        connection.sendall(json.dumps(request).encode() + b"\n")
        answer = b""
        while waits:
            connection.settimeout(max(0.001, deadline - time.monotonic()))
            part = connection.recv(65_536)
            if not part:
                break
            answer += part
    return answer.decode("utf-8", "replace")


def _start(place: Place, event: str) -> str:
    """Start a server that outlives this process, unless one is starting, or failed a moment ago. Returns what to print:
    at the start of a session, why there is no memory.
    """
    if is_served(place):
        return ""
    failed = _failure(place)
    if failed is not None and time.time() - failed["at"] < RETRY_SECONDS:
        return _notice(failed["why"]) if event == "session-start" else ""
    start(place)
    return ""


def is_served(place: Place) -> bool:
    """Whether a process holds the place's lock: a server that answers, or is about to."""
    lock = os.open(place.lock, os.O_RDWR | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    else:
        return False
    finally:
        os.close(lock)


def start(place: Place) -> None:
    """Start the server of a place in a session of its own. A second server ends at once."""
    log = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    nothing = os.open(os.devnull, os.O_RDWR)
    try:
        os.posix_spawn(
            sys.executable,
            [sys.executable, "-m", "remembrancer", "hook", "serve", "--db", place.store],
            server_environment(),
            file_actions=[
                (os.POSIX_SPAWN_DUP2, nothing, 0),
                (os.POSIX_SPAWN_DUP2, nothing, 1),
                (os.POSIX_SPAWN_DUP2, log, 2),
            ],
            setsid=True,
        )
    finally:
        os.close(log)
        os.close(nothing)


def _failure(place: Place) -> dict[str, Any] | None:
    try:
        failed = json.loads(place.failure.read_bytes())
        return {"at": float(failed["at"]), "why": str(failed["why"])}
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _notice(why: str) -> str:
    return json.dumps({"systemMessage": f"Remembrancer cannot remember now: {why}. See `remembrancer hook status`."})


def _log(place: Place, error: OSError) -> None:
    """Leave the reason in the log, which `remembrancer hook status` names; the session goes on without the memory."""
    try:
        place.log.touch(mode=0o600)
        with place.log.open("a", encoding="utf-8") as log:
            log.write(f"{time.strftime('%Y-%m-%dT%H:%M:%S')} hook: {error}\n")
    except OSError:
        sys.stderr.write(f"remembrancer: {error}\n")
