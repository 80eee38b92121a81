"""What the OpenAPI document contains beyond what FastAPI generates: problem details and examples."""

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
    for response in responses.values():
        content = response.get("content", {})
        # A stream is no text: FastAPI says so of whatever is not JSON, and readers take its messages for texts then.
        content.get("text/event-stream", {}).get("schema", {}).pop("type", None)
        # FastAPI has a problem be of the media type that the route's other answers have.
        for media_type in [media_type for media_type, told in content.items() if _is_problem(told)]:
            content[MEDIA_TYPE] = content.pop(media_type)


def _is_problem(told: Mapping[str, Any]) -> bool:
    return str(told.get("schema", {}).get("$ref", "")).endswith(f"/{ProblemOut.__name__}")
