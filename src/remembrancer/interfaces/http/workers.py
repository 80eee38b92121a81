"""Several processes that answer requests at one address, over one store.

uvicorn's supervisor starts them, replaces those that ended or hang, and stops them. They accept connections from one
listening socket, once all of them are warm. A folder holds what they share.
"""
# ruff: noqa: PLC0415 - the supervisor answers nothing itself, so it loads only what starts processes

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import sys
import tempfile
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Generator, Sequence
from contextlib import AsyncExitStack, contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

import uvicorn
from uvicorn.supervisors import multiprocess

from remembrancer.config import DISTRIBUTED, Settings, shared_metrics
from remembrancer.errors import RemembrancerError, StoreUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from multiprocessing.process import BaseProcess

    from remembrancer import AsyncRemembrancer
    from remembrancer.adapters.siblings.shared import Siblings
    from remembrancer.jobs.worker import Stop

HANGING_SECONDS: Final = 60
"""A worker whose interpreter does nothing for this long is replaced."""
STEADY_SECONDS: Final = 60.0
"""A worker that ends after it has lived this long is replaced at once."""
SHORTEST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 60.0
"""The pauses, in seconds, before a worker is replaced that ended sooner: each is twice the one before."""
_GATE: Final = "all-are-warm"
_POLL_SECONDS: Final = 0.05
_METRICS: Final = "metrics"
_CANCEL: Final = signal.SIGUSR1
"""Ends a worker without waiting for its requests. SIGTERM does not, however often it comes: systemd and the supervisor
may both send it.
"""
_log = logging.getLogger("remembrancer.server")


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerTask:
    """The task of a worker. `work`: run the jobs that it has the turn of. `readable`: log for a person."""

    settings: Settings
    work: bool
    readable: bool
    folder: Path


def supervise(
    settings: Settings,
    listener: socket.socket,
    on_ready: Callable[[Sequence[int]], None],
    *,
    work: bool,
    readable: bool,
) -> None:
    """Serve with `settings.workers` processes until SIGINT or SIGTERM. A second signal ends requests under way.

    `on_ready` gets the numbers of the processes when all of them are warm, before the first request is answered. Raises
    StoreUnavailable if one of them cannot start; it says why itself.
    """
    with tempfile.TemporaryDirectory(prefix="remembrancer-") as folder:
        task = WorkerTask(settings=settings, work=work, readable=readable, folder=Path(folder))
        metrics = task.folder / _METRICS
        metrics.mkdir()
        # uvicorn's supervisor has no parameter for the class of its processes.
        multiprocess.Process = WorkerProcess
        supervisor = Supervisor(task, listener, on_ready)
        with shared_metrics(metrics):
            supervisor.run()
    if supervisor.failed:
        raise StoreUnavailable("a worker process did not start; it has said why")


class WorkersConfig(uvicorn.Config):
    """The configuration that the supervisor passes to each of its processes."""

    def __init__(self, task: WorkerTask) -> None:
        super().__init__("", workers=task.settings.workers, log_config=None, timeout_worker_healthcheck=HANGING_SECONDS)
        self.task = task


class WorkerProcess(multiprocess.Process):
    """One worker, as its supervisor sees it, and, in the process itself, as it runs."""

    is_warm = False
    began = 0.0
    """The time of its start, by the supervisor's clock."""
    _asked: float | None = None
    """The time of the question that it has not answered yet, by that clock."""

    def start(self) -> None:
        self.began = time.monotonic()
        # Ctrl+C reaches every process of a terminal. The workers leave it to the supervisor.
        before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
        try:
            super().start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)

    def silent_for(self) -> float:
        """The seconds for which it has not answered whether it is warm. Asks, but does not wait for the answer."""
        now = time.monotonic()
        with suppress(OSError, EOFError):  # it has ended
            while self.parent_conn.poll():
                self.is_warm = self.parent_conn.recv()
                self._asked = None
            if self._asked is None:
                self._asked = now
                self.parent_conn.send(b"ping")
        return 0.0 if self._asked is None else now - self._asked

    def pong(self) -> None:
        self.child_conn.recv()
        self.child_conn.send(self.is_warm)

    def target(self, sockets: list[socket.socket] | None = None) -> None:
        config = cast("WorkersConfig", self.config)
        [listener] = sockets or []
        threading.Thread(target=self.always_pong, daemon=True).start()
        try:
            asyncio.run(_serve(config.task, listener, self._warmed))
        except RemembrancerError as error:
            sys.exit(f"error: {error}")

    def _warmed(self) -> None:
        self.is_warm = True


