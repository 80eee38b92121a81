"""Commands for presets: list, show, compare."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from datetime import datetime
from typing import Annotated

from remembrancer.interfaces.cli import picture, preset_pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES


def list_(call: Invocation) -> None:
    """List the presets.

    Each with its description. The one in use is marked: the preset of --preset, REMEMBRANCER_PRESET or the settings.

    Example: remembrancer presets list
    """
    from remembrancer.compose import choose_preset
    from remembrancer.interfaces.wire.presets import PresetsOut

    call.answer(PresetsOut.of(choose_preset(call.settings.preset)), preset_pages.listed)


def show(
    call: Invocation,
    *,
    preset_shown: Annotated[
        str | None, "[NAME|FILE]", "The name or TOML file of a preset. Default: the one in use."
    ] = None,
    toml: Annotated[bool, "Print a TOML file, to base another preset on."] = False,
) -> None:
    """Show a preset.

    Its scores with the meaning of each signal, how memories fade and strengthen, what is admitted, and all other
    choices. With --toml as a file that --preset accepts, once it has a name of its own.

    Example: remembrancer presets show engram --toml > mine.toml
    """
    from remembrancer.compose import choose_preset
    from remembrancer.interfaces.wire.presets import PresetOut
    from remembrancer.presets.text import text_of

    in_use = call.settings.preset
    named = in_use if preset_shown is None else preset_shown
    preset = choose_preset(named)
    if toml and not call.as_json:
        call.write(text_of(preset).rstrip())
        return
    call.answer(PresetOut.of(preset, in_use=named == in_use), preset_pages.told)


def compare(
    call: Invocation,
    *,
    query: Annotated[str, "QUESTION", "The question to ask under each preset."],
    several: Annotated[
        list[str] | None, "[NAME|FILE]", "The presets. Default: the one in use and all shipped ones."
    ] = None,
    limit: Annotated[int, "-n", "The maximum number of hits of each, 1 to 200."] = 5,
    as_of: Annotated[datetime | None, f"As believed then: {TIMES}."] = None,
    png: picture.Png = None,
) -> None:
    """Compare the results of presets.

    Asks the question under each preset, over the existing memories, and shows each memory's rank and score under each
    preset, and why they differ. Only the ranking differs: how a preset would have admitted, formed or embedded memories
    is not simulated. Reads only.

    Example: remembrancer presets compare "what did we decide about refunds?" default engram --png refunds.png
    """
    from remembrancer.interfaces.cli import compare_pages
    from remembrancer.interfaces.wire.comparison import ComparisonOut

    picture.check(png)
    with call.opened(create=False) as memory:
        found = ComparisonOut.of(memory.presets.compare(query, several or None, limit=limit, as_of=as_of))
    for answer in found.answers[:1]:
        call.degraded(answer.degraded)
    if png is not None:
        from remembrancer.interfaces.charts.comparison import comparison_document

        picture.write(call, png, comparison_document(found))
    call.answer(found, compare_pages.compared)
