from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import timedelta
from typing import Final

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Recall
from remembrancer.engine.context import Context
from remembrancer.engine.recall import Question, recall
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.store import Store
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.doubles import NOW, READER, SCOPE, HashEmbedder, a_memory, indexed
from remembrancer.testing.scripted_model import Scripted, ScriptedModel

TASK: Final = (
    "Move the ledger service from the old cluster to the new one over the weekend, keep both in step until the books"
    " are closed, and tell the accountants beforehand what they will not be able to do meanwhile."
)
TERMS: Final[Scripted] = {"terms": ["ledger", "cluster", "replication lag", "cutover", "accounting"]}
LAG, TEA = a_memory("Replication lag hid three bookings last time"), a_memory("Ana drinks green tea")


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def asked(
    make: Callable[[], Store],
    answers: Sequence[Scripted],
    *,
    text: str = TASK,
    change: Callable[[Context], Context] = lambda ctx: ctx,
) -> tuple[Recall, ScriptedModel]:
    model = ScriptedModel(answers)

    async def steps(store: Store) -> Recall:
        for memory in (LAG, TEA):
            await store.insert(SCOPE, indexed(memory))
        ctx = change(a_context(store, TEAPARTY, llm=model))
        return await recall(ctx, READER, Question(text=text, where=Filter(current_at=NOW)))

    return over(make, steps), model


def test_a_task_is_searched_by_the_key_terms_a_model_finds(make: Callable[[], Store]) -> None:
    answer, model = asked(make, [TERMS])
    assert [hit.id for hit in answer.hits] == [LAG.id]
    assert answer.trace.searched == "ledger cluster replication lag cutover accounting"
    assert ([task.purpose for task in model.tasks], "key_terms" in answer.degraded) == (["key terms"], False)


def test_both_searches_use_the_key_terms(make: Callable[[], Store]) -> None:
    def with_embedder(ctx: Context) -> Context:
        return replace(ctx, embedder=HashEmbedder())

    answer, _ = asked(make, [TERMS], change=with_embedder)
    assert answer.trace.embedded == "ledger cluster replication lag cutover accounting"


def test_how_long_it_took_to_find_them_is_reported(make: Callable[[], Store]) -> None:
    answer, _ = asked(make, [TERMS])
    assert answer.timings["key_terms"] == timedelta(0)


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (ModelUnavailable("no answer within 30 s"), "the language model does not answer: no answer within 30 s"),
        ("no JSON", "the language model's answer cannot be used: no JSON"),
        (
            {"terms": ["ledger"]},
            "the language model's answer cannot be used: terms: 1 different ones, 5 to 8 are expected",
        ),
    ],
)
def test_without_an_answer_the_beginning_is_searched_and_the_recall_reports_it(
    make: Callable[[], Store], given: Scripted, reason: str
) -> None:
    answer, _ = asked(make, [given])
    assert (answer.degraded["key_terms"], answer.trace.searched) == (reason, TASK[:500])


def test_without_a_model_the_recall_reports_it_too(make: Callable[[], Store]) -> None:
    answer, _ = asked(make, [], change=lambda ctx: replace(ctx, llm=None))
    assert (answer.degraded["key_terms"], answer.trace.searched) == ("no language model is set (llm)", TASK[:500])


def test_a_short_question_is_not_shortened(make: Callable[[], Store]) -> None:
    answer, model = asked(make, [], text="What did replication lag hide?")
    assert (model.asked, [hit.id for hit in answer.hits]) == (0, [LAG.id])
    assert "key_terms" not in answer.degraded


@pytest.mark.parametrize("name", sorted(set(PRESETS) - {"teaparty"}))
def test_no_other_preset_asks_a_model(make: Callable[[], Store], name: str) -> None:
    answer, model = asked(make, [], change=lambda ctx: replace(ctx, preset=PRESETS[name]))
    assert (model.asked, "key_terms" in answer.degraded) == (0, False)


def test_model_calls_are_in_the_ledger(make: Callable[[], Store]) -> None:
    async def steps(store: Store) -> list[tuple[str, int]]:
        ctx = a_context(store, TEAPARTY, llm=ScriptedModel([TERMS]))
        await recall(ctx, READER, Question(text=TASK, where=Filter(current_at=NOW)))
        return [(spent.purpose, spent.calls) for spent in await store.spending(SCOPE)]

    assert over(make, steps) == [("key terms", 1)]
