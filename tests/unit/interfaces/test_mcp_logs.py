"""The MCP server's output on stderr."""

from __future__ import annotations

import logging
from collections.abc import Callable

import pytest

from remembrancer.interfaces.mcp.serving import log_to_stderr


def logged(capsys: pytest.CaptureFixture[str], tell: Callable[[logging.Logger], None]) -> str:
    root = logging.getLogger()
    handlers, level = list(root.handlers), root.level
    root.handlers.clear()
    try:
        log_to_stderr()
        tell(logging.getLogger("mcp.server.somewhere"))
        return capsys.readouterr().err
    finally:
        root.handlers[:] = handlers
        root.setLevel(level)


def test_a_warning_is_one_line_without_control_characters(capsys: pytest.CaptureFixture[str]) -> None:
    told = logged(capsys, lambda log: log.warning("Invalid Host header: %s", "evil\x1b[2J\nERROR forged"))
    assert told == "WARNING mcp.server.somewhere: Invalid Host header: evil[2J ERROR forged\n"


def test_of_an_exception_its_kind_is_reported_and_none_of_its_words(capsys: pytest.CaptureFixture[str]) -> None:
    error = ValueError("the secret of a memory")
    told = logged(capsys, lambda log: log.error("a handler raised", exc_info=error))
    assert told == "ERROR mcp.server.somewhere: a handler raised (ValueError)\n"


def test_messages_below_a_warning_are_not_sent(capsys: pytest.CaptureFixture[str]) -> None:
    assert logged(capsys, lambda log: log.info("Tool 'recall' failed: 'words of a question'")) == ""
