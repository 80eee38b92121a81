"""The options of commands: how they are declared, those that several commands share, and how their values are read.

A parameter of a command is declared as `Annotated[TYPE, *FLAGS, METAVAR, HELP]`, where the flags and the metavar may be
left out. A parameter without a default, or with a metavar in brackets, is an argument, every other one is an option.
The flag follows from the name unless one with two dashes is given: `as_of` is --as-of, and the list `kinds` is --kind,
which may be repeated.
"""

from __future__ import annotations

import inspect
import json
import os
import re
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields, is_dataclass
from datetime import datetime, timedelta
from functools import cache
from types import NoneType
from typing import Annotated, Any, Final, Self, cast, get_args, get_type_hints

import typer

from remembrancer.domain.recall import OFF, Floor
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.invocation import EVERY_COMMAND, Invocation
from remembrancer.interfaces.cli.times import parse_length, parse_time
from remembrancer.interfaces.key_values import key_values
from remembrancer.values import dataclass

BROKEN_PIPE: Final = 141
"""The exit code when the reader of the output has closed the pipe: 128 + SIGPIPE."""

TIMES: Final = "2026-03-04 (midnight UTC), 2026-03-04T09:00:00Z, 7d, 24h or 90m ago, or yesterday, last week, …"

Id = Annotated[str, "ID", "A memory's id, as printed in every list."]
LimitOption = Annotated[int, "-n", "The maximum number."]
NoIndex = Annotated[bool, "Do not compute embeddings now; `maintain` computes them."]


@dataclass(frozen=True, kw_only=True)
class QuestionOptions:
    """Options of a question: the limit, the filters and the ranking."""

    mode: Annotated[
        str, "question, or message: QUERY is a turn of a conversation; find the few memories that matter to it."
    ] = "question"
    limit: Annotated[
        int | None, "-n", "The maximum number of hits, from 1 to what the preset allows. Default: the preset's."
    ] = None
    kinds: Annotated[list[str] | None, "Only this kind; repeat the option to allow several."] = None
    tiers: Annotated[list[str] | None, "Only this tier: working, episodic or semantic; repeat to allow several."] = None
    tags: Annotated[list[str] | None, "Only with this tag; repeat the option to require several."] = None
    source: Annotated[str | None, "Only from this source."] = None
    in_session: Annotated[str | None, "Only what belongs to this session."] = None
    metadata: Annotated[dict[str, Any] | None, "Only with this metadata; repeat the option to require several."] = None
    visibilities: Annotated[
        list[str] | None, "Only this visibility: session, own, crew or workspace; repeat to allow several."
    ] = None
    reach: Annotated[str | None, "The part of the scope to search: session, own, crew_shared or workspace."] = None
    since: Annotated[datetime | None, f"Only what happened since then: {TIMES}."] = None
    until: Annotated[datetime | None, "Only what happened before then; format as for --since."] = None
    as_of: Annotated[datetime | None, "Only what was known and valid at that time; format as for --since."] = None
    ranking: Annotated[str | None, "One of the preset's other rankings, such as hybrid in crewship."] = None
    walk_depth: Annotated[
        int | None,
        "--walk",
        "1: also return memories with a `similar` relation to a hit. Default: as set for the agent, or 0.",
    ] = None
    floor: Annotated[
        Floor | None,
        "Return no hit below this probability, 0 to 1, in place of the preset's threshold; off: no threshold.",
    ] = None
    min_score: Annotated[float, "Return no hit below this score, 0 to 1, besides the threshold."] = 0.0


def arguments(options: object) -> dict[str, Any]:
    """The keyword arguments that a group of options stands for, without those that are None.

    A field has the name of its argument. The prefixes `in_`, `of_` and `by_` are removed: they distinguish a field from
    one of Invocation.
    """
    given = {field.name: getattr(options, field.name) for field in fields(cast("Any", options))}
    return {re.sub("^(in|of|by)_", "", name): value for name, value in given.items() if value is not None}


Parse = Callable[[str, Any, Invocation], Any]
"""The value of an option, parsed from its flag (without dashes, for errors) and its text or texts. Raises
InvalidInput.
"""


