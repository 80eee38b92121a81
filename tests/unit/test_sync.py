from __future__ import annotations

import asyncio
import inspect
import os
import signal
import threading
from collections.abc import AsyncGenerator, Generator, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, assert_type, get_type_hints

import pytest
from every_member import noun

from remembrancer import (
    AsyncRemembrancer,
    Event,
    EventDraft,
    InvalidInput,
    Memory,
    Recall,
    Remembrancer,
    Settings,
    StoreUnavailable,
    sync,
)
from remembrancer.domain.journal import Recorded
from remembrancer.engine import journal
from remembrancer.facade.audit import AsyncAuditApi
from remembrancer.facade.embedder import AsyncEmbedderApi
from remembrancer.facade.health import AsyncHealthApi
from remembrancer.facade.jobs import AsyncJobsApi
from remembrancer.facade.journal import AsyncJournalApi
from remembrancer.facade.keys import AsyncKeysApi
from remembrancer.facade.learnings import AsyncLearningsApi
from remembrancer.facade.presets import AsyncPresetsApi
from remembrancer.facade.recalls import AsyncRecallsApi
from remembrancer.facade.retention import AsyncRetentionApi
from remembrancer.facade.vault import AsyncVaultApi
from remembrancer.jobs.indexer import IndexReport
from remembrancer.ports.embedder import Embedded
from remembrancer.testing.doubles import HashEmbedder

PATIENCE = 20.0
SETTINGS = Settings(db=":memory:", background_index=False)


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    with Remembrancer.open(settings=SETTINGS, embedder=HashEmbedder()) as opened:
        yield opened


PAIRS: dict[type, type] = {
    AsyncRemembrancer: Remembrancer,
    AsyncAuditApi: sync.AuditApi,
    AsyncEmbedderApi: sync.EmbedderApi,
    AsyncHealthApi: sync.HealthApi,
    AsyncJobsApi: sync.JobsApi,
    AsyncJournalApi: sync.JournalApi,
    AsyncKeysApi: sync.KeysApi,
    AsyncLearningsApi: sync.LearningsApi,
    AsyncPresetsApi: sync.PresetsApi,
    AsyncRecallsApi: sync.RecallsApi,
    AsyncRetentionApi: sync.RetentionApi,
    AsyncVaultApi: sync.VaultApi,
}
ASYNC_ALONE = ["context"]
"""Engine functions are awaited: the blocking memory has no context to call them with."""


def public(facade: type) -> list[str]:
    return [name for name in vars(facade) if not name.startswith("_") and name not in ASYNC_ALONE]


def function(facade: type, name: str) -> Any:
    member = getattr(facade, name)
    return getattr(member, "fget", member)


def blocking_type(annotation: str) -> str:
    """The return type of a blocking method for that of the asynchronous one."""
    one_by_one = annotation.replace("AsyncGenerator[Recorded, None]", "Generator[Recorded, None, None]")
    return one_by_one.removeprefix("Async")


MEMBERS = [
    pytest.param(awaited, name, id=f"{awaited.__name__}.{name}") for awaited in PAIRS for name in public(awaited)
]


def test_every_noun_of_the_memory_has_a_blocking_twin() -> None:
    nouns = [gives for _, member in inspect.getmembers(AsyncRemembrancer) if (gives := noun(member)) is not None]
    assert sorted(nouns) == sorted(awaited.__name__ for awaited in PAIRS if awaited is not AsyncRemembrancer)


@pytest.mark.parametrize("awaited", PAIRS)
def test_both_facades_have_the_same_methods_in_the_same_order(awaited: type) -> None:
    assert public(PAIRS[awaited]) == public(awaited)


@pytest.mark.parametrize(("awaited", "name"), MEMBERS)
def test_a_method_takes_and_gives_the_same_in_both_facades(awaited: type, name: str) -> None:
    given, gives = (inspect.signature(function(facade, name)) for facade in (PAIRS[awaited], awaited))
    assert given.parameters == gives.parameters
    assert given.return_annotation == blocking_type(gives.return_annotation)


