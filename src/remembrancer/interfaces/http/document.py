"""Additions to the OpenAPI document that FastAPI generates: problem details and examples."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, cast

from fastapi import FastAPI

from remembrancer.interfaces.http.examples import EXAMPLES
from remembrancer.interfaces.http.problems import MEDIA_TYPE, ProblemOut


class DocumentedApp(FastAPI):
    """An app whose document describes problems as they are sent, and has an example of every shape."""

    def openapi(self) -> dict[str, Any]:
        if self.openapi_schema is None:
            document = super().openapi()
            for operation in _operations(document):
                _document_problems(operation["responses"])
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


def _document_problems(responses: dict[str, Any]) -> None:
    documented = responses.get("422", {}).get("content", {}).get("application/json", {}).get("schema", {})
    if str(documented.get("$ref", "")).endswith("/HTTPValidationError"):
        del responses["422"]
    for response in responses.values():
        content = response.get("content", {})
        # The stream is not a JSON string. FastAPI declares every type other than JSON as one, and clients would then
        # misread messages.
        content.get("text/event-stream", {}).get("schema", {}).pop("type", None)
        # FastAPI declares problems with the media type of the route's other responses.
        for media_type in [media_type for media_type, described in content.items() if _is_problem(described)]:
            content[MEDIA_TYPE] = content.pop(media_type)


def _is_problem(described: Mapping[str, Any]) -> bool:
    return str(described.get("schema", {}).get("$ref", "")).endswith(f"/{ProblemOut.__name__}")
