"""Targets: HTTP with the dashboard and the routes of other systems, MCP, access tokens, hooks, and the command line."""

# pyright: reportPrivateUsage=false
from __future__ import annotations

import asyncio
import fcntl
import io
import json
import logging
import os
import shlex
import sys
import tempfile
import traceback
from collections.abc import Generator, Mapping, Sequence
from contextlib import contextmanager, redirect_stderr, redirect_stdout, suppress
from datetime import timedelta
from pathlib import Path
from typing import Any, Final, cast

import anyio
import jwt
from cryptography.hazmat.primitives.asymmetric import ec
from every_page import pages
from fuzzed import PreparedApp
from jwt.algorithms import ECAlgorithm
from mcp.server.stdio import stdio_server
from starlette.exceptions import HTTPException

from fuzz.target import Check, Defect, Target, key_of
from remembrancer import AsyncRemembrancer, Settings
from remembrancer.interfaces.cli.main import COMMANDS, DEFECT, EXIT_CODES, GROUPS, run
from remembrancer.interfaces.hooks import client
from remembrancer.interfaces.hooks.capture import Capture
from remembrancer.interfaces.hooks.place import Place
from remembrancer.interfaces.hooks.server import HookServer
from remembrancer.interfaces.http.access import AccessTokens
from remembrancer.interfaces.mcp.oauth import ALGORITHMS, JwtVerifier, OAuth
from remembrancer.interfaces.mcp.server import memory_server
from remembrancer.interfaces.mcp.stdio import AnsweredInput
from remembrancer.testing.doubles import FixedClock, HashEmbedder


def _object(data: bytes) -> dict[str, Any]:
    """The JSON object of an input; empty for any other input."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return cast("dict[str, Any]", value) if isinstance(value, dict) else {}


class _Errors(logging.Handler):
    """Collects what the package logs about errors that it did not expect."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.records: list[logging.LogRecord] = []

    def emit(self, record: logging.LogRecord) -> None:
        if "unforeseen" in record.getMessage():
            self.records.append(record)

    def take(self, otherwise: str) -> Defect | None:
        """The finding of the last error, if there is one. `otherwise`: its key without a traceback."""
        if not self.records:
            return None
        record = self.records[-1]
        self.records.clear()
        error = record.exc_info[1] if record.exc_info else None
        if error is None:
            return Defect(record.getMessage().rpartition("/src/")[2] or otherwise, record.getMessage())
        return Defect(key_of(str(error), error), "".join(traceback.format_exception(error, limit=-12)))


@contextmanager
def _collected() -> Generator[_Errors]:
    logger = logging.getLogger("remembrancer")
    handler, propagated, level = _Errors(), logger.propagate, logger.level
    logger.addHandler(handler)
    logger.propagate = False
    logger.setLevel(logging.ERROR)
    quiet = logging.NullHandler()  # else the errors that libraries log are printed
    logging.root.addHandler(quiet)
    try:
        yield handler
    finally:
        logging.root.removeHandler(quiet)
        logger.removeHandler(handler)
        logger.propagate = propagated
        logger.setLevel(level)


_PATIENCE: Final = 20.0
"""Seconds in which an answer must end."""

# HTTP

_REOPENED: Final = 300
"""Cases after which the memory is a new one: they erase and change it."""
_UNAVAILABLE: Final = {501, 503}
"""Documented: there is no vault, and the server stops, so that its streams end."""


class _Served:
    """The server's app in a loop, over a memory with something of everything in it."""

    def __init__(self, runner: asyncio.Runner) -> None:
        self._runner = runner
        self._asked = 0
        self.app = PreparedApp()
        self._open()

    def _open(self) -> None:
        self._told: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        ready = asyncio.Event()

        async def send(message: Any) -> None:
            ready.set()

        async def opened() -> asyncio.Task[None]:
            task = asyncio.ensure_future(self.app({"type": "lifespan"}, self._told.get, send))
            self._told.put_nowait({"type": "lifespan.startup"})
            await ready.wait()
            return task

        self._task = self._runner.run(opened())

    def close(self) -> None:
        async def closed() -> None:
            self._told.put_nowait({"type": "lifespan.shutdown"})
            await self._task

        self._runner.run(closed())

    def answer(self, scope: dict[str, Any], body: bytes) -> int:
        """The status of the answer."""
        self._asked += 1
        if self._asked % _REOPENED == 0:
            self.close()
            self.app = PreparedApp()
            self._open()
        found: list[int] = []
        unread = [{"type": "http.request", "body": body, "more_body": False}]

        async def receive() -> dict[str, Any]:
            return unread.pop() if unread else await asyncio.Future[dict[str, Any]]()  # the client stays connected

        async def send(message: Any) -> None:
            if message["type"] == "http.response.start":
                found.append(message["status"])

        async def answered() -> None:
            async with asyncio.timeout(_PATIENCE):
                await self.app(scope, receive, send)

        self._runner.run(answered())
        return found[0]


