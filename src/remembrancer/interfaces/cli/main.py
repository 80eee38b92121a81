"""The program `remembrancer`: its commands, its help, and the conversion of errors to a message and an exit code.

A command's module, typer and rich are loaded when the command runs: the help of the program needs none of them.
"""

from __future__ import annotations

import atexit
import errno
import gc
import io
import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

import remembrancer
from remembrancer.errors import (
    Conflict,
    EmbedderMismatch,
    InvalidInput,
    ModelUnavailable,
    NotFound,
    OnHold,
    PermissionDenied,
    RemembrancerError,
    StoreUnavailable,
    Unsupported,
)
from remembrancer.interfaces.text import one_line

INTERRUPTED: Final = 130
DEFECT: Final = 70
"""The exit code of an unexpected error. `python -X dev -m remembrancer …` prints its traceback."""

EXIT_CODES: Final[dict[type[RemembrancerError], int]] = {
    InvalidInput: 2,
    NotFound: 2,
    Conflict: 2,
    OnHold: 2,
    PermissionDenied: 2,
    Unsupported: 3,
    EmbedderMismatch: 3,
    StoreUnavailable: 3,
    ModelUnavailable: 3,
}

COMMANDS: Final = {
    "Start": {
        "demo": ("demo.demo", "See how recall works, in a minute."),
    },
    "Write": {
        "remember": ("write.remember", "Store a memory."),
        "observe": ("write.observe", "Record something that was said or happened."),
        "ingest": ("ingest.ingest", "Import conversations, or another system's memories."),
        "feedback": ("write.feedback", "Rate a memory as helpful, unhelpful or harmful."),
        "outcome": ("write.outcome", "Report how a task ended."),
        "mark": ("write.mark", "Record that memories were used."),
        "update": ("write.update", "Edit a memory."),
        "pin": ("write.pin", "Pin a memory, or unpin it."),
        "release": ("write.release", "Release a memory that was flagged as instruction-like."),
        "forget": ("write.forget", "Retire a memory, or restore it."),
        "link": ("write.link", "Relate one memory to another."),
        "supersede": ("write.supersede", "Replace a memory with another one."),
        "invalidate": ("write.invalidate", "End a memory's validity now."),
    },
    "Read": {
        "recall": ("read.recall", "Find the memories that answer a question."),
        "recent": ("read.recent", "List the newest memories."),
        "preferences": ("read.preferences", "List stated preferences and lasting instructions."),
        "timeline": ("read.timeline", "List what happened in a period."),
        "show": ("read.show", "Show everything about a memory."),
        "replay": ("read.replay", "Print a stored answer again."),
        "why-not": ("read.why_not", "Explain why a memory was not returned."),
        "decay": ("fading.decay", "List the weakest memories."),
        "fading": ("fading.fading", "List the memories that will fade soon."),
    },
    "Background work": {
        "end-session": ("background_work.end_session", "End a session."),
        "sleep": ("background_work.sleep", "Promote memories from working memory."),
        "consolidate": ("background_work.consolidate", "Consolidate memories now."),
        "promote": ("background_work.promote", "Promote a learning to a wider scope."),
        "stage": ("background_work.stage", "Set the stage of the project."),
        "maintain": ("background_work.maintain", "Run every job that is due."),
        "worker": ("background_work.worker", "Run the jobs on schedule, until stopped."),
        "jobs": ("background_work.jobs", "Show the state of the jobs."),
        "spending": ("background_work.spending", "Show requests to language models and their cost."),
    },
    "Serve": {
        "serve": ("serve.serve", "Serve the memory over HTTP, with a dashboard."),
        "mcp": ("serve.mcp", "Serve the memory to MCP clients."),
    },
    "Administration": {
        "stats": ("administration.stats", "Show counts of what is stored."),
        "health": ("administration.health", "Show the memory's health."),
        "doctor": ("administration.doctor", "Check the database and the models."),
        "export": ("administration.export", "Write the whole workspace to a file."),
        "export-subject": ("administration.export_subject", "Write everything of one subject to a file."),
        "import": ("administration.import_", "Import an exported file."),
        "import-config": ("import_config.import_config", "Convert Engram's config.yaml into settings."),
        "reindex": ("administration.reindex", "Compute all vectors again."),
        "backup": ("administration.backup", "Copy the whole store to a file, while it is in use."),
        "restore": ("administration.restore", "Restore a store from a backup."),
        "migrate": ("migrate.migrate", "Move a whole store into another database."),
        "erase": ("erase.erase", "Erase memories for good."),
        "erasures": ("erase.erasures", "List the receipts of erasures."),
    },
}
"""Commands by the panel of the help that lists them: the module and function, and the summary."""
GROUPS: Final = {
    "journal": (
        "Read the journal: everything that was recorded, whether remembered or not.",
        {
            "list": "journal.list_",
            "get": "journal.get",
            "count": "journal.count",
            "priority": "journal.priority",
            "tail": "journal.tail",
        },
    ),
    "retention": (
        "Set how long rows may live, and place legal holds.",
        {
            "add": "retention.add",
            "list": "retention.list_",
            "remove": "retention.remove",
            "hold": "retention.hold",
            "holds": "retention.holds",
            "release": "retention.release",
        },
    ),
    "keys": (
        "Manage the API keys that programs use to access this workspace through a server.",
        {"create": "keys.create", "list": "keys.list_", "revoke": "keys.revoke"},
    ),
    "encryption": (
        "Encrypt the store's file, or change its key.",
        {
            "status": "encryption.status",
            "new-key": "encryption.new_key",
            "enable": "encryption.enable",
            "rotate": "encryption.rotate",
            "disable": "encryption.disable",
        },
    ),
    "audit": (
        "See who did what, and check that nobody changed the record of it.",
        {"list": "audit.list_", "verify": "audit.verify", "head": "audit.head", "export": "audit.export"},
    ),
    "embedder": (
        "Change the embedder while questions are answered.",
        {
            "status": "embedder.status",
            "change": "embedder.change",
            "switch": "embedder.switch",
            "rollback": "embedder.rollback",
            "drop": "embedder.drop",
            "calibrate": "embedder.calibrate",
        },
    ),
    "hook": (
        "Remember what a coding agent does: the commands of its hooks.",
        {
            "session-start": "hook.session_start",
            "user-prompt": "hook.user_prompt",
            "post-tool": "hook.post_tool",
            "pre-compact": "hook.pre_compact",
            "stop": "hook.stop",
            "session-end": "hook.session_end",
            "serve": "hook.serve",
            "mcp": "hook.mcp",
            "status": "hook.status",
        },
    ),
    "vault": (
        "Keep memories in a folder of Markdown files.",
        {"sync": "vault.sync", "check": "vault.check", "rebuild": "vault.rebuild", "watch": "vault.watch"},
    ),
    "presets": (
        "Show and compare presets.",
        {"list": "presets.list_", "show": "presets.show", "compare": "presets.compare"},
    ),
    "eval": (
        "Measure retrieval and segmentation on data sets that you have downloaded.",
        {
            "locomo": "evaluate.locomo",
            "questions": "evaluate.questions",
            "compare": "evaluate.compare",
            "segmentation": "evaluate.segmentation",
        },
    ),
}
"""Commands of two words, by the first word, which the help lists last: the summary, and each module and function."""

