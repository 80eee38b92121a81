"""Commands that read the memory: recall, replay, recent, timeline, show, why-not."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final

from rich.console import RenderableType
from rich.text import Text

from remembrancer.domain.identity import short_id
from remembrancer.domain.memory import FLAGGED
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli import picture
from remembrancer.interfaces.cli.drawing import (
    Renderables,
    RowReference,
    Shorter,
    Titles,
    conversation_of,
    credit_text,
    facts,
    group_bars,
    indented,
    memory_line,
    optional_minute,
    part_bars,
    said,
    scope_text,
    strength_facts,
)
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, Id, LimitOption, QuestionOptions, arguments
from remembrancer.interfaces.text import (
    below_threshold,
    counted,
    day,
    flagged_held_back,
    minute,
    one_line,
    read_as,
    shown,
    told,
)

if TYPE_CHECKING:
    from remembrancer.domain.recall import Explanation, Hit, Recall, Rendered
    from remembrancer.interfaces.wire.memories import MemoriesOut, MemoryDetailsOut, MemoryOut, ReviewOut
    from remembrancer.interfaces.wire.recall import WhyNotOut

POINTS: Final = 721
"""Points of a curve: two a day for the default range of half a year back and ahead."""

BLOCK_CHARS: Final = 4000

MESSAGE: Final = "message"
"""The kind of memories that are turns."""

OF_EACH: Final = 50
"""The most cues, events, revisions and so on that `show` prints: a long text has thousands of cues."""

QueryArgument = Annotated[str, "QUERY", "The question."]


def recall(
    call: Invocation,
    *,
    query: QueryArgument,
    question: QuestionOptions,
    explain: Annotated[bool, "Say why each hit was found."] = False,
    signals: Annotated[bool, "With the explanation, show every signal of the score."] = False,
    render: Annotated[bool, "Print a block for a prompt instead."] = False,
    max_chars: Annotated[int, "The maximum length of each block."] = BLOCK_CHARS,
    detail: Annotated[str, "How much of the transcripts it includes: auto, low, none or high."] = "auto",
    mark: Annotated[
        bool | None,
        "--mark/--no-mark",
        "Count hits as retrieved, and printed ones as shown. Default: as the preset says.",
    ] = None,
    keep: Annotated[bool, "Store the answer, and print its id for `replay`."] = False,
) -> None:
    """Find the memories that answer a question.

    Prints the best first, or none if nothing passes the relevance threshold. With --explain, each hit says why it was
    found and shows what its score is made of; with --signals, also every signal and its rank in each search. With
    --render it prints a block for a prompt, marked as untrusted, after a block of the memories that are pinned to every
    answer. With --mark, or by default under a preset that counts recalls, hits are counted as retrieved, and printed
    ones as shown. Otherwise it only reads.

    Example: remembrancer recall "why did checkout run out of memory?" --since 7d --explain
    """
    if not render and (detail != "auto" or max_chars != BLOCK_CHARS):
        raise InvalidInput("--detail or --max-chars", "without --render", "--render with them: they shape the block")
    asked = arguments(question)
    with call.opened(create=False, asked=query) as memory:
        answer = memory.recall(query, explain=True, mark=mark, keep=keep, **asked)
        block = answer.block(max_chars=max_chars, detail=detail) if render else None
        if memory.presets.in_use.marks_recalled if mark is None else mark:
            memory.mark(answer if block is None else block.hits, "shown", query=query)
        titles = call.titles(memory, (hit.memory for hit in answer))
    draw = partial(_recalled, titles=titles, explain=explain or signals, signals=signals)
    _answer(call, answer, block, draw, max_chars=max_chars)
    if keep and not call.as_json:
        call.note(f"kept: remembrancer replay {answer.recall_id}")


def replay(
    call: Invocation,
    *,
    recall_id: Annotated[str, "ID", "The id of an answer stored by `recall --keep`."],
    explain: Annotated[bool, "Say why each hit was found."] = False,
    signals: Annotated[bool, "With the explanation, show every signal of the score."] = False,
    render: Annotated[bool, "Print the block for a prompt instead."] = False,
    max_chars: Annotated[int, "The maximum length of each block."] = BLOCK_CHARS,
    detail: Annotated[str, "How much of the transcripts it includes: auto, low, none or high."] = "auto",
) -> None:
    """Print a stored answer again.

    Prints the same hits with the same scores, and under the same preset the same block, whatever was written since.
    Anything erased since is left out, and a warning says how much.

    Example: remembrancer replay 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f --render
    """
    if not render and (detail != "auto" or max_chars != BLOCK_CHARS):
        raise InvalidInput("--detail or --max-chars", "without --render", "--render with them: they shape the block")
    with call.opened(create=False) as memory:
        answer = memory.recalls.replay(recall_id)
        titles = call.titles(memory, (hit.memory for hit in answer))
    block = answer.block(max_chars=max_chars, detail=detail) if render else None
    draw = partial(_recalled, titles=titles, explain=explain or signals, signals=signals)
    _answer(call, answer, block, draw, max_chars=max_chars)


def _answer(
    call: Invocation,
    answer: Recall,
    block: Rendered | None,
    draw: Callable[[Recall], Renderables],
    *,
    max_chars: int,
) -> None:
    """Print an answer as a list, as `draw` renders it, or as blocks."""
    call.degraded(answer.degraded)
    pinned = None if block is None else answer.render_pinned(max_chars=max_chars)
    rendered = None if block is None else block.text
    if call.as_json:
        from remembrancer.interfaces.wire.recall import RecallOut

        call.document(RecallOut.of(answer, rendered=rendered, rendered_pinned=pinned))
    elif block is None:
        call.page(draw(answer))
    else:
        for text in filter(None, (pinned, rendered)):
            call.write(text)


def recent(
    call: Invocation,
    *,
    limit: LimitOption = 10,
    days: Annotated[float | None, "Only from the last N days."] = None,
    tags: Annotated[list[str] | None, "Only with this tag; repeat the option to require several."] = None,
) -> None:
    """List the newest memories.

    Current memories, newest first by when they happened. With --tag instruction-like, those that were flagged because
    their text tells a language model what to do.

    Example: remembrancer recent --limit 20 --days 7
    """
    from remembrancer.interfaces.wire.memories import MemoriesOut

    with call.opened(create=False) as memory:
        since = None if days is None else call.now - timedelta(days=days)
        tagged = memory.memories(limit=limit, since=since, tags=tags).memories if tags else None
        found = memory.recent(limit=limit, days=days) if tagged is None else tagged
        titles = call.titles(memory, found)
    call.answer(MemoriesOut.of(found), partial(_listed, titles=titles))


def preferences(
    call: Invocation,
    *,
    limit: LimitOption = 100,
    ended: Annotated[bool, "Also list those that were contradicted or superseded, or expired."] = False,
) -> None:
    """List stated preferences and lasting instructions.

    Those of users' turns, and memories of the kinds preference, directive, instruction, guideline and rule, newest
    first.

    Example: remembrancer preferences --ended
    """
    from remembrancer.interfaces.wire.memories import MemoriesOut

    with call.opened(create=False) as memory:
        found = memory.preferences(limit, ended=ended)
        titles = call.titles(memory, found)
    call.answer(MemoriesOut.of(found), partial(_listed, titles=titles))


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

    with call.opened(create=False) as memory:
        found = memory.timeline(since, until, limit=limit, kinds=kind or None)
        titles = call.titles(memory, found)
    call.answer(MemoriesOut.of(found), partial(_timeline_lines, titles=titles, limit=limit))


def show(
    call: Invocation,
    *,
    memory_id: Id,
    curve: Annotated[bool, "Draw its strength over time instead."] = False,
    days: Annotated[float, "With --curve: how many days ahead, and at most back."] = 180,
    png: picture.Png = None,
) -> None:
    """Show everything about a memory.

    Shows its text, when it happened and is valid, its strength and use, its indexed passages (cues), the events it came
    from, its revisions and its relations. With --curve, shows its strength over time by the preset's curve, and when it
    will fall below the threshold for faded memories.

    Example: remembrancer show 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f --curve
    """
    if curve:
        _draw(call, memory_id, days, png)
        return
    if png is not None:
        raise InvalidInput("--png", str(png), "with --curve only: there is no other picture")
    from remembrancer.interfaces.wire.memories import MemoryDetailsOut

    with call.opened(create=False) as memory:
        found = memory.show(memory_id)
        titles = call.titles(memory, [found.memory])
    call.answer(MemoryDetailsOut.of(found), partial(_details, titles=titles))


def _draw(call: Invocation, memory_id: str, days: float, png: Path | None) -> None:
    from remembrancer.interfaces.cli import fading
    from remembrancer.interfaces.wire.memories import CurveOut

    picture.check(png)
    with call.opened(create=False) as memory:
        found = CurveOut.of(memory.health.curve(memory_id, days=days, points=POINTS))
    if png is not None:
        from remembrancer.interfaces.charts.forgetting import forgetting_document

        picture.write(call, png, forgetting_document(found))
    call.answer(found, fading.curve)


def why_not(call: Invocation, *, memory_id: Id, query: QueryArgument, question: QuestionOptions) -> None:
    """Explain why a memory was not returned.

    Runs the recall with the same options, and reports the stage at which this memory dropped out, or its rank if it did
    not.

    Example: remembrancer why-not 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f "how big is checkout?"
    """
    from remembrancer.interfaces.wire.recall import WhyNotOut

    asked = arguments(question)
    with call.opened(create=False) as memory:
        found = memory.why_not(memory_id, query, **asked)
        titles = call.titles(memory, [found.memory])
    call.answer(WhyNotOut.of(found), partial(_explained, titles=titles))


def _read_as(recall: Recall) -> Renderables:
    """The text that was searched, if not the whole question; the names that stand for somebody recorded otherwise."""
    if recall.trace.kind is not None and recall.trace.searched != recall.query.strip():
        yield Text(f"Searched ({recall.trace.kind}): {one_line(recall.trace.searched)}", style="dim")
        yield ""
    for one in recall.trace.names:
        if one.name != one.speaker:
            yield Text(read_as(one), style="dim")


def _recalled(recall: Recall, *, titles: Titles, explain: bool, signals: bool) -> Renderables:
    """The hits, each with its id for further commands. `explain`: also how the question was read."""
    if explain:
        yield from _read_as(recall)
    if not recall.hits:
        yield Text("No memory answers that.", style="dim")
    for hit in recall.hits:
        yield _heading(hit)
        yield indented(Shorter(said(hit), lines=3))
        if explain:
            yield from _why(hit.explanation, recall.hits[0].score, signals=signals)
        conversation = conversation_of(titles, hit.memory.scope)
        if hit.journal_only and hit.cue.event_id is not None:
            about = ", ".join(filter(None, (conversation, "in the journal only: an event")))
            yield indented(RowReference(hit.cue.event_id, about))
        else:
            yield indented(RowReference(hit.memory.id, conversation))
        others = ((hit.via, "similar to"), (hit.replies_to, "a reply to"), (hit.newer, "may be out of date, see"))
        yield from (indented(RowReference(other, about)) for other, about in others if other is not None)
        yield ""
    if recall.below_threshold:
        yield Text(f"{below_threshold(recall)}: --floor off shows them.", style="dim")
    if recall.flagged_held_back:
        yield Text(f"{flagged_held_back(recall)}: --tag {FLAGGED} searches them.", style="dim")
    if recall.pinned:
        yield Text(f"In every answer: {counted(len(recall.pinned), 'pinned memory')}", style="bold")
        for memory in recall.pinned:
            yield indented(Shorter(told(memory), lines=2))
            yield indented(RowReference(memory.id))
        yield ""


def _why(why: Explanation, best: float, *, signals: bool) -> Renderables:
    """Why a hit was found. Bars are to one scale, the best hit's score, so that hits can be compared."""
    from remembrancer.policies.ranking.groups import by_group

    yield indented(Text(one_line(why.reason), style="italic"))
    yield indented(group_bars({str(group): added for group, added in by_group(why.score).items()}, best))
    if signals:
        yield indented(part_bars(why.score, best))
        yield indented(_signals(why))


