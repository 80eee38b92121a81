"""The journal on a terminal."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Final

from rich.text import Text

from remembrancer.domain.event import Priority, Severity
from remembrancer.interfaces.cli.drawing import Renderables, Shorter, facts, indented
from remembrancer.interfaces.text import counted, minute, one_line, shown

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.journal import (
        EventOut,
        JournalCountOut,
        JournalEntryOut,
        JournalPageOut,
        PriorityChangeOut,
        RecordedOut,
        StretchOut,
    )

_STYLES: Final = {Severity.WARN: "yellow", Severity.ERROR: "bold red"}


def page(found: JournalPageOut) -> Renderables:
    """Each entry with its id, and how to get the next page."""
    if not found.events:
        yield Text("Nothing in the journal is like that.", style="dim")
    for event in found.events:
        yield from _listed(event)
    if found.next is not None:
        yield Text(f"There is more: the same with --after {found.next}", style="dim")


def stretch(found: StretchOut) -> Renderables:
    """Each entry with its id, and the position to continue from."""
    for one in found.entries:
        yield from recorded(one)
    yield Text(
        f"Recorded so far: {found.position:,}. What comes: the same with --after {found.position} or -f", style="dim"
    )


def recorded(one: RecordedOut) -> Renderables:
    yield from _listed(one.event)


def counted_entries(found: JournalCountOut) -> Renderables:
    yield Text(f"{counted(found.total, 'event')}.")


def changed(change: PriorityChangeOut) -> Renderables:
    if change.previous is change.priority:
        yield Text(f"It is {change.priority} already.")
    else:
        yield Text(f"{change.previous} before, {change.priority} now")
    yield Text(f"  {change.event_id}", style="dim")


def entry(found: JournalEntryOut) -> Renderables:
    """Everything about one event."""
    event = found.event
    yield Text(str(event.id), style="bold")
    yield Text(f"{event.type}, {event.severity}, {event.priority}", style=_STYLES.get(event.severity, "dim"))
    yield ""
    yield Text(shown(event.text))
    yield ""
    scope = event.scope
    parts = (("project", scope.project), ("crew", scope.crew), ("agent", scope.agent), ("session", scope.session))
    yield facts(
        [
            ("happened", f"{minute(event.occurred_at)} UTC"),
            ("recorded", f"{minute(event.recorded_at)} UTC"),
            ("by", _actor(event)),
            ("scope", ", ".join(f"{name} {part}" for name, part in parts if part is not None)),
            ("place", f"{event.seq} in its stream"),
            ("origin", event.origin),
            ("key", event.key or ""),
            ("payload", json.dumps(event.payload, ensure_ascii=False) if event.payload else ""),
            ("refs", json.dumps(event.refs, ensure_ascii=False) if event.refs else ""),
        ]
    )
    if found.priority_changes:
        yield ""
        yield Text(counted(len(found.priority_changes), "change") + " of its priority", style="bold")
    for change in found.priority_changes:
        line = Text(f"{minute(change.at)}, {one_line(change.by)}: {change.previous} to {change.priority}")
        yield indented(line.append(f"  {one_line(change.reason)}", style="dim") if change.reason else line, 2)


def _listed(event: EventOut) -> Renderables:
    lead = Text(f"{minute(event.occurred_at)}  ", style="dim")
    lead.append(event.type, style=_STYLES.get(event.severity, "dim"))
    if event.severity is not Severity.INFO:
        lead.append(f" {event.severity}", style=_STYLES.get(event.severity, "dim"))
    if event.priority is not Priority.NORMAL:
        lead.append(f" {event.priority}", style="bold cyan")
    yield Shorter(event.text, lead=lead.append(f"  {_actor(event)}: ", style="dim"))
    yield Text(f"  {event.id}", style="dim")


def _actor(event: EventOut) -> str:
    return event.role if event.actor is None else f"{one_line(event.actor)} ({event.role})"
