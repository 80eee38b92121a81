"""One run of one command: its settings, the memory it opens, and the two streams it speaks on."""
# ruff: noqa: PLC0415 - the memory and its shapes are loaded when a command needs them: `--help` and errors do not

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Final, TypeVar

import typer
from rich.console import Console, RenderableType
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    Progress,
    ProgressColumn,
    TextColumn,
    TimeRemainingColumn,
)

from remembrancer.interfaces.text import one_line
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer import Remembrancer, Settings
    from remembrancer.engine.context import Clock
    from remembrancer.evaluation.run import OnProgress
    from remembrancer.evaluation.run import Progress as Measured
    from remembrancer.interfaces.wire.shape import Wire
    from remembrancer.jobs.indexer import IndexReport

W = TypeVar("W", bound="Wire")

EVERY_COMMAND: Final = "Every command"


class _Console(Console):
    def on_broken_pipe(self) -> None:
        """Left to the command's edge, as every other write to a pipe is."""
        raise BrokenPipeError


def _option(name: str, said: str, metavar: str | None = None, *, also: str | None = None) -> Any:
    names = (name,) if also is None else (name, also)
    return typer.Option(*names, help=said, metavar=metavar, rich_help_panel=EVERY_COMMAND)


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """The options of every command, and what follows from them.

    What is not given comes from REMEMBRANCER_* variables, then from the file.
    """

    db: Annotated[str | None, _option("--db", "The database file; remembrancer.db if not given.", "FILE")] = None
    workspace: Annotated[
        str | None,
        _option("--workspace", "The tenant whose memories these are; default if not given.", also="--namespace"),
    ] = None
    project: Annotated[str | None, _option("--project", "The project within the workspace.")] = None
    crew: Annotated[str | None, _option("--crew", "The crew within the project.")] = None
    agent: Annotated[str | None, _option("--agent", "The agent whose memories these are.")] = None
    session: Annotated[str | None, _option("--session", "The session within the agent.")] = None
    role: Annotated[str | None, _option("--role", "As what to read: AGENT (if not given) or LEAD.")] = None
    preset: Annotated[
        str | None, _option("--preset", "The preset to remember by, or the TOML file of one; default if not given.")
    ] = None
    embedder: Annotated[str | None, _option("--embedder", "auto (if not given), none, local or ollama:MODEL.")] = None
    reranker: Annotated[
        str | None,
        _option("--reranker", "none (if not given), cross-encoder:FOLDER, or the address of a rerank endpoint."),
    ] = None
    llm: Annotated[
        str | None,
        _option("--llm", "none (if not given), or openai, anthropic, gemini or ollama with :MODEL."),
    ] = None
    config: Annotated[Path | None, _option("--config", "A TOML file of settings.", "FILE")] = None
    as_json: Annotated[bool, _option("--json", "One JSON document on stdout, and nothing else.")] = False

    @cached_property
    def settings(self) -> Settings:
        """The settings in force. Nothing is indexed in the background: a command is over too soon for that."""
        return replace(self.lasting_settings(), background_index=False)

    def lasting_settings(self, **others: object) -> Settings:
        """The settings in force of a command that goes on; `others`: those that it has options of its own for."""
        from remembrancer.config import load

        given = {
            "db": self.db,
            "workspace": self.workspace,
            "project": self.project,
            "crew": self.crew,
            "agent": self.agent,
            "session": self.session,
            "role": self.role,
            "preset": self.preset,
            "embedder": self.embedder,
            "reranker": self.reranker,
            "llm": self.llm,
        }
        return load({**given, **others}, file=self.config)

    @cached_property
    def now(self) -> datetime:
        return datetime.now(UTC)

    @cached_property
    def out(self) -> Console:
        return _console(stderr=False)

    @cached_property
    def marked_up(self) -> Console:
        """Stdout, for texts of our own that carry markup."""
        return _Console(highlight=False)

    @cached_property
    def err(self) -> Console:
        return _console(stderr=True)

    @contextmanager
    def opened(
        self, *, create: bool, settings: Settings | None = None, clock: Clock | None = None
    ) -> Generator[Remembrancer, None, None]:
        """The memory, open. Without `create` a file that is not there is StoreUnavailable, and stays not there."""
        from remembrancer import Remembrancer

        with Remembrancer.open(settings=settings or self.settings, clock=clock, create=create) as memory:
            yield memory

    def tell(self, ask: Callable[[Remembrancer], W], draw: Callable[[W], Iterable[RenderableType]]) -> None:
        """Open the memory, and print what `ask` makes of it. Raises StoreUnavailable where there is no database."""
        with self.opened(create=False) as memory:
            shape = ask(memory)
        self.answer(shape, draw)

    def answer(self, shape: W, draw: Callable[[W], Iterable[RenderableType]]) -> None:
        """Tell the answer: as JSON where that is asked for, else as `draw` has it."""
        if self.as_json:
            self.write(_json(shape))
            return
        for block in draw(shape):
            self.out.print(block)

    def write(self, text: str) -> None:
        """`text` as it is, on stdout, at once: who reads the lines of a worker waits for each."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def note(self, text: str, *, style: str = "dim") -> None:
        """One line on stderr."""
        self.err.print(one_line(text), style=style, soft_wrap=True)

    def degraded(self, parts: Mapping[str, str]) -> None:
        """One line, where something could not be used."""
        if parts:
            self.note("degraded: " + "; ".join(f"{part}: {reason}" for part, reason in parts.items()))

    @contextmanager
    def reading(self, file: Path) -> Generator[Callable[[int], None], None, None]:
        """A bar by bytes while a file is read; to be told how many are done."""
        with self._bar(DownloadColumn(binary_units=True)) as progress:
            task = progress.add_task(one_line(file.name), total=file.stat().st_size)
            yield lambda done: progress.update(task, completed=done)

    @contextmanager
    def rows(self, doing: str) -> Generator[Callable[[int], None], None, None]:
        """A count of rows; to be told how many are done."""
        with self._bar(TextColumn("{task.completed:,.0f} rows")) as progress:
            task = progress.add_task(doing, total=None)
            yield lambda done: progress.update(task, completed=done)

    @contextmanager
    def indexing(self, memory: Remembrancer) -> Generator[Callable[[int], None], None, None]:
        """A bar by cues while they are indexed; to be told how many are done."""
        stats = memory.health.stats()
        waiting = stats.cues - max(stats.vectors.values(), default=0)
        with self._bar(MofNCompleteColumn()) as progress:
            task = progress.add_task("indexing", total=waiting)
            # Others may add to the work meanwhile, and some of it may lie outside this caller's sight.
            yield lambda done: progress.update(task, completed=done, total=max(done, waiting))

    def index(self, memory: Remembrancer) -> IndexReport:
        """Index what waits, so that it is found by meaning too."""
        with self.indexing(memory) as on_indexed:
            return memory.jobs.index_now(on_indexed=on_indexed)

    @contextmanager
    def measuring(self) -> Generator[OnProgress, None, None]:
        """A bar by questions; to be told how far a measurement is."""
        with self._bar(MofNCompleteColumn()) as progress:
            task = progress.add_task("measuring", total=None)

            def on_progress(at: Measured) -> None:
                place = f"{at.system}, {at.conversation}"
                progress.update(task, description=one_line(place), completed=at.done, total=at.total)

            yield on_progress

    def _bar(self, amount: ProgressColumn) -> Progress:
        """On stderr, where that is a terminal."""
        return Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            amount,
            TimeRemainingColumn(compact=True, elapsed_when_finished=True),
            console=self.err,
            disable=not self.err.is_terminal,
        )


def _console(*, stderr: bool) -> Console:
    # Memories are other people's words: nothing in them is markup, an emoji code or a number to be coloured.
    return _Console(stderr=stderr, markup=False, emoji=False, highlight=False)


def _json(shape: Wire) -> str:
    """JSON that a terminal can be shown: what does not print is escaped, the rest stays readable."""
    document = json.dumps(shape.model_dump(mode="json"), ensure_ascii=False, indent=2)
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in document
    )
