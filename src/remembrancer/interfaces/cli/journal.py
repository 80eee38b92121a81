"""Commands for the journal: list, get, count, priority, tail."""

from __future__ import annotations

import json
import sys
from datetime import datetime, timedelta
from functools import partial
from typing import Annotated, Any, Final

from rich.text import Text

from remembrancer.domain.event import Priority, Severity
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.drawing import (
    Renderables,
    RowReference,
    Shorter,
    Titles,
    conversation_of,
    facts,
    indented,
    scope_text,
)
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES, arguments
from remembrancer.interfaces.text import counted, minute, one_line, shown
from remembrancer.interfaces.wire.journal import (
    EventOut,
    JournalCountOut,
    JournalEntryOut,
    JournalPageOut,
    PriorityChangeOut,
    RecordedOut,
    RecordedPageOut,
)
from remembrancer.values import dataclass

EventIdArgument = Annotated[str, "ID", "An event's id, as `journal list` and `observe` print it."]
_STYLES: Final = {Severity.WARN: "yellow", Severity.ERROR: "bold red"}


@dataclass(frozen=True, kw_only=True)
class EntryOptions:
    """Options that filter entries of the journal."""

    query: Annotated[str | None, "-q", "Only with all of these words in the text or the payload."] = None
    types: Annotated[list[str] | None, "Only this type; repeat the option to allow several."] = None
    without_types: Annotated[list[str] | None, "Not this type; repeat the option to exclude several."] = None
    severities: Annotated[list[str] | None, "Only info, notice, warn or error; repeat to allow several."] = None
    priorities: Annotated[list[str] | None, "Only normal, high, pin or permanent; repeat to allow several."] = None
    roles: Annotated[list[str] | None, "--as", "Only by user, assistant, system or tool; repeat to allow several."] = (
        None
    )
    actor: Annotated[str | None, "Only by the actor with this name."] = None
    in_session: Annotated[str | None, "Only what belongs to this session."] = None
    of_agent: Annotated[str | None, "Only what belongs to this agent."] = None
    of_crew: Annotated[str | None, "Only what belongs to this crew."] = None
    of_project: Annotated[str | None, "Only what belongs to this project."] = None
    since: Annotated[datetime | None, f"Only what happened since then: {TIMES}."] = None
    until: Annotated[datetime | None, "Only what happened before then; format as --since."] = None


ArchivedOption = Annotated[bool, "Also entries in the archive."]


def list_(
    call: Invocation,
    *,
    entries: EntryOptions,
    limit: Annotated[int, "-n", "Entries per page, 1 to 10000."] = 50,
    oldest_first: Annotated[bool, "Oldest first instead of newest first."] = False,
    after: Annotated[str | None, "CURSOR", "Continue after the page that printed this cursor."] = None,
    archived: ArchivedOption = False,
) -> None:
    """List entries of the journal.

    Everything that was recorded, whether remembered or not, newest first by when it happened. Each page ends with the
    cursor for the next one. Entries recorded in the meantime do not shift the pages.

    Example: remembrancer journal list --severity error --since 7d --query "checkout memory"
    """
    chosen: dict[str, Any] = {**arguments(entries), "archived": archived, "oldest_first": oldest_first}
    with call.opened(create=False) as memory:
        found = memory.journal.page(after=after, limit=limit, **chosen)
        titles = call.titles(memory, found.events)
    call.answer(JournalPageOut.of(found), partial(_page, titles=titles))


