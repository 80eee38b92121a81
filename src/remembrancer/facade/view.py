"""The base class of AsyncRemembrancer and of the classes for nouns: one caller's view of an open store."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from contextlib import AsyncExitStack
from functools import partial, wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast
from uuid import UUID

from remembrancer import engine, jobs
from remembrancer.domain import validation
from remembrancer.domain.identity import SHORT_DIGITS
from remembrancer.domain.job import Job
from remembrancer.domain.query import Filter, Filters, filter_of
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.errors import InvalidInput, NotFound
from remembrancer.facade.reads import READS, ReadLog, seen_in
from remembrancer.patterns import pattern
from remembrancer.ports.audit import CALL

if TYPE_CHECKING:
    from remembrancer.engine.context import Caller, Context
    from remembrancer.jobs.arrivals import Arrivals
    from remembrancer.jobs.indexer import Indexer
    from remembrancer.ports.inspection import IdentifiedRows
    from remembrancer.ports.job_queue import JobQueue

Identifier = UUID | str
R = TypeVar("R")
_SHORT_ID: Final = pattern(f"[0-9a-fA-F]{{{SHORT_DIGITS},31}}")
_NOUN: Final = pattern("Async([A-Z][a-z]+)Api")
MAX_LISTED: Final = 10_000
"""The limit of rows in one listing."""


class Closable(Protocol):
    async def close(self) -> None: ...


class Opened:
    """The shared state of all views of one open store."""

    def __init__(
        self,
        ctx: Context,
        queue: JobQueue,
        *,
        owned: tuple[Closable, ...],
        background_index: bool,
        audit_reads: bool = False,
    ) -> None:
        """`owned`: objects that `close` closes, last first. Objects that the program passed in are not among them.
        `audit_reads`: whether reads are in the audit trail.
        """
        self.ctx = ctx
        self.reads = ReadLog(ctx.store) if audit_reads else None
        self.queue = queue
        self._owned = owned
        self._background_index = background_index
        self._indexers: dict[str, Indexer] = {}  # by workspace
        self._arrivals: dict[str, Arrivals] = {}  # by workspace
        queue.listen(self._heard)

    def indexer(self, workspace: str) -> Indexer:
        """The workspace's background indexer. The first call starts it, unless the settings forbid it, or workers do
        its work.
        """
        if workspace not in self._indexers:
            has_turn = partial(self.queue.takes_turn, workspace)
            self._indexers[workspace] = jobs.indexer.Indexer(self.ctx, Scope(workspace=workspace), has_turn)
            if self._background_index and not self.queue.shared:
                self._indexers[workspace].start()
        return self._indexers[workspace]

    def wake_indexer(self, workspace: str) -> None:
        """Have new cues of the workspace embedded soon: here, or by a worker that shares the queue."""
        self.indexer(workspace).wake()
        if self._background_index:
            self.queue.announce(workspace, Job.INDEX)

    def _heard(self, workspace: str) -> None:
        """Another process announced new cues."""
        if workspace in self._indexers:
            self._indexers[workspace].wake()

    def arrivals(self, workspace: str) -> Arrivals:
        """Notifies waiting callers when an event is recorded in the workspace."""
        if workspace not in self._arrivals:
            scope, everything = Scope(workspace=workspace), engine.journal.filter_of({})

            async def position() -> int:
                return (await self.ctx.store.recorded(Reader(scope), everything, limit=0)).position

            self._arrivals[workspace] = jobs.arrivals.Arrivals(position, partial(self.ctx.store.subscribe, scope))
        return self._arrivals[workspace]

    async def close(self) -> None:
        for background in (*self._indexers.values(), *self._arrivals.values()):
            await background.stop()
        if self.reads is not None:
            await self.reads.close()
        async with AsyncExitStack() as closing:  # an error while closing one object does not keep the others open
            for one in self._owned:
                closing.push_async_callback(one.close)
            if any(one is self.ctx.index for one in self._owned):
                closing.push_async_callback(self.ctx.index.save, self.ctx.store)


class View:
    """One caller's view of an open store. Views are cheap; any number may share a store."""

    def __init_subclass__(cls) -> None:
        """Let each call say in the audit trail which one it is: `recall`; of `AsyncKeysApi`, `keys.create`."""
        super().__init_subclass__()
        noun = _NOUN.fullmatch(cls.__name__)
        for name, method in list(vars(cls).items()):
            if inspect.iscoroutinefunction(method) and not name.startswith("_") and name != "close":
                verb = f"{noun[1].lower()}.{name}" if noun else name.rstrip("_")
                setattr(cls, name, View._as_verb(verb, method))

    def __init__(self, opened: Opened, caller: Caller) -> None:
        """Internal: use `AsyncRemembrancer.open`."""
        self._opened = opened
        self._caller = caller

    @property
    def _ctx(self) -> Context:
        return self._opened.ctx

    @property
    def _scope(self) -> Scope:
        return self._caller.scope

    @property
    def _arrivals(self) -> Arrivals:
        return self._opened.arrivals(self._scope.workspace)

    @property
    def _indexer(self) -> Indexer:
        return self._opened.indexer(self._scope.workspace)

    def _wake_indexer(self) -> None:
        """Wake the background indexer for new cues. Does nothing without an embedder."""
        if self._ctx.embedder is not None:
            self._opened.wake_indexer(self._scope.workspace)

    def _indexed(self, written: R) -> R:
        """Wake the background indexer, and return `written`."""
        self._wake_indexer()
        return written

    def _reader(self, reach: Reach | str | None = None, *, asking: bool = False) -> Reader:
        asked = None if reach is None else validation.choice("reach", reach, Reach)
        return engine.context.reader_of(self._ctx, self._caller, asked, asking=asking)

    def _widest_reader(self) -> Reader:
        return engine.context.widest_reader(self._ctx, self._caller)

    async def _identified(self, argument: str, value: Identifier, rows: IdentifiedRows = "memory") -> UUID:
        """The id of a row from a UUID, its text, or the end of its text: the last 8 digits or more.

        Ids begin with a time, so the last digits tell them apart. Raises InvalidInput, also where several rows that the
        caller sees end with these digits, and NotFound where none does.
        """
        digits = ending_of(value)
        if digits is None:
            try:
                return validation.identifier(argument, value)
            except InvalidInput:
                allowed = f"an id (a UUID such as 0192f0c1-…, or its last {SHORT_DIGITS} digits or more)"
                raise InvalidInput(argument, value, allowed) from None
        return one_of(argument, digits, rows, await self._ctx.store.ids_ending(self._reader(), rows, digits))

    async def _all_identified(self, argument: str, values: object, rows: IdentifiedRows = "memory") -> list[UUID]:
        """The ids of several rows, as in `_identified`."""
        return [await self._identified(argument, one, rows) for one in validation.several(argument, values)]

    def _filter(self, filters: Filters) -> Filter:
        return filter_of(filters, self._ctx.clock())

    @staticmethod
    def _as_verb(verb: str, method: Callable[..., Coroutine[Any, Any, R]]) -> Callable[..., Coroutine[Any, Any, R]]:
        """The method as the act of `verb`, unless another call or a job makes use of it."""

        @wraps(method)
        async def call(self: View, *args: Any, **kwargs: Any) -> R:
            if CALL.get() is not None:
                return await method(self, *args, **kwargs)
            before = CALL.set((verb, self._ctx.clock))
            try:
                answer = await method(self, *args, **kwargs)
                if verb in READS and self._opened.reads is not None:
                    await self._opened.reads.add(self._scope, seen_in(answer))
            finally:
                CALL.reset(before)
            return answer

        return call

    @staticmethod
    def noun(api: Callable[[Opened, Caller], R]) -> R:
        """A property that returns the class for one noun, such as `rem.journal`. Its declared return type is the
        attribute's type, as with `dataclasses.field`.
        """

        def get(self: View) -> R:
            return api(self._opened, self._caller)

        get.__doc__ = api.__doc__
        get.__annotations__ = {"return": cast("type", api).__name__}
        made: Any = property(get)
        return made


