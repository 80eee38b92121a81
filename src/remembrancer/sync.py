"""The same memory for programs that do not await: every method of AsyncRemembrancer, run on one private event loop.

The loop runs in a thread of its own, so the methods may be called from any thread, also from one that runs a loop.
The methods are derived from the asynchronous ones: `blocking` and `iterating` keep a method's parameters, its result
and its documentation, for type checkers and for `help` alike.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import CancelledError
from contextlib import suppress
from datetime import datetime
from functools import update_wrapper
from types import MethodType, TracebackType
from typing import Any, Concatenate, Generic, ParamSpec, Self, TypeVar, cast

from remembrancer.domain.scope import Scope
from remembrancer.errors import StoreUnavailable
from remembrancer.facade import AsyncRemembrancer
from remembrancer.presets.spec import Preset

A = TypeVar("A")
B = TypeVar("B")
P = ParamSpec("P")
R = TypeVar("R")


class _Loop:
    """An event loop in a daemon thread, shared by all views of one open store."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="remembrancer-loop", daemon=True)
        self._door = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Wait for the work's result. Raises StoreUnavailable after `close`, and in a process forked since."""
        if self._is_here():
            work.close()
            raise RuntimeError("a memory cannot be used from inside one of its own callbacks")
        if os.getpid() != self._process:  # a fork does not have the thread: waiting for it would never end
            work.close()
            raise StoreUnavailable("this memory was opened before the process was forked; open it again here")
        with self._door:  # no work is handed over after the last
            if self._closed:
                work.close()
                raise StoreUnavailable("this memory is already closed")
            waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except CancelledError as error:
            raise StoreUnavailable("this memory was closed meanwhile") from error
        except BaseException:
            waiting.cancel()  # a caller that was interrupted leaves nothing running behind it
            raise

    def each(self, items: AsyncGenerator[R, None]) -> Generator[R, None, None]:
        """The generator's items, each waited for. Closing or interrupting this closes the generator."""
        coming: set[asyncio.Task[R]] = set()

        async def following() -> R:
            item = asyncio.create_task(_next(items))
            coming.add(item)
            item.add_done_callback(coming.discard)
            return await item

        async def ended() -> None:
            for item in coming:
                if not item.cancelling():  # an interrupt may come before the waiting task was told
                    item.cancel()
            if coming:
                await asyncio.wait(coming)
            await items.aclose()

        try:
            while True:
                yield self.run(following())
        finally:
            with suppress(StoreUnavailable):  # closed already, and with it all that the loop still ran
                self.run(ended())

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Run `last`, then stop. Other threads that still wait get StoreUnavailable. A second call does nothing."""
        if self._is_here():
            raise RuntimeError("a memory cannot be closed from inside one of its own callbacks")
        if os.getpid() != self._process:
            return  # the parent process closes it
        with self._door:
            if self._closed:
                return
            self._closed = True
        try:
            asyncio.run_coroutine_threadsafe(self._finish(last), self._loop).result()
        finally:
            self._loop.call_soon_threadsafe(self._loop.stop)
            self._thread.join()
            self._loop.close()

    def _is_here(self) -> bool:
        """Whether this is the loop's own thread, which would wait for itself for ever."""
        return threading.current_thread() is self._thread

    async def _finish(self, last: Callable[[], Coroutine[Any, Any, None]] | None) -> None:
        try:
            if last is not None:
                await last()
        finally:
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)


async def _next(items: AsyncGenerator[R, None]) -> R:
    return await anext(items)


