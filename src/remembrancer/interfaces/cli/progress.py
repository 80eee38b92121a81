"""Progress bars. Commands that show none start faster without this module."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from typing import Any, Final, Literal

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    Task,
    TextColumn,
    TimeRemainingColumn,
)
from rich.text import Text

from remembrancer.interfaces.text import one_line

Shows = Literal["bytes", "rows", "rate", "count"]
"""The number beside a bar: bytes done; rows done; rows done, their total and rate; or any count and its total."""


class _Rate(ProgressColumn):
    """The number of rows done, the total, and the rows per second."""

    def render(self, task: Task) -> Text:
        speed = "" if task.speed is None else f", {task.speed:,.0f} rows/s"
        return Text(f"{task.completed:,.0f} of {task.total or 0:,.0f} rows{speed}")


_COLUMNS: Final[Mapping[Shows, Callable[[], ProgressColumn]]] = {
    "bytes": lambda: DownloadColumn(binary_units=True),
    "rows": lambda: TextColumn("{task.completed:,.0f} rows"),
    "rate": _Rate,
    "count": MofNCompleteColumn,
}


@contextmanager
def progress(err: Console, doing: str, shows: Shows, total: int | None) -> Generator[Callable[..., None], None, None]:
    """A progress bar on `err`, if that is a terminal. Call the result with the amount done so far."""
    bar = Progress(
        TextColumn("{task.description}", markup=False),
        BarColumn(),
        _COLUMNS[shows](),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        console=err,
        disable=not err.is_terminal,
    )
    with bar:
        task = bar.add_task(one_line(doing), total=total)

        def update(done: int, **changes: Any) -> None:
            bar.update(task, completed=done, **changes)

        yield update
