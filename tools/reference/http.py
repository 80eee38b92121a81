"""The page of the HTTP routes, from the OpenAPI document that the server itself serves."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
from collections.abc import Iterator, Mapping
from functools import cache
from typing import TYPE_CHECKING, Any, Final, cast, get_args

from fastapi.routing import APIRoute

from reference.docstrings import doc_of
from reference.glossary import GLOSSARY, text_of
from reference.page import Page, anchor, code, defaults_of, fenced
from reference.source import class_named, doc_named, named_in
from remembrancer import AsyncRemembrancer, Settings
from remembrancer.interfaces.http.access import Administering, ReadableMemory, WritableMemory
from remembrancer.interfaces.http.app import Serving, build_app
from remembrancer.jobs.worker import Stop

if TYPE_CHECKING:
    from fastapi.dependencies.models import Dependant

FILE: Final = "reference/http.md"
Json = Mapping[str, Any]
_RIGHTS: Final = {
    get_args(memory)[1].dependency: right
    for memory, right in ((ReadableMemory, "read"), (WritableMemory, "write"), (Administering, "admin"))
}
_SCOPE: Final = ("project", "crew", "agent", "session", "role")
"""The parameters that every route with a memory takes."""
_INTRODUCTION: Final = """\
Every route of the server, from the document that it serves at `/openapi.json`. [HTTP](../http.md) shows the common ones
at work. *Right*: what the key of a request must allow at least. Every error is answered as a
[problem](../http.md#problems)."""


@cache
def served() -> tuple[dict[str, Any], dict[str, str]]:
    """The OpenAPI document, and the right that each operation needs, by its id."""
    logging.getLogger("remembrancer").addHandler(logging.NullHandler())  # it warns that there is no embedder

    async def built() -> tuple[dict[str, Any], dict[str, str]]:
        settings = Settings(db=":memory:", background_index=False, embedder="none")
        async with AsyncRemembrancer.open(settings=settings) as memory:
            app = build_app(memory, Serving(), Stop())
            document = app.openapi()
            rights = {one.unique_id: _right(one.dependant) for one in app.routes if isinstance(one, APIRoute)}
            return document, rights

    return asyncio.run(built())


def operations() -> Iterator[tuple[str, str, Json]]:
    """The method, the path and the description of every operation, in the order of the document."""
    for path, methods in served()[0]["paths"].items():
        for method, operation in methods.items():
            yield method.upper(), path, operation


def page() -> Page:
    made = Page(FILE, "HTTP routes")
    made.add(_INTRODUCTION)
    made.heading(2, "Parameters of every route")
    recall: Json = served()[0]["paths"]["/v1/recall"]["post"]
    parts = {one["name"]: one for one in recall["parameters"]}
    made.add("The scope within the key's workspace, and the role to read as, in the query string:")
    _parameters(made, "", [parts[name] for name in _SCOPE])
    tags: dict[str, list[tuple[str, str, Json]]] = {}
    for method, path, operation in operations():
        tags.setdefault(operation.get("tags", ["other"])[0], []).append((method, path, operation))
    for tag, routes in tags.items():
        made.heading(2, tag[0].upper() + tag[1:], anchor("routes", tag))
        for method, path, operation in routes:
            _route(made, method, path, operation)
    made.heading(2, "Shapes")
    made.add("The JSON objects of bodies and answers. A field with a default may be left out of a body.")
    for name in _reached():
        _shape(made, name)
    return made


def _route(made: Page, method: str, path: str, operation: Json) -> None:
    full = f"{method} {path}"
    made.heading(3, code(full), anchor(method, path))
    summary, description = operation.get("summary", ""), operation.get("description", "")
    right = served()[1].get(operation.get("operationId", ""), "")
    made.add(f"**{summary}.**" + (f" Right: `{right}`." if right else "") if summary else "")
    made.add(" ".join(made.name(full, description or summary).split()))
    own = [one for one in operation.get("parameters", []) if one["name"] not in _SCOPE or one["in"] != "query"]
    _parameters(made, full, own)
    body = operation.get("requestBody", {}).get("content", {})
    for media_type, content in body.items():
        made.add(f"Body ({code(media_type)}): {_kind(content.get('schema', {}))}")
    answers: list[tuple[str, str, str]] = []
    for status, response in operation["responses"].items():
        kinds = [_kind(one.get("schema", {})) or code(media) for media, one in response.get("content", {}).items()]
        answers.append((status, ", ".join(kinds), response.get("description", "")))
    made.table(("status", "answer", ""), answers)


def _parameters(made: Page, route: str, given: list[Json]) -> None:
    rows: list[tuple[str, str, str, str, str]] = []
    for one in given:
        schema: Json = one.get("schema", {})
        text = made.name(f"{route} {one['name']}".strip(), one.get("description", "") or GLOSSARY.get(one["name"], ""))
        name = code(one["name"]) + (" (required)" if one.get("required") else "")
        rows.append((name, one["in"], _kind(schema), defaults_of(schema), text))
    made.table(("parameter", "in", "type", "default", ""), rows)


def _shape(made: Page, name: str) -> None:
    schema: Json = served()[0]["components"]["schemas"][name]
    made.heading(3, code(name), anchor(name))
    made.add(" ".join(made.name(name, schema.get("description", "") or _shared(name)).split()))
    if "enum" in schema:
        made.add("One of " + ", ".join(code(one) for one in schema["enum"]) + ".")
        return
    docs = source_docs(name)
    rows: list[tuple[str, str, str, str]] = []
    required = schema.get("required", [])
    for field, one in cast("dict[str, Json]", schema.get("properties", {})).items():
        text = made.name(f"{name}.{field}", one.get("description", "") or text_of(field, *docs, owner=name))
        label = code(field) + (" (required)" if field in required and name.endswith("In") else "")
        rows.append((label, _kind(one), defaults_of(one), text))
    made.table(("field", "type", "default", ""), rows)
    for example in schema.get("examples", [])[:1]:
        made.add(fenced(json.dumps(example, indent=2, ensure_ascii=False), "json"))


def _kind(schema: Json) -> str:  # noqa: PLR0911  a case for each kind of schema
    """The type of a schema, with its limits, in words; a named shape as a link."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        return f"[{code(name)}](#{anchor(name)})"
    several = schema.get("anyOf") or schema.get("oneOf") or schema.get("allOf")
    if several:
        return " or ".join(filter(None, map(_kind, several)))
    if "enum" in schema:
        return ", ".join(code(one) for one in schema["enum"])
    if "const" in schema:
        return code(schema["const"])
    kind = schema.get("type", "")
    if kind == "array":
        inner = _kind(schema.get("items", {}))
        return f"list of {inner}" if inner else "list"
    if kind == "null":
        return "null"
    return f"{schema.get('format', kind) or kind}{_limits(schema)}"


def _limits(schema: Json) -> str:
    low, high = schema.get("minimum", schema.get("exclusiveMinimum")), schema.get("maximum")
    if "maxLength" in schema:
        return f", {schema.get('minLength', 0)} to {schema['maxLength']:,} characters"
    if low is not None and high is not None:
        return f", {low:,} to {high:,}"
    return f", at least {low:,}" if low is not None else f", at most {high:,}" if high is not None else ""


def _reached() -> list[str]:
    """The named shapes that the routes use, and those that these use, in the order of their names."""
    schemas: Json = served()[0]["components"]["schemas"]
    known: set[str] = set()
    todo = list(_references([each for _, _, each in operations()]))
    while todo:
        name = todo.pop()
        if name not in known:
            known.add(name)
            todo += _references(schemas[name])
    return sorted(known)


def _shared(name: str) -> str:
    return GLOSSARY.get(name, "") or next(filter(None, (doc.split("\n\n")[0] for doc in source_docs(name)[1:])), "")


def source_docs(name: str) -> list[str]:
    """The docstring of a shape, and those of the values that it is made from."""
    shape = class_named(name)
    if shape is None:
        return [""]
    sources = [str(arg) for base in getattr(shape, "__orig_bases__", ()) for arg in get_args(base)]
    if "of" in vars(shape):
        sources += [str(one.annotation) for one in inspect.signature(vars(shape)["of"].__func__).parameters.values()]
    named = [one for source in sources for one in named_in(source)]
    return [doc_of(shape), *map(doc_named, [*named, name.removesuffix("Out")])]


def _references(value: Any) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in cast("Json", value).items():
            if key == "$ref":
                yield str(inner).rpartition("/")[2]
            else:
                yield from _references(inner)
    elif isinstance(value, list):
        for one in cast("list[Any]", value):
            yield from _references(one)


def _right(dependant: Dependant) -> str:
    for one in dependant.dependencies:
        found = _RIGHTS.get(one.call) or _right(one)
        if found:
            return found
    return ""