def _json(flag: str, text: str) -> Any:
    """The value of an option that takes JSON. The memory checks that it is an object, and its size."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(flag, text, "a JSON object") from None


def _floor(flag: str, text: str) -> Floor:
    """A probability, or "off". The memory checks its range."""
    try:
        return OFF if text == OFF else float(text)
    except ValueError:
        raise InvalidInput(flag, text, "a number from 0 to 1, or off") from None


_PARSED: Final[Mapping[Any, tuple[Any, str, Parse]]] = {
    datetime: (str | None, "TIME", lambda flag, text, call: parse_time(flag, text, now=call.now)),
    timedelta: (str | None, "LENGTH", lambda flag, text, _: parse_length(flag, text)),
    dict[str, Any]: (list[str] | None, "KEY=VALUE", lambda flag, texts, _: key_values(flag, texts)),
    Floor | None: (str | None, "NUMBER|off", lambda flag, text, _: _floor(flag, text)),
    Any: (str | None, "JSON", lambda flag, text, _: _json(flag, text)),
}
"""For each type of an option: its type for typer, its metavar, and how it is parsed."""


@dataclass(frozen=True)
class _Option:
    """A parameter as typer expects it. `flag` is without dashes; `parse` is None if typer parses the text."""

    parameter: inspect.Parameter
    flag: str
    parse: Parse | None

    @classmethod
    def of(cls, declared: inspect.Parameter, panel: str | None = None) -> Self:
        kind, *notes, told = get_args(declared.annotation)
        variants = get_args(kind)
        plain = variants[0] if variants[1:] == (NoneType,) else kind
        kind, metavar, parse = _PARSED.get(plain, (kind, None, None))
        metavar = next((note for note in notes if not note.startswith("-")), metavar)
        if declared.default is declared.empty or (metavar or "").startswith("["):
            argument = typer.Argument(metavar=metavar and metavar.strip("[]"), help=told)
            return cls(declared.replace(annotation=Annotated[kind, argument]), declared.name, parse)
        name = re.sub("s$", "", re.sub("ies$", "y", declared.name)) if plain == list[str] else declared.name
        flags = [note for note in notes if note.startswith("-")]
        if not any(flag.startswith("--") for flag in flags):
            flags.insert(0, f"--{name.replace('_', '-')}")
        option = typer.Option(*flags, metavar=metavar, help=told, rich_help_panel=panel)
        return cls(declared.replace(annotation=Annotated[kind, option]), flags[0].lstrip("-"), parse)


def command(function: Callable[..., None]) -> Callable[..., None]:
    """`function` in the form that typer expects: the options of every command, which come last, replace its Invocation.

    Its other parameters are keyword arguments. A parameter that is a dataclass is replaced by the options in its
    fields. Times, durations, JSON and pairs are parsed before `function` is called.
    """
    first, *others = _declared(function)
    groups: dict[str, Any] = {one.name: one.annotation for one in others if is_dataclass(one.annotation)}
    declared = [each for one in others for each in (_declared(groups[one.name]) if one.name in groups else [one])]
    options = [_Option.of(one) for one in declared]
    options += [_Option.of(one, EVERY_COMMAND) for one in _declared(first.annotation)]

    def run(**given: Any) -> None:
        call = Invocation(**_taken(Invocation, given))
        for option in options:
            name = option.parameter.name
            if option.parse is not None and given[name] is not None:
                given[name] = option.parse(option.flag, given[name], call)
        taken = {name: group(**_taken(group, given)) for name, group in groups.items()}
        try:
            function(call, **given, **taken)
            sys.stdout.flush()
        except BrokenPipeError:
            # The reader has closed the pipe: discard the buffered output, so that the exit raises no error.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None

    parameters = [option.parameter for option in options]
    run.__name__ = function.__name__
    # Each paragraph on one line, to be wrapped at the width of the terminal.
    paragraphs = inspect.cleandoc(function.__doc__ or "").split("\n\n")
    run.__doc__ = "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    return run


@cache
def _declared(made: Callable[..., object]) -> Sequence[inspect.Parameter]:
    """The parameters of a command or of a group of options, with their types resolved."""
    hints = get_type_hints(made, include_extras=True)
    every = inspect.signature(made).parameters.values()
    return [one.replace(annotation=hints[one.name], kind=one.KEYWORD_ONLY) for one in every]


def _taken(group: type[Any], given: dict[str, Any]) -> dict[str, Any]:
    """The values of the fields of a group, which are removed from `given`."""
    return {field.name: given.pop(field.name) for field in fields(group)}
