"""The commands of `remembrancer` as a typer program, which parses their options and prints their help."""

from __future__ import annotations

import logging
import shlex
from collections.abc import Callable, Sequence
from functools import cache
from importlib import import_module
from typing import Any, Protocol, runtime_checkable

import typer

from remembrancer.domain.audit import Door
from remembrancer.interfaces.cli.main import COMMANDS, GROUPS
from remembrancer.interfaces.cli.options import command
from remembrancer.ports.audit import acting


@runtime_checkable
class UsageError(Protocol):
    """The error that typer raises for an invalid command line. Its class differs between releases, its attributes do
    not.
    """

    exit_code: int

    def format_message(self) -> str: ...


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Raises RemembrancerError, UsageError and KeyboardInterrupt."""
    logger = logging.getLogger("remembrancer")
    if not logger.handlers:  # commands print the warnings that matter themselves
        logger.addHandler(logging.NullHandler())
    every = {*GROUPS, *(name for commands in COMMANDS.values() for name in commands)}
    try:
        program = command_line(*every.intersection(arguments[:1]))
        with acting(door=Door.CLI):
            return program.main(list(arguments), prog_name="remembrancer", standalone_mode=False) or 0
    except typer.Abort:
        raise KeyboardInterrupt from None


def misplaced(arguments: Sequence[str]) -> str:
    """The message that says where an option of a command belongs, if the arguments begin with one; otherwise ""."""
    flag = arguments[0].partition("=")[0] if arguments else ""
    if not flag.startswith("-"):
        return ""
    # `recall` has every option that all commands have.
    options = [one for one in command_line("recall").commands["recall"].params if hasattr(one, "is_flag")]
    taking = {name: not one.is_flag for one in options for name in one.opts}
    rest = list(arguments)
    while rest and rest[0].startswith("-"):
        name, given, _ = rest.pop(0).partition("=")
        if taking.get(name) and not given and rest:
            rest.pop(0)
    every = {*GROUPS, *(name for commands in COMMANDS.values() for name in commands)}
    named = bool(rest) and rest[0] in every
    if flag not in taking or (rest and not named):
        return ""
    before = arguments[: len(arguments) - len(rest)]
    command = shlex.join(["remembrancer", *(rest if named else ["COMMAND"]), *before])
    return f"{flag}: options come after the command: `{command}`"


@cache
def command_line(*names: str) -> Any:
    """The typer program with the commands, or groups of commands, of these names; without names, with all commands.

    Building a command takes a millisecond, and importing its module longer, so to run one command only that one is
    built.
    """
    program = typer.Typer(
        name="remembrancer",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    program.callback()(_program)
    for commands in COMMANDS.values():
        for name, (place, _) in commands.items():
            if name in names or not names:
                program.command(name)(command(_function(place)))
    for group, (summary, places) in GROUPS.items():
        if group in names or not names:
            under = typer.Typer(rich_markup_mode="rich")
            under.callback(help=summary)(_program)
            for name, place in places.items():
                under.command(name)(command(_function(place)))
            program.add_typer(under, name=group)
    return typer.main.get_command(program)


def _function(place: str) -> Callable[..., None]:
    module, _, name = place.partition(".")
    return getattr(import_module(f"remembrancer.interfaces.cli.{module}"), name)


def _program() -> None:
    """Options come after a command."""
