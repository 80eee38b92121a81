"""Every public name has a text in the generated reference. The names come from the package, not from the pages."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from typing import Any, cast

import pytest

import remembrancer
from reference import pages
from reference.glossary import GLOSSARY
from reference.http import served
from reference.mcp import listed
from remembrancer import Remembrancer, Settings, errors
from remembrancer.interfaces.cli.program import command_line
from remembrancer.policies.ranking.signals import MEANINGS
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.spec import Preset
from remembrancer.presets.text import table_of


def of_exports() -> Iterator[str]:
    for name in remembrancer.__all__:
        yield name if isinstance(getattr(remembrancer, name), type) else f"remembrancer.{name}"


def of_methods() -> Iterator[str]:
    for name, member in public(Remembrancer):
        noun = cast("Any", member).fget.__annotations__["return"] if isinstance(member, property) else ""
        yield from of_method(f"rem.{name}", member)
        if str(noun).endswith("Api"):
            for inner, method in public(getattr(remembrancer.sync, noun)):
                yield from of_method(f"rem.{name}.{inner}", method)


def public(made: type) -> list[tuple[str, Any]]:
    return [(name, getattr(member, "__func__", member)) for name, member in vars(made).items() if name[0] != "_"]


def of_method(name: str, member: Any) -> Iterator[str]:
    yield name
    if callable(member):
        for one in inspect.signature(member).parameters.values():
            if one.name not in {"self", "cls"} and not str(one.annotation).startswith("Unpack["):
                yield f"{name}({one.name})"


def of_commands() -> Iterator[str]:
    for name, command in command_line().commands.items():
        groups: dict[str, Any] = getattr(command, "commands", {})
        for full, one in {f"{name} {inner}": each for inner, each in groups.items()}.items() or [(name, command)]:
            yield f"remembrancer {full}"
            for option in one.params:
                shared = option.rich_help_panel == "Every command"
                if option.param_type_name == "option" and option.name != "help":
                    yield f"remembrancer{'' if shared else f' {full}'} {option.opts[0]}"


def of_routes() -> Iterator[str]:
    document = served()[0]
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            yield f"{method.upper()} {path}"
            for one in operation.get("parameters", []):
                in_scope = one["in"] == "query" and one["name"] in {"project", "crew", "agent", "session", "role"}
                yield one["name"] if in_scope else f"{method.upper()} {path} {one['name']}"
    for name, schema in document["components"]["schemas"].items():
        yield from (f"{name}.{field}" for field in schema.get("properties", {}))


def of_tools() -> Iterator[str]:
    tools, resources, prompts = listed()
    for tool in tools:
        yield tool.name
        yield from (f"{tool.name}({name})" for name in tool.whole["properties"])
    yield from (one.uri_template for one in resources)
    yield from (one.name for one in prompts)


def of_settings() -> Iterator[str]:
    yield from (one.name for one in fields(Settings))


def of_presets() -> Iterator[str]:
    yield from (*PRESETS, *MEANINGS, *(one.name for one in fields(Preset)))
    for preset in PRESETS.values():
        for key, value in table_of(preset).items():
            inner = cast("dict[str, Any]", value) if isinstance(value, dict) else {}
            if "form" not in inner and key != "rankings":
                yield from (f"{key}.{name}" for name in inner)


def of_errors() -> Iterator[str]:
    yield from (name for name, one in vars(errors).items() if isinstance(one, type) and issubclass(one, Exception))


@cache
def documented() -> dict[str, str]:
    """The text of each name in the reference."""
    return {name: text for page in pages().values() for name, text in page.names.items()}


@pytest.mark.parametrize(
    "names",
    [of_exports, of_methods, of_commands, of_routes, of_tools, of_settings, of_presets, of_errors],
    ids=lambda names: names.__name__,
)
def test_every_public_name_has_a_text_in_the_reference(names: Any) -> None:
    known = documented()
    public_names = set(names())
    assert len(public_names) > 8
    assert sorted(name for name in public_names if not known.get(name)) == []


def test_no_name_in_the_reference_is_without_a_text() -> None:
    assert [name for name, text in documented().items() if not text] == []


def test_every_entry_of_the_glossary_is_used() -> None:
    texts = {name: text for name, text in documented().items() if text in GLOSSARY.values()}
    assert [name for name, text in GLOSSARY.items() if text not in texts.values()] == []