class Blocking(Generic[A]):
    """An asynchronous object, and the loop that runs its methods."""

    def __init__(self, inner: A, loop: _Loop) -> None:
        """Use `Remembrancer.open`."""
        self._inner = inner
        self._loop = loop

    @staticmethod
    def waiting(
        method: Callable[Concatenate[B, P], Coroutine[Any, Any, R]],
    ) -> Callable[Concatenate[Blocking[B], P], R]:
        """The same method for a `Blocking` object: it waits for the result and returns it."""

        def call(self: Blocking[B], *args: P.args, **kwargs: P.kwargs) -> R:
            return self._loop.run(method(self._inner, *args, **kwargs))

        return _like(method, call)

    @staticmethod
    def iterating(
        method: Callable[Concatenate[B, P], AsyncGenerator[R, None]],
    ) -> Callable[Concatenate[Blocking[B], P], Generator[R, None, None]]:
        """The same method for a `Blocking` object: it returns a generator that waits for each item."""

        def call(self: Blocking[B], *args: P.args, **kwargs: P.kwargs) -> Generator[R, None, None]:
            return self._loop.each(method(self._inner, *args, **kwargs))

        signature = inspect.signature(method)
        returns = str(signature.return_annotation).replace("Async", "").replace(", None]", ", None, None]")
        vars(call)["__signature__"] = signature.replace(return_annotation=returns)
        return _like(method, call)


def _like(method: Callable[..., object], call: Callable[P, R]) -> Callable[P, R]:
    """Give `call` the name, parameters and documentation of an asynchronous method."""
    call = update_wrapper(call, method)
    call.__module__ = __name__
    call.__qualname__ = method.__qualname__.removeprefix("Async")
    return call


def opening(
    method: Callable[P, Coroutine[Any, Any, AsyncRemembrancer]],
) -> Callable[Concatenate[type[Remembrancer], P], Remembrancer]:
    """The same constructor for a blocking memory: it starts the loop that the memory then lives on."""

    def call(cls: type[Remembrancer], *args: P.args, **kwargs: P.kwargs) -> Remembrancer:
        loop = _Loop()
        try:
            return cls(loop.run(method(*args, **kwargs)), loop)
        except BaseException:
            loop.close()
            raise

    return _like(cast("MethodType", method).__func__, call)


blocking = Blocking.waiting
iterating = Blocking.iterating


