from __future__ import annotations

from datetime import datetime, timedelta
from operator import attrgetter
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest

from remembrancer import InvalidInput, NotFound, Remembrancer, Settings
from remembrancer.domain.memory import Memory
from remembrancer.testing.doubles import NOW, FailingEmbedder, FixedClock

DAY = timedelta(days=1)
NAIVE = datetime(2026, 3, 4, 9, 0)  # noqa: DTZ001  the fault under test


def texts(memories: tuple[Memory, ...]) -> list[str]:
    return [memory.text for memory in memories]


@pytest.fixture
def week(rem: Remembrancer) -> Remembrancer:
    """A memory for each of the last seven days, written in another order."""
    for days in (3, 0, 6, 1, 5, 2, 4):
        rem.remember(f"{days} days ago", occurred_at=NOW - days * DAY, kind="even" if days % 2 == 0 else "odd")
    return rem


def test_one_memory_is_got_by_its_id(rem: Remembrancer) -> None:
    memory = rem.remember("The deploy failed")
    assert rem.get(memory.id) == rem.get(str(memory.id)) == memory


def test_a_forgotten_memory_is_got_too(rem: Remembrancer) -> None:
    forgotten = rem.forget(rem.remember("The deploy failed").id)
    assert rem.get(forgotten.id) == forgotten


@pytest.mark.parametrize("ask", ["get", "show", "forget", "restore"])
def test_an_unknown_id_is_not_found(rem: Remembrancer, ask: str) -> None:
    with pytest.raises(NotFound, match="no memory"):
        getattr(rem, ask)(uuid4())


@pytest.mark.parametrize("ask", ["get", "show", "forget", "restore"])
def test_an_invalid_id_is_refused(rem: Remembrancer, ask: str) -> None:
    with pytest.raises(InvalidInput, match=r"^memory_id: '12' .*UUID"):
        getattr(rem, ask)("12")


@pytest.mark.parametrize("ask", ["get", "show", "forget", "restore"])
def test_a_memory_out_of_reach_is_not_found(rem: Remembrancer, ask: str) -> None:
    memory = rem.scoped(agent="bob").remember("The deploy failed")
    with pytest.raises(NotFound):
        getattr(rem.scoped(agent="ana"), ask)(memory.id)


def test_a_memory_is_shown_with_its_cue_and_the_event_it_came_from(rem: Remembrancer) -> None:
    event = rem.observe("The deploy failed", actor="ana")
    shown = rem.show(rem.recent()[0].id)
    assert (shown.memory, shown.events, shown.revisions, shown.relations) == (rem.recent()[0], (event,), (), ())
    assert [(cue.heading, cue.text, cue.event_id) for cue in shown.cues] == [
        ("ana, Wednesday 4 March 2026", "The deploy failed", event.id)
    ]


def test_recent_memories_come_newest_first(week: Remembrancer) -> None:
    assert texts(week.recent(limit=3)) == ["0 days ago", "1 days ago", "2 days ago"]


def test_ten_recent_memories_are_the_default(week: Remembrancer) -> None:
    week.observe_many({"text": f"more {n}"} for n in range(20))
    assert len(week.recent()) == 10


def test_recent_memories_may_be_those_of_the_last_days(week: Remembrancer) -> None:
    assert texts(week.recent(days=2)) == ["0 days ago", "1 days ago", "2 days ago"]
    assert texts(week.recent(days=0.5)) == ["0 days ago"]


def test_a_forgotten_memory_is_not_recent(week: Remembrancer) -> None:
    week.forget(week.recent()[0].id)
    assert texts(week.recent(limit=1)) == ["1 days ago"]


def test_a_timeline_comes_oldest_first(week: Remembrancer) -> None:
    assert texts(week.timeline(limit=2)) == ["6 days ago", "5 days ago"]


def test_a_timeline_begins_and_ends_where_it_is_asked_to(week: Remembrancer) -> None:
    assert texts(week.timeline(NOW - 3 * DAY, NOW - DAY)) == ["3 days ago", "2 days ago"]


def test_a_timeline_may_be_of_some_kinds(week: Remembrancer) -> None:
    assert texts(week.timeline(kinds=["odd"])) == ["5 days ago", "3 days ago", "1 days ago"]


def test_a_timeline_may_be_of_one_session(week: Remembrancer) -> None:
    week.scoped(session="monday").remember("in session")
    assert texts(week.timeline(session="monday")) == ["in session"]


def test_the_journal_comes_newest_first_unless_asked(rem: Remembrancer) -> None:
    events = rem.observe_many([{"text": "one"}, {"text": "two"}, {"text": "three"}])
    assert rem.journal.list() == events[::-1]
    assert rem.journal.list(oldest_first=True) == events


