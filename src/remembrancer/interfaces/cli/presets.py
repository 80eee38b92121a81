"""Commands about presets: list, show."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from typing import Annotated

import typer

from remembrancer.interfaces.cli import preset_pages
from remembrancer.interfaces.cli.invocation import Invocation


def list_(call: Invocation) -> None:
    """List the presets.

    Each on one line, with the one in use marked: the one that --preset, REMEMBRANCER_PRESET or the settings name.

    Example: remembrancer presets list
    """
    from remembrancer.compose import choose_preset
    from remembrancer.interfaces.wire import PresetsOut

    call.answer(PresetsOut.of(choose_preset(call.settings.preset)), preset_pages.listed)


def show(
    call: Invocation,
    *,
    preset_shown: Annotated[
        str | None, typer.Argument(metavar="NAME|FILE", help="A preset or the TOML file of one; else the one in use.")
    ] = None,
    toml: Annotated[bool, typer.Option("--toml", help="As the text of a TOML file, to make another of.")] = False,
) -> None:
    """Show what a preset decides.

    Its score with the meaning of each signal, how memories fade and gain, what is admitted, and all its other choices.
    With --toml the same as a file that --preset takes, once it has a name of its own.

    Example: remembrancer presets show engram --toml > mine.toml
    """
    from remembrancer.compose import choose_preset
    from remembrancer.interfaces.wire import PresetOut
    from remembrancer.presets.text import text_of

    in_use = call.settings.preset
    named = in_use if preset_shown is None else preset_shown
    preset = choose_preset(named)
    if toml and not call.as_json:
        call.write(text_of(preset).rstrip())
        return
    call.answer(PresetOut.of(preset, in_use=named == in_use), preset_pages.told)