def _ids(served: _Served) -> dict[str, str]:
    return {"{memory}": served.app.memory, "{event}": served.app.event, "{token}": served.app.token}


def _filled(value: Any, ids: Mapping[str, str]) -> str:
    text = value if isinstance(value, str) else json.dumps(value)
    for name, held in ids.items():
        text = text.replace(name, held)
    return text


@contextmanager
def http() -> Generator[Check]:
    with _collected() as errors, asyncio.Runner() as runner:
        served = _Served(runner)
        try:

            def check(data: bytes) -> None:
                asked, ids = _object(data), _ids(served)
                method, path = str(asked.get("method", "POST")), _filled(asked.get("path", "/v1/recall"), ids)
                headers = {"host": "127.0.0.1:8765", "authorization": f"Bearer {served.app.token}"}
                given = asked.get("headers", {"content-type": "application/json"})
                headers |= {str(name).lower(): _filled(value, ids) for name, value in _pairs(given)}
                body = _filled(asked["body"], ids).encode("utf-8", "surrogatepass") if "body" in asked else b""
                scope = {
                    "type": "http",
                    "asgi": {"version": "3.0", "spec_version": "2.4"},
                    "http_version": "1.1",
                    "method": method.upper()[:20],
                    "scheme": "http",
                    "path": path.encode("utf-8", "replace").decode(),
                    "raw_path": path.encode("utf-8", "replace"),
                    "root_path": "",
                    "query_string": _filled(asked.get("query", ""), ids).encode("utf-8", "replace"),
                    "headers": [(_latin(name), _latin(value)) for name, value in headers.items()],
                    "client": ("127.0.0.1", 50000),
                    "server": ("127.0.0.1", 8765),
                    "state": {},
                }
                status = served.answer(scope, body if asked else data)
                defect = errors.take(f"{status} at {method} {path}")
                if defect is not None:
                    raise defect
                if status >= 500 and status not in _UNAVAILABLE:
                    raise Defect(f"{status} at {path.partition('?')[0]}", f"{method} {path} was answered with {status}")

            yield check
        finally:
            served.close()


def _pairs(given: object) -> list[tuple[str, Any]]:
    return list(cast("dict[str, Any]", given).items()) if isinstance(given, dict) else []


def _latin(text: str) -> bytes:
    """A header as a web server passes it on: without line ends, which end a header."""
    return "".join(text.split("\n")).replace("\r", "").replace("\x00", "").encode("latin-1", "replace")


# MCP


async def _opened(path: str = ":memory:") -> AsyncRemembrancer:
    return await AsyncRemembrancer.open(
        settings=Settings(db=path, background_index=False), embedder=HashEmbedder(8), clock=FixedClock()
    )


@contextmanager
def mcp() -> Generator[Check]:
    """Lines of a client; each line of the answer is a JSON-RPC message, and none tells of an unexpected error."""

    async def prepared() -> tuple[AsyncRemembrancer, str]:
        memory = await _opened()
        first = await memory.remember("Checkout needs 2 GiB", tags=["checkout"])
        await memory.observe("The deploy of checkout failed")
        return memory, str(first.id)

    with _collected() as errors, asyncio.Runner() as runner:
        memory, known = runner.run(prepared())

        async def memory_of(*_: object) -> AsyncRemembrancer:
            return memory

        server = memory_server(memory_of, clock=FixedClock())
        lowlevel = server._lowlevel_server

        async def served(lines: bytes) -> list[str]:
            source = io.TextIOWrapper(io.BytesIO(lines), encoding="utf-8", errors="replace")
            sink = io.StringIO()
            async with stdio_server(anyio.wrap_file(source), anyio.wrap_file(sink)) as (incoming, outgoing):
                answered = AnsweredInput(incoming, outgoing)
                with anyio.fail_after(_PATIENCE):
                    await lowlevel.run(answered, outgoing, lowlevel.create_initialization_options())
            return [line for line in sink.getvalue().split("\n") if line]  # `splitlines` also splits within texts

        def check(data: bytes) -> None:
            given = data.replace(b"{memory}", known.encode())
            lines = b"\n".join((*_HANDSHAKE, given, b""))
            for line in runner.run(served(lines)):
                message = json.loads(line)
                assert message["jsonrpc"] == "2.0", line
            defect = errors.take("MCP")
            if defect is not None:
                raise defect

        try:
            yield check
        finally:
            runner.run(memory.close())


