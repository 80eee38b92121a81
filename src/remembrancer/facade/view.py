"""One caller's view of an open store: what AsyncRemembrancer and the classes beside it are bound to."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar, cast
from uuid import UUID

from remembrancer import engine, jobs
from remembrancer.domain import validation
from remembrancer.domain.query import Filter, Filters, filter_of
from remembrancer.domain.scope import Reach, Reader, Scope

if TYPE_CHECKING:
    from remembrancer.engine.context import Caller, Context
    from remembrancer.jobs.arrivals import Arrivals
    from remembrancer.jobs.indexer import Indexer

Identifier = UUID | str
R = TypeVar("R")
MAX_LISTED: Final = 10_000
"""Rows of one listing."""


class Closable(Protocol):
    async def close(self) -> None: ...


class Opened:
    """What all views of one open store share."""

    def __init__(self, ctx: Context, *, owned: tuple[Closable, ...], background_index: bool) -> None:
        """`owned`: what `close` closes, the last of them first; objects that the program passed in are not among it."""
        self.ctx = ctx
        self._owned = owned
        self._background_index = background_index
        self._indexers: dict[str, Indexer] = {}  # by workspace, of those that were used
        self._arrivals: dict[str, Arrivals] = {}  # by workspace, of those whose journal was waited for

    def indexer(self, workspace: str) -> Indexer:
        """The workspace's index sweep, started in the background when first asked for, unless settings forbid it."""
        if workspace not in self._indexers:
            self._indexers[workspace] = jobs.indexer.Indexer(self.ctx, Scope(workspace=workspace))
            if self._background_index:
                self._indexers[workspace].start()
        return self._indexers[workspace]

    def arrivals(self, workspace: str) -> Arrivals:
        """What tells those who wait that something was recorded in the workspace."""
        if workspace not in self._arrivals:
            reader, everything = Reader(Scope(workspace=workspace)), engine.journal.filter_of({})

            async def position() -> int:
                return (await self.ctx.store.recorded(reader, everything, limit=0)).position

            self._arrivals[workspace] = jobs.arrivals.Arrivals(position)
        return self._arrivals[workspace]

    async def close(self) -> None:
        for background in (*self._indexers.values(), *self._arrivals.values()):
            await background.stop()
        async with AsyncExitStack() as closing:  # an error in one leaves none of the others open
            for one in self._owned:
                closing.push_async_callback(one.close)


class View:
    """What one caller sees of an open store. It is cheap: any number of views may share the store."""

    def __init__(self, opened: Opened, caller: Caller) -> None:
        """Use `AsyncRemembrancer.open`."""
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
        """Have new cues indexed in the background. Without an embedder there is nothing to do."""
        if self._ctx.embedder is not None:
            self._indexer.wake()

    def _indexed(self, written: R) -> R:
        """Have new cues indexed in the background, and return what was written."""
        self._wake_indexer()
        return written

    def _reader(self, reach: Reach | str | None = None, *, asking: bool = False) -> Reader:
        asked = None if reach is None else validation.choice("reach", reach, Reach)
        return engine.context.reader_of(self._ctx, self._caller, asked, asking=asking)

    def _filter(self, filters: Filters) -> Filter:
        return filter_of(filters, self._ctx.clock())

    @staticmethod
    def noun(api: Callable[[Opened, Caller], R]) -> R:
        """A property with the methods about one noun. Like `dataclasses.field`, it has the type of the attribute that
        it makes.
        """

        def get(self: View) -> R:
            return api(self._opened, self._caller)

        get.__doc__ = api.__doc__
        get.__annotations__ = {"return": cast("type", api).__name__}
        made: Any = property(get)
        return made


def from_arguments(shape: type[R], arguments: Mapping[str, Any], **changed: Any) -> R:
    """A value whose fields are the arguments of the same names, for a method that begins with `locals()`. `changed`
    replaces some of them.
    """
    names: Any = vars(shape)["__slots__"]
    return shape(**{name: value for name, value in {**arguments, **changed}.items() if name in names})


def identifiers(argument: str, values: object) -> list[UUID]:
    """The ids of a list of them. Raises InvalidInput."""
    return [validation.identifier(argument, one) for one in validation.several(argument, values)]


def listed(limit: int) -> int:
    """A `limit` of a listing, checked: 1 to 10,000."""
    return validation.whole("limit", limit, 1, MAX_LISTED)