_ABOUT: Final = """\
Usage: remembrancer COMMAND [OPTIONS]

Episodic memory for AI agents: it keeps what happened, recalls what is relevant and explains each result.

Start with `remembrancer demo`. Everything is kept in one file: remembrancer.db, or the file that --db names.
"""
_OPTIONS: Final = {
    "--help, -h": "Show this help. `remembrancer COMMAND --help` explains a command and lists its options.",
    "--version": "Print the version.",
    "--install-completion": "Install completion for the current shell.",
    "--show-completion": "Show completion for the current shell, to copy it or customize the installation.",
}


_USUAL: Final = gc.get_threshold()
_SELDOM: Final = (200_000, *_USUAL[1:])
"""More objects than a short command makes."""


def main() -> None:
    """Run the command line of this process, and exit.

    What a short command loads is used until it ends. Searching that for garbage as it grows would take a fifth of the
    command's time, and freeing it object by object at the exit a twentieth.
    """
    gc.set_threshold(*_SELDOM)
    ended: list[int] = []
    # The first handler that is registered runs last. One of another program, such as a profiler, would not run at all.
    if not atexit._ncallbacks():  # noqa: SLF001  # pyright: ignore[reportPrivateUsage]
        atexit.register(_exit_at_once, ended)
    ended.append(run(sys.argv[1:]))
    gc.freeze()
    sys.exit(ended[0])