_HANDSHAKE: Final = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"x","version":"1"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/initialized"}',
)


# Access tokens

_KEY: Final = ec.generate_private_key(ec.SECP256R1())
_OAUTH: Final = OAuth(
    issuer="https://issuer.example",
    jwks_url="https://issuer.example/jwks",
    resource="https://memory.example/mcp",
    audience="https://memory.example/mcp",
    workspace_claim="workspace",
)


@contextmanager
def tokens() -> Generator[Check]:
    """An input is an object with the header and the claims of a token, which is signed; any other input is a token."""
    public = json.loads(ECAlgorithm.to_jwk(_KEY.public_key()))

    def key_set(*_: object, **__: object) -> Any:
        return {"keys": [{**public, "kid": "k1", "use": "sig", "alg": "ES256"}]}

    with asyncio.Runner() as runner:
        memory = runner.run(_opened())
        verifier = JwtVerifier(_OAUTH)
        verifier._jwks.fetch_data = key_set
        verifier._jwks.get_jwk_set()
        verifier._jwks.jwk_set_cache.put(key_set())  # pyright: ignore[reportOptionalMemberAccess]
        access = AccessTokens(_OAUTH, verifier)

        def check(data: bytes) -> None:
            given = _object(data)
            token = data.decode("latin-1")  # as the value of a header is
            if given:
                header, claims = (dict(_pairs(given.get(part))) for part in ("header", "claims"))
                kid = header.pop("kid", "k1")
                try:
                    token = jwt.encode(claims, _KEY, "ES256", {**header, "kid": kid if isinstance(kid, str) else "k1"})
                except Exception:  # noqa: BLE001  the library that makes tokens does not take every claim
                    return
            with suppress(HTTPException):
                runner.run(access.principal(memory, token))

        try:
            yield check
        finally:
            runner.run(memory.close())


# Hooks