def _heading(hit: Hit) -> Text:
    """Rank, score, speaker and time."""
    line = Text(f"{hit.rank:>2}  ")
    line.append(f"{hit.score:.3f}", style="bold")
    line.append(f"  {one_line(hit.cue.heading)}")
    line.append(f" · {hit.age}", style="dim")
    if hit.memory.kind != MESSAGE:
        line.append(f" · {hit.memory.kind}", style="dim")
    if hit.cue.start is not None:
        line.append(f" · characters {hit.cue.start:,} to {hit.cue.end:,}", style="dim")
    return line


def _signals(why: Explanation) -> RenderableType:
    signals = [f"{name} {value:.3f}" for name, value in why.signals.items() if value is not None]
    return facts(
        [
            ("signals", " · ".join(signals)),
            ("searches", " · ".join(f"{leg} rank {rank}" for leg, rank in why.ranks.items())),
            ("matched", " ".join(why.matched) or "no word of the question"),
        ]
    )


def _listed(found: MemoriesOut, *, titles: Titles) -> Renderables:
    """The memories, newest first, each with its conversation and its id."""
    if not found.memories:
        yield Text("No memories.", style="dim")
    for memory in found.memories:
        yield memory_line(minute(memory.occurred_to), memory)
        yield indented(RowReference(memory.id, conversation_of(titles, memory.scope)), 2)


