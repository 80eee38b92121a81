"""The result of a vault sync on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.text import counted, one_line

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.files import VaultOut


def synced(out: VaultOut) -> Renderables:
    """The content of the vault, then what was done, or would be done."""
    there = f"{counted(out.files, 'file')}, {counted(out.entries, 'learning')}"
    if out.chunks:
        there += f", {counted(out.chunks, 'piece')} of documents"
    yield Text(one_line(out.vault), style="bold").append(f": {there}", style="not bold")
    done = [f"{counted(number, noun)} {what}" for noun, what, number in _numbers(out) if number]
    if out.dry_run:
        yield Text(f"a sync would change: {', '.join(done)}" if done else "a sync would change nothing")
    else:
        yield Text(", ".join(done) if done else "nothing had to change")
    if out.waiting:
        yield Text(f"{counted(out.waiting, 'learning')} formed here stand in no file yet: `vault sync` writes them.")
    for what, several in (("finding", out.findings), ("conflict", out.conflicts), ("thing", out.left)):
        if several:
            left = " left for the next time" if what == "thing" else ""
            yield Text(f"{counted(len(several), what)}{left}", style="yellow")
    if out.index is not None and out.index.indexed:
        yield Text(f"indexed {counted(out.index.indexed, 'cue')}")


def _numbers(out: VaultOut) -> list[tuple[str, str, int]]:
    return [
        ("memory", "added", out.added),
        ("memory", "changed", out.changed),
        ("memory", "retired", out.retired),
        ("memory", "restored", out.restored),
        ("entry", "written", out.written),
    ]
