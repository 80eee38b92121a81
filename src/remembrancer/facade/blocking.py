"""Blocking versions of asynchronous objects: their methods run on an event loop in a separate thread.

The methods may be called from any thread, also from one that runs an event loop. `blocking` and `iterating` derive them
from the asynchronous methods, with the same parameters, result type and documentation.
"""

from __future__ import annotations

import asyncio
import inspect
import os
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator
from concurrent.futures import CancelledError
from contextlib import suppress
from functools import update_wrapper
from typing import Any, Concatenate, Final, Generic, ParamSpec, TypeVar, cast

from remembrancer.errors import StoreUnavailable

MODULE: Final = "remembrancer.sync"
"""The `__module__` of derived methods."""

A = TypeVar("A")
B = TypeVar("B")
P = ParamSpec("P")
R = TypeVar("R")
V = TypeVar("V", bound="Blocking[Any]")


class Loop:
    """An event loop in a daemon thread, shared by all views of one open store."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="remembrancer-loop", daemon=True)
        self._door = threading.Lock()
        self._closed = False
        self._process = os.getpid()
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, R]) -> R:
        """Run a coroutine on the loop and wait for its result. Raises StoreUnavailable after `close`, and in a forked
        process.
        """
        if self._is_here():
            work.close()
            raise RuntimeError("a memory cannot be used from inside one of its own callbacks")
        if os.getpid() != self._process:  # a forked process does not have the thread: waiting for it would never end
            work.close()
            raise StoreUnavailable("this memory was opened before the process was forked; open it again here")
        with self._door:  # `close` takes the same lock, so no coroutine is submitted after its last one
            if self._closed:
                work.close()
                raise StoreUnavailable("this memory is already closed")
            waiting = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return waiting.result()
        except CancelledError as error:
            raise StoreUnavailable("this memory was closed meanwhile") from error
        except BaseException:
            waiting.cancel()  # an interrupted caller must not leave its coroutine running
            raise

    def each(self, items: AsyncGenerator[R, None]) -> Generator[R, None, None]:
        """The items of an asynchronous generator, each waited for. Closing or interrupting this generator closes that
        one.
        """
        coming: set[asyncio.Task[R]] = set()

        async def following() -> R:
            item = asyncio.create_task(_next(items))
            coming.add(item)
            item.add_done_callback(coming.discard)
            return await item

        async def ended() -> None:
            for item in coming:
                if not item.cancelling():  # the interrupt may come before the waiting task was cancelled
                    item.cancel()
            if coming:
                await asyncio.wait(coming)
            await items.aclose()

        try:
            while True:
                yield self.run(following())
        finally:
            with suppress(StoreUnavailable):  # the loop is closed, and everything on it has ended
                self.run(ended())

    def close(self, last: Callable[[], Coroutine[Any, Any, None]] | None = None) -> None:
        """Run `last`, then stop the loop. Other threads that still wait get StoreUnavailable. A second call does
        nothing.
        """
        if self._is_here():
            raise RuntimeError("a memory cannot be closed from inside one of its own callbacks")
        if os.getpid() != self._process:
            return  # a forked process leaves the loop to its parent
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
        """Whether this is the loop's own thread. Waiting for the loop there would never end."""
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
    """An asynchronous object, and the loop on which its methods run."""

    def __init__(self, inner: A, loop: Loop) -> None:
        self._inner = inner
        self._loop = loop

    @staticmethod
    def waiting(
        method: Callable[Concatenate[B, P], Coroutine[Any, Any, R]],
    ) -> Callable[Concatenate[Blocking[B], P], R]:
        """A method with the same signature for a `Blocking` object; it waits for the result and returns it."""

        def call(self: Blocking[B], *args: P.args, **kwargs: P.kwargs) -> R:
            return self._loop.run(method(self._inner, *args, **kwargs))

        return like(method, call)

    @staticmethod
    def iterating(
        method: Callable[Concatenate[B, P], AsyncGenerator[R, None]],
    ) -> Callable[Concatenate[Blocking[B], P], Generator[R, None, None]]:
        """A method with the same signature for a `Blocking` object; it returns a generator that waits for each item."""

        def call(self: Blocking[B], *args: P.args, **kwargs: P.kwargs) -> Generator[R, None, None]:
            return self._loop.each(method(self._inner, *args, **kwargs))

        signature = inspect.signature(method)
        returns = str(signature.return_annotation).replace("Async", "").replace(", None]", ", None, None]")
        vars(call)["__signature__"] = signature.replace(return_annotation=returns)
        return like(method, call)

    @staticmethod
    def viewing(method: Callable[Concatenate[B, P], B]) -> Callable[Concatenate[V, P], V]:
        """The blocking method for one that returns another view: same signature, and the view runs on the same loop."""

        def call(self: V, *args: P.args, **kwargs: P.kwargs) -> V:
            return type(self)(method(self._inner, *args, **kwargs), self._loop)

        return like(method, call)

    @staticmethod
    def attribute(of: object, api: Callable[[Any, Loop], object] = lambda value, _: value) -> Any:
        """A property of the same name for a `Blocking` object. `api` converts the value of the
        asynchronous property.
        """
        read: Any = cast("property", of).fget

        def get(self: Blocking[object]) -> object:
            return api(read(self._inner), self._loop)

        get.__doc__ = read.__doc__
        get.__annotations__ = {"return": read.__annotations__["return"].removeprefix("Async")}
        return property(get)

    @staticmethod
    def noun(of: B, api: Callable[[B, Loop], R]) -> R:
        """The blocking version of a noun such as `rem.journal`. Its declared return type is the attribute's type, as
        with `dataclasses.field`.
        """
        return Blocking.attribute(of, api)


def like(method: Callable[..., object], call: Callable[P, R]) -> Callable[P, R]:
    """Give `call` the name, signature and documentation of an asynchronous method."""
    call = update_wrapper(call, method)
    call.__module__ = MODULE
    call.__qualname__ = method.__qualname__.removeprefix("Async")
    return call


blocking = Blocking.waiting
iterating = Blocking.iterating
viewing = Blocking.viewing
attribute = Blocking.attribute
noun = Blocking.noun
