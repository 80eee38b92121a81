"""Building blocks of the terminal output: shortened texts, bars, meters, tables, and a memory's text and scope."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from typing import TYPE_CHECKING, Final

from rich.bar import Bar
from rich.cells import cell_len, set_cell_size
from rich.measure import Measurement
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from remembrancer.domain.identity import short_id
from remembrancer.domain.scope import SCOPE_PARTS, Scope
from remembrancer.interfaces.palette import HUE_OF, TERMINAL
from remembrancer.interfaces.text import minute, one_line, shown, speaker, titled
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from datetime import datetime
    from uuid import UUID

    from rich.console import Console, ConsoleOptions, RenderableType, RenderResult

    from remembrancer.domain.recall import Hit, Part
    from remembrancer.interfaces.wire.comparison import ComparedOut
    from remembrancer.interfaces.wire.memories import CreditOut, MemoryOut, StrengthOut
    from remembrancer.interfaces.wire.recall import HitOut
    from remembrancer.interfaces.wire.shape import ScopeOut

Titles = Mapping["Scope", str]
"""The titles of conversations, by the scopes of their memories and events."""
Renderables = Iterator["RenderableType"]
"""The output of a page: texts and tables that are printed one below the other."""
BAR_CELLS: Final = 28
_COLUMNS: Final = "▁▂▃▄▅▆▇█"


def shortened(text: str, cells: int) -> str:
    """One line of at most `cells` terminal cells; … marks a cut."""
    line = one_line(text)
    return line if cell_len(line) <= cells else set_cell_size(line, max(cells - 1, 0)).rstrip() + "…"


def indented(block: RenderableType, by: int = 4) -> Padding:
    return Padding(block, (0, 0, 0, by), expand=False)


def said(found: Hit | HitOut | ComparedOut) -> str:
    """The passage that was found, or the text of a memory after its title."""
    return found.cue.text if found.memory.title is None else titled(found.memory)


@dataclass(frozen=True)
class RowReference:
    """A line about a row: when, conversation and the like, then the id that commands take, whole with --ids."""

    id: UUID
    about: str = ""

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        known_as = id_text(console, self.id)
        room = options.max_width - len(known_as) - 3
        about = shortened(self.about, room) if room > 0 else ""
        yield Text(" · ".join(filter(None, (about, known_as))), style="dim")


def id_text(console: Console, identifier: UUID) -> str:
    """An id as the console shows it."""
    return str(identifier) if getattr(console, "full_ids", False) else short_id(identifier)


def conversation_of(titles: Titles, scope: Scope | ScopeOut) -> str:
    """The title of the conversation that a memory or an event belongs to; "" outside of sessions."""
    return titles.get(scope if isinstance(scope, Scope) else Scope(**scope.model_dump()), "")


def memory_line(lead: str, memory: MemoryOut, *, with_id: bool = False) -> Shorter:
    """When, who and what, on one line."""
    head = Text(f"{lead}  ", style="dim")
    who = one_line(speaker(memory))
    kind = who or memory.origin if memory.kind == "message" else ", ".join(filter(None, (memory.kind, who)))
    head.append(f"{kind}  ", style="not dim cyan")
    return Shorter(titled(memory), lead=head, id=memory.id if with_id else None)


def strength_facts(strength: StrengthOut) -> list[tuple[str, str]]:
    usage = strength.usage
    evidence = f"{usage.worked:.2f} for it, {usage.failed:.2f} against it"
    return [
        ("importance", f"{strength.importance:.2f}"),
        ("confidence", f"{strength.confidence:.2f}"),
        ("priority", f"{strength.priority} of 10"),
        ("surprise", f"{strength.surprise:.2f}" if strength.surprise else ""),
        ("never below", f"{strength.importance_floor:.2f}" if strength.importance_floor else ""),
        ("stability", f"{strength.stability:.1f} days"),
        ("reviewed", optional_minute(strength.last_reviewed_at)),
        ("feedback", f"{usage.helped} × helped, {usage.unhelpful} × unhelpful, {usage.harmed} × harmed"),
        (
            "outcomes",
            evidence if usage.worked or usage.failed else "",
        ),
        ("use", f"{usage.retrieved} × retrieved, {usage.shown} × shown, {usage.used} × used"),
    ]


def credit_text(credit: CreditOut) -> str:
    """The numbers of a memory that an outcome changed."""
    moved = [
        ("for it", credit.worked_before, credit.worked),
        ("against it", credit.failed_before, credit.failed),
        ("confidence", credit.confidence_before, credit.confidence),
        ("stability", credit.stability_before, credit.stability),
    ]
    return ", ".join(f"{name} {before:.2f} to {after:.2f}" for name, before, after in moved if before != after)


def scope_text(scope: object, parts: Sequence[str] = SCOPE_PARTS, separator: str = ", ") -> str:
    """The parts of the scope that are set, each with its name."""
    return separator.join(f"{name} {one_line(value)}" for name in parts if (value := getattr(scope, name)))


def optional_minute(moment: datetime | None) -> str:
    return "" if moment is None else f"{minute(moment)} UTC"


def sparkline(shares: Iterable[float | None]) -> str:
    """A row of small columns for shares in [0, 1]; a dot for None.

    >>> sparkline([0.0, 0.5, None, 1.0])
    '▁▅·█'
    """
    return "".join("·" if share is None else _COLUMNS[min(int(share * 8), 7)] for share in shares)


def facts(pairs: Iterable[tuple[str, str]]) -> Table:
    """A table of names and values, without control characters. Pairs with an empty value are left out."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="dim", no_wrap=True)
    grid.add_column(overflow="fold")
    for name, value in pairs:
        if value:
            grid.add_row(name, Text(shown(value)))
    return grid


