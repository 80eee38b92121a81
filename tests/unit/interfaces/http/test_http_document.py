"""The OpenAPI document: whole, valid, and with examples that are what they are examples of."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import jsonschema
import pytest
from fastapi import APIRouter
from fastapi.routing import APIRoute
from served import Served, asked

from remembrancer.interfaces.http.routes import background_work, erasures, events, keys, memories, recall, state, times

ROUTERS: list[APIRouter] = [
    each.router for each in (erasures, events, keys, memories, background_work, recall, state, times)
]


@cache
def document() -> dict[str, Any]:
    async def steps(served: Served) -> dict[str, Any]:
        return (await served.http.get("/openapi.json")).json()

    return asked(steps)


def operations() -> Iterator[tuple[str, str, dict[str, Any]]]:
    for path, methods in document()["paths"].items():
        for method, operation in methods.items():
            yield path, method, operation


def ours() -> Iterator[tuple[str, str, dict[str, Any]]]:
    names = {route.name for router in ROUTERS for route in router.routes if isinstance(route, APIRoute)}
    return ((path, method, each) for path, method, each in operations() if each["operationId"] in names)


def schema(name: str) -> dict[str, Any]:
    return {"$ref": f"#/components/schemas/{name}", "components": document()["components"]}


def answered(operation: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Status, media type and schema of each answer that has a body."""
    for status, response in operation["responses"].items():
        for media_type, content in response.get("content", {}).items():
            yield status, media_type, content.get("schema", {})


def test_every_operation_has_a_name_of_its_own() -> None:
    names = [operation["operationId"] for _, _, operation in operations()]
    assert len(names) == len(set(names))


def test_every_operation_has_a_description() -> None:
    silent = [path for path, _, each in ours() if not (each["tags"] and each["summary"] and each["description"])]
    assert silent == []


def test_every_parameter_has_a_description() -> None:
    silent = [
        (path, parameter["name"])
        for path, _, operation in ours()
        for parameter in operation.get("parameters", [])
        if not parameter.get("description")
    ]
    assert silent == []


def test_every_problem_is_described_as_it_is_sent() -> None:
    told = {
        (media_type, content["$ref"])
        for _, _, operation in operations()
        for status, media_type, content in answered(operation)
        if status >= "400"
    }
    assert ("application/problem+json", "#/components/schemas/ProblemOut") in told
    assert [media_type for media_type, ref in told if ref.endswith("/ProblemOut")] == ["application/problem+json"]


def test_answers_that_are_never_sent_are_not_in_it() -> None:
    assert [path for path, _, operation in operations() if "422" in operation["responses"]] == []
    assert "HTTPValidationError" not in document()["components"]["schemas"]


def test_any_request_may_be_answered_that_a_key_is_needed() -> None:
    assert [path for path, _, operation in ours() if "401" not in operation["responses"]] == []


def test_operations_that_write_document_conflicts_and_size_limits() -> None:
    unsaid = [
        (path, method)
        for path, method, operation in ours()
        if "requestBody" in operation and not {"409", "413", "415"} <= operation["responses"].keys()
    ]
    assert unsaid == []


def test_operations_with_an_id_in_the_path_document_not_found() -> None:
    ids = ("{memory_id}", "{event_id}", "{key_id}", "{recall_id}")
    unsaid = [path for path, _, each in ours() if any(part in path for part in ids) and "404" not in each["responses"]]
    assert unsaid == []


def test_every_answer_has_an_example() -> None:
    names = {
        content["$ref"].rsplit("/", 1)[1]
        for _, _, operation in ours()
        for status, media_type, content in answered(operation)
        if status < "400" and media_type != "text/event-stream"
    }
    schemas = document()["components"]["schemas"]
    assert [name for name in sorted(names) if not schemas[name].get("examples")] == []


def with_examples() -> list[str]:
    return sorted(name for name, each in document()["components"]["schemas"].items() if each.get("examples"))


def test_every_example_is_one() -> None:
    for name in with_examples():
        for example in document()["components"]["schemas"][name]["examples"]:
            jsonschema.validate(example, schema(name), jsonschema.Draft202012Validator)


@pytest.mark.parametrize("name", ["MemoryIn", "EventIn", "RecallIn", "MemoryChangesIn", "RelationIn", "ErasureIn"])
def test_a_body_has_an_example(name: str) -> None:
    assert name in with_examples()
