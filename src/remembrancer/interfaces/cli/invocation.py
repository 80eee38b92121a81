"""One run of one command: its settings, the memory it opens, and its output."""
# ruff: noqa: PLC0415 - the memory and its shapes are loaded when a command needs them: `--help` and errors do not

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Generator, Iterable, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import fields, replace
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Final, TypeVar

from rich.console import Console, RenderableType

from remembrancer.interfaces.text import one_line
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer import Remembrancer, Settings
    from remembrancer.domain.event import Event
    from remembrancer.domain.memory import Memory
    from remembrancer.engine.context import Clock
    from remembrancer.evaluation.run import OnProgress
    from remembrancer.interfaces.cli.drawing import Titles
    from remembrancer.interfaces.cli.progress import Shows
    from remembrancer.interfaces.wire.shape import Wire
    from remembrancer.jobs.indexer import IndexReport
    from remembrancer.ports.embedder import Embedder

W = TypeVar("W", bound="Wire")

EVERY_COMMAND: Final = "Every command"


class _Console(Console):
    """A console for texts by others. `full_ids`: print whole ids."""

    full_ids: bool = False

    def on_broken_pipe(self) -> None:
        """Raise the error, so that `command` handles it as for every other write to a pipe."""
        raise BrokenPipeError


@dataclass(frozen=True, kw_only=True)
class Invocation:
    """The options of every command, and what follows from them.

    A missing option is read from its REMEMBRANCER_* variable, then from the configuration file.
    """

    db: Annotated[str | None, "FILE", "The database file. Default: remembrancer.db."] = None
    workspace: Annotated[
        str | None, "--workspace", "--namespace", "The tenant that the memories belong to. Default: default."
    ] = None
    project: Annotated[str | None, "The project within the workspace."] = None
    crew: Annotated[str | None, "The crew within the project."] = None
    agent: Annotated[str | None, "The agent that the memories belong to."] = None
    session: Annotated[str | None, "The session within the agent."] = None
    role: Annotated[str | None, "The role to read as: AGENT (default) or LEAD."] = None
    preset: Annotated[str | None, "The name or TOML file of the preset. Default: default."] = None
    embedder: Annotated[str | None, "auto (default), none, local, or ollama, openai or gemini with :MODEL."] = None
    embedder_before: Annotated[
        str | None, "EMBEDDER", "The embedder before a change, which answers meanwhile (see `embedder --help`)."
    ] = None
    reranker: Annotated[str | None, "none (default), cross-encoder:FOLDER, or the address of a rerank endpoint."] = None
    llm: Annotated[str | None, "none (default), or openai, anthropic, gemini or ollama with :MODEL."] = None
    encryption_key_file: Annotated[str | None, "FILE", "A file with the key of an encrypted store."] = None
    encryption_key_command: Annotated[
        str | None, "COMMAND", "A command that prints this key, such as one that asks a keyring."
    ] = None
    config: Annotated[Path | None, "FILE", "A TOML file of settings."] = None
    full_ids: Annotated[bool, "--ids", "Print whole ids instead of their last 8 digits."] = False
    as_json: Annotated[bool, "--json", "Print one JSON document on stdout."] = False

    @cached_property
    def settings(self) -> Settings:
        """The settings of a short command. They switch off background indexing, for which the command ends too soon."""
        return replace(self.lasting_settings(), background_index=False)

    def lasting_settings(self, **others: object) -> Settings:
        """The settings of a long-running command. `others`: settings from the command's own options."""
        from remembrancer.config import load

        given = {field.name: getattr(self, field.name) for field in fields(self)}
        del given["config"], given["as_json"], given["full_ids"]
        return load({**given, **others}, file=self.config)

    @property
    def encryption_key(self) -> str | None:
        """The encryption key of the settings."""
        from remembrancer.config import encryption_secret

        return encryption_secret(self.settings)

    @cached_property
    def now(self) -> datetime:
        return datetime.now(UTC)

    @cached_property
    def out(self) -> Console:
        return _console(stderr=False, full_ids=self.full_ids)

    @cached_property
    def marked_up(self) -> Console:
        """Stdout for the program's own texts, which contain markup."""
        return _Console(highlight=False)

    @cached_property
    def err(self) -> Console:
        return _console(stderr=True, full_ids=self.full_ids)

    @contextmanager
    def opened(
        self, *, create: bool, settings: Settings | None = None, clock: Clock | None = None, asked: str | None = None
    ) -> Generator[Remembrancer, None, None]:
        """The open memory. Without `create`, a missing file raises StoreUnavailable and is not created.

        `asked`: the question that it will be asked. A model in this process that reads it is loaded in another thread,
        while the memory is imported and opened.
        """
        settings = settings or self.settings
        embedder = None if asked is None else _loading(settings, asked)
        from remembrancer import Remembrancer

        with Remembrancer.open(settings=settings, embedder=embedder, clock=clock, create=create) as memory:
            yield memory

    def run(
        self,
        ask: Callable[[Remembrancer], W],
        draw: Callable[[W], Iterable[RenderableType]],
        *,
        create: bool = False,
        index: bool = False,
    ) -> None:
        """Open the memory as `opened` does, get an answer, index the waiting cues if `index`, and print the answer."""
        with self.opened(create=create) as memory:
            shape = ask(memory)
            if index:
                self.index(memory)
        self.answer(shape, draw)

    def answer(self, shape: W, draw: Callable[[W], Iterable[RenderableType]]) -> None:
        """Print an answer: as JSON with --json, otherwise as `draw` renders it."""
        if self.as_json:
            self.document(shape)
        else:
            self.page(draw(shape))

    def document(self, shape: Wire) -> None:
        """Print an answer as JSON."""
        self.write(_json(shape))

    def page(self, blocks: Iterable[RenderableType]) -> None:
        """Print the blocks of an answer, one below the other."""
        for block in blocks:
            self.out.print(block)

    def write(self, text: str) -> None:
        """Write a line to stdout and flush it: the output of a worker is read line by line."""
        sys.stdout.write(f"{text}\n")
        sys.stdout.flush()

    def note(self, text: str, *, style: str = "dim") -> None:
        """Print one line to stderr."""
        self.err.print(one_line(text), style=style, soft_wrap=True)

    def titles(self, memory: Remembrancer, rows: Iterable[Memory | Event]) -> Titles:
        """The titles of the conversations of memories or events; none with --json, which has no use for them."""
        return {} if self.as_json else memory.journal.titles({one.scope for one in rows})

    def degraded(self, parts: Mapping[str, str]) -> None:
        """Print one line to stderr if something could not be used."""
        if parts:
            self.note("degraded: " + "; ".join(f"{part}: {reason}" for part, reason in parts.items()))

    def reading(self, file: Path) -> AbstractContextManager[Callable[[int], None]]:
        """A progress bar in bytes while a file is read. Call the result with the bytes read so far."""
        return self._progress(file.name, "bytes", file.stat().st_size)

    def rows(self, doing: str) -> AbstractContextManager[Callable[[int], None]]:
        """A counter of rows. Call the result with the rows done so far."""
        return self._progress(doing, "rows")

    @contextmanager
    def moving(self) -> Generator[Callable[[str, int, int], None], None, None]:
        """A progress bar in rows, with their rate. Call the result with the phase, the rows done so far, and all."""
        with self._progress("reading", "rate") as update:
            yield lambda phase, done, total: update(done, total=total, description=phase)

    def asking(self, total: int) -> AbstractContextManager[Callable[[int], None]]:
        """A progress bar in questions. Call the result with the number asked so far."""
        return self._progress("asking", "count", total)

    @contextmanager
    def pages(self, doing: str) -> Generator[Callable[[int, int], None], None, None]:
        """A progress bar in pages. Call the result with the pages done so far, and all."""
        with self._progress(doing, "count") as update:
            yield lambda done, total: update(done, total=total)

    @contextmanager
    def indexing(self, memory: Remembrancer, *, anew: bool = False) -> Generator[Callable[[int], None], None, None]:
        """A progress bar in cues while they are indexed; `anew`: all cues are indexed. Call the result with the number
        done.
        """
        stats = memory.health.stats()
        waiting = stats.cues - (0 if anew else max(stats.vectors.values(), default=0))
        with self._progress("indexing", "count", waiting) as update:
            # Others may add cues meanwhile, and this caller may not see all of them.
            yield lambda done: update(done, total=max(done, waiting))

    def index(self, memory: Remembrancer) -> IndexReport:
        """Index the waiting cues, so that they are found by meaning too."""
        with self.indexing(memory) as on_indexed:
            return memory.jobs.index_now(on_indexed=on_indexed)

    @contextmanager
    def measuring(self) -> Generator[OnProgress, None, None]:
        """A progress bar in questions. Call the result with the progress of a measurement."""
        with self._progress("measuring", "count") as update:
            yield lambda at: update(at.done, total=at.total, description=one_line(f"{at.system}, {at.conversation}"))

    def _progress(
        self, doing: str, shows: Shows, total: int | None = None
    ) -> AbstractContextManager[Callable[..., None]]:
        from remembrancer.interfaces.cli.progress import progress

        return progress(self.err, doing, shows, total)


def _loading(settings: Settings, question: str) -> Embedder | None:
    """The embedder of the settings, which is being loaded; None for one that has no model in this process, or none for
    this question.
    """
    from remembrancer.adapters.deferred import DeferredTokenEmbedder
    from remembrancer.models import choose_embedder
    from remembrancer.modules import idle_threads_that_sleep

    with idle_threads_that_sleep():
        embedder = choose_embedder(settings).embedder
    if not isinstance(embedder, DeferredTokenEmbedder) or not embedder.reads(question):
        return None
    embedder.begin()
    return embedder


def _console(*, stderr: bool, full_ids: bool) -> Console:
    # Memories are texts by others, so nothing in them is read as markup, an emoji code or a number to be coloured.
    console = _Console(stderr=stderr, markup=False, emoji=False, highlight=False)
    console.full_ids = full_ids
    return console


def _json(shape: Wire) -> str:
    """JSON that is safe to print on a terminal: unprintable characters are escaped, all others stay readable."""
    document = json.dumps(shape.model_dump(mode="json"), ensure_ascii=False, indent=2)
    return "".join(
        character if character.isprintable() or character == "\n" else json.dumps(character)[1:-1]
        for character in document
    )