@pytest.mark.parametrize(("awaited", "name"), MEMBERS)
def test_a_method_has_the_same_docstring_in_both_facades(awaited: type, name: str) -> None:
    assert inspect.getdoc(function(awaited, name))
    assert inspect.getdoc(function(PAIRS[awaited], name)) == inspect.getdoc(function(awaited, name))


METHODS = [
    pytest.param(awaited, name, id=f"{awaited.__name__}.{name}")
    for awaited in PAIRS
    for name in public(awaited)
    if not isinstance(getattr(awaited, name), property)
]


@pytest.mark.parametrize(("awaited", "name"), METHODS)
def test_a_method_is_named_after_the_facade_it_belongs_to(awaited: type, name: str) -> None:
    method = function(PAIRS[awaited], name)
    assert (method.__module__, method.__qualname__) == ("remembrancer.sync", f"{PAIRS[awaited].__name__}.{name}")


def test_help_shows_a_methods_parameters_and_its_documentation(capsys: pytest.CaptureFixture[str]) -> None:
    help(Remembrancer.recent)
    shown = capsys.readouterr().out
    assert "recent(self, limit: 'int' = 10, days: 'float | None' = None) -> 'tuple[Memory, ...]'" in shown
    assert "only those of the last" in shown


def test_the_types_of_a_method_can_be_read_at_run_time() -> None:
    assert get_type_hints(Remembrancer.recall)["return"] is Recall
    assert get_type_hints(Remembrancer.open)["return"] is not None


def test_a_type_checker_infers_the_return_type_of_a_method(rem: Remembrancer) -> None:
    assert_type(rem, Remembrancer)
    assert_type(rem.recall("deploy", limit=1, kinds=["message"]), Recall)
    assert_type(rem.recent(limit=1), tuple[Memory, ...])
    assert_type(rem.journal.count(actor="ana"), int)
    assert_type(rem.journal.tail(), Generator[Recorded, None, None])


NOUNS = {name for name, member in vars(AsyncRemembrancer).items() if noun(member)}
NOT_COROUTINES = {"open", "scoped", "bound_to", "scope", "of_workspace", "now", "in_use", "tail", *NOUNS}


@pytest.mark.parametrize(("awaited", "name"), MEMBERS)
def test_a_method_is_awaited_in_one_facade_alone_and_in_that_one_unless_it_waits_for_nothing(
    awaited: type, name: str
) -> None:
    assert inspect.iscoroutinefunction(function(awaited, name)) == (name not in NOT_COROUTINES)
    assert not inspect.iscoroutinefunction(function(PAIRS[awaited], name))


