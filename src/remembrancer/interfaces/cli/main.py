"""The program `remembrancer`: its commands, and the conversion of errors to a message and an exit code."""

from __future__ import annotations

import io
import logging
import sys
from collections.abc import Sequence
from functools import cache
from typing import Annotated, Any, Final, Protocol, runtime_checkable

import typer

import remembrancer
from remembrancer.errors import (
    Conflict,
    EmbedderMismatch,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    PermissionDenied,
    RemembrancerError,
    StoreUnavailable,
    Unsupported,
)
from remembrancer.interfaces.cli import (
    care,
    demo,
    erase,
    evaluate,
    evaluate_segmentation,
    fading,
    ingest,
    journal,
    keys,
    mind,
    presets,
    read,
    relations,
    serve,
    serving_mcp,
    update,
    vault,
    write,
)
from remembrancer.interfaces.cli.options import command
from remembrancer.interfaces.text import one_line

INTERRUPTED: Final = 130
DEFECT: Final = 70
"""The exit code of an unexpected error. `python -X dev -m remembrancer.interfaces.cli.main …` prints its traceback."""

EXIT_CODES: Final[dict[type[RemembrancerError], int]] = {
    InvalidInput: 2,
    NotFound: 2,
    Conflict: 2,
    PermissionDenied: 2,
    Unsupported: 3,
    EmbedderMismatch: 3,
    StoreUnavailable: 3,
    ModelUnavailable: 3,
}

COMMANDS: Final = {
    "Start": {"demo": demo.demo},
    "Write": {
        "remember": write.remember,
        "observe": write.observe,
        "ingest": ingest.ingest,
        "feedback": write.feedback,
        "update": update.update,
        "forget": write.forget,
        "link": relations.link,
        "supersede": relations.supersede,
        "invalidate": relations.invalidate,
    },
    "Read": {
        "recall": read.recall,
        "recent": read.recent,
        "timeline": read.timeline,
        "show": read.show,
        "why-not": read.why_not,
        "decay": fading.decay,
        "fading": fading.fading,
    },
    "Mind": {
        "end-session": mind.end_session,
        "sleep": mind.sleep,
        "consolidate": mind.consolidate,
        "promote": mind.promote,
        "stage": mind.stage,
        "maintain": mind.maintain,
        "worker": mind.worker,
        "jobs": mind.jobs,
        "spending": mind.spending,
    },
    "Serve": {"serve": serve.serve, "mcp": serving_mcp.mcp},
    "Care": {
        "stats": care.stats,
        "health": care.health,
        "doctor": care.doctor,
        "export": care.export,
        "import": care.import_,
        "erase": erase.erase,
        "erasures": erase.erasures,
    },
}


def _presets() -> None:
    """Show and compare presets."""


def _measure() -> None:
    """Measure retrieval and segmentation on data sets that you have downloaded."""


def _vault() -> None:
    """Keep memories in a folder of markdown files."""


def _journal() -> None:
    """Read the journal: everything that was recorded, remembered or not."""


def _keys() -> None:
    """Manage the API keys with which programs access this workspace through a server."""


GROUPS: Final = {
    "journal": (
        _journal,
        {
            "list": journal.list_,
            "get": journal.get,
            "count": journal.count,
            "priority": journal.priority,
            "tail": journal.tail,
        },
    ),
    "keys": (_keys, {"create": keys.create, "list": keys.list_, "revoke": keys.revoke}),
    "vault": (_vault, {"sync": vault.sync, "check": vault.check, "rebuild": vault.rebuild, "watch": vault.watch}),
    "presets": (_presets, {"list": presets.list_, "show": presets.show, "compare": presets.compare}),
    "eval": (
        _measure,
        {
            "locomo": evaluate.locomo,
            "questions": evaluate.questions,
            "compare": evaluate.compare,
            "segmentation": evaluate_segmentation.segmentation,
        },
    ),
}
"""Commands of two words, by the first word."""


@runtime_checkable
class _UsageError(Protocol):
    """The error that typer raises for an invalid command line. Its class differs between releases, its attributes do
    not.
    """

    exit_code: int

    def format_message(self) -> str: ...


def build() -> typer.Typer:
    """The program with all its commands."""
    program = typer.Typer(
        name="remembrancer",
        rich_markup_mode="rich",
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    program.callback(invoke_without_command=True)(_program)
    for panel, commands in COMMANDS.items():
        for name, function in commands.items():
            program.command(name, rich_help_panel=panel)(command(function))
    for group, (told, commands) in GROUPS.items():
        under = typer.Typer(rich_markup_mode="rich")
        under.callback()(told)
        for name, function in commands.items():
            under.command(name)(command(function))
        program.add_typer(under, name=group, rich_help_panel="Care")
    return program


@cache
def command_line() -> Any:
    """The parsed program, built once per process: building fifty commands is most of the cost of a short command."""
    return typer.main.get_command(build())


def main() -> None:
    sys.exit(run(sys.argv[1:]))


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Every error is printed as one line on stderr."""
    _leave_warnings_to_the_commands()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot write a character still gets the rest
    try:
        return command_line().main(list(arguments), prog_name="remembrancer", standalone_mode=False) or 0
    except RemembrancerError as error:
        return _failed(str(error), next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), DEFECT))
    except (KeyboardInterrupt, typer.Abort):
        return INTERRUPTED
    except Exception as error:  # the program's outer edge
        if sys.flags.dev_mode:
            raise
        if isinstance(error, _UsageError):
            return _failed(error.format_message(), error.exit_code)
        return _failed(f"unexpected, please report it: {type(error).__name__}: {error}", DEFECT)


def _leave_warnings_to_the_commands() -> None:
    """Suppress the library's log records: commands print warnings themselves where they matter."""
    logger = logging.getLogger("remembrancer")
    if not logger.handlers:
        logger.addHandler(logging.NullHandler())


def _failed(message: str, code: int) -> int:
    sys.stderr.write(f"error: {one_line(message)}\n")
    return code


def _program(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    """Episodic memory for AI agents: keeps what happened, recalls what is relevant, explains each result.

    Start with `remembrancer demo`. Everything is kept in one file: remembrancer.db, or the file that --db names.
    """
    if version:
        typer.echo(remembrancer.__version__)
    elif context.invoked_subcommand is None:
        typer.echo(context.get_help())


if __name__ == "__main__":
    main()
