"""Options that several commands share, and how a command gets them."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable
from dataclasses import fields, is_dataclass
from functools import cache
from typing import Annotated, Any, Final, get_type_hints

import typer

from remembrancer.domain.query import Filters
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.times import optional_time
from remembrancer.interfaces.key_values import key_values
from remembrancer.values import dataclass

BROKEN_PIPE: Final = 141
"""The exit code of a program whose reader has gone: 128 + SIGPIPE."""

TIME: Final = "TIME"
TIMES: Final = "2026-03-04 (midnight UTC), 2026-03-04T09:00:00Z, or 7d, 24h, 90m ago"


Id = Annotated[str, typer.Argument(metavar="ID", help="A memory's id, as every list prints it.")]
NoIndex = Annotated[bool, typer.Option("--no-index", help="Do not index by meaning now; `maintain` does.")]


class QuestionArguments(Filters):
    """The keyword arguments that `recall` and `why_not` share."""

    limit: int | None
    reach: str | None
    ranking: str | None
    walk_depth: int
    min_score: float


@dataclass(frozen=True, kw_only=True)
class Question:
    """Options of a question: the limit, the filters and the ranking."""

    limit: Annotated[
        int | None,
        typer.Option("--limit", "-n", help="The maximum number of hits, 1 to 200. Default: the preset's."),
    ] = None
    kind: Annotated[list[str] | None, typer.Option("--kind", help="Only this kind; may be repeated: any of them.")] = (
        None
    )
    tier: Annotated[
        list[str] | None, typer.Option("--tier", help="Only this tier: working, episodic or semantic; may be repeated.")
    ] = None
    tag: Annotated[
        list[str] | None, typer.Option("--tag", help="Only with this tag; may be repeated: all of them.")
    ] = None
    source: Annotated[str | None, typer.Option("--source", help="Only from this source.")] = None
    in_session: Annotated[str | None, typer.Option("--in-session", help="Only what belongs to this session.")] = None
    metadata: Annotated[
        list[str] | None,
        typer.Option(
            "--metadata", metavar="KEY=VALUE", help="Only with this in the metadata; may be repeated: all of them."
        ),
    ] = None
    visibility: Annotated[
        list[str] | None,
        typer.Option("--visibility", help="Only this visibility: session, own, crew or workspace; may be repeated."),
    ] = None
    reach: Annotated[
        str | None, typer.Option("--reach", help="How far to look: session, own, crew_shared or workspace.")
    ] = None
    since: Annotated[
        str | None, typer.Option("--since", metavar=TIME, help=f"Only what happened since then: {TIMES}.")
    ] = None
    until: Annotated[
        str | None, typer.Option("--until", metavar=TIME, help="Only what happened before then; format as --since.")
    ] = None
    as_of: Annotated[str | None, typer.Option("--as-of", metavar=TIME, help="As believed then; format as --since.")] = (
        None
    )
    ranking: Annotated[
        str | None, typer.Option("--ranking", help="One of the preset's other rankings, such as hybrid in crewship.")
    ] = None
    walk: Annotated[int, typer.Option("--walk", help="1: also memories that a hit has a `similar` edge to.")] = 0
    min_score: Annotated[float, typer.Option("--min-score", help="No hit below this score, 0 to 1.")] = 0.0

    def arguments(self, call: Invocation) -> QuestionArguments:
        return {
            "limit": self.limit,
            "kinds": self.kind or None,
            "tiers": self.tier or None,
            "tags": self.tag or None,
            "source": self.source,
            "session": self.in_session,
            "metadata": key_values("metadata", self.metadata),
            "visibilities": self.visibility or None,
            "reach": self.reach,
            "since": optional_time("since", self.since, now=call.now),
            "until": optional_time("until", self.until, now=call.now),
            "as_of": optional_time("as-of", self.as_of, now=call.now),
            "ranking": self.ranking,
            "walk_depth": self.walk,
            "min_score": self.min_score,
        }


def json_option(argument: str, text: str | None) -> Any:
    """The value of an option that takes JSON. The memory checks that it is an object, and its size."""
    try:
        return None if text is None else json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput(argument, text, "a JSON object") from None


def command(function: Callable[..., None]) -> Callable[..., None]:
    """`function` in the form that typer expects: the options of every command, which come last, replace its Invocation.

    Its other parameters are keyword arguments. A parameter that is a dataclass is replaced by the options in its
    fields.
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
            parameters.append(parameter.replace(kind=inspect.Parameter.KEYWORD_ONLY, annotation=kind))
    parameters += _options(Invocation)

    def run(**given: Any) -> None:
        call: Invocation = _gathered(Invocation, given)
        taken = {name: _gathered(kind, given) for name, kind in groups.items()}
        try:
            function(call, **given, **taken)
            sys.stdout.flush()
        except BrokenPipeError:
            # Nobody reads any more: what is still in the buffer goes nowhere, without a word at exit.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            raise typer.Exit(BROKEN_PIPE) from None

    run.__name__ = function.__name__
    run.__doc__ = _unwrapped(function.__doc__ or "")
    run.__annotations__ = {parameter.name: parameter.annotation for parameter in parameters}
    run.__dict__["__signature__"] = inspect.Signature(parameters)
    return run


def _unwrapped(text: str) -> str:
    """Each paragraph on one line, to be wrapped at the width of the terminal."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in inspect.cleandoc(text).split("\n\n"))


@cache
def _options(group: type[Any]) -> tuple[inspect.Parameter, ...]:
    hints = get_type_hints(group, include_extras=True)
    return tuple(
        inspect.Parameter(
            field.name, inspect.Parameter.KEYWORD_ONLY, default=field.default, annotation=hints[field.name]
        )
        for field in fields(group)
    )


def _gathered(group: type[Any], given: dict[str, Any]) -> Any:
    """An instance of the group, with its options removed from `given`."""
    return group(**{field.name: given.pop(field.name) for field in fields(group)})