@contextmanager
def hooks() -> Generator[Check]:
    """What a coding agent gives to a hook; and what a hook asks of its server, with a transcript that it then reads."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, _collected(), asyncio.Runner() as runner:
        place = Place(str(Path(folder, "memory.db")))
        place.make()
        lock = os.open(place.lock, os.O_RDWR | os.O_CREAT, 0o600)
        fcntl.flock(lock, fcntl.LOCK_EX)  # as a server does that is about to answer
        memory = runner.run(_opened(place.store))
        server = HookServer(memory, place, timedelta(minutes=1))
        server._no_more_jobs.set()
        transcript = Path(folder, "session.jsonl")

        async def asked(line: bytes) -> None:
            reader = asyncio.StreamReader(limit=1 << 20)
            reader.feed_data(line + b"\n")
            reader.feed_eof()
            await server._handle(reader, cast("asyncio.StreamWriter", _Writer()))

        async def captured() -> None:
            capture = Capture(memory, place)
            for note in capture.waiting():
                await capture.take(note)

        def check(data: bytes) -> None:
            given = _object(data)
            event = next((name for name in client.EVENTS if name == given.get("hook")), "user-prompt")
            transcript.write_bytes(_lines(given.get("lines")))
            told = data.replace(b"{transcript}", str(transcript).encode())
            with redirect_stdout(io.StringIO()), redirect_stderr(io.StringIO()), _stdin(told):
                code = client.run(event, place.store)
            assert code in {0, 1}, code
            place.transcripts.write_bytes(json.dumps(given.get("positions", {})).encode())
            runner.run(asked(data.replace(b"\n", b" ")))
            runner.run(captured())

        try:
            yield check
        finally:
            os.chdir(before)
            os.close(lock)
            runner.run(memory.close())


class _Writer:
    """Takes what is written, as a connection does."""

    def write(self, data: bytes) -> None: ...
    async def drain(self) -> None: ...
    def close(self) -> None: ...
    async def wait_closed(self) -> None: ...


def _lines(value: object) -> bytes:
    lines = cast("list[Any]", value) if isinstance(value, list) else []
    return b"".join((one.encode("utf-8", "surrogatepass") if isinstance(one, str) else json.dumps(one).encode()) + b"\n"
                    for one in lines)  # fmt: skip


@contextmanager
def _stdin(data: bytes) -> Generator[None]:
    before, sys.stdin = sys.stdin, io.TextIOWrapper(io.BytesIO(data), encoding="utf-8", errors="replace")
    try:
        yield
    finally:
        sys.stdin = before


# The command line

_ENDLESS: Final = {
    "serve",
    "mcp",
    "worker",
    "hook",
    "demo",
    "eval",
    "vault watch",
    "journal tail",
    "embedder calibrate",
}
"""Commands that run until they are stopped, take long, or have a target of their own."""
_ELSEWHERE: Final = (
    "--embedder",
    "--llm",
    "--rerank",
    "--index",
    "--config",
    "--preset",
    "--force-polling",
    "--install",
)
"""Options that load a model, call one, or change files of the user."""
_CODES: Final = {0, 1, *EXIT_CODES.values()}


@contextmanager
def command_line() -> Generator[Check]:
    """A command as a shell splits it, and what it reads from stdin below the first line."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder, _environment():
        os.chdir(folder)
        for setup in ("remember 'Checkout needs 2 GiB'", "observe 'The deploy failed'"):
            with redirect_stdout(io.StringIO()):
                run(shlex.split(setup))

        def check(data: bytes) -> None:
            line, _, given = data.decode("utf-8", "replace").partition("\n")
            # Nothing is written outside of the folder.
            line = line.replace("/", "_").replace("~", "_").replace("..", "_").replace("\x00", "")
            try:
                arguments = shlex.split(line)
            except ValueError:
                arguments = line.split()
            if {" ".join(arguments[:2]), *arguments[:1]} & _ENDLESS and "--help" not in arguments:
                return
            if any(argument.startswith(_ELSEWHERE) for argument in arguments) or "--no-limit" in arguments:
                return
            out, err = io.StringIO(), io.StringIO()
            with redirect_stdout(out), redirect_stderr(err), _stdin(given.encode()):
                code = run(arguments)
            if code == DEFECT:
                told = err.getvalue().strip().partition("report it: ")[2]
                raise Defect(f"{told.partition(':')[0]} in {' '.join(arguments[:1])}", err.getvalue())
            assert code in _CODES, (code, err.getvalue())
            assert code == 0 or err.getvalue().count("\n") >= 1, (code, out.getvalue())

        try:
            yield check
        finally:
            os.chdir(before)


@contextmanager
def _environment() -> Generator[None]:
    kept = dict(os.environ)
    for name in [name for name in os.environ if name.startswith("REMEMBRANCER_")]:
        del os.environ[name]
    os.environ.update(REMEMBRANCER_EMBEDDER="none", COLUMNS="100")
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(kept)


def _request(method: str, path: str, body: Any = None, query: str = "", **headers: str) -> bytes:
    told: dict[str, Any] = {"method": method, "path": path}
    if query:
        told["query"] = query
    if body is not None:
        told["body"] = body
    if headers:
        told["headers"] = {name.replace("_", "-"): value for name, value in headers.items()}
    return json.dumps(told).encode()