def test_every_argument_reaches_the_memory(rem: Remembrancer, tmp_path: Path) -> None:
    event = rem.observe("The deploy failed", actor="ana", session="monday", key="k")
    assert rem.journal.list(session="monday", types=["message"], limit=1, oldest_first=True) == (event,)
    assert (
        rem.journal.list(query="deploys", severities=["info"], archived=True)
        == (event,)
        == (rem.journal.get(event.id),)
    )
    assert rem.journal.page(limit=1, session="monday", after=None).next is None
    assert (rem.journal.count(actor="ana"), rem.journal.recorded(0, limit=0).position) == (1, 0)
    assert next(rem.journal.tail(0, every=timedelta(hours=1), types=["message"])).event == event
    lead = rem.scoped(role="LEAD")
    changes = (lead.journal.set_priority(event.id, "high", "it matters"), lead.journal.set_priority(event.id, "normal"))
    assert rem.journal.priority_changes(event.id) == changes
    memory = rem.recent(limit=1, days=1)[0]
    assert rem.timeline(limit=1, kinds=["message"], session="monday") == (memory,)
    rem.mark([memory.id], "shown")
    rem.feedback(memory.id, "helpful")
    assert rem.show(memory.id).memory == rem.get(memory.id)
    assert [one.memory.id for one in rem.health.decay(limit=1)] == [memory.id]
    assert [one.memory.id for one in rem.health.fading(limit=1, within=timedelta(days=3_650))] == [memory.id]
    assert len(rem.health.curve(memory.id, days=10, points=3).points) == 3
    [answer] = rem.presets.compare("deploy", ["engram"], limit=1, as_of=datetime.now(UTC)).answers
    assert (answer.preset, answer.limit) == ("engram", 1)
    assert rem.why_not(memory.id, "deploy", limit=1, kinds=["message"], session="monday", reach="workspace").returned
    assert len(rem.recall("deploy", limit=1, tiers=["episodic"], min_score=0.01)) == 1
    assert rem.restore(rem.forget(memory.id).id).status == "active"
    assert rem.maintain(["index"], force=True) == {"index": IndexReport(indexed=1, deferred=0)}
    rem.maintain()
    assert (rem.health.latest(), rem.health.latest("platform")) == (rem.health.history(limit=1)[0], None)
    assert rem.scoped(agent="ana", session="monday").learnings.nudge() is None
    assert rem.jobs.index_now().indexed == 0
    assert rem.jobs.reindex(on_indexed=lambda _: None).indexed == 1
    assert rem.backup(tmp_path / "a.db", on_pages=lambda _done, _total: None).rows > 0
    assert rem.export(tmp_path / "a.jsonl") == rem.import_(tmp_path / "a.jsonl", dry_run=False).rows
    assert all(finding.ok for finding in rem.health.doctor())
    new = rem.keys.create("ci", "write", timedelta(days=1))
    assert (rem.keys.list(), rem.keys.find(new.token), rem.keys.exist()) == ((new.key,), new.key, True)
    assert (rem.keys.revoke(new.key.id).right, rem.keys.exist()) == ("write", False)
    assert rem.observe_many([EventDraft(text="two")])[0].seq == 1
    assert rem.scoped(agent="ana", role="LEAD").scope.agent == "ana"


def test_an_interrupted_tail_is_closed_only_once_it_has_stopped_waiting(
    rem: Remembrancer, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert threading.current_thread() is threading.main_thread()  # it is the one that signals interrupt
    steps: list[str] = []

    async def slow_to_end(*given: object, **chosen: object) -> AsyncGenerator[str, None]:
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGINT)
        try:
            await asyncio.Event().wait()
            yield "never"
        finally:
            for _ in range(9):
                await asyncio.sleep(0)
            steps.append("ended")

    monkeypatch.setattr(journal, "tail", slow_to_end)
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a test's worker process takes no notice of it
    try:
        with pytest.raises(KeyboardInterrupt):
            next(rem.journal.tail())
    finally:
        signal.signal(signal.SIGINT, before)
    assert steps == ["ended"]


def test_errors_are_raised_as_they_are(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match=r"^text: "):
        rem.observe(" ")


def test_many_threads_may_use_one_memory(rem: Remembrancer) -> None:
    def write(number: int) -> Event:
        return rem.scoped(agent=f"agent-{number % 3}").observe(f"deploy {number}")

    def read(_: int) -> int:
        return len(rem.recall("deploy", limit=100))

    with ThreadPoolExecutor(8) as pool:
        events = list(pool.map(write, range(60)))
        found = list(pool.map(read, range(60)))
    assert (len({event.id for event in events}), set(found)) == (60, {60})


def test_a_memory_may_be_used_where_a_loop_is_running(rem: Remembrancer) -> None:
    async def steps() -> int:
        rem.observe("The deploy failed")
        return len(rem.recall("deploy"))

    assert asyncio.run(steps()) == 1


def test_a_memory_may_be_closed_twice(rem: Remembrancer) -> None:
    rem.close()
    rem.close()


