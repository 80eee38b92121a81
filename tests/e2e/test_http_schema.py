"""Every route of the server under generated requests, valid and invalid: it answers as documented."""

from __future__ import annotations

import itertools
import os
import sys
from collections.abc import Callable, Iterator
from typing import Any, Final, cast
from uuid import UUID

import pytest
import schemathesis
from fuzzed import HOST, PreparedApp
from hypothesis import HealthCheck, settings
from schemathesis import GenerationMode
from schemathesis import checks as any_api
from schemathesis.generation.hypothesis import builder
from schemathesis.python.asgi import shutdown_lifespans
from schemathesis.specs.openapi import checks as openapi

from remembrancer.interfaces.http.middleware import NDJSON

# Its types are left open, so what is taken from it is Any here.
ANY_API: Final[Any] = any_api
OPENAPI: Final[Any] = openapi
BUILDER: Final[Any] = builder
MODES: Final[Any] = BUILDER.HypothesisTestMode
CHECKS: Final[list[Any]] = [
    ANY_API.not_a_server_error,
    OPENAPI.status_code_conformance,
    OPENAPI.content_type_conformance,
    OPENAPI.response_schema_conformance,
    OPENAPI.response_headers_conformance,
]
THOROUGH: Final = os.environ.get("REMEMBRANCER_FUZZ_EXAMPLES")
"""How many requests are made up for each operation; `make fuzz-http` asks for many. Then also all that its document
gives rise to: each bound, each wrong type, each other method.
"""
APP: Final = PreparedApp()
DOCUMENT: Final[Any] = schemathesis.openapi.from_asgi("/openapi.json", APP)
DOCUMENT.config.generation.update(modes=list(GenerationMode))
OPERATIONS: Final[dict[str, Any]] = {found.ok().label: found.ok() for found in DOCUMENT.get_all_operations()}
CONFIG: Final[Any] = BUILDER.HypothesisTestConfig(
    project=DOCUMENT.config,
    modes=[MODES.EXAMPLES, *([MODES.COVERAGE] if THOROUGH else []), MODES.FUZZING],
    explicit_settings=settings(
        max_examples=int(THOROUGH or 3),
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much, HealthCheck.data_too_large],
    ),
)
ANSWER_5XX: Final = frozenset({"/healthz", "/readyz", "/v1/vault/check", "/v1/vault/sync"})
"""Probes answer 503 while the server stops, as this one does from the start; a server without vaults answers 501."""
NAMED: Final = {"memory_id": "memory", "source": "memory", "target": "memory", "by": "memory", "event_id": "event"}
"""What a field or a part of an address is the id of."""
NUMBERS: Final = itertools.count()


@schemathesis.serializer(NDJSON)
def lines(_: object, value: object) -> bytes:
    """A made-up body of the import route: usually no export."""
    return value if isinstance(value, bytes) else str(value).encode(errors="replace")


@pytest.fixture(scope="module", autouse=True)
def told_and_closed(pytestconfig: pytest.Config) -> Iterator[None]:
    yield
    shutdown_lifespans()
    capture: Any = pytestconfig.pluginmanager.get_plugin("capturemanager")
    told = ", ".join(f"{status}: {count:,}" for status, count in sorted(APP.answered.items()))
    with capture.global_and_fixture_disabled():
        sys.stdout.write(f"\n{sum(APP.answered.values()):,} requests were answered ({told})\n")


@pytest.mark.parametrize("label", OPERATIONS)
def test_an_operation_answers_as_documented(label: str) -> None:
    run: Callable[[], None] = BUILDER.create_test(operation=OPERATIONS[label], test_func=_answers, config=CONFIG)
    run()


def _answers(case: Any) -> None:
    _aim(case)
    checks = [check for check in CHECKS if case.path not in ANSWER_5XX or check is not ANY_API.not_a_server_error]
    case.call_and_validate(base_url=HOST, headers={"Authorization": f"Bearer {APP.token}"}, checks=checks)


def _aim(case: Any) -> None:
    """What hardly anybody would guess is made to fit, since the rest of a route lies behind it: every other id becomes
    that of something that is there, a role one that there is, and no two requests have the same idempotency key.
    """
    query: dict[str, Any] = case.query or {}
    if str(query.get("role", "")).strip():
        query["role"] = "LEAD"
    if "Idempotency-Key" in (case.headers or {}) and str(case.headers["Idempotency-Key"]).isascii():
        case.headers["Idempotency-Key"] = f"{str(case.headers['Idempotency-Key'])[:150]}-{next(NUMBERS)}"
    for part in filter(lambda part: isinstance(part, dict), (case.path_parameters, case.body)):
        for name, value in cast("dict[str, Any]", part).items():
            if name in NAMED and _is_even(value):
                part[name] = getattr(APP, NAMED[name])


def _is_even(value: object) -> bool:
    try:
        return isinstance(value, str) and UUID(value).int % 2 == 0
    except ValueError:
        return False