_FORM: Final = {"content_type": "application/x-www-form-urlencoded", "origin": "http://127.0.0.1:8765"}
_AT: Final = "2026-03-04T09:00:00Z"
_REQUESTS: Final = [
    _request("POST", "/v1/recall", {"query": "how much memory?", "limit": 3, "tags": ["checkout"], "explain": True,
                                    "since": _AT, "fields": ["hits.score"], "max_chars": 2000}),
    _request("POST", "/v1/recall", {"query": "we deploy", "mode": "message", "walk": 1, "metadata": {"a": 1}}),
    _request("POST", "/v1/compare", {"query": "memory", "presets": ["engram", "default"]}),
    _request("POST", "/v1/events", {"events": [{"text": "It failed", "role": "tool", "occurred_at": _AT, "key": "k",
                                                "payload": {"a": 1}, "severity": "error", "session": "monday"}]}),
    _request("GET", "/v1/events", query="limit=2&since=2026-03-01T00:00:00Z&type=message&order=oldest&cursor=x"),
    _request("GET", "/v1/events/stream", query="limit=1", last_event_id="3"),
    _request("POST", "/v1/events/{event}/priority", {"priority": "high", "reason": "x"}),
    _request("POST", "/v1/memories", {"text": "Checkout needs 2 GiB", "kind": "fact", "tags": ["a"], "importance": 0.5,
                                      "topic_key": "t", "metadata": {"a": 1}, "valid_until": _AT, "visibility": "own"},
             content_type="application/json", idempotency_key="k"),
    _request("POST", "/v1/memories/batch", {"memories": [{"text": "x"}, {"text": "y", "title": "z"}]}),
    _request("GET", "/v1/memories", query="state=any&sort=oldest&limit=2&kind=fact&tags=a&min_importance=0.2"),
    _request("PATCH", "/v1/memories/{memory}", {"text": "Checkout needs 4 GiB", "expected_revision": 1}),
    _request("GET", "/v1/memories/{memory}/why-not", query="query=memory&limit=2"),
    _request("GET", "/v1/memories/{memory}/curve", query="days=30"),
    _request("POST", "/v1/memories/{memory}/supersede", {"by": "{memory}"}),
    _request("POST", "/v1/memories/{memory}/feedback", {"verdict": "helpful"}),
    _request("POST", "/v1/relations", {"source": "{memory}", "target": "{memory}", "kind": "supports"}),
    _request("POST", "/v1/exposures", {"ids": ["{memory}"], "kind": "shown", "query": "x"}),
    _request("GET", "/v1/timeline", query="since=yesterday&until=2026-03-05T00:00:00Z&limit=3"),
    _request("GET", "/v1/fading", query="within=7d"),
    _request("GET", "/v1/decay", query="limit=3"),
    _request("POST", "/v1/maintain", {"only": ["health"], "force": True}),
    _request("POST", "/v1/stages", {"stage": "build"}),
    _request("POST", "/v1/erasures", {"ids": ["{memory}"], "dry_run": True}),
    _request("POST", "/v1/keys", {"name": "x", "right": "read", "expires_at": _AT, "agent": "coder"}),
    _request("POST", "/v1/import", '{"record": "remembrancer-export", "version": 1}\n{"record": "end", "rows": 0}\n',
             query="dry_run=true", content_type="application/x-ndjson"),
    _request("GET", "/api/v1/journal", query="limit=2&entry_type=x&since=2026-03-01T00:00:00Z&cursor=x&severity=warn"),
    _request("POST", "/api/v1/memory/search/hybrid", {"query": "memory", "limit": 2, "agent": "coder"}),
    _request("POST", "/api/v0/add_message", {"conversation_id": "0192f0c1-7a44-7d0c-9f3e-0a1b2c3d4e5f",
                                             "message": {"role": "user", "content": "x", "timestamp": 1772532000000}}),
    _request("POST", "/api/v0/import_batch_messages", {"conversation_id": "0192f0c1-7a44-7d0c-9f3e-0a1b2c3d4e5f",
                                                       "messages": [{"role": "user", "content": "x"}]}),
    _request("POST", "/api/v0/retrieve_memory", {"conversation_id": "0192f0c1-7a44-7d0c-9f3e-0a1b2c3d4e5f",
                                                 "query": "x", "episodic_limit": 2, "detail": "auto"}),
    _request("POST", "/memories/new", "text=x&title=y&kind=note&tags=a,b&importance=0.5&key=k", **_FORM),
    _request("POST", "/memories/{memory}/edit", "text=x&revision=1&importance=0.5&tags=a", **_FORM),
    _request("POST", "/memories/{memory}/feedback", "verdict=helpful", **_FORM),
    _request("POST", "/memories/selected", "ids={memory}&action=tag&tag=x", **_FORM),
    _request("POST", "/erasures", "ids={memory}", **_FORM),
    _request("POST", "/login", "key={token}&next=/search?q=x", **_FORM),
    _request("POST", "/mcp", {"jsonrpc": "2.0", "id": 1, "method": "tools/list"}, content_type="application/json",
             accept="application/json, text/event-stream", mcp_protocol_version="2025-06-18"),
    _request("GET", "/v1/stats", query="project=a&role=LEAD", authorization="Bearer x", cookie="remembrancer=x; a=b",
             host="evil.example", origin="http://evil.example", x_forwarded_for="1.2.3.4", forwarded="for=x"),
    *(_request(asked.method, asked.template.replace("{memory_id}", "{memory}").replace("{event_id}", "{event}"),
               query="&".join(f"{name}={value}" for name, value in asked.query.items()))
      for asked, _ in pages({"observe": {}, **{name: {"id": "{memory}", "memory": {"id": "{memory}"}} for name in (
          "remember", "remember a second", "remember a third", "remember with all there is", "erase")}}).values()),
]  # fmt: skip
_HTTP_WORDS: Final = (
    *(
        "query",
        "limit",
        "since",
        "until",
        "tags",
        "kind",
        "kinds",
        "tiers",
        "metadata",
        "fields",
        "mode",
        "walk",
        "explain",
    ),
    *(
        "text",
        "title",
        "importance",
        "topic_key",
        "visibility",
        "session",
        "agent",
        "crew",
        "project",
        "workspace",
        "role",
    ),
    *("{memory}", "{event}", "{token}", "&", "=", "%00", "%ff", "%2e%2e%2f", "?", "#", ";", "\r\n", "application/json"),
    *(
        "text/plain",
        "multipart/form-data; boundary=x",
        "gzip",
        "chunked",
        "-1",
        "1e999",
        "last-event-id",
        "idempotency-key",
    ),
    *(
        "cursor",
        "content-length",
        "content-type",
        "content-encoding",
        "cookie",
        "if-match",
        "range",
        "traceparent",
        "host",
    ),
    *("GET", "DELETE", "PATCH", "PUT", "HEAD", "OPTIONS", "/v1/", "/api/v0/", "/parts/", "/memories/", "AAZMLwt6RAAH"),
)


