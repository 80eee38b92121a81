"""Every route of the server under made-up requests, right and wrong: it answers as the document says, and no worse."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any, cast
from uuid import UUID

import pytest
import schemathesis
from fuzzed import HOST, PreparedApp
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis.generation.hypothesis.builder import HypothesisTestConfig, HypothesisTestMode, create_test
from schemathesis.python.asgi import shutdown_lifespans
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

CHECKS = [
    schemathesis.checks.not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_schema_conformance,
    response_headers_conformance,
]
MADE_UP = int(os.environ.get("REMEMBRANCER_FUZZ_EXAMPLES", "4"))
"""Requests to each operation beside those that its document gives rise to; `make fuzz-http` makes up many more."""
APP = PreparedApp()
DOCUMENT = schemathesis.openapi.from_asgi("/openapi.json", APP)
DOCUMENT.config.generation.update(modes=list(GenerationMode))
OPERATIONS = {operation.ok().label: operation.ok() for operation in DOCUMENT.get_all_operations()}
CONFIG = HypothesisTestConfig(
    project=DOCUMENT.config,
    modes=list(HypothesisTestMode),
    explicit_settings=settings(
        max_examples=MADE_UP,
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    ),
)
NAMED = {"memory_id": "memory", "source": "memory", "target": "memory", "by": "memory", "event_id": "event"}
"""What a field or a part of an address is the id of."""


@pytest.fixture(scope="module", autouse=True)
def told_and_closed(pytestconfig: pytest.Config) -> Iterator[None]:
    yield
    shutdown_lifespans()
    reporter = pytestconfig.pluginmanager.get_plugin("terminalreporter")
    if reporter is not None:
        told = ", ".join(f"{status}: {count:,}" for status, count in sorted(APP.answered.items()))
        reporter.write_line(f"\n{sum(APP.answered.values()):,} requests were answered ({told})")


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_answers_as_its_document_says(label: str) -> None:
    asked = create_test(operation=OPERATIONS[label], test_func=answers_as_told, config=CONFIG)
    asked()


def answers_as_told(case: schemathesis.Case) -> None:
    _aim(case)
    case.call_and_validate(base_url=HOST, headers={"Authorization": f"Bearer {APP.token}"}, checks=CHECKS)


def _aim(case: schemathesis.Case) -> None:
    """Every other id that is made up becomes that of something that is there: the rest of a route lies behind it. A
    role, which hardly anybody would guess, becomes one that there is.
    """
    query = cast("dict[str, Any]", case.query or {})
    if isinstance(query.get("role"), str) and query["role"].strip():
        query["role"] = "LEAD"
    parts = [case.path_parameters, case.body if isinstance(case.body, dict) else {}]
    for part in cast("list[dict[str, Any] | None]", parts):
        for name, value in (part or {}).items():
            if name in NAMED and part is not None and _is_even(value):
                part[name] = getattr(APP, NAMED[name])


def _is_even(value: object) -> bool:
    try:
        return isinstance(value, str) and UUID(value).int % 2 == 0
    except ValueError:
        return False