def _timeline_lines(found: MemoriesOut, *, titles: Titles, limit: int) -> Renderables:
    """The memories, oldest first, grouped by day and conversation."""
    if not found.memories:
        yield Text("No memories from that time.", style="dim")
    for (when, scope), group in groupby(found.memories, lambda memory: (day(memory.occurred_to), memory.scope)):
        memories = list(group)
        # A title may begin with the day: that of a conversation without a name.
        title = one_line(conversation_of(titles, scope)).removeprefix(when).removeprefix(", ")
        heading = (when, title, _counted(memories))
        yield Text(" · ".join(filter(None, heading)), style="bold")
        for memory in memories:
            yield indented(memory_line(f"{memory.occurred_to:%H:%M}", memory, with_id=True), 2)
        yield ""
    if len(found.memories) == limit:
        yield Text(f"Only the first {counted(limit, 'memory')}: for more, raise --limit or start later.", style="dim")


def _counted(memories: Sequence[MemoryOut]) -> str:
    """The number of turns, of episodes, or of memories of several kinds."""
    from remembrancer.policies.segmentation.segmentation import EPISODE

    if all(memory.role is not None for memory in memories):
        return counted(len(memories), "turn")
    return counted(len(memories), "episode" if {memory.kind for memory in memories} == {EPISODE} else "memory")