@dataclass(frozen=True)
class Shorter:
    """A text shortened to about `lines` lines of the terminal, after a `lead` that is never shortened. `id`: the row's
    id, before the lead.
    """

    text: str
    lines: int = 1
    lead: Text = field(default_factory=Text)
    id: UUID | None = None

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        if self.id is not None:
            lead = Text.assemble((f"{id_text(console, self.id)}  ", "dim"), self.lead)
            yield from Shorter(self.text, self.lines, lead).__rich_console__(console, options)
            return
        # Lines break at words, which leaves a few cells of each line empty.
        room = options.max_width * self.lines - (self.lines - 1) * 8 - self.lead.cell_len
        yield self.lead + Text(shortened(self.text, room))


@dataclass(frozen=True)
class Meter:
    """A bar for a share in [0, 1], at most `cells` long."""

    share: float
    style: str
    cells: int = BAR_CELLS

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        cells = min(self.cells, options.max_width)
        length = round(min(max(self.share, 0.0), 1.0) * cells)
        yield Text("█" * length, style=self.style, no_wrap=True).append("·" * (cells - length), style="dim")

    def __rich_measure__(self, console: Console, options: ConsoleOptions) -> Measurement:
        return Measurement(1, min(self.cells, options.max_width))


def leaves(part: Part) -> tuple[Part, ...]:
    """The terms of a score, or the score itself if it has no parts or is a product."""
    return (part,) if part.is_product or not part.parts else part.parts


def group_bars(groups: Mapping[str, float], full: float) -> Table:
    """The contribution of each group of signals to a score, as a bar and a number. A score of `full` fills a bar."""
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True, style="dim")
    grid.add_column(width=BAR_CELLS)
    grid.add_column(justify="right", no_wrap=True)
    for name, added in groups.items():
        bar = Bar(full or 1.0, 0, min(added, full), width=BAR_CELLS, color=TERMINAL[HUE_OF[name]])
        grid.add_row(name, bar, f"{added:.3f}")
    return grid


def part_bars(root: Part, full: float) -> Table:
    """A score as a tree, one row for each node: its value, and its contribution as a bar and a number. Absent nodes are
    left out; factors are marked by ×.
    """
    full = full or 1.0
    grid = Table.grid(padding=(0, 2))
    grid.add_column(no_wrap=True)
    grid.add_column(justify="right", style="dim", no_wrap=True)
    grid.add_column(width=BAR_CELLS)
    grid.add_column(justify="right", no_wrap=True)
    for part in leaves(root):
        _add_part(grid, part, full, 0)
    grid.add_row(Text(root.label, style="dim"), "", "", Text(f"{root.contribution:.3f}", style="bold"))
    return grid


def _add_part(grid: Table, part: Part, full: float, depth: int) -> None:
    from remembrancer.policies.ranking.groups import group_of  # noqa: PLC0415 - with it comes numpy

    if part.value is None:
        return
    first = part
    while first.parts:
        first = first.parts[0]
    colour = TERMINAL[HUE_OF[group_of(first.label)]]
    bar = Bar(full, 0, min(part.contribution, full), width=BAR_CELLS, color=colour)
    grid.add_row(f"{'  ' * depth}{part.label}", f"{part.value:.3f}", bar, f"{part.contribution:.3f}")
    for inner in part.parts:
        if part.is_product:
            _add_factor(grid, inner, depth + 1, sign="× ")
        else:
            _add_part(grid, inner, full, depth + 1)


def _add_factor(grid: Table, part: Part, depth: int, *, sign: str) -> None:
    """Rows of a factor and its parts, without bars, because a factor is not a share of the score."""
    if part.value is None:
        return
    grid.add_row(f"{'  ' * depth}{part.label}", f"{sign}{part.value:.3f}", "", "")
    for inner in part.parts:
        _add_factor(grid, inner, depth + 1, sign="× " if part.is_product else "")
