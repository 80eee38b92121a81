from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, assert_type
from uuid import uuid4

import pytest
from judging import Judge

import remembrancer
from remembrancer import (
    AsyncRemembrancer,
    EventDraft,
    InvalidInput,
    NotFound,
    Remembrancer,
    Scope,
    Settings,
    StoreUnavailable,
    compose,
)
from remembrancer.index.resident import ResidentIndex
from remembrancer.jobs.indexer import IndexReport
from remembrancer.presets.engram import ENGRAM
from remembrancer.testing.doubles import NOW, FailingEmbedder, FixedClock, HashEmbedder
from remembrancer.testing.scripted_model import ScriptedModel

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

QUIET = Settings(db=":memory:", background_index=False, embedder="none")


class Closing(HashEmbedder):
    closed = 0

    async def close(self) -> None:
        self.closed += 1


def opened(look: Callable[[AsyncRemembrancer], Awaitable[object]], **given: Any) -> Any:
    async def steps() -> object:
        given.setdefault("settings", QUIET)
        async with await AsyncRemembrancer.open(**given) as rem:
            return await look(rem)

    return asyncio.run(steps())


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("failing", [False, True])
def test_async_with_opens_a_memory_and_closes_it_at_the_end(failing: bool) -> None:
    async def steps() -> None:
        opened: list[AsyncRemembrancer] = []
        with suppress(KeyError):
            async with AsyncRemembrancer.open(settings=QUIET) as rem:
                opened.append(assert_type(rem, AsyncRemembrancer))
                if failing:
                    raise KeyError
        with pytest.raises(StoreUnavailable):
            await opened[0].recent()

    asyncio.run(steps())


def test_awaiting_open_gives_a_memory_that_stays_open() -> None:
    async def steps() -> int:
        rem = assert_type(await AsyncRemembrancer.open(settings=QUIET), AsyncRemembrancer)
        found = len(await rem.recent())
        await rem.close()
        return found

    assert asyncio.run(steps()) == 0


def test_async_with_raises_what_opening_raises() -> None:
    async def steps() -> None:
        async with AsyncRemembrancer.open(settings=QUIET, preset="missing"):
            pass

    with pytest.raises(InvalidInput, match="preset"):
        asyncio.run(steps())


# ── the package ──────────────────────────────────────────────────────────────────────────────────────────────────────


def test_importing_the_package_loads_no_library_and_no_adapter() -> None:
    code = "import json, sys, remembrancer; print(json.dumps(sorted(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    loaded: list[str] = json.loads(done.stdout)
    unwanted = ("numpy", "apsw", "pydantic", "onnxruntime", "asyncio", "remembrancer.")
    assert [name for name in loaded if name.startswith(unwanted)] == []


