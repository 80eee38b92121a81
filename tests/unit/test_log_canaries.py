"""The plugin that looks for texts and secrets in logs finds them, wherever they are logged."""

from __future__ import annotations

import io
import logging
import subprocess
import sys
from pathlib import Path

import pytest
from log_canaries import LogCanaries

from remembrancer.interfaces.http.logs import JsonLines, ReadableLines

TEXT = "Quokkas juggle vermilion zithers beneath Ouagadougou"
FIXTURES = Path(__file__).parents[1] / "fixtures"


@pytest.fixture
def canaries() -> LogCanaries:
    made = LogCanaries()
    made.note_text(TEXT)
    made.note_secret("sk-provider-4711")
    return made


def record(message: str, *args: object, error: BaseException | None = None) -> logging.LogRecord:
    info = None if error is None else (type(error), error, None)
    return logging.LogRecord("remembrancer.server", logging.ERROR, "x.py", 1, message, args, info)


@pytest.mark.parametrize(
    ("leak", "kind"),
    [
        (record("cannot store %r", TEXT), "a text"),
        (record("cannot store"), ""),
        (record("broke off", error=ValueError(f"no number: {TEXT}")), "a text"),
        (record("QUOKKAS JUGGLE, vermilion-zithers"), "a text"),
        (record("quokkas juggle zithers"), ""),
        (record("the key sk-provider-4711 was refused"), "a secret"),
        (record("Bearer %s", f"rem_{'x' * 43}"), "an API key"),
        (record("Bearer eyJhbGciOiJS.eyJzdWIiOiIx.c2lnbmF0dXJl"), "an access token"),
        (record("postgresql://ana:s3cret@db/memory"), "a password in an address"),
        (record("postgresql://ana:***@db/memory"), ""),
        (record("GET /v1/memories?query=zithers 200"), "a query string"),
        (record("GET /v1/memories 200"), ""),
    ],
)
def test_a_text_or_a_secret_in_a_record_is_found(canaries: LogCanaries, leak: logging.LogRecord, kind: str) -> None:
    canaries.check_record(leak)
    found = canaries.taken()
    assert [one.partition(" in a record")[0] for one in found] == ([kind] if kind else [])
    assert canaries.taken() == []
    assert canaries.checked == 1


LEAKY = f"""
import logging
import sys
sys.path.insert(0, {str(FIXTURES)!r})
import log_canaries
import pytest


def pytest_configure(config):
    log_canaries.install(log_canaries.CANARIES)
    config.pluginmanager.register(log_canaries.Plugin())
"""
TESTS = f"""
import logging
from remembrancer import Remembrancer


def test_clean():
    with Remembrancer.open(":memory:", embedder="none") as memory:
        memory.observe({TEXT!r})
    logging.getLogger("remembrancer").error("nothing of it")


def test_leaky():
    logging.getLogger("remembrancer").error("cannot store %s", {TEXT!r})
"""


def test_a_run_fails_at_the_test_that_logs_a_text(tmp_path: Path) -> None:
    (tmp_path / "conftest.py").write_text(LEAKY)
    (tmp_path / "test_it.py").write_text(TESTS)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path)]
    ran = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert ran.returncode == 1
    assert "ERROR test_it.py::test_leaky - Failed: in a log: a text in a record" in ran.stdout
    assert "test_clean" not in ran.stdout.partition("short test summary")[2]
    assert "log canaries: 3 log records" in ran.stdout


@pytest.mark.parametrize("formatter", [JsonLines(), ReadableLines()], ids=["json", "readable"])
def test_the_server_writes_no_message_of_an_unforeseen_error(formatter: logging.Formatter) -> None:
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(formatter)
    handler.handle(record("Exception in ASGI application", error=ValueError(TEXT)))
    assert "Quokkas" not in stream.getvalue()
    assert "ValueError" in stream.getvalue()