def _explained(answer: WhyNotOut, *, titles: Titles) -> Renderables:
    mark = Text("✓ ", style="green") if answer.returned else Text("✗ ", style="yellow")
    yield mark.append(one_line(answer.reason), style="default")
    lacked = answer.shortfall
    yield facts(
        [
            ("score", "" if answer.score is None else f"{answer.score:.3f}"),
            ("probability", "" if answer.probability is None else f"{answer.probability:.2f}"),
            (f"{lacked.measure} needed", f"{lacked.needed:.3f}, it has {lacked.value:.3f}") if lacked else ("", ""),
            ("to change it", one_line(answer.advice)),
        ]
    )
    yield indented(Shorter(told(answer.memory), lines=2), 2)
    yield indented(
        RowReference(
            answer.memory.id,
            " · ".join(filter(None, (minute(answer.memory.occurred_to), conversation_of(titles, answer.memory.scope)))),
        ),
        2,
    )


def _details(answer: MemoryDetailsOut, *, titles: Titles) -> Renderables:
    """Everything about one memory."""
    memory = answer.memory
    yield Text(str(memory.id), style="bold")
    status = memory.status if memory.superseded_at is None else f"{memory.status}, superseded"
    yield Text(f"{memory.tier} {memory.kind}, {status}", style="dim")
    yield ""
    if memory.title is not None:
        yield Text(one_line(memory.title), style="bold")
    yield Text(shown(memory.text))
    yield ""
    conversation = conversation_of(titles, memory.scope)
    yield facts([*_about(memory), ("conversation", conversation), *strength_facts(memory.strength)])
    sections = {
        "cue": [(cue.heading or f"cue {cue.ordinal}", cue.text) for cue in answer.cues],
        "event": [
            (f"{one.actor or one.role}, {minute(one.occurred_at)} · {short_id(one.id)}", one.text)
            for one in answer.events
        ],
        "revision": [(f"revision {one.number}, until {minute(one.replaced_at)}", one.text) for one in answer.revisions],
        "relation": [
            (f"{one.kind}, {one.weight:.2f}", f"{short_id(one.source)} to {short_id(one.target)}")
            for one in answer.relations
        ],
        "review": [(f"{one.rating}, {minute(one.at)}, by {one.by}", _moved(one)) for one in answer.reviews],
        "outcome": [
            (f"{one.result}, {minute(one.at)}, {one.basis}, share {one.share:.2f}", f"{one.task} ({credit_text(one)})")
            for one in answer.credits
        ],
        "audit line": [(f"{one.action}, {minute(one.at)}", one.reason or "-") for one in answer.audit],
    }
    for noun, items in sections.items():
        yield from _section(noun, items)