class Remembrancer(Blocking[AsyncRemembrancer]):
    """A memory open for one caller. Make one with `open`; `scoped` gives cheap views for others of its workspace."""

    open = classmethod(opening(AsyncRemembrancer.open))

    def close(self) -> None:
        """Close the store. Vectors that are still missing are made when the store is next open. May be called twice."""
        self._loop.close(self._inner.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def scoped(self, *, role: str | None = None, **scope: str | None) -> Self:
        """A view for another project, crew, agent or session of the same workspace, over the same open store.

        Raises InvalidInput for an unknown part of a scope, or a role that the preset does not know.
        """
        return type(self)(self._inner.scoped(role=role, **scope), self._loop)

    def of_workspace(self, workspace: str) -> Self:
        """A view of another workspace over the same open store, with nothing else of this scope and the same role.

        Nothing crosses between the two. It is for a server, which has made sure that its caller may.
        """
        return type(self)(self._inner.of_workspace(workspace), self._loop)

    @property
    def scope(self) -> Scope:
        return self._inner.scope

    @property
    def preset(self) -> Preset:
        """What this memory was opened with."""
        return self._inner.preset

    @property
    def language_model(self) -> str | None:
        """The name of the language model that is asked; None: there is none."""
        return self._inner.language_model

    @property
    def now(self) -> datetime:
        """What time it is by the clock of this memory, which ages are told by."""
        return self._inner.now

    # ── write ────────────────────────────────────────────────────────────────────────────────────────────────────

    observe = blocking(AsyncRemembrancer.observe)
    observe_many = blocking(AsyncRemembrancer.observe_many)
    log_event = blocking(AsyncRemembrancer.log_event)
    remember = blocking(AsyncRemembrancer.remember)
    learn = blocking(AsyncRemembrancer.learn)
    update = blocking(AsyncRemembrancer.update)
    feedback = blocking(AsyncRemembrancer.feedback)
    mark = blocking(AsyncRemembrancer.mark)
    link = blocking(AsyncRemembrancer.link)
    supersede = blocking(AsyncRemembrancer.supersede)
    invalidate = blocking(AsyncRemembrancer.invalidate)
    nudge = blocking(AsyncRemembrancer.nudge)

    # ── read ─────────────────────────────────────────────────────────────────────────────────────────────────────

    recall = blocking(AsyncRemembrancer.recall)
    why_not = blocking(AsyncRemembrancer.why_not)
    compare = blocking(AsyncRemembrancer.compare)
    get = blocking(AsyncRemembrancer.get)
    show = blocking(AsyncRemembrancer.show)
    recent = blocking(AsyncRemembrancer.recent)
    memories = blocking(AsyncRemembrancer.memories)
    timeline = blocking(AsyncRemembrancer.timeline)
    decay = blocking(AsyncRemembrancer.decay)
    fading = blocking(AsyncRemembrancer.fading)
    outlooks = blocking(AsyncRemembrancer.outlooks)
    graph = blocking(AsyncRemembrancer.graph)
    curve = blocking(AsyncRemembrancer.curve)
    events = blocking(AsyncRemembrancer.events)
    journal = blocking(AsyncRemembrancer.journal)
    event = blocking(AsyncRemembrancer.event)
    count_events = blocking(AsyncRemembrancer.count_events)
    events_by_day = blocking(AsyncRemembrancer.events_by_day)
    recorded = blocking(AsyncRemembrancer.recorded)
    tail = iterating(AsyncRemembrancer.tail)
    wait_recorded = blocking(AsyncRemembrancer.wait_recorded)
    set_priority = blocking(AsyncRemembrancer.set_priority)
    priority_changes = blocking(AsyncRemembrancer.priority_changes)
    crews = blocking(AsyncRemembrancer.crews)
    stats = blocking(AsyncRemembrancer.stats)
    health = blocking(AsyncRemembrancer.health)
    health_history = blocking(AsyncRemembrancer.health_history)

    # ── mind ─────────────────────────────────────────────────────────────────────────────────────────────────────

    end_session = blocking(AsyncRemembrancer.end_session)
    sleep = blocking(AsyncRemembrancer.sleep)
    consolidate = blocking(AsyncRemembrancer.consolidate)
    maintain = blocking(AsyncRemembrancer.maintain)
    work = blocking(AsyncRemembrancer.work)
    jobs = blocking(AsyncRemembrancer.jobs)
    spending = blocking(AsyncRemembrancer.spending)
    promotable = blocking(AsyncRemembrancer.promotable)
    promote = blocking(AsyncRemembrancer.promote)
    enter_stage = blocking(AsyncRemembrancer.enter_stage)
    reviews = blocking(AsyncRemembrancer.reviews)

    # ── care ─────────────────────────────────────────────────────────────────────────────────────────────────────

    forget = blocking(AsyncRemembrancer.forget)
    restore = blocking(AsyncRemembrancer.restore)
    erase = blocking(AsyncRemembrancer.erase)
    erasures = blocking(AsyncRemembrancer.erasures)
    index_now = blocking(AsyncRemembrancer.index_now)
    sync_vault = blocking(AsyncRemembrancer.sync_vault)
    check_vault = blocking(AsyncRemembrancer.check_vault)
    rebuild_vault = blocking(AsyncRemembrancer.rebuild_vault)
    search_mode = blocking(AsyncRemembrancer.search_mode)
    search_state = blocking(AsyncRemembrancer.search_state)
    ready = blocking(AsyncRemembrancer.ready)
    doctor = blocking(AsyncRemembrancer.doctor)
    export = blocking(AsyncRemembrancer.export)
    import_ = blocking(AsyncRemembrancer.import_)

    # ── keys ─────────────────────────────────────────────────────────────────────────────────────────────────────

    create_key = blocking(AsyncRemembrancer.create_key)
    keys = blocking(AsyncRemembrancer.keys)
    revoke_key = blocking(AsyncRemembrancer.revoke_key)
    key_for = blocking(AsyncRemembrancer.key_for)
    has_keys = blocking(AsyncRemembrancer.has_keys)
    needs_key = blocking(AsyncRemembrancer.needs_key)
    claim_request = blocking(AsyncRemembrancer.claim_request)
    answer_request = blocking(AsyncRemembrancer.answer_request)
    release_request = blocking(AsyncRemembrancer.release_request)
