"""Commands that read the memory: recall, recent, timeline, show, why-not."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Annotated, Final

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli import pages, picture
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, Id, LimitOption, QuestionOptions, arguments

POINTS: Final = 721
"""Points of a curve: two a day for the default range of half a year back and ahead."""

BLOCK_CHARS: Final = 4000

QueryArgument = Annotated[str, "QUERY", "The question."]


def recall(
    call: Invocation,
    *,
    query: QueryArgument,
    question: QuestionOptions,
    explain: Annotated[bool, "Show the parts of each score."] = False,
    render: Annotated[bool, "Print a block for a prompt instead."] = False,
    max_chars: Annotated[int, "The maximum length of each block."] = BLOCK_CHARS,
    detail: Annotated[str, "How much of the transcripts it includes: auto, low, none or high."] = "auto",
) -> None:
    """Find the memories that answer a question.

    Best first; none if nothing passes the relevance threshold. With --explain each hit shows the parts of its score,
    all signals, its rank in each search and the matched terms. With --render it prints a block for a prompt, marked as
    untrusted, after a block of the memories that the preset pins to every answer. Reads only: nothing is counted as
    used.

    Example: remembrancer recall "why did checkout run out of memory?" --since 7d --explain
    """
    from remembrancer.interfaces.wire.recall import RecallOut

    if not render and (detail != "auto" or max_chars != BLOCK_CHARS):
        raise InvalidInput("--detail or --max-chars", "without --render", "--render with them: they shape the block")
    asked = arguments(question)
    with call.opened(create=False) as memory:
        answer = memory.recall(query, explain=True, **asked)
    call.degraded(answer.degraded)
    if not render:
        call.answer(RecallOut.of(answer), partial(pages.recalled, explain=explain))
        return
    pinned = answer.render_pinned(max_chars=max_chars)
    rendered = answer.render(max_chars=max_chars, detail=detail)
    if call.as_json:
        shape = RecallOut.of(answer, rendered=rendered, rendered_standing=pinned)
        call.answer(shape, partial(pages.recalled, explain=explain))
        return
    for block in (pinned, rendered):
        if block:
            call.write(block)


def recent(
    call: Invocation,
    *,
    limit: LimitOption = 10,
    days: Annotated[float | None, "Only from the last N days."] = None,
) -> None:
    """List the newest memories.

    Current memories by when they happened, newest first.

    Example: remembrancer recent --limit 20 --days 7
    """
    from remembrancer.interfaces.wire.memories import MemoriesOut

    call.tell(lambda memory: MemoriesOut.of(memory.recent(limit=limit, days=days)), pages.listed)


def timeline(
    call: Invocation,
    *,
    since: Annotated[datetime | None, f"Since then: {TIMES}."] = None,
    until: Annotated[datetime | None, "Before then; format as --since."] = None,
    kind: Annotated[list[str] | None, "Only memories of this kind, such as episode; may be repeated."] = None,
    limit: LimitOption = 100,
) -> None:
    """List what happened in a period.

    Current memories, oldest first, by day and session. With --kind episode it lists episodes.

    Example: remembrancer timeline --since 2026-03-01 --until 2026-04-01 --kind episode
    """
    from remembrancer.interfaces.wire.memories import MemoriesOut

    call.tell(lambda memory: MemoriesOut.of(memory.timeline(since, until, limit=limit, kinds=kind or None)), pages.told)


def show(
    call: Invocation,
    *,
    memory_id: Id,
    curve: Annotated[bool, "Draw its strength over time instead."] = False,
    days: Annotated[float, "With --curve: how many days ahead, and at most back."] = 180,
    png: picture.Png = None,
) -> None:
    """Show everything about a memory.

    Its text, when it happened and is valid, its strength and use, its indexed passages (cues), the events it came from,
    its revisions and its relations. With --curve its strength over time by the preset's curve, and when it falls below
    the threshold for faded memories.

    Example: remembrancer show 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f --curve
    """
    if curve:
        _draw(call, memory_id, days, png)
        return
    if png is not None:
        raise InvalidInput("--png", str(png), "with --curve only: there is no other picture")
    from remembrancer.interfaces.wire.memories import MemoryDetailsOut

    call.tell(lambda memory: MemoryDetailsOut.of(memory.show(memory_id)), pages.details)


def _draw(call: Invocation, memory_id: str, days: float, png: Path | None) -> None:
    from remembrancer.interfaces.cli import fading
    from remembrancer.interfaces.wire.fading import CurveOut

    picture.check(png)
    with call.opened(create=False) as memory:
        found = CurveOut.of(memory.health.curve(memory_id, days=days, points=POINTS))
    if png is not None:
        from remembrancer.interfaces.charts.forgetting import forgetting_document

        picture.write(call, png, forgetting_document(found))
    call.answer(found, fading.curve)


def why_not(call: Invocation, *, memory_id: Id, query: QueryArgument, question: QuestionOptions) -> None:
    """Explain why a memory is not returned.

    Runs the recall with the same options, and names the stage at which this memory dropped out, or its rank if it did
    not.

    Example: remembrancer why-not 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f "how big is checkout?"
    """
    from remembrancer.interfaces.wire.recall import WhyNotOut

    asked = arguments(question)
    with call.opened(create=False) as memory:
        found = memory.why_not(memory_id, query, **asked)
    call.answer(WhyNotOut.of(found), pages.explained)
