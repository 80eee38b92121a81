"""Outcomes of tasks: who gets credit, how much, and what it moves."""

from __future__ import annotations

from datetime import timedelta
from uuid import uuid4

import pytest

from remembrancer import Conflict, InvalidInput, Memory, NotFound, Remembrancer
from remembrancer.domain.memory import Status
from remembrancer.domain.outcome import CreditBasis
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import FixedClock


@pytest.fixture
def pair(rem: Remembrancer) -> tuple[Memory, Memory]:
    return rem.remember("deploy checkout with the bot"), rem.remember("deploy checkout with the script")


def evidence(rem: Remembrancer, memory: Memory) -> tuple[float, float]:
    usage = rem.get(memory.id).strength.usage
    return usage.worked, usage.failed


def test_the_credit_of_a_task_is_shared_equally(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    told = rem.outcome("success", memories=[one.id for one in pair])
    assert [(one.basis, one.share) for one in told.credits] == [(CreditBasis.NAMED, 0.5)] * 2
    assert [evidence(rem, one) for one in pair] == [(0.5, 0.0), (0.5, 0.0)]


def test_memories_that_were_only_shown_share_half(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    told = rem.outcome("failure", recalls=[rem.recall("deploy checkout", keep=True).recall_id or ""])
    assert [(one.basis, one.share) for one in told.credits] == [(CreditBasis.SHOWN, 0.25)] * 2
    assert all(one.recall_id is not None for one in told.credits)


def test_memories_cited_in_the_final_text_get_all_of_it(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    found = rem.recall("deploy checkout")
    told = rem.outcome("success", recalls=[found], text=f"Done as {str(pair[1].id)[-8:]} says, commit deadbeef01.")
    assert [(one.memory_id, one.basis, one.share) for one in told.credits] == [(pair[1].id, CreditBasis.CITED, 1.0)]


def test_ids_are_found_in_a_text_without_recalls(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    told = rem.outcome("success", text=f"See {pair[0].id}; not 12345678.")
    assert [one.memory_id for one in told.credits] == [pair[0].id]


def test_a_recall_without_hits_credits_nothing(rem: Remembrancer) -> None:
    assert rem.outcome("failure", recalls=[rem.recall("nothing is there")]).credits == ()


def test_a_key_is_recorded_once(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    first = rem.outcome("failure", memories=[pair[0].id], key="task-7")
    again = rem.outcome("failure", memories=[pair[0].id], key="task-7")
    assert (again.repeated, again.credits) == (True, first.credits)
    assert evidence(rem, pair[0]) == (0.0, 1.0)


def test_a_key_with_another_result_is_a_conflict(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    rem.outcome("failure", memories=[pair[0].id], key="task-7")
    with pytest.raises(Conflict, match="task-7"):
        rem.outcome("success", memories=[pair[0].id], key="task-7")


def test_one_failure_puts_a_memory_behind_its_equal(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    first = rem.recall("deploy checkout")[0]
    rem.outcome("failure", memories=[first])
    assert [hit.id for hit in rem.recall("deploy checkout")][-1] == first.id


def test_one_harmful_rating_puts_a_memory_behind_its_equal(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    first = rem.recall("deploy checkout")[0]
    rem.feedback(first.id, "harmful")
    assert [hit.id for hit in rem.recall("deploy checkout")][-1] == first.id


def test_views_alone_move_no_score(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    before = rem.recall("deploy checkout")
    for _ in range(50):
        rem.mark(before[:1], "shown")
        rem.mark(before[:1], "retrieved")
    assert [(hit.id, hit.score) for hit in rem.recall("deploy checkout")] == [(hit.id, hit.score) for hit in before]


def test_another_memorys_outcomes_leave_a_score_exactly_as_it_was(
    rem: Remembrancer, pair: tuple[Memory, Memory]
) -> None:
    before = {hit.id: hit.score for hit in rem.recall("deploy checkout")}
    rem.outcome("failure", memories=[pair[0].id])
    after = {hit.id: hit.score for hit in rem.recall("deploy checkout")}
    assert after[pair[1].id] == before[pair[1].id]
    assert after[pair[0].id] < before[pair[0].id]


def test_the_parts_of_a_lowered_score_still_sum_to_it(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    rem.outcome("failure", memories=[pair[0].id])
    hit = next(hit for hit in rem.recall("deploy checkout") if hit.id == pair[0].id)
    parts = hit.explanation.score.parts
    assert [part.label for part in parts] == ["weighted sum", "outcome"]
    assert sum(part.contribution for part in parts) == pytest.approx(hit.score)
    assert all(part.contribution >= 0 for part in parts)


def test_a_memory_that_failed_recovers(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    for result in ["failure"] * 10 + ["success"] * 5:
        rem.outcome(result, memories=[pair[0].id])
    worked, failed = evidence(rem, pair[0])
    assert worked > failed
    assert rem.get(pair[0].id).status is Status.ACTIVE


def test_a_success_counts_as_a_use_and_a_failure_does_not(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    rem.outcome("success", memories=[pair[0].id])
    rem.outcome("failure", memories=[pair[1].id])
    assert [rem.get(one.id).strength.usage.used for one in pair] == [1, 0]


def test_the_page_of_a_memory_lists_its_outcomes(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    rem.outcome("partial", memories=[pair[0].id], task="deploy", note="half of it")
    [credit] = rem.show(pair[0].id).credits
    assert (credit.result, credit.task, credit.note, credit.worked, credit.failed) == (
        "partial",
        "deploy",
        "half of it",
        0.5,
        0.5,
    )


def test_a_memory_of_another_workspace_is_not_found(rem: Remembrancer, pair: tuple[Memory, Memory]) -> None:
    other = rem.of_workspace("rival")
    with pytest.raises(NotFound):
        other.outcome("failure", memories=[pair[0].id])
    assert other.outcome("failure", text=f"As {pair[0].id} says.").credits == ()
    assert evidence(rem, pair[0]) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        ({"result": "won", "memories": [uuid4()]}, "result"),
        ({"result": "success"}, "memories"),
        ({"result": "success", "memories": "0198"}, "memories"),
        ({"result": "success", "memories": [uuid4() for _ in range(101)]}, "memories"),
        ({"result": "success", "text": "x", "note": "n" * 2_001}, "note"),
        ({"result": "success", "text": "x", "key": ""}, "key"),
    ],
)
def test_an_invalid_argument_is_named(rem: Remembrancer, arguments: dict[str, object], named: str) -> None:
    with pytest.raises(InvalidInput, match=f"^{named}: "):
        rem.outcome(**arguments)  # type: ignore[arg-type]


MOVED = {
    "default": {"confidence"},
    "crewship": {"confidence"},
    "teaparty": {"confidence"},
    "plastmem": {"confidence", "stability", "difficulty"},
    "engram": {"confidence"},
    "mnemosyne": {"confidence"},
}


@pytest.mark.parametrize("preset", PRESETS)
def test_a_failure_moves_what_the_preset_has(preset: str, clock: FixedClock) -> None:
    with Remembrancer.open(":memory:", preset=preset, embedder="none", clock=clock) as rem:
        memory = rem.remember("deploy checkout with the bot")
        clock.advance(timedelta(days=3))
        rem.outcome("failure", memories=[memory.id])
        before, after = memory.strength, rem.get(memory.id).strength
    names = ("importance", "priority", "confidence", "stability", "difficulty", "last_reviewed_at")
    assert {name for name in names if getattr(before, name) != getattr(after, name)} == MOVED[preset]
    assert after.stability <= before.stability
