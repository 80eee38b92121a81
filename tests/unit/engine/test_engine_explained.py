from __future__ import annotations

import asyncio
import copy
import pickle
from collections.abc import Callable
from dataclasses import asdict, fields, replace

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.erasure import ErasureSelection
from remembrancer.domain.memory import MemoryDraft
from remembrancer.domain.query import Filter
from remembrancer.domain.recall import Explanation, Part, Recall
from remembrancer.engine import record
from remembrancer.engine.context import Context
from remembrancer.engine.erase import erase_rows
from remembrancer.engine.recall import Question, recall
from remembrancer.index.resident import ResidentIndex
from remembrancer.policies.ranking.scoring import Scored
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, READER, SCOPE, FixedClock, SequentialIds


def an_answer(*, explain: bool = False, erased: bool = False) -> Recall:
    """Three hits. `erased`: everything is erased after the recall, and the index is loaded anew."""
    ids = SequentialIds()
    ctx = Context(
        store=ReferenceStore(),
        index=ResidentIndex(),
        embedder=None,
        without_embedder="no embedder",
        preset=DEFAULT,
        clock=FixedClock(),
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
    )

    answers: list[Recall] = []  # what a coroutine returns, asyncio.run looks at: it makes its repr

    async def steps() -> None:
        for text in ("the barn burned", "the barn was built", "a barn owl"):
            await record.remember(ctx, SCOPE, MemoryDraft(text=text))
        answers.append(await recall(ctx, READER, Question(text="barns", where=Filter(current_at=NOW), explain=explain)))
        if erased:
            choice = ErasureSelection(ids=frozenset(hit.memory.id for hit in answers[0]))
            await erase_rows(ctx, SCOPE, choice, by="test")
            assert not await recall(ctx, READER, Question(text="barns", where=Filter(current_at=NOW)))

    asyncio.run(steps())
    return answers[0]


def plain(explanation: Explanation) -> Explanation:
    return Explanation(**{field.name: getattr(explanation, field.name) for field in fields(Explanation)})


@pytest.fixture
def worked_out(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of explanations in each computation."""
    counts: list[int] = []
    explained = Scored.explained

    def counted(scored: Scored) -> list[Part]:
        counts.append(len(scored.values))
        return explained(scored)

    monkeypatch.setattr(Scored, "explained", counted)
    return counts


def test_no_explanation_is_computed_before_it_is_read(worked_out: list[int]) -> None:
    an_answer().render()
    assert worked_out == []


def test_reading_one_explanation_computes_all_of_them_once(worked_out: list[int]) -> None:
    answer = an_answer()
    for hit in (*answer, *answer):
        assert hit.explanation.score.value == hit.score
    assert worked_out == [3]


def test_each_hit_has_its_own() -> None:
    answer = an_answer()
    assert [hit.explanation.score.contribution for hit in reversed(answer)] == [hit.score for hit in reversed(answer)]


def test_one_that_was_looked_at_equals_one_that_was_not() -> None:
    looked_at, fresh = an_answer()[0].explanation, an_answer()[0].explanation
    assert looked_at.ranks == {"lexical": 1, "context": 1}
    assert looked_at == fresh


def test_it_equals_a_plain_one_with_the_same_fields() -> None:
    explanation = an_answer()[0].explanation
    assert plain(explanation) == explanation
    assert explanation == plain(explanation)
    assert explanation != replace(plain(explanation), matched=("other",))
    assert explanation != "barn"


def pickled(explanation: Explanation) -> Explanation:
    return pickle.loads(pickle.dumps(explanation))  # noqa: S301  our own bytes


@pytest.mark.parametrize("copied", [copy.copy, copy.deepcopy, pickled])
def test_it_may_be_copied_before_anybody_looked(copied: Callable[[Explanation], Explanation]) -> None:
    explanation = an_answer()[0].explanation
    assert copied(explanation) == explanation


def test_it_is_described_as_its_fields_are() -> None:
    explanation, told = an_answer()[0].explanation, an_answer()[0].explanation
    assert asdict(told) == asdict(plain(explanation))
    assert repr(an_answer()[0].explanation) == repr(plain(explanation))


def test_a_field_may_be_replaced() -> None:
    explanation = an_answer()[0].explanation
    assert replace(explanation, matched=("barn",)).matched == ("barn",)


def test_it_cannot_be_changed() -> None:
    with pytest.raises(AttributeError):
        an_answer()[0].explanation.score = Part("mine", 1.0, 1.0)  # type: ignore[misc]


def test_an_unknown_attribute_of_an_explanation_is_reported_by_name(worked_out: list[int]) -> None:
    with pytest.raises(AttributeError, match="motive"):
        _ = an_answer()[0].explanation.motive  # type: ignore[attr-defined]
    assert worked_out == []


def test_words_and_reason_are_given_only_if_requested() -> None:
    assert (an_answer()[0].explanation.matched, an_answer()[0].explanation.reason) == ((), "")
    asked_for = an_answer(explain=True)[0].explanation
    assert asked_for.matched == ("barn",)
    assert asked_for.reason.startswith("the word 'barn'")


def test_an_explanation_is_that_of_the_recall_whatever_was_written_since() -> None:
    assert [hit.explanation for hit in an_answer(erased=True)] == [hit.explanation for hit in an_answer()]
