from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, date, datetime
from uuid import UUID

import pytest

from remembrancer import Remembrancer, Settings
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.learning import Domain, Learning, LearningType
from remembrancer.domain.memory import Status
from remembrancer.errors import Conflict
from remembrancer.testing.doubles import NOW, FixedClock

IDENTIFIER = UUID("6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11")
LEARNING = Learning(
    id=IDENTIFIER,
    text="Run the migrations before the deploy.",
    type=LearningType.CORRECTIVE,
    domain=Domain.TASK,
    importance=0.8,
    reinforcement_count=3,
    last_reinforced=date(2026, 3, 1),
    phase="design",
    created_at=date(2026, 2, 1),
)


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", preset="teaparty", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings, clock=FixedClock()) as opened:
        yield opened


def test_a_learning_keeps_its_id(rem: Remembrancer) -> None:
    (kept,) = rem.learn([LEARNING], source="MEMORY.md")
    assert kept.id == IDENTIFIER


def test_a_learnings_header_becomes_the_memorys_kind_source_importance_and_metadata(rem: Remembrancer) -> None:
    (kept,) = rem.learn([LEARNING], source="MEMORY.md")
    assert (kept.kind, kept.source, kept.strength.importance, kept.metadata) == (
        "corrective",
        "MEMORY.md",
        0.8,
        {"domain": "task", "phase": "design"},
    )


def test_a_learnings_reinforcement_counts_as_retrievals(rem: Remembrancer) -> None:
    (kept,) = rem.learn([LEARNING], source="MEMORY.md")
    usage = kept.strength.usage
    assert (usage.retrieved, usage.last_retrieved_at) == (3, datetime(2026, 3, 1, 12, tzinfo=UTC))


def test_a_learning_happened_on_the_day_it_was_made(rem: Remembrancer) -> None:
    (kept,) = rem.learn([LEARNING], source="MEMORY.md")
    assert kept.occurred_to == datetime(2026, 2, 1, 12, tzinfo=UTC)


def test_learning_twice_adds_nothing(rem: Remembrancer) -> None:
    rem.learn([LEARNING], source="MEMORY.md")
    rem.learn([LEARNING], source="MEMORY.md")
    assert rem.health.stats().memories == {"active": 1}


def test_a_learning_whose_id_holds_another_text_is_a_conflict(rem: Remembrancer) -> None:
    rem.learn([LEARNING], source="MEMORY.md")
    with pytest.raises(Conflict):
        rem.learn([Learning(id=IDENTIFIER, text="Something else.")], source="MEMORY.md")


def test_a_learning_whose_id_another_memory_has_is_a_conflict(rem: Remembrancer) -> None:
    other = rem.remember("Not a learning", kind="declarative")
    with pytest.raises(Conflict):
        rem.learn([Learning(id=other.id, text="Something else.")], source="MEMORY.md")


def test_a_retired_learning_is_kept_and_not_recalled(rem: Remembrancer) -> None:
    (kept,) = rem.learn([Learning(id=IDENTIFIER, text="Old habit.", status=Status.RETIRED)], source="MEMORY.md")
    assert (kept.status, len(rem.recall("old habit"))) == (Status.RETIRED, 0)


def test_a_retired_learning_is_never_active_between_two_writes(
    rem: Remembrancer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delattr(RelationalStore, "set_status")  # it is written as it is, or not at all
    (kept,) = rem.learn([Learning(id=IDENTIFIER, text="Old habit.", status=Status.RETIRED)], source="MEMORY.md")
    assert rem.get(kept.id).retired_at == NOW