class Pauses:
    """The pauses before a worker is replaced. They grow while its successors keep ending soon."""

    def __init__(self) -> None:
        self._failures = 0

    def after(self, lived: float) -> float:
        """The seconds to wait, after a worker that lived so many seconds."""
        self._failures = 0 if lived >= STEADY_SECONDS else self._failures + 1
        return min(SHORTEST_PAUSE * 2.0 ** (self._failures - 1), LONGEST_PAUSE) if self._failures else 0.0


class Supervisor(multiprocess.Multiprocess):
    """Starts the workers, lets them accept connections when all are warm, and replaces those that end or hang.

    SIGHUP replaces each by a new one, after that is warm. `failed`: one did not start at the beginning.
    """

    processes: list[WorkerProcess]  # pyright: ignore[reportIncompatibleVariableOverride]  `supervise` says so

    def __init__(self, task: WorkerTask, listener: socket.socket, on_ready: Callable[[Sequence[int]], None]) -> None:
        super().__init__(WorkersConfig(task), [listener])
        self._gate = task.folder / _GATE
        self._metrics = task.folder / _METRICS
        self._on_ready = on_ready
        self._asked = 0
        self._pauses = defaultdict[int, Pauses](Pauses)
        self._due: dict[int, float] = {}
        """For the places of workers that ended: when they are replaced."""
        self._anew = False
        """Whether all workers are to be replaced."""
        self.failed = False

    def init_processes(self) -> None:
        for _ in range(self.processes_num):
            self.processes.append(self._started())
        for process in self.processes:
            if not self._is_warm(process) and not self.should_exit.is_set():
                self.failed = True
                self.should_exit.set()
        if not self.should_exit.is_set():
            self._on_ready(self._pids())
            self._gate.touch()

    def keep_subprocess_alive(self) -> None:
        if self._anew:
            self._anew = False
            self.restart_all()
        now = time.monotonic()
        for place, process in enumerate(self.processes):
            if self.should_exit.is_set():
                return
            if place in self._due:
                if now >= self._due[place]:
                    del self._due[place]
                    self.processes[place] = self._started()
                continue
            silent = process.silent_for()
            if process.process.is_alive() and silent <= self.config.timeout_worker_healthcheck:
                continue
            why = f"did not answer for {silent:.0f} s" if process.process.is_alive() else "ended"
            process.kill()
            process.join()
            pause = self._pauses[place].after(now - process.began)
            self._due[place] = now + pause
            later = f" in {pause:g} s" if pause else ""
            _log.warning("the worker process %d %s; another one takes its place%s", process.pid, why, later)
            self._forget_metrics(process)

    def restart_all(self) -> None:
        for place, before in enumerate(self.processes):
            after = self._started()
            if not self._is_warm(after):
                after.kill()
                after.join()
                if not self.should_exit.is_set():
                    _log.error("a new worker process did not start; the others stay as they are")
                return
            before.terminate()
            self._join(before)
            self.processes[place] = after
            self._due.pop(place, None)
            self._forget_metrics(before)

    def _started(self) -> WorkerProcess:
        process = cast("WorkerProcess", multiprocess.Process(self.config, self.sockets))
        process.start()
        return process

    def _is_warm(self, process: WorkerProcess) -> bool:
        """Wait until it is warm. False: it ended or hangs, or the supervisor is to stop."""
        while not (process.is_warm or self.should_exit.wait(_POLL_SECONDS)):
            self.handle_signals()
            silent = process.silent_for()
            if not process.process.is_alive() or silent > self.config.timeout_worker_healthcheck:
                return False
        return process.is_warm

    def _forget_metrics(self, process: WorkerProcess) -> None:
        from prometheus_client import multiprocess as prometheus_processes

        library: Any = prometheus_processes  # without types
        library.mark_process_dead(process.pid, str(self._metrics))

    def join_all(self) -> None:
        for process in self.processes:
            self._join(process)

    def _join(self, process: WorkerProcess) -> None:
        """Wait until it has ended. A second signal cancels what is under way."""
        cancelled = False
        while process.process.is_alive():
            self.handle_signals()
            if self._asked > 1 and not cancelled:
                cancelled = True
                for one in {process, *self.processes}:
                    if one.process.is_alive():
                        os.kill(one.process.pid or 0, _CANCEL)
            process.process.join(0.1)

    def handle_int(self) -> None:
        self._asked += 1
        self.should_exit.set()

    def handle_term(self) -> None:
        self.handle_int()

    def handle_hup(self) -> None:
        self._anew = True

    def _pids(self) -> list[int]:
        return [process.pid for process in self.processes if process.pid is not None]


