"""The server as a separate process: its start, its output, and that no acknowledged write is ever lost."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx
import pytest
from driver import Cli
from llm_server import LlmServer, hangs
from server_process import PATIENCE, ServerProcess, serving

from remembrancer import Remembrancer
from remembrancer.interfaces.http.background import GRACE_SECONDS

SOURCE = str(Path(__file__).parents[2] / "src")
CLIENTS = 8


def client(server: ServerProcess, **headers: str) -> httpx.Client:
    return httpx.Client(base_url=server.url, headers=headers, timeout=PATIENCE, trust_env=False)


def record(http: httpx.Client, key: str) -> int:
    return http.post("/v1/events", json={"events": [{"text": f"turn {key}", "key": key}]}).status_code


def recorded(db: Path) -> set[str | None]:
    with Remembrancer.open(str(db), embedder="none") as memory:
        return {entry.key for entry in memory.journal.page(limit=10_000).events}


class Load:
    """Clients that record events one after the other, each until its server has stopped."""

    def __init__(self, server: ServerProcess) -> None:
        self._server = server
        self._door = threading.Lock()
        self.acknowledged: set[str] = set()
        self.others: list[int] = []
        self.busy = threading.Event()

    def run(self) -> None:
        with ThreadPoolExecutor(CLIENTS) as pool:
            for _ in pool.map(self._one, range(CLIENTS)):
                pass

    def _one(self, number: int) -> None:
        with client(self._server) as http:
            for turn in range(100_000):
                try:
                    status = record(http, f"{number}-{turn}")
                except httpx.TransportError:
                    return
                with self._door:
                    if status == 201:
                        self.acknowledged.add(f"{number}-{turn}")
                    else:
                        self.others.append(status)
                    if len(self.acknowledged) >= 10 * CLIENTS:
                        self.busy.set()


@pytest.fixture(scope="module")
def told(tmp_path_factory: pytest.TempPathFactory) -> ServerProcess:
    """A server that has stopped after it recorded an event and returned it."""
    with serving(tmp_path_factory.mktemp("told") / "a.db") as server, client(server) as http:
        record(http, "xyzzy")
        http.get("/v1/events", params={"query": "xyzzy"})
        server.ask_to_stop()
        server.ended()
    return server


def test_a_server_prints_its_address(told: ServerProcess) -> None:
    assert told.url.startswith("http://127.0.0.1:")
    assert told.pid == told.process.pid


def test_no_acknowledged_write_is_lost_when_it_is_asked_to_stop_under_load(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with serving(db, "--rate-limit", "0") as server:
        load = Load(server)
        clients = threading.Thread(target=load.run)
        clients.start()
        assert load.busy.wait(PATIENCE)
        server.ask_to_stop()
        assert server.ended() == 0
        clients.join(PATIENCE)
    assert len(load.acknowledged) >= 10 * CLIENTS
    assert load.acknowledged <= recorded(db)
    assert load.others == []


def test_no_acknowledged_write_is_lost_when_it_is_killed_under_load(tmp_path: Path) -> None:
    db = tmp_path / "a.db"
    with serving(db, "--rate-limit", "0") as server:
        load = Load(server)
        clients = threading.Thread(target=load.run)
        clients.start()
        assert load.busy.wait(PATIENCE)
        server.ask_to_stop(signal.SIGKILL)
        server.ended()
        clients.join(PATIENCE)
    assert load.acknowledged <= recorded(db)


def test_a_request_under_way_is_answered_before_it_ends(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db") as server, socket.create_connection(_place(server), PATIENCE) as line:
        body = b'{"events": [{"text": "the last word", "key": "last"}]}'
        line.sendall(head_of(len(body)))
        assert b"100 Continue" in line.recv(4096)
        server.ask_to_stop()
        _wait_until_nobody_is_let_in(server)
        line.sendall(body)
        assert line.recv(4096).startswith(b"HTTP/1.1 201")
        assert server.ended() == 0
    assert recorded(tmp_path / "a.db") == {"last"}


def test_a_second_signal_interrupts_running_requests(tmp_path: Path) -> None:
    with serving(tmp_path / "a.db") as server, socket.create_connection(_place(server), PATIENCE) as line:
        line.sendall(head_of(10))
        assert b"100 Continue" in line.recv(4096)
        server.ask_to_stop()
        _wait_until_nobody_is_let_in(server)
        server.ask_to_stop(signal.SIGINT)
        assert server.ended() == 0
    assert [json.loads(one).get("message") for one in server.lines if "sparse-only" not in one] == [None]


def test_a_second_signal_interrupts_a_job_too(tmp_path: Path, cli: Cli) -> None:
    db = tmp_path / "a.db"
    turns = [f'{{"text": "The worker of the checkout needs more memory, {n}", "session": "monday"}}' for n in range(20)]
    cli.done("observe", "--stdin", "--db", str(db), stdin="\n".join(turns).encode())
    with LlmServer() as model:
        model.always = hangs
        environment = {"REMEMBRANCER_LLM_URL": model.url("openai"), "REMEMBRANCER_LLM_KEY": "k"}
        with serving(db, "--preset", "plastmem", "--llm", "openai:m", environment=environment) as server:
            assert model.called.wait(PATIENCE)
            server.ask_to_stop()
            _wait_until_nobody_is_let_in(server)
            server.ask_to_stop()
            assert server.process.wait(GRACE_SECONDS / 2) == 0
    assert cli.done("doctor", "--db", str(db), "--json").json["ok"]


def test_each_request_is_a_line_of_json_on_stderr(told: ServerProcess) -> None:
    lines = [json.loads(line) for line in told.lines]
    assert [(one.get("method"), one.get("route"), one.get("status")) for one in lines if "route" in one] == [
        ("POST", "/v1/events", 201),
        ("GET", "/v1/events", 200),
    ]


def test_no_stored_text_is_logged(told: ServerProcess) -> None:
    assert "xyzzy" not in told.stderr


def test_it_warns_once_where_there_is_no_embedder(told: ServerProcess) -> None:
    warnings = [json.loads(line) for line in told.lines if json.loads(line)["level"] == "warning"]
    assert [one["message"] for one in warnings] == ["sparse-only: no embedder: lexical recall only, as asked for"]


def test_it_runs_the_jobs_by_default(tmp_path: Path, cli: Cli) -> None:
    def ran(db: Path) -> bool:
        return any(one["last"] for one in cli.done("jobs", "--db", str(db), "--json").json["jobs"])

    for name, arguments in (("working", ()), ("idle", ("--no-work",))):
        with serving(tmp_path / f"{name}.db", *arguments) as server, client(server) as http:
            record(http, "a")
    assert (ran(tmp_path / "working.db"), ran(tmp_path / "idle.db")) == (True, False)


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "198.51.100.7"])  # noqa: S104  what is refused
def test_without_a_key_no_other_address_is_listened_on(cli: Cli, host: str) -> None:
    refused = cli("serve", "--host", host, "--port", "0")
    assert (refused.code, refused.out) == (2, "")
    assert refused.err.splitlines()[-1] == (
        f"error: host: '{host}' is not allowed; expected 127.0.0.1 while there is no usable key: create one "
        "with `remembrancer keys create`"
    )


def test_with_a_key_it_listens_on_any_address_and_refuses_requests_without_one(tmp_path: Path, cli: Cli) -> None:
    db = tmp_path / "a.db"
    token = cli.done("keys", "create", "reader", "--db", str(db), "--json").json["token"]
    with serving(db, "--host", "0.0.0.0") as server, client(server) as http:  # noqa: S104
        assert http.get("/v1/events").status_code == 401
        assert http.get("/v1/events", headers={"Authorization": f"Bearer {token}"}).status_code == 200


def test_a_key_that_has_expired_is_none_to_listen_elsewhere_by(cli: Cli) -> None:
    made = cli.done("keys", "create", "reader", "--json").json["key"]["id"]
    cli.done("keys", "revoke", made)
    assert cli("serve", "--host", "0.0.0.0", "--port", "0").code == 2  # noqa: S104


def test_a_port_that_is_taken_is_one_line_and_exit_code_3(cli: Cli) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        refused = cli("serve", "--port", str(port))
    assert refused.code == 3
    assert refused.err.splitlines()[-1] == (
        f"error: cannot listen on port {port} of 127.0.0.1: Address already in use; give another port"
    )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--host", "no such host"), "error: host: 'no such host' is not allowed"),
        (("--port", "65536"), "error: port: 65536 is not allowed"),
        (("--rate-limit", "-1"), "error: rate_limit: -1.0 is not allowed"),
        (("--request-timeout", "0"), "error: request_timeout: 0.0 is not allowed"),
    ],
)
def test_an_option_that_is_none_is_refused(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    refused = cli("serve", *arguments)
    assert refused.code == 2
    assert refused.err.splitlines()[-1].startswith(said)


def test_on_a_terminal_it_prints_its_address_and_who_has_access(tmp_path: Path) -> None:
    with subprocess.Popen(
        [sys.executable, "-m", "remembrancer", "serve", "--port", "0"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": SOURCE, "REMEMBRANCER_EMBEDDER": "none"},
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as running:
        assert running.stdout
        first = running.stdout.readline()
        running.send_signal(signal.SIGINT)
        assert running.wait(PATIENCE) == 0
    assert first.startswith("http://127.0.0.1:")
    assert first.endswith(
        "(API, and dashboard in a browser) of default; "
        "no keys: every program on this machine has access, and nothing else\n"
    )


def test_a_missing_package_is_named_with_the_command_that_installs_it(
    cli: Cli, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "uvicorn", None)
    monkeypatch.delitem(sys.modules, "remembrancer.interfaces.http.server", raising=False)
    ran = cli("serve", "--port", "0")
    assert (ran.code, ran.out) == (3, "")
    assert ran.err == "error: the server needs uvicorn: pip install 'remembrancer[server]'\n"


def head_of(length: int) -> bytes:
    """The headers of a request that makes the server report when it waits for the body."""
    return (
        b"POST /v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n"
        b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % length
    )


def _place(server: ServerProcess) -> tuple[str, int]:
    url = httpx.URL(server.url)
    return url.host, url.port or 80


def _wait_until_nobody_is_let_in(server: ServerProcess) -> None:
    """Wait until the server stops, which shows in its refusing connections."""
    while True:
        try:
            socket.create_connection(_place(server), PATIENCE).close()
        except OSError:
            return
