"""What the OpenAPI document says beside what FastAPI finds out itself: problems as they are answered, and examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from http import HTTPStatus
from typing import Any, cast

from fastapi import FastAPI

from remembrancer.interfaces.http.examples import EXAMPLES
from remembrancer.interfaces.http.problems import MEDIA_TYPE


class DocumentedApp(FastAPI):
    """An app whose document tells of problems as they are sent, and shows an example of every shape."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            for operation in _operations(document):
                _tell_problems(operation["responses"])
            schemas: dict[str, Any] = document.setdefault("components", {}).setdefault("schemas", {})
            for name in ("HTTPValidationError", "ValidationError"):  # FastAPI's own, which is never sent
                schemas.pop(name, None)
            for name, example in EXAMPLES.items():
                if name in schemas:
                    schemas[name]["examples"] = [example]
            self.openapi_schema = document
        return self.openapi_schema


def _operations(document: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for path in cast("Mapping[str, dict[str, Any]]", document["paths"]).values():
        for operation in path.values():
            if isinstance(operation, dict) and "responses" in operation:
                yield cast("dict[str, Any]", operation)


def _tell_problems(responses: dict[str, Any]) -> None:
    told = responses.get("422", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if str(told.get("$ref", "")).endswith("/HTTPValidationError"):
        del responses["422"]
    for status, response in responses.items():
        content = response.get("content", {})
        if status.isdigit() and int(status) >= HTTPStatus.BAD_REQUEST and "application/json" in content:
            content[MEDIA_TYPE] = content.pop("application/json")