def _section(noun: str, items: list[tuple[str, str]]) -> Renderables:
    if items:
        yield ""
        yield Text(counted(len(items), noun), style="bold")
    for head, text in items[:OF_EACH]:
        yield indented(Text(one_line(head), style="dim"), 2)
        yield indented(Shorter(text, lines=2))
    if len(items) > OF_EACH:
        yield indented(Text(f"{len(items) - OF_EACH:,} more: --json prints all", style="dim"), 2)


def _about(memory: MemoryOut) -> Iterable[tuple[str, str]]:
    happened = minute(memory.occurred_to)
    if memory.occurred_from != memory.occurred_to:
        happened = f"{minute(memory.occurred_from)} to {happened}"
    return [
        ("happened", f"{happened} UTC"),
        ("recorded", f"{minute(memory.recorded_at)} UTC"),
        ("holds from", optional_minute(memory.valid_from)),
        ("holds until", optional_minute(memory.valid_until)),
        ("retired", optional_minute(memory.retired_at)),
        ("superseded", optional_minute(memory.superseded_at)),
        ("replaced by", str(memory.superseded_by or "")),
        ("scope", scope_text(memory.scope, ("workspace", *SCOPE_PARTS), " · ")),
        ("seen by", memory.visibility),
        ("said by", ", ".join(filter(None, (memory.actor, memory.role)))),
        ("origin", memory.origin),
        ("source", memory.source or ""),
        ("topic", memory.topic_key or ""),
        ("key", memory.key or ""),
        ("revision", str(memory.revision)),
        ("tags", ", ".join(memory.tags)),
        ("metadata", json.dumps(memory.metadata, ensure_ascii=False) if memory.metadata else ""),
    ]


def _moved(review: ReviewOut) -> str:
    stability = f"stability {review.stability_before:.1f} to {review.stability:.1f} days"
    return f"{stability}, difficulty {review.difficulty_before:.1f} to {review.difficulty:.1f}"
