"""Options that several commands share, and how a command gets them."""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from functools import cache
from typing import Annotated, Any, Final, cast, get_type_hints

import typer

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.times import parse_time
from remembrancer.interfaces.key_values import key_values
from remembrancer.values import dataclass

BROKEN_PIPE: Final = 141
"""The exit code of a program whose reader has gone: 128 + SIGPIPE."""

TIME: Final = "TIME"
PAIR: Final = "KEY=VALUE"
JSON: Final = "JSON"
TIMES: Final = "2026-03-04 (midnight UTC), 2026-03-04T09:00:00Z, or 7d, 24h, 90m ago"


Id = Annotated[str, typer.Argument(metavar="ID", help="A memory's id, as every list prints it.")]
NoIndex = Annotated[bool, typer.Option("--no-index", help="Do not index by meaning now; `maintain` does.")]


@dataclass(frozen=True, kw_only=True)
class Question:
    """Options of a question: the limit, the filters and the ranking."""

    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", help="The maximum number of hits, 1 to 200. Default: the preset's."),
    ] = None
    kinds: Annotated[list[str] | None, typer.Option("--kind", help="Only this kind; may be repeated: any of them.")] = (
        None
    )
    tiers: Annotated[
        list[str] | None, typer.Option("--tier", help="Only this tier: working, episodic or semantic; may be repeated.")
    ] = None
    tags: Annotated[
        list[str] | None, typer.Option("--tag", help="Only with this tag; may be repeated: all of them.")
    ] = None
    source: Annotated[str | None, typer.Option("--source", help="Only from this source.")] = None
    in_session: Annotated[str | None, typer.Option("--in-session", help="Only what belongs to this session.")] = None
    metadata: Annotated[
        dict[str, Any] | None,
        typer.Option("--metadata", metavar=PAIR, help="Only with this in the metadata; may be repeated: all of them."),
    ] = None
    visibilities: Annotated[
        list[str] | None,
        typer.Option("--visibility", help="Only this visibility: session, own, crew or workspace; may be repeated."),
    ] = None
    reach: Annotated[
        str | None, typer.Option("--reach", help="How far to look: session, own, crew_shared or workspace.")
    ] = None
    since: Annotated[
        datetime | None, typer.Option("--since", metavar=TIME, help=f"Only what happened since then: {TIMES}.")
    ] = None
    until: Annotated[
        datetime | None,
        typer.Option("--until", metavar=TIME, help="Only what happened before then; format as --since."),
    ] = None
    as_of: Annotated[
        datetime | None, typer.Option("--as-of", metavar=TIME, help="As believed then; format as --since.")
    ] = None
    ranking: Annotated[
        str | None, typer.Option("--ranking", help="One of the preset's other rankings, such as hybrid in crewship.")
    ] = None
    walk_depth: Annotated[int, typer.Option("--walk", help="1: also memories that a hit has a `similar` edge to.")] = 0
    min_score: Annotated[float, typer.Option("--min-score", help="No hit below this score, 0 to 1.")] = 0.0


def arguments(options: object) -> dict[str, Any]:
    """The keyword arguments that a group of options stands for, without those that are None.

    A field has the name of its argument. The prefixes `in_`, `of_` and `by_` are removed: they distinguish a field from
    one of Invocation.
    """
    given = {field.name: getattr(options, field.name) for field in fields(cast("Any", options))}
    return {re.sub("^(in|of|by)_", "", name): value for name, value in given.items() if value is not None}


def command(function: Callable[..., None]) -> Callable[..., None]:
    """`function` in the form that typer expects: the options of every command, which come last, replace its Invocation.

    Its other parameters are keyword arguments. A parameter that is a dataclass is replaced by the options in its
    fields. An option with the metavar TIME, JSON or KEY=VALUE is parsed before `function` is called.
    """
    hints = get_type_hints(function, include_extras=True)
    groups: dict[str, type[Any]] = {}
    parameters: list[inspect.Parameter] = []
    for parameter in list(inspect.signature(function).parameters.values())[1:]:
        kind = hints[parameter.name]
        if is_dataclass(kind) and isinstance(kind, type):
            groups[parameter.name] = kind
            parameters += _options(kind)
        else:
            parameters.append(_parameter(parameter.name, kind, parameter.default))
    parameters += _options(Invocation)
    parsed = {one.name: one for one in parameters if _metavar(one.annotation) in _PARSERS}

    def run(**given: Any) -> None:
        call: Invocation = _gathered(Invocation, given)
        for name, parameter in parsed.items():
            if given[name] is not None:
                given[name] = _parsed(parameter, given[name], call)
        taken = {name: _gathered(kind, given) for name, kind in groups.items()}
        try:
            function(call, **given, **taken)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has gone: discard the buffered output, without an error at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None

    run.__name__ = function.__name__
    run.__doc__ = _unwrapped(function.__doc__ or "")
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    return run


def _json(argument: str, text: str) -> Any:
    """The value of an option that takes JSON. The memory checks that it is an object, and its size."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(argument, text, "a JSON object") from None


_PARSERS: Final[Mapping[str | None, Callable[[str, Any, Invocation], Any]]] = {
    TIME: lambda argument, value, call: parse_time(argument, value, now=call.now),
    JSON: lambda argument, value, _: _json(argument, value),
    PAIR: lambda argument, value, _: key_values(argument, value),
}
"""By the metavar of an option."""


def _parsed(parameter: inspect.Parameter, value: Any, call: Invocation) -> Any:
    """The value of an option with a parser. Raises InvalidInput, which names the option."""
    option = parameter.annotation.__metadata__[0]
    flag = str(option.default)  # in an annotation, typer takes the first flag for the default
    return _PARSERS[option.metavar](flag.lstrip("-"), value, call)


def _metavar(annotation: Any) -> str | None:
    return getattr(annotation.__metadata__[0], "metavar", None)


def _parameter(name: str, annotation: Any, default: Any) -> inspect.Parameter:
    """A parameter for typer. An option with a parser is text for typer, or a list of texts if it may be repeated."""
    metavar = _metavar(annotation)
    if metavar in _PARSERS:
        annotation = Annotated[list[str] | None if metavar == PAIR else str | None, annotation.__metadata__[0]]
    return inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _unwrapped(text: str) -> str:
    """Each paragraph on one line, to be wrapped at the width of the terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))


@cache
def _options(group: type[Any]) -> tuple[inspect.Parameter, ...]:
    hints = get_type_hints(group, include_extras=True)
    return tuple(_parameter(field.name, hints[field.name], field.default) for field in fields(group))


def _gathered(group: type[Any], given: dict[str, Any]) -> Any:
    """An instance of the group, with its options removed from `given`."""
    return group(**{field.name: given.pop(field.name) for field in fields(group)})