def test_opening_a_memory_for_lexical_search_only_loads_no_model() -> None:
    code = (
        "import sys; from remembrancer import Remembrancer\n"
        "with Remembrancer.open(':memory:', embedder='none') as rem: rem.observe('one'); rem.recall('one')\n"
        "print([name for name in sys.modules if name.startswith(('onnx', 'tokenizers', 'remembrancer.adapters.emb'))])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"


@pytest.mark.parametrize("name", remembrancer.__all__)
def test_every_public_name_is_there(name: str) -> None:
    assert getattr(remembrancer, name).__name__ == name


def test_public_names_are_sorted() -> None:
    assert remembrancer.__all__ == sorted(set(remembrancer.__all__))


@pytest.mark.parametrize("name", ["Rememberer", "_HOMES_", "Unsupported"])
def test_a_name_that_is_not_public_is_no_attribute(name: str) -> None:
    with pytest.raises(AttributeError, match=f"has no attribute '{name}'"):
        getattr(remembrancer, name)


def test_the_readmes_first_words_hold() -> None:
    with Remembrancer.open(":memory:", embedder="none") as rem:
        rem.remember("Checkout needs 2 GiB in production")
        assert rem.recall("how much memory does checkout need?")[0].memory.text == "Checkout needs 2 GiB in production"


# ── opening ──────────────────────────────────────────────────────────────────────────────────────────────────────────


async def scope_of(rem: AsyncRemembrancer) -> Scope:
    return rem.scope


def test_a_memory_is_bound_to_the_scope_it_was_opened_with() -> None:
    given = {"workspace": "acme", "project": "shop", "crew": "platform", "agent": "ana", "session": "monday"}
    assert opened(scope_of, **given) == Scope(**given)


def test_an_argument_overrides_settings() -> None:
    settings = replace(QUIET, workspace="set", agent="set")
    assert opened(scope_of, workspace="given", settings=settings) == Scope(workspace="given", agent="set")


def test_settings_as_a_value_are_the_whole_truth(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_AGENT", "exported")
    assert opened(scope_of, settings=QUIET).agent is None


def test_settings_as_a_mapping_override_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_AGENT", "exported")
    monkeypatch.setenv("REMEMBRANCER_CREW", "exported")
    settings = {"db": ":memory:", "embedder": "none", "agent": "mapped"}
    assert opened(scope_of, settings=settings) == Scope(workspace="default", crew="exported", agent="mapped")


def test_without_a_url_the_store_is_a_file_in_the_folder_at_hand(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    opened(scope_of, settings={"embedder": "none"})
    assert (tmp_path / "remembrancer.db").is_file()


async def kind_of_a_note(rem: AsyncRemembrancer) -> str:
    return (await rem.remember("one")).kind


def test_a_preset_may_be_given_as_itself() -> None:
    assert opened(kind_of_a_note, preset=ENGRAM) == "fact"


def test_a_preset_may_be_given_as_a_file(tmp_path: Path) -> None:
    (tmp_path / "mine.toml").write_text('based_on = "engram"\nname = "mine"\n', encoding="utf-8")
    assert opened(kind_of_a_note, preset=str(tmp_path / "mine.toml")) == "fact"


def test_a_preset_object_overrides_one_named_in_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_PRESET", "nonsense")
    assert opened(kind_of_a_note, settings={"db": ":memory:", "embedder": "none"}, preset=ENGRAM) == "fact"


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"workspace": ""}, r"^workspace: "),
        ({"preset": 3}, r"^preset: 3 "),
        ({"agent": " ana"}, r"^agent: ' ana' "),
        ({"role": "\n"}, r"^role: "),
        ({"role": "BOSS"}, r"^role: 'BOSS' .*one of AGENT, LEAD"),
        ({"preset": "nonsense"}, r"^preset: 'nonsense' .*default"),
        (
            {"embedder": "nonsense"},
            r"^embedder: 'nonsense' .*auto, none, local, local:PRECISION, folder:PATH, .* or gemini:MODEL",
        ),
        ({"reranker": "nonsense"}, r"^reranker: 'nonsense' .*none, cross-encoder:FOLDER, or the http"),
        ({"reranker": 5}, r"^reranker: 5 .*an object with a Reranker's methods"),
        ({"llm": "gpt-5"}, r"^llm: 'gpt-5' .*none, openai:MODEL"),
        ({"llm": 5}, r"^llm: 5 .*an object with a LanguageModel's methods"),
        ({"llm": "openai:m"}, r"^llm_key: None .*an API key"),
        ({"reranker": "http://localhost/rerank"}, r"^reranker_model: None "),
        ({"url": "mysql://localhost/a"}, r"^db: "),
        ({"settings": {"colour": "red"}}, r"^colour: 'red' .*one of the settings"),
    ],
)
def test_invalid_arguments_of_open_are_refused_by_name(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        opened(scope_of, **given)


def test_a_file_that_is_not_there_is_not_made_where_it_must_not_be(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with pytest.raises(StoreUnavailable, match=r"a\.db"):
        opened(scope_of, url=str(file), create=False)
    assert not file.exists()


def test_the_next_process_reads_what_one_process_wrote(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    event = opened(lambda rem: rem.observe("The deploy failed"), url=url)
    assert opened(lambda rem: rem.journal.list(), url=url) == (event,)


def test_a_store_in_memory_is_its_own() -> None:
    opened(lambda rem: rem.observe("The deploy failed"))
    assert opened(lambda rem: rem.journal.list()) == ()


def test_the_clock_given_is_the_one_that_is_read() -> None:
    assert opened(lambda rem: rem.observe("one"), clock=FixedClock()).recorded_at == NOW


# ── views ────────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_view_sees_the_memories_that_its_scope_may_see() -> None:
    async def steps(rem: AsyncRemembrancer) -> list[int]:
        ana, bob = rem.scoped(crew="platform", agent="ana"), rem.scoped(crew="platform", agent="bob")
        await ana.observe("The deploy failed")
        lead = bob.scoped(role="LEAD")
        return [len(await view.recall("deploy")) for view in (ana, bob, lead, rem)]

    assert opened(steps) == [1, 0, 1, 1]


def test_a_view_of_another_workspace_cannot_be_had() -> None:
    async def steps(rem: AsyncRemembrancer) -> None:
        rem.scoped(workspace="theirs")

    with pytest.raises(InvalidInput, match=r"^workspace: 'theirs' .*one of project, crew, agent, session"):
        opened(steps)


def test_a_view_may_widen_a_scope() -> None:
    async def steps(rem: AsyncRemembrancer) -> Scope:
        return rem.scoped(agent=None, session=None).scope

    assert opened(steps, workspace="acme", agent="ana", session="monday") == Scope(workspace="acme")


def test_workspaces_of_one_file_do_not_see_each_other(tmp_path: Path) -> None:
    url = str(tmp_path / "a.db")
    memory = opened(lambda rem: rem.remember("The deploy failed"), url=url, workspace="theirs")

    async def look(rem: AsyncRemembrancer) -> tuple[int, int, dict[str, int]]:
        with pytest.raises(LookupError):
            await rem.get(memory.id)
        return len(await rem.recall("deploy")), len(await rem.recent()), dict((await rem.health.stats()).memories)

    assert opened(look, url=url, workspace="ours") == (0, 0, {})


# ── one memory, indexed at once ──────────────────────────────────────────────────────────────────────────────────────


def test_one_memory_is_indexed_at_once_and_no_other() -> None:
    async def steps(rem: AsyncRemembrancer) -> tuple[IndexReport, IndexReport, dict[str, int]]:
        await rem.remember("The deploy failed")
        urgent = await rem.remember("Roll it back")
        return (
            await rem.jobs.index_now(urgent.id),
            await rem.jobs.index_now(str(urgent.id)),
            dict((await rem.health.stats()).vectors),
        )

    first, again, vectors = opened(steps, embedder=HashEmbedder())
    assert first == IndexReport(indexed=1, deferred=0)
    assert again == IndexReport(indexed=0, deferred=0, reason="the workspace has no cue without a vector")
    assert list(vectors.values()) == [1]


def test_an_embedder_that_is_down_leaves_one_memory_to_the_sweep() -> None:
    async def steps(rem: AsyncRemembrancer) -> IndexReport:
        return await rem.jobs.index_now((await rem.remember("Roll it back")).id)

    report = opened(steps, embedder=FailingEmbedder())
    assert report == IndexReport(indexed=0, deferred=0, reason="the model does not answer", down=True)


def test_a_memory_of_another_agent_is_not_there_to_be_indexed() -> None:
    async def steps(rem: AsyncRemembrancer) -> None:
        theirs = await rem.scoped(agent="bob").remember("Roll it back")
        await rem.scoped(agent="ana").jobs.index_now(theirs.id)

    with pytest.raises(NotFound):
        opened(steps, embedder=HashEmbedder())


# ── closing ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_embedder_that_was_lent_stays_open() -> None:
    embedder = Closing()
    opened(lambda rem: rem.jobs.index_now(), embedder=embedder)
    assert embedder.closed == 0


def test_an_index_that_was_lent_stays_open(monkeypatch: pytest.MonkeyPatch) -> None:
    closed: list[ResidentIndex] = []

    async def close(self: ResidentIndex) -> None:
        closed.append(self)

    monkeypatch.setattr(ResidentIndex, "close", close)
    opened(scope_of, index=ResidentIndex())
    assert closed == []


def test_a_reranker_that_was_lent_is_asked_and_stays_open() -> None:
    judge = Judge(lambda _: 1.0)

    async def steps(rem: AsyncRemembrancer) -> float | None:
        await rem.observe("The deploy failed")
        [hit] = await rem.recall("deploy")
        return hit.explanation.signals["rerank"]

    assert (opened(steps, reranker=judge), judge.closed) == (1.0, 0)


def test_a_reranker_of_the_settings_is_closed_with_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    judge = Judge(lambda _: 1.0)

    def chosen(_: Settings) -> Judge:
        return judge

    monkeypatch.setattr(compose, "choose_reranker", chosen)
    opened(scope_of)
    assert judge.closed == 1


def test_a_language_model_that_was_lent_stays_open() -> None:
    async def nothing(_: AsyncRemembrancer) -> None:
        return None

    model = ScriptedModel([])
    opened(nothing, llm=model)
    assert model.closed == 0


def test_a_language_model_of_the_settings_is_closed_with_the_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ScriptedModel([])

    def chosen(_: Settings) -> ScriptedModel:
        return model

    monkeypatch.setattr(compose, "choose_llm", chosen)
    Remembrancer.open(settings=QUIET, llm="openai:m").close()
    assert model.closed == 1


def test_a_language_model_that_was_not_requested_is_not_reported_as_missing(caplog: pytest.LogCaptureFixture) -> None:
    Remembrancer.open(settings=QUIET).close()
    assert "language model" not in caplog.text


def test_a_reranker_may_use_the_memory_while_it_judges() -> None:
    """No transaction is open during a model's answer."""

    async def steps(rem: AsyncRemembrancer) -> int:
        async def noted(question: str, texts: Sequence[str]) -> NDArray[np.float32]:
            await rem.observe("asked")
            return await Judge.scores(judge, question, texts)

        judge.scores = noted
        await rem.observe("The deploy failed")
        await rem.recall("deploy")
        return len(await rem.journal.list())

    judge = Judge(lambda _: 1.0)
    assert opened(steps, reranker=judge) == 2


def test_closing_twice_is_harmless() -> None:
    async def steps(rem: AsyncRemembrancer) -> None:
        await rem.close()

    assert opened(steps) is None


def test_a_memory_is_closed_after_any_error_inside() -> None:
    kept: list[AsyncRemembrancer] = []

    async def steps(rem: AsyncRemembrancer) -> None:
        kept.append(rem)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        opened(steps)
    with pytest.raises(StoreUnavailable, match="closed"):
        asyncio.run(kept[0].health.stats())


def used(path: Path) -> dict[str, Callable[[AsyncRemembrancer], Awaitable[object]]]:
    one = uuid4()
    return {
        "observe": lambda rem: rem.observe("one"),
        "observe_many": lambda rem: rem.observe_many([EventDraft(text="one")]),
        "remember": lambda rem: rem.remember("one"),
        "topic": lambda rem: rem.remember("one", topic_key="t"),
        "feedback": lambda rem: rem.feedback(one, "helpful"),
        "mark": lambda rem: rem.mark([one], "shown"),
        "recall": lambda rem: rem.recall("one"),
        "why_not": lambda rem: rem.why_not(one, "one"),
        "get": lambda rem: rem.get(one),
        "show": lambda rem: rem.show(one),
        "recent": lambda rem: rem.recent(),
        "timeline": lambda rem: rem.timeline(),
        "events": lambda rem: rem.journal.list(),
        "stats": lambda rem: rem.health.stats(),
        "health": lambda rem: rem.health.latest(),
        "health_history": lambda rem: rem.health.history(),
        "nudge": lambda rem: rem.scoped(agent="ana", session="monday").learnings.nudge(),
        "forget": lambda rem: rem.forget(one),
        "restore": lambda rem: rem.restore(one),
        "index_now": lambda rem: rem.jobs.index_now(),
        "index_now of one": lambda rem: rem.jobs.index_now(one),
        "end_session": lambda rem: rem.end_session("monday"),
        "consolidate": lambda rem: rem.consolidate(),
        "jobs": lambda rem: rem.jobs.list(),
        "spending": lambda rem: rem.jobs.spending(),
        "maintain": lambda rem: rem.maintain(),
        "doctor": lambda rem: rem.health.doctor(),
        "export": lambda rem: rem.export(path / "a.jsonl"),
    }


@pytest.mark.parametrize("method", sorted(used(Path())))
def test_a_closed_memory_is_unavailable(tmp_path: Path, method: str) -> None:
    async def steps(rem: AsyncRemembrancer) -> None:
        await rem.close()
        await used(tmp_path)[method](rem)

    with pytest.raises(StoreUnavailable, match="closed"):
        opened(steps, embedder=HashEmbedder())
    assert list(tmp_path.iterdir()) == []


def test_a_view_is_closed_with_the_memory_it_looks_at() -> None:
    async def steps(rem: AsyncRemembrancer) -> None:
        view = rem.scoped(agent="ana")
        await rem.close()
        await view.observe("one")

    with pytest.raises(StoreUnavailable, match="closed"):
        opened(steps)


def test_observed_events_are_indexed_in_the_background(tmp_path: Path) -> None:
    class Telling(HashEmbedder):
        asked = asyncio.Event()

        async def embed_documents(self, texts: Any) -> Any:
            self.asked.set()
            return await super().embed_documents(texts)

    embedder = Telling()

    async def steps(rem: AsyncRemembrancer) -> bool:
        await rem.observe("one")
        await asyncio.wait_for(embedder.asked.wait(), 20)
        return True

    assert opened(steps, settings=Settings(db=str(tmp_path / "a.db")), embedder=embedder)


@pytest.mark.parametrize("attempt", range(10))
def test_a_memory_closes_right_after_it_was_written_to(attempt: int) -> None:
    async def steps(rem: AsyncRemembrancer) -> int:
        for number in range(attempt):
            await rem.observe(f"text {number}")
            await asyncio.sleep(0)
        return attempt

    assert opened(steps, settings=Settings(db=":memory:"), embedder=HashEmbedder()) == attempt


def test_maintenance_reports_each_job() -> None:
    async def steps(rem: AsyncRemembrancer) -> dict[str, str]:
        await rem.observe("one")
        return {job: report.reason for job, report in (await rem.maintain()).items()}

    assert list(opened(steps, embedder=HashEmbedder())) == ["index", "segment", "compact", "retain", "health"]


def test_a_block_for_a_prompt_holds_the_hits() -> None:
    async def steps(rem: AsyncRemembrancer) -> str:
        await rem.observe("The deploy failed", actor="Ana")
        return (await rem.recall("deploy")).render()

    block = opened(steps, clock=FixedClock())
    assert block.endswith("\n- [Ana, Wednesday 4 March 2026, just now] The deploy failed\n</recalled-memory>")


def test_a_block_for_no_hits_is_empty() -> None:
    async def steps(rem: AsyncRemembrancer) -> str:
        return (await rem.recall("deploy")).render()

    assert opened(steps) == ""