def _call(tool: str, **arguments: Any) -> bytes:
    return json.dumps(
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    ).encode()


_MCP: Final = [
    _call("recall", query="how much memory?", limit=3, tags=["checkout"], since="2026-03-01"),
    _call("remember", text="Checkout needs 3 GiB", kind="fact", tags=["a"], importance=0.5, topic_key="t"),
    _call("update", id="{memory}", text="x"),
    _call("search", query="memory"),
    _call("fetch", id="{memory}"),
    _call("recent", limit=3),
    _call("feedback", id="{memory}", verdict="helpful"),
    _call("forget", id="{memory}"),
    _call("timeline", since="yesterday"),
    b'{"jsonrpc":"2.0","id":2,"method":"tools/list"}',
    b'{"jsonrpc":"2.0","id":2,"method":"resources/read","params":{"uri":"memory://{memory}"}}',
    b'{"jsonrpc":"2.0","id":2,"method":"resources/templates/list"}',
    b'{"jsonrpc":"2.0","id":2,"method":"prompts/get","params":{"name":"context_for_task","arguments":{"task":"x"}}}',
    b'{"jsonrpc":"2.0","id":"a","method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"x"}}}',
    b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":2}}',
]
_MCP_WORDS: Final = (
    *(
        "jsonrpc",
        "id",
        "method",
        "params",
        "name",
        "arguments",
        "tools/call",
        "resources/list",
        "resources/read",
        "ping",
    ),
    *(
        "recall",
        "remember",
        "update",
        "recent",
        "query",
        "text",
        "limit",
        "tags",
        "kind",
        "since",
        "until",
        "importance",
    ),
    *(
        "{memory}",
        "_meta",
        "progressToken",
        "cursor",
        "uri",
        "logging/setLevel",
        "level",
        "sampling/createMessage",
        "\n",
    ),
)
_CLAIMS: Final = {
    "iss": _OAUTH.issuer, "aud": _OAUTH.audience, "sub": "ana", "exp": 32503680000, "iat": 1700000000, "nbf": 1700000000,
    "scope": "memory:read memory:write", "workspace": "shop", "client_id": "c", "jti": "x", "azp": "y",
}  # fmt: skip
_TOKENS: Final = [
    json.dumps({"header": {"kid": "k1", "typ": "at+jwt"}, "claims": _CLAIMS}).encode(),
    json.dumps({"header": {}, "claims": {**_CLAIMS, "scp": ["memory:read"], "scope": ""}}).encode(),
    jwt.encode(_CLAIMS, _KEY, "ES256", {"kid": "k1"}).encode(),
    jwt.encode(_CLAIMS, "x" * 32, "HS256", {"kid": "k1"}).encode(),
    b"eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbmEifQ.",
    b"rmbr_0123456789",
]
_TOKEN_WORDS: Final = (
    *_CLAIMS,
    *ALGORITHMS,
    "alg",
    "kid",
    "crit",
    "b64",
    "x5u",
    "jku",
    "none",
    ".",
    "..",
    "scp",
    "eyJ",
    "=",
)
_TRANSCRIPT: Final = [
    {"type": "user", "uuid": "r1", "sessionId": "s", "timestamp": "2026-11-20T10:00:00Z",
     "message": {"role": "user", "content": "The green side listens on 8081"}},
    {"type": "assistant", "uuid": "r2", "sessionId": "s", "timestamp": "2026-11-20T10:00:01Z",
     "message": {"role": "assistant", "content": [{"type": "tool_use", "name": "Bash", "input": {"command": "ls"}}]}},
]  # fmt: skip
_HOOKS: Final = [
    json.dumps({"hook": event, "session_id": "s", "transcript_path": "{transcript}", "cwd": "/tmp", "prompt": "which port?",
                "source": "startup", "lines": _TRANSCRIPT, "event": event, "workspace": "/tmp", "session": "s",
                "positions": {"/tmp/x": 0}}).encode()
    for event in client.EVENTS
]  # fmt: skip
_HOOK_WORDS: Final = (
    *(
        "session_id",
        "transcript_path",
        "cwd",
        "prompt",
        "source",
        "agent_id",
        "compact",
        "event",
        "workspace",
        "session",
    ),
    *("{transcript}", "/tmp/\x00", "/proc/self/mem", "/dev/null", "/", "x" * 300, "lines", "positions", *client.EVENTS),
)
_AN_ID: Final = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"
_COMMANDS: Final = [name for commands in COMMANDS.values() for name in commands] + [
    f"{group} {name}" for group, (_, commands) in GROUPS.items() for name in commands
]
_LINES: Final = (
    "recall 'how much memory?' --limit 3 --since yesterday --tag a --json --explain",
    "remember 'Checkout needs 2 GiB' --kind fact --tag a --importance 0.5 --metadata '{\"a\": 1}' --valid-until 2027-01-01",
    "remember --stdin --json\n{\"text\": \"x\"}\n[1]\n",
    "observe 'x' --role tool --payload a=1 --severity error --session s --key k",
    "journal list --since 2d --limit 2 --type message --json",
    "journal count --where a=1",
    f"show {_AN_ID}", f"why-not {_AN_ID} memory", f"feedback {_AN_ID} helpful", f"link {_AN_ID} supports {_AN_ID}",
    "timeline --since 'last week' --until 2026-03-05T00:00:00Z", "fading --within 2w", "decay --limit 3",
    "keys create x --right read --expires 90d --for-agent a", "keys list", "stats --json", "jobs", "maintain --only health",
    "export all.jsonl", "import all.jsonl --dry-run", "backup copy.db", "restore copy.db --db new.db", "presets show default",
    f"erase {_AN_ID} --dry-run", "ingest notes.txt --dry-run", "vault check .", "stage build", "end-session s", "doctor",
    "recent --limit 2 --workspace w --project p --role LEAD", "import-config x.yaml", "journal --help", "--db x recall y",
)  # fmt: skip
_CLI_WORDS: Final = (
    *(f"{name} " for name in _COMMANDS), " --json", " --db ", " --limit ", " -1", " --since ", " --help", " --dry-run",
    *(" --workspace ", " --project ", " --metadata ", " '{", " ''", ' "', " --", " -", " =", " --tag", " --role", " 1e999"),
    *(" --kind", " --format ", " --out ", " --yes", " --session", " --until 9999-12-31", " 999999999999999999w", " --stdin\n"),
    _AN_ID,
)  # fmt: skip


def _sorted(lines: Sequence[str]) -> list[bytes]:
    return [line.encode() for line in lines]


TARGETS: Final = (
    Target("http", http, _REQUESTS, _HTTP_WORDS, 6_000, 25),
    Target("mcp", mcp, _MCP, _MCP_WORDS, 5_000, 15),
    Target("access-tokens", tokens, _TOKENS, _TOKEN_WORDS, 50_000, 100, max_bytes=1024),
    Target("hooks", hooks, _HOOKS, _HOOK_WORDS, 8_000, 20),
    Target("command-line", command_line, _sorted(_LINES), _CLI_WORDS, 8_000, 10, max_bytes=512),
)