def test_a_closed_memory_is_unavailable(rem: Remembrancer) -> None:
    view = rem.scoped(agent="ana")
    rem.close()
    for each in (rem, view):
        with pytest.raises(StoreUnavailable, match="closed"):
            each.recall("deploy")


def test_closing_ends_every_thread() -> None:
    before = set(threading.enumerate())
    with Remembrancer.open(settings=SETTINGS, embedder=HashEmbedder()) as rem:
        rem.observe("one")
        named = {thread.name for thread in set(threading.enumerate()) - before}
    left = {thread.name for thread in set(threading.enumerate()) - before if "remembrancer" in thread.name}
    assert ("remembrancer-loop" in named, left) == (True, set())


def test_an_opening_that_fails_leaves_no_thread() -> None:
    before = set(threading.enumerate())
    with pytest.raises(InvalidInput):
        Remembrancer.open(settings=SETTINGS, preset="nonsense")
    assert {thread.name for thread in set(threading.enumerate()) - before if "remembrancer" in thread.name} == set()


def test_a_memory_is_closed_after_any_error_inside() -> None:
    with pytest.raises(ZeroDivisionError), Remembrancer.open(settings=SETTINGS, embedder="none") as rem:
        raise ZeroDivisionError
    with pytest.raises(StoreUnavailable):
        rem.health.stats()


class Endless(HashEmbedder):
    """An embedder that never answers."""

    def __init__(self) -> None:
        super().__init__()
        self.asked = threading.Event()

    @property
    def computes(self) -> bool:
        return False

    async def embed_query(self, text: str) -> Any:
        self.asked.set()
        await asyncio.Event().wait()


def test_a_call_that_is_waiting_while_another_thread_closes_ends() -> None:
    embedder = Endless()
    rem = Remembrancer.open(settings=SETTINGS, embedder=embedder)
    with ThreadPoolExecutor(1) as pool:
        asked = pool.submit(rem.recall, "deploy")
        assert embedder.asked.wait(PATIENCE)
        rem.close()
        with pytest.raises(StoreUnavailable, match="closed meanwhile"):
            asked.result(PATIENCE)


def test_many_threads_may_close_at_once(rem: Remembrancer) -> None:
    with ThreadPoolExecutor(8) as pool:
        for done in [pool.submit(rem.close) for _ in range(8)]:
            done.result(PATIENCE)


def test_a_call_from_inside_a_callback_is_an_error_and_does_not_wait_for_ever(
    rem: Remembrancer, tmp_path: Path
) -> None:
    rem.observe("one")
    with pytest.raises(RuntimeError, match="inside one of its own callbacks"):
        rem.export(tmp_path / "a.jsonl", on_rows=lambda _: rem.close())
    with pytest.raises(RuntimeError, match="inside one of its own callbacks"):
        rem.jobs.index_now(on_indexed=lambda _: print(rem.health.stats()))  # noqa: T201
    assert rem.health.stats().events == 1


class Stuck(HashEmbedder):
    """An embedder whose call never ends."""

    def __init__(self) -> None:
        super().__init__()
        self.begun = threading.Event()
        self.given_up = threading.Event()

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        self.begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            self.given_up.set()
        return await super().embed_documents(texts)


def test_closing_gives_up_a_sweep_that_does_not_end() -> None:
    embedder = Stuck()
    with Remembrancer.open(settings=Settings(db=":memory:"), embedder=embedder) as rem:
        rem.observe("one")
        assert embedder.begun.wait(PATIENCE)
    assert embedder.given_up.is_set()


def test_use_after_a_fork_raises_an_error() -> None:
    with Remembrancer.open(":memory:", embedder="none") as rem:
        receiving, sending = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                rem.health.stats()
                said = "it answered"
            except StoreUnavailable as error:
                said = str(error)
            os.write(sending, said.encode())
            os._exit(0)
        os.waitpid(child, 0)
        assert "before the process was forked" in os.read(receiving, 1000).decode()