class SupervisorsOrders:
    """The signals of the supervisor. Its end stops the worker too."""

    @contextmanager
    def obeyed(self, stop: Callable[[], None], cancel: Callable[[], None]) -> Generator[None]:
        loop = asyncio.get_running_loop()
        ends_with_it = cast("BaseProcess", multiprocessing.parent_process()).sentinel

        def orphaned() -> None:
            loop.remove_reader(ends_with_it)
            stop()

        loop.add_signal_handler(signal.SIGTERM, stop)
        loop.add_signal_handler(_CANCEL, cancel)
        loop.add_reader(ends_with_it, orphaned)
        try:
            yield
        finally:
            loop.remove_reader(ends_with_it)
            for number in (signal.SIGTERM, _CANCEL):
                loop.remove_signal_handler(number)


async def _serve(task: WorkerTask, listener: socket.socket, on_warm: Callable[[], None]) -> None:
    """Open the memory, warm it, and answer requests, in a process of its own."""
    from remembrancer import AsyncRemembrancer
    from remembrancer.adapters.siblings.shared import Siblings
    from remembrancer.interfaces.http.logs import write_to
    from remembrancer.interfaces.http.serving import answer

    listener.setblocking(False)

    async def opened_gate(stop: Stop) -> None:
        on_warm()
        await _until(lambda: stop.is_set() or (task.folder / _GATE).exists())

    async with AsyncExitStack() as parts:
        parts.enter_context(write_to(sys.stderr, readable=task.readable))
        siblings = Siblings(task.folder)
        parts.callback(siblings.close)
        queue = None if task.settings.jobs == DISTRIBUTED else siblings.queue()
        if queue is not None:
            parts.push_async_callback(queue.close)
        with _without_warnings():
            memory = await AsyncRemembrancer.open(settings=task.settings, queue=queue)
        await parts.enter_async_context(memory)
        await _warm(memory, siblings)
        await answer(
            memory,
            task.settings,
            listener,
            opened_gate,
            work=task.work,
            siblings=siblings,
            orders=SupervisorsOrders(),
        )


async def _warm(memory: AsyncRemembrancer, siblings: Siblings) -> None:
    """Load the index. The first worker that finds no file of the index leaves one for the others, which
    then share its memory.
    """
    from remembrancer import engine

    loading = f"load the index of {memory.scope.workspace}"
    await _until(lambda: siblings.locks.take(loading))
    try:
        with suppress(RemembrancerError):  # questions will tell
            await engine.asking.load_index(memory.context, memory.scope)
            await memory.context.index.save(memory.context.store)
    finally:
        siblings.locks.release(loading)


async def _until(happened: Callable[[], bool]) -> None:
    """Wait for what another process does, at the start only."""
    while not happened():  # noqa: ASYNC110  no event crosses processes
        await asyncio.sleep(_POLL_SECONDS)


@contextmanager
def _without_warnings() -> Generator[None]:
    """The supervisor has opened the memory before, and logged what there is to warn of."""
    log = logging.getLogger("remembrancer")
    level = log.level
    log.setLevel(logging.ERROR)
    try:
        yield
    finally:
        log.setLevel(level)