def _exit_at_once(codes: Sequence[int]) -> None:
    """Exit with the code of the command that has ended, and leave its memory to the system. If an output cannot be
    flushed, Python exits in its own way, which reports that.
    """
    with suppress(AttributeError, OSError, ValueError):  # a program without a console has no streams
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        for code in codes:
            os._exit(code)


def collect_garbage_as_usual() -> None:
    """For a command that runs until it is stopped. Call it before the command begins its work."""
    gc.set_threshold(*_USUAL)


def run(arguments: Sequence[str]) -> int:
    """Run one command line and return its exit code. Every error is printed as one line on stderr."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal that cannot write a character still gets the rest
    first = arguments[0] if arguments else "--help"
    if first in {"--help", "-h", "--version"}:
        sys.stdout.write(f"{remembrancer.__version__}\n" if first == "--version" else _help())
        return 0
    code = _hook(arguments) if first == "hook" else None
    return _run(arguments) if code is None else code


def _run(arguments: Sequence[str]) -> int:
    from remembrancer.interfaces.cli import program  # noqa: PLC0415  it loads typer

    try:
        return program.run(arguments)
    except RemembrancerError as error:
        advice = "; check the id, --db and --workspace" if isinstance(error, NotFound) else ""
        return _failed(
            f"{error}{advice}", next((code for kind, code in EXIT_CODES.items() if isinstance(error, kind)), DEFECT)
        )
    except KeyboardInterrupt:
        return INTERRUPTED
    except Exception as error:  # the outermost error handler of the program
        if sys.flags.dev_mode:
            raise
        if isinstance(error, program.UsageError):
            told = program.misplaced(arguments) or _with_help(error.format_message().rstrip("."), arguments)
            return _failed(told, error.exit_code)
        if isinstance(error, OSError) and error.errno == errno.ENAMETOOLONG:
            return _failed(f"{error.filename}: too long for the name of a file", EXIT_CODES[InvalidInput])
        return _failed(f"unexpected, please report it: {type(error).__name__}: {error}", DEFECT)


def _with_help(message: str, arguments: Sequence[str]) -> str:
    return f"{message}{'' if message.endswith('?') else ';'} see `{_command(arguments)} --help`"


def _hook(arguments: Sequence[str]) -> int | None:
    """Handle an event of a coding agent without typer, which would take longer than the event. Returns the exit code;
    None for other commands, and other options than --db.
    """
    from remembrancer.interfaces.hooks import client  # noqa: PLC0415  only hooks need it

    match arguments:
        case [_, event] if event in client.EVENTS:
            return client.run(event)
        case [_, event, "--db", store] if event in client.EVENTS:
            return client.run(event, store)
        case _:
            return None


def _help() -> str:
    panels = {panel: {name: summary for name, (_, summary) in commands.items()} for panel, commands in COMMANDS.items()}
    panels["Groups of commands"] = {name: summary for name, (summary, _) in GROUPS.items()}
    panels["Options"] = _OPTIONS
    width = max(len(name) for listed in panels.values() for name in listed)
    lines = [_ABOUT]
    for panel, listed in panels.items():
        lines += [f"{panel}:", *(f"  {name:{width}}  {summary}" for name, summary in listed.items()), ""]
    return "\n".join(lines)


def _command(arguments: Sequence[str]) -> str:
    """The program with the command that the arguments name, as far as there is one."""
    words = ["remembrancer"]
    first, second = (*arguments[:2], "")[:2]
    if first in GROUPS:
        words += [first, second] if second in GROUPS[first][1] else [first]
    elif any(first in commands for commands in COMMANDS.values()):
        words.append(first)
    return " ".join(words)


def _failed(message: str, code: int) -> int:
    sys.stderr.write(f"error: {one_line(message)}\n")
    return code
