"""The page of the command line: every command with its arguments, options and example, from the program itself."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final, cast

from reference.page import Page, anchor, code, fenced
from remembrancer.config import ALIASES, PREFIX
from remembrancer.interfaces.cli.invocation import EVERY_COMMAND
from remembrancer.interfaces.cli.main import COMMANDS, GROUPS
from remembrancer.interfaces.cli.program import command_line

FILE: Final = "reference/commands.md"
_EXAMPLE: Final = "Example: "
_HIDDEN: Final = {"help", "install_completion", "show_completion"}


def commands() -> dict[str, Any]:
    """Each command by its name, such as `journal list`."""
    found: dict[str, Any] = {}
    for name, command in command_line().commands.items():
        inner = cast("dict[str, Any]", getattr(command, "commands", {}))
        found |= {f"{name} {second}": each for second, each in inner.items()} or {name: command}
    return found


def options(command: Any, *, shared: bool) -> Iterator[Any]:
    """The parameters of a command that are its own, or those that every command has."""
    for one in command.params:
        if one.name not in _HIDDEN and (getattr(one, "rich_help_panel", None) == EVERY_COMMAND) == shared:
            yield one


def page() -> Page:
    made = Page(FILE, "Commands")
    every = commands()
    made.add(
        "Every command of `remembrancer`, as `remembrancer COMMAND --help` describes it. [The command line](../cli.md) "
        "shows the common ones at work and describes times, streams and exit codes."
    )
    made.heading(2, "Options of every command", "every-command")
    first = next(iter(every.values()))
    rows = [(*_option(made, "remembrancer", one), _variables(one)) for one in options(first, shared=True)]
    made.table(("option", "default", "", "variable"), rows)
    panels = {panel: list(listed) for panel, listed in COMMANDS.items()}
    panels |= {f"`{group}`": [f"{group} {name}" for name in listed] for group, (_, listed) in GROUPS.items()}
    for panel, names in panels.items():
        made.heading(2, panel, anchor("commands", panel))
        if panel.strip("`") in GROUPS:
            made.add(GROUPS[panel.strip("`")][0])
        for name in names:
            _described(made, name, every[name])
    return made


def _described(made: Page, name: str, command: Any) -> None:
    made.heading(3, code(f"remembrancer {name}"), anchor(name))
    summary, *paragraphs = command.help.split("\n\n")
    examples = [one.removeprefix(_EXAMPLE) for one in paragraphs if one.startswith(_EXAMPLE)]
    made.add(made.name(f"remembrancer {name}", summary), *(one for one in paragraphs if not one.startswith(_EXAMPLE)))
    made.add(*(fenced(example, "sh") for example in examples))
    made.table(
        ("argument or option", "default", ""),
        [_option(made, f"remembrancer {name}", one) for one in options(command, shared=False)],
    )


def _option(made: Page, command: str, one: Any) -> tuple[str, str, str]:
    is_argument = one.param_type_name == "argument"
    metavar = "" if is_argument or one.is_flag else one.metavar or _kind(one)
    flags = [one.metavar or one.name.upper()] if is_argument else [*one.opts, *one.secondary_opts]
    label = ", ".join(code(flag) for flag in flags) + (f" {code(metavar)}" if metavar else "")
    text = made.name(f"{command} {flags[0]}", one.help or "")
    plain = one.default is not None and one.default is not False and one.default != () and not callable(one.default)
    return label, code(one.default) if plain and "Sentinel" not in str(one.default) else "", text


def _kind(one: Any) -> str:
    return {int: "N", float: "NUMBER", Path: "FILE"}.get(one.type_descriptor.annotation, "TEXT")


def _variables(one: Any) -> str:
    if one.name == "as_json":
        return ""
    aliases = [alias for alias, setting in ALIASES.items() if setting == one.name]
    return ", ".join(map(code, [f"{PREFIX}{one.name.upper()}", *aliases]))
