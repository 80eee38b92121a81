"""The page of the MCP tools, resources and prompts, from what the server lists."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache
from typing import Any, Final, Never

from reference.glossary import text_of
from reference.http import source_docs
from reference.page import Page, anchor, code, defaults_of
from remembrancer.interfaces.mcp.server import described, memory_server
from remembrancer.interfaces.mcp.tool import MemoryTool, allowed
from remembrancer.interfaces.mcp.tools import Tools

FILE: Final = "reference/mcp.md"
Json = Mapping[str, Any]
_INTRODUCTION: Final = """\
What `remembrancer mcp` and the server's `/mcp` list to a client. The descriptions are those that a model reads.
[MCP](../mcp.md) says how a client is set up. An argument that is not listed is an error. Clients get the arguments
without lower limits, lengths and defaults, and no schemas of the answers: they give models the list at every turn."""


async def _no_memory(*_: object) -> Never:
    raise NotImplementedError


@cache
def listed() -> tuple[list[MemoryTool], list[Any], list[Any]]:
    """The tools, the templates of resources, and the prompts."""

    async def asked() -> tuple[list[Any], list[Any]]:
        server = memory_server(_no_memory)
        return await server.list_resource_templates(), await server.list_prompts()

    return described(Tools(_no_memory, lambda: datetime.now(UTC), counts_use=False)), *asyncio.run(asked())


def page() -> Page:
    made = Page(FILE, "MCP tools")
    made.add(_INTRODUCTION)
    tools, resources, prompts = listed()
    for tool in tools:
        made.heading(2, code(tool.name), anchor(tool.name))
        made.add(made.name(tool.name, tool.description or ""))
        made.add(_hints(tool.annotations))
        _table(made, tool.name, tool.whole, "argument")
        made.add("The structured content of the answer:")
        _table(made, f"{tool.name} answer", tool.answer_schema, "field")
    made.heading(2, "Resources")
    made.table(
        ("resource", "type", ""),
        [
            (code(one.uri_template), code(one.mime_type), made.name(one.uri_template, one.description or ""))
            for one in resources
        ],
    )
    made.heading(2, "Prompts")
    for prompt in prompts:
        made.heading(3, code(prompt.name), anchor(prompt.name))
        made.add(made.name(prompt.name, prompt.description or ""))
        arguments = list[Any](prompt.arguments or [])
        rows = [
            (code(one.name), str(bool(one.required)), made.name(f"{prompt.name}({one.name})", one.description or ""))
            for one in arguments
        ]
        made.table(("argument", "required", ""), rows)
    return made


def _hints(annotations: Any) -> str:
    if annotations.read_only_hint:
        return "Reads only."
    writes = "Writes; it may remove a memory from recall." if annotations.destructive_hint else "Writes; it only adds."
    return f"{writes} Repeating the call changes nothing more." if annotations.idempotent_hint else writes


def _table(made: Page, owner: str, schema: Json, column: str) -> None:
    required = schema.get("required", [])
    rows: list[tuple[str, str, str, str]] = []
    for name, one in schema.get("properties", {}).items():
        label = code(name) + (" (required)" if column == "argument" and name in required else "")
        docs = source_docs(schema.get("title", "")) if column == "field" else []
        text = made.name(f"{owner}({name})", one.get("description", "") or text_of(name, *docs, owner=owner))
        rows.append((label, _kind(one, schema), defaults_of(one) if column == "argument" else "", text))
    made.table((column, "type", "default", ""), rows)


def _kind(one: Json, schema: Json) -> str:
    try:
        return allowed(one)
    except KeyError:
        pass
    if "$ref" in one:
        inner: Json = schema.get("$defs", {}).get(one["$ref"].rpartition("/")[2], {})
        fields = ", ".join(code(name) for name in inner.get("properties", {}))
        return f"object: {fields}" if fields else _kind(inner, schema)
    if "anyOf" in one:
        return " or ".join(_kind(each, schema) for each in one["anyOf"])
    if one.get("type") == "array":
        return f"list of {_kind(one.get('items', {}), schema)}"
    return ", ".join(map(code, one["enum"])) if "enum" in one else one.get("format", one.get("type", "any"))