def get(call: Invocation, *, event_id: EventIdArgument) -> None:
    """Show an entry of the journal.

    Prints its text and payload, its speaker, its scope and the changes to its priority; for an archived entry, only the
    text that was kept.

    Example: remembrancer journal get 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    call.run(
        lambda memory: JournalEntryOut.of(memory.journal.get(event_id), memory.journal.priority_changes(event_id)),
        _entry,
    )


def count(call: Invocation, *, entries: EntryOptions, archived: ArchivedOption = False) -> None:
    """Count entries of the journal.

    All entries, or those that match the filters of `journal list`.

    Example: remembrancer journal count --type tool --severity error --since 24h
    """
    call.run(
        lambda memory: JournalCountOut(total=memory.journal.count(**arguments(entries), archived=archived)),
        lambda found: [Text(f"{counted(found.total, 'event')}.")],
    )


def priority(
    call: Invocation,
    *,
    event_id: EventIdArgument,
    priority: Annotated[str, "PRIORITY", "normal, high, pin or permanent, which is never archived."],
    reason: Annotated[str, "The reason, stored with the change."] = "",
) -> None:
    """Change the priority of an entry.

    For operators only: use --role LEAD, unless the preset has another role for this. `journal get` shows who changed
    it, when and why. The memories formed from the entry fade no further than its priority allows.

    Example: remembrancer journal priority 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f pin --role LEAD --reason "post-mortem"
    """
    call.run(lambda memory: PriorityChangeOut.of(memory.journal.set_priority(event_id, priority, reason)), _changed)


def tail(
    call: Invocation,
    *,
    entries: EntryOptions,
    lines: Annotated[int, "--limit", "-n", "The number of past entries, 0 to 10000."] = 10,
    follow: Annotated[bool, "-f", "Continue with new entries until interrupted."] = False,
    after: Annotated[int | None, "POSITION", "Start after this position instead."] = None,
    every: Annotated[float, "With -f: seconds between two checks, 0.01 to 86400."] = 1.0,
) -> None:
    """Show the latest entries, and follow new ones.

    Entries come in the order of recording, whenever they happened and whichever program recorded them. With -f, new
    entries follow until you interrupt it. With --json it prints one document; with -f as well, one for each entry, with
    its position.

    Example: remembrancer journal tail -f --severity warn --severity error
    """
    if not 0 <= lines <= 10_000:
        raise InvalidInput("limit", lines, "a whole number from 0 to 10000")
    chosen = arguments(entries)
    with call.opened(create=False) as memory:
        if not follow:
            call.answer(RecordedPageOut.of(memory.journal.recorded(after, limit=lines, **chosen)), _recorded_page)
            return
        if after is None:
            last = memory.journal.recorded(limit=lines, **chosen)
            for one in last.entries:
                call.answer(RecordedOut.of(one), _recorded)
            after = last.position
        sys.stdout.flush()
        for one in memory.journal.tail(after, every=timedelta(seconds=every), **chosen):
            call.answer(RecordedOut.of(one), _recorded)
            sys.stdout.flush()  # flushed, because a program may be reading through a pipe


def _page(found: JournalPageOut, *, titles: Titles) -> Renderables:
    """Each entry with its conversation and its id, and how to get the next page."""
    if not found.events:
        yield Text("No entry matches.", style="dim")
    for event in found.events:
        yield from _listed(event, conversation_of(titles, event.scope))
    if found.next is not None:
        yield Text(f"For more, add --after {found.next}", style="dim")


def _recorded_page(found: RecordedPageOut) -> Renderables:
    """Each entry with its id, and the position to continue from."""
    for one in found.entries:
        yield from _recorded(one)
    yield Text(f"Recorded so far: {found.position:,}. To continue, add --after {found.position} or -f", style="dim")


def _recorded(one: RecordedOut) -> Renderables:
    yield from _listed(one.event)


def _changed(change: PriorityChangeOut) -> Renderables:
    if change.previous is change.priority:
        yield Text(f"It is {change.priority} already.")
    else:
        yield Text(f"{change.previous} before, {change.priority} now")
    yield indented(RowReference(change.event_id), 2)


def _entry(found: JournalEntryOut) -> Renderables:
    """Everything about one event."""
    event = found.event
    yield Text(str(event.id), style="bold")
    yield Text(f"{event.type}, {event.severity}, {event.priority}", style=_STYLES.get(event.severity, "dim"))
    yield ""
    yield Text(shown(event.text))
    yield ""
    yield facts(
        [
            ("happened", f"{minute(event.occurred_at)} UTC"),
            ("recorded", f"{minute(event.recorded_at)} UTC"),
            ("by", _actor(event)),
            ("scope", scope_text(event.scope)),
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


def _listed(event: EventOut, conversation: str = "") -> Renderables:
    lead = Text(f"{minute(event.occurred_at)}  ", style="dim")
    lead.append(event.type, style=_STYLES.get(event.severity, "dim"))
    if event.severity is not Severity.INFO:
        lead.append(f" {event.severity}", style=_STYLES.get(event.severity, "dim"))
    if event.priority is not Priority.NORMAL:
        lead.append(f" {event.priority}", style="bold cyan")
    yield Shorter(event.text, lead=lead.append(f"  {_actor(event)}: ", style="dim"))
    yield indented(RowReference(event.id, conversation), 2)


def _actor(event: EventOut) -> str:
    return event.role if event.actor is None else f"{one_line(event.actor)} ({event.role})"
