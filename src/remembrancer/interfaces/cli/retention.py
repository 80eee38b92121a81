"""Commands for how long rows may live: retention rules and legal holds."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from rich.text import Text

from remembrancer.domain.erasure import PARTS
from remembrancer.interfaces.cli.drawing import Renderables, RowReference, indented, scope_text
from remembrancer.interfaces.cli.erase import SelectionOptions
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import arguments
from remembrancer.interfaces.cli.times import LENGTHS, length_text
from remembrancer.interfaces.text import counted, minute, one_line
from remembrancer.interfaces.wire.retention import DueOut, HoldOut, HoldsOut, RuleOut, RulesOut


def add(
    call: Invocation,
    *,
    after: Annotated[timedelta, "LENGTH", f"How long rows may live: {LENGTHS}."],
    chosen: SelectionOptions,
) -> None:
    """Add a retention rule.

    Rows that match all options given are erased once they happened longer ago than LENGTH, with everything that quotes
    them or was derived from them. The job `retain` applies the rules once a day; `maintain --only retain --force` does
    now, and `retention list` shows how many rows are past the time of each rule.

    Example: remembrancer retention add 30d --of-kind message --of-origin web
    """
    call.run(lambda memory: RuleOut.of(memory.retention.add(after, **arguments(chosen))), _rule)


def list_(call: Invocation) -> None:
    """List the retention rules.

    Oldest first, each with the number of rows past its time, and how many of them a legal hold keeps.

    Example: remembrancer retention list
    """
    call.run(lambda memory: RulesOut.of(memory.retention.due()), _rules)


def remove(call: Invocation, *, rule_id: Annotated[str, "ID", "A rule's id, as `retention list` prints it."]) -> None:
    """Remove a retention rule.

    What the rule has erased before stays erased; nothing more is.

    Example: remembrancer retention remove 3c2d4e5f
    """
    call.run(lambda memory: RuleOut.of(memory.retention.remove(rule_id)), _rule)


def hold(
    call: Invocation,
    *,
    reason: Annotated[str, "REASON", "Why the hold is placed, such as the number of a case."],
    chosen: SelectionOptions,
) -> None:
    """Place a legal hold.

    Until it is released, rows that match all options given are neither erased nor archived, also those that are
    recorded later. An erasure that would remove one of them is refused whole.

    Example: remembrancer retention hold "case 12/2026" --of-actor Ana
    """
    call.run(lambda memory: HoldOut.of(memory.retention.hold(reason, **arguments(chosen))), _hold)


def holds(call: Invocation) -> None:
    """List the legal holds.

    Newest first, each with its reason, what it holds and who placed it; released ones too.

    Example: remembrancer retention holds
    """
    call.run(lambda memory: HoldsOut.of(memory.retention.holds()), _holds)


def release(call: Invocation, *, hold_id: Annotated[str, "ID", "A hold's id, as `retention holds` prints it."]) -> None:
    """Release a legal hold.

    Its rows can be erased again, and rules apply to them from their next run on.

    Example: remembrancer retention release 3c2d4e5f
    """
    call.run(lambda memory: HoldOut.of(memory.retention.release(hold_id)), _hold)


def _rules(answer: RulesOut) -> Renderables:
    if not answer.rules:
        yield Text("There is no retention rule: nothing is erased by its age.", style="dim")
    for due in answer.rules:
        yield from _rule(due.rule)
        yield indented(Text(_due(due), style="dim"), 2)


def _due(due: DueOut) -> str:
    past = f"{counted(due.memories, 'memory')} and {counted(due.events, 'event')} past this time"
    return f"{past}, {due.held:,} of them on legal hold" if due.held else past


def _rule(rule: RuleOut) -> Renderables:
    lead = Text(f"after {length_text(timedelta(seconds=rule.after))}  ", style="bold")
    yield lead.append(scope_text(rule, PARTS), style="not bold")
    yield indented(RowReference(rule.id, f"by {one_line(rule.by)}, {minute(rule.created_at)} UTC"), 2)


def _holds(answer: HoldsOut) -> Renderables:
    if not answer.holds:
        yield Text("There is no legal hold.", style="dim")
    for hold in answer.holds:
        yield from _hold(hold)


def _hold(hold: HoldOut) -> Renderables:
    released = hold.released_at
    lead = Text(f"{one_line(hold.reason)}  ", style="bold" if released is None else "dim")
    yield lead.append(scope_text(hold, PARTS), style="not bold")
    until = "" if released is None else f", released {minute(released)} UTC"
    yield indented(RowReference(hold.id, f"by {one_line(hold.by)}, {minute(hold.placed_at)} UTC{until}"), 2)