def test_the_journal_may_be_of_some_types_a_session_or_a_time(rem: Remembrancer) -> None:
    rem.observe("chunk", type="exec.output_chunk")
    rem.observe("hello", session="monday")
    rem.observe("old", occurred_at=NOW - DAY)
    assert [event.text for event in rem.journal.list(types=["exec.output_chunk"])] == ["chunk"]
    assert [event.text for event in rem.journal.list(session="monday")] == ["hello"]
    assert [event.text for event in rem.journal.list(until=NOW)] == ["old"]
    assert [event.text for event in rem.journal.list(since=NOW - DAY, until=NOW - DAY)] == []


@pytest.mark.parametrize(
    ("ask", "given", "said"),
    [
        ("recent", {"limit": 0}, r"^limit: 0 .*from 1 to 10000"),
        ("recent", {"limit": 10_001}, r"^limit: 10001 "),
        ("recent", {"days": -1}, r"^days: -1 .*from 0 to 36500"),
        ("recent", {"days": float("nan")}, r"^days: nan "),
        ("timeline", {"limit": 0}, r"^limit: 0 "),
        ("timeline", {"since": NAIVE}, r"^since: .*UTC offset"),
        ("timeline", {"kinds": "odd"}, r"^kinds: 'odd' .*a list"),
        ("journal.list", {"limit": 10_001}, r"^limit: 10001 "),
        ("journal.list", {"until": NAIVE}, r"^until: .*UTC offset"),
        ("journal.list", {"types": "message"}, r"^types: 'message' .*a list"),
        ("journal.list", {"types": ["A B"]}, r"^types: 'A B' "),
    ],
)
def test_a_listing_that_is_not_allowed_is_refused_by_argument(
    rem: Remembrancer, ask: str, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        attrgetter(ask)(rem)(**given)


def test_an_empty_store_counts_nothing(rem: Remembrancer) -> None:
    stats = rem.health.stats()
    assert (stats.events, dict(stats.memories), stats.cues, dict(stats.vectors)) == (0, {}, 0, {})
    assert (stats.oldest, stats.newest) == (None, None)


def test_stored_rows_are_counted(week: Remembrancer) -> None:
    week.observe("chunk", type="exec.output_chunk")
    week.forget(week.recent()[0].id)
    week.jobs.index_now()
    stats = week.health.stats()
    assert (stats.events, dict(stats.memories), stats.cues) == (1, {"active": 6, "retired": 1}, 7)
    assert (dict(stats.vectors), stats.truncated) == ({"hash-256": 7}, 0)
    assert (stats.oldest, stats.newest) == (NOW - 6 * DAY, NOW)


def test_only_rows_that_the_caller_may_see_are_counted(rem: Remembrancer) -> None:
    rem.scoped(agent="bob").remember("The deploy failed")
    assert rem.scoped(agent="ana").health.stats().memories == {}


def test_a_text_longer_than_the_model_reads_is_counted_as_truncated(rem: Remembrancer) -> None:
    rem.remember("word " * 400)
    rem.jobs.index_now()
    assert rem.health.stats().truncated == 1


def test_a_doctor_finds_nothing_wrong_with_a_sound_store(week: Remembrancer) -> None:
    week.jobs.index_now()
    findings = week.health.doctor()
    assert [finding.check for finding in findings if not finding.ok] == []
    assert findings[-1].detail == "vector: hash-256, 256 dimensions"


def test_the_doctor_warns_of_recall_without_an_embedder_and_names_the_remedy(wordy: Remembrancer) -> None:
    finding = wordy.health.doctor()[-1]
    assert (finding.check, finding.ok, finding.warning) == ("embedder", True, True)
    assert finding.detail == "sparse-only: no embedder: lexical recall only, as asked for"
    assert "pip install 'remembrancer[local]'" in finding.repair
    assert "KEEPER_OLLAMA_URL" in finding.repair


def test_a_doctor_does_not_warn_of_an_embedder_that_answers(week: Remembrancer) -> None:
    assert not any(finding.warning for finding in week.health.doctor())


def test_the_doctor_reports_an_unavailable_embedder_and_its_effect(tmp_path: Path, clock: FixedClock) -> None:
    settings = Settings(db=str(tmp_path / "a.db"), background_index=False)
    with Remembrancer.open(settings=settings, embedder=FailingEmbedder(), clock=clock) as rem:
        finding = rem.health.doctor()[-1]
    assert (finding.check, finding.ok, finding.detail) == (
        "embedder",
        False,
        "vector-degraded: the model does not answer",
    )
    assert "lexical" in finding.repair


def test_the_doctor_reports_that_no_language_model_is_set(rem: Remembrancer) -> None:
    [finding] = [one for one in rem.health.doctor() if one.check == "language model"]
    assert (finding.ok, finding.detail) == (True, "no language model is set (llm)")