def from_arguments(shape: type[R], arguments: Mapping[str, Any], **changed: Any) -> R:
    """Make a `shape` from the arguments with the names of its fields, for a method that begins with `locals()`.
    `changed` replaces some of them.
    """
    names: Any = vars(shape)["__dataclass_fields__"]
    return shape(**{name: arguments[name] for name in names if name in arguments} | changed)


def path_of(argument: str, value: object) -> Path:
    """A path from a Path or its text. Raises InvalidInput."""
    if not isinstance(value, str | Path) or not str(value) or "\x00" in str(value):
        raise InvalidInput(argument, value, "a path")
    try:
        os.fsencode(value)
    except UnicodeEncodeError:
        raise InvalidInput(argument, value, "a path without lone surrogates") from None
    return Path(value)


def ending_of(value: object) -> str | None:
    """The digits of a short id, in lower case; None for anything else."""
    return value.lower() if isinstance(value, str) and _SHORT_ID.fullmatch(value) else None


def one_of(argument: str, ending: str, noun: str, found: Sequence[UUID]) -> UUID:
    """The only id that was found by its ending. Raises NotFound, and InvalidInput for several."""
    if not found:
        raise NotFound(noun, f"whose id ends with {ending}")
    if len(found) > 1:
        several = ", ".join(map(str, found[:5]))
        raise InvalidInput(argument, ending, f"more digits, as {len(found)} ids end with these: {several}")
    return found[0]


def one_listed(
    argument: str,
    given: Identifier,
    noun: str,
    ids: Iterable[UUID],
    whole: Callable[[str, object], UUID] = validation.identifier,
) -> UUID:
    """The id that is given, as `whole` reads it, or the one of `ids` that ends with the digits given. Raises as
    `one_of`.
    """
    digits = ending_of(given)
    if digits is None:
        return whole(argument, given)
    return one_of(argument, digits, noun, [one for one in ids if one.hex.endswith(digits)])


def listed(limit: int) -> int:
    """The `limit` of a listing, if it is 1 to 10,000; otherwise raises InvalidInput."""
    return validation.whole("limit", limit, 1, MAX_LISTED)
