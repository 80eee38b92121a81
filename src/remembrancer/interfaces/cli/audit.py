"""Commands for the audit trail: list, verify, head, export."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from remembrancer.interfaces.cli.drawing import Renderables, indented
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import TIMES
from remembrancer.interfaces.text import counted, minute, one_line
from remembrancer.interfaces.wire.audit import AuditCheckOut, AuditEntryOut, AuditHeadOut, AuditOut
from remembrancer.interfaces.wire.files import ExportedOut


def list_(
    call: Invocation,
    *,
    since: Annotated[datetime | None, f"Only entries at or after this time: {TIMES}."] = None,
    until: Annotated[datetime | None, f"Only entries before this time: {TIMES}."] = None,
    by: Annotated[str | None, "Only of this principal (process, key:ID), or with this name in the entry."] = None,
    verb: Annotated[str | None, "Only this call or job, such as erase or keys.create."] = None,
    row: Annotated[str | None, "ID", "Only entries that name this memory, event or other row."] = None,
    after: Annotated[int, "Only entries with a higher number."] = 0,
    limit: Annotated[int, "-n", "The maximum number, 1 to 10000."] = 100,
) -> None:
    """List who did what, when.

    Oldest first. Each change of the workspace has an entry; with the setting `audit_reads`, each read too. An entry
    holds no text.

    Example: remembrancer audit list --verb erase
    """
    call.run(
        lambda memory: AuditOut.of(
            memory.audit.list(since=since, until=until, actor=by, verb=verb, row=row, after=after, limit=limit)
        ),
        _listed,
    )


def head(call: Invocation) -> None:
    """Print the number and the hash of the last entry.

    Keep it where nobody who can write to the store can change it: `audit verify --head` then shows whether the trail
    was shortened or written anew since.

    Example: remembrancer audit head >> /mnt/elsewhere/heads.txt
    """
    call.run(lambda memory: AuditHeadOut(head=str(memory.audit.head())), lambda answer: [Text(answer.head)])


def verify(
    call: Invocation,
    *,
    head: Annotated[list[str] | None, "SEQ:HASH", "A head noted before; may be repeated."] = None,
    heads: Annotated[Path | None, "A file with such heads, one a line."] = None,
) -> None:
    """Check the audit trail.

    Computes the chain of hashes again. Finds entries that were changed, removed, inserted or moved; with a head that
    was noted elsewhere also a trail that was shortened or written anew. The exit code is 1 if something is wrong.

    Example: remembrancer audit verify --heads /mnt/elsewhere/heads.txt
    """
    with call.opened(create=False) as memory:
        found = AuditCheckOut.of(memory.audit.verify(head or (), heads_file=heads))
    call.answer(found, _checked)
    if not found.whole:
        raise typer.Exit(1)


def export(call: Invocation, *, file: Annotated[Path, "FILE", "The file to write; it must not exist."]) -> None:
    """Write the audit trail to a file.

    A JSON object a line: the entry's number, the bytes that its hash covers, the hash, and the names in it.

    Example: remembrancer audit export trail.jsonl
    """
    with call.opened(create=False) as memory:
        entries = memory.audit.export(file)
    wrote = f"Wrote {counted(entries, 'entry')} to {one_line(str(file))}."
    call.answer(ExportedOut(path=str(file), rows=entries), lambda _: [Text(wrote)])


def _listed(answer: AuditOut) -> Renderables:
    if not answer.entries:
        yield Text("No entries.", style="dim")
    for one in answer.entries:
        yield _line(one)
        told = [
            f"{what} {one_line(name)}" if name is not None else f"{what} (erased)" for what, name in one.names.items()
        ]
        told += [f"{kind} {', '.join(map(str, ids[:3]))}{' …' * (len(ids) > 3)}" for kind, ids in one.ids.items()]
        told += [f"{count:,} {kind}" for kind, count in one.counts.items()]
        if told:
            yield indented(Text("; ".join(told), style="dim"), 2)
    if answer.next is not None:
        yield Text(f"More: --after {answer.next}", style="dim")


def _line(one: AuditEntryOut) -> Text:
    about = "" if one.model is None else f" {one_line(one.model)}"
    return Text(f"{one.seq}  {minute(one.at)}  {one.verb}{about}  by {one.principal} ({one.door})")


def _checked(answer: AuditCheckOut) -> Renderables:
    if answer.problem:
        yield Text(f"Broken: {answer.problem}.", style="bold red")
    else:
        yield Text(f"Whole: {counted(answer.entries, 'entry')}.", style="green")
    yield Text(f"{counted(answer.names, 'name')}, {answer.erased} of them erased.", style="dim")
    yield Text(answer.head)
