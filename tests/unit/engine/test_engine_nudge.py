from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer import AsyncRemembrancer, InvalidInput, Remembrancer, Settings
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import NOW, FixedClock

QUIET = Settings(db=":memory:", workspace="acme", background_index=False, embedder="none")
MINUTE = timedelta(minutes=1)
ENOUGH = 60


@pytest.fixture
def ana(wordy: Remembrancer) -> Remembrancer:
    """A view for an agent in a session."""
    return wordy.scoped(agent="ana", session="monday")


@pytest.fixture(params=sorted(PRESETS))
def preset(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def under_preset(preset: str, clock: FixedClock) -> Iterator[Remembrancer]:
    settings = replace(QUIET, preset=preset)
    with Remembrancer.open(settings=settings, agent="ana", session="monday", clock=clock) as opened:
        yield opened


def happened(rem: Remembrancer, count: int, *, type: str = "message") -> None:  # noqa: A002  the field's own name
    rem.observe_many({"text": f"{type} {number}", "type": type} for number in range(count))


def updated(rem: Remembrancer, clock: FixedClock) -> None:
    """The agent updates its memory, and time passes."""
    clock.advance(MINUTE)
    rem.observe("I have learned something", type="memory.updated")
    clock.advance(MINUTE)


# ── how many ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("count", "reminded"), [(0, False), (59, False), (60, True), (61, True)])
def test_an_agent_is_reminded_from_sixty_entries_on(ana: Remembrancer, count: int, reminded: bool) -> None:
    happened(ana, count)
    assert (ana.learnings.nudge() is not None) == reminded


def test_the_reminder_names_how_many(ana: Remembrancer) -> None:
    happened(ana, 72)
    assert (ana.learnings.nudge() or "").startswith("72 new journal entries and you have not updated your memory yet.")


def test_every_preset_has_its_own_number(under_preset: Remembrancer, preset: str) -> None:
    happened(under_preset, PRESETS[preset].nudge_after - 1)
    before = under_preset.learnings.nudge()
    happened(under_preset, 1, type="tool.call")
    assert (before, under_preset.learnings.nudge() is None) == (None, False)


@pytest.mark.parametrize("others", [{"agent": "bob"}, {"agent": None}])
def test_entries_of_other_agents_do_not_count(ana: Remembrancer, others: dict[str, str | None]) -> None:
    happened(ana.scoped(**others), ENOUGH)
    assert ana.learnings.nudge() is None


def test_entries_of_an_agent_of_that_name_in_another_workspace_do_not_count(tmp_path: Path) -> None:
    settings = replace(QUIET, db=str(tmp_path / "a.db"))
    with (
        Remembrancer.open(settings=settings, workspace="rival", agent="ana", session="monday") as rival,
        Remembrancer.open(settings=settings, workspace="acme", agent="ana", session="monday") as acme,
    ):
        happened(rival, ENOUGH)
        assert acme.learnings.nudge() is None


def test_entries_of_the_agent_in_other_sessions_count(ana: Remembrancer) -> None:
    happened(ana.scoped(session="sunday"), ENOUGH)
    assert ana.learnings.nudge() is not None


def test_entries_without_a_memory_count_too(ana: Remembrancer) -> None:
    happened(ana, ENOUGH, type="exec.output_chunk")
    assert ana.learnings.nudge() is not None


@pytest.mark.parametrize("kind", ["memory.updated", "memory.nudged"])
def test_entries_about_the_memory_itself_do_not_count(ana: Remembrancer, kind: str) -> None:
    happened(ana.scoped(session="sunday"), ENOUGH, type=kind)
    assert ana.learnings.nudge() is None


# ── since when ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(("count", "reminded"), [(59, False), (60, True)])
def test_an_update_begins_the_count_again(ana: Remembrancer, clock: FixedClock, count: int, reminded: bool) -> None:
    happened(ana, 100)
    updated(ana, clock)
    happened(ana, count)
    assert (ana.learnings.nudge() is not None) == reminded


def test_an_agent_that_updated_before_gets_the_time_since_when_entries_count(
    ana: Remembrancer, clock: FixedClock
) -> None:
    updated(ana, clock)
    happened(ana, 60)
    assert "60 new journal entries since your last memory update." in (ana.learnings.nudge() or "")


def test_an_update_of_another_agent_changes_nothing(ana: Remembrancer, clock: FixedClock) -> None:
    happened(ana, ENOUGH)
    updated(ana.scoped(agent="bob"), clock)
    assert ana.learnings.nudge() is not None


def test_entries_recorded_since_count_however_long_ago_they_happened(ana: Remembrancer, clock: FixedClock) -> None:
    updated(ana, clock)
    ana.observe_many({"text": f"old {n}", "occurred_at": NOW - timedelta(days=365)} for n in range(ENOUGH))
    assert ana.learnings.nudge() is not None


def test_the_update_that_counts_is_the_one_recorded_last(ana: Remembrancer, clock: FixedClock) -> None:
    updated(ana, clock)
    happened(ana, ENOUGH)
    clock.advance(MINUTE)
    ana.observe("I had learned something", type="memory.updated", occurred_at=NOW - timedelta(days=365))
    assert ana.learnings.nudge() is None


# ── once a session ───────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_session_is_reminded_once(ana: Remembrancer) -> None:
    happened(ana, ENOUGH)
    ana.learnings.nudge()
    happened(ana, ENOUGH, type="tool.call")
    assert ana.learnings.nudge() is None


def test_an_update_does_not_make_it_twice_in_a_session(ana: Remembrancer, clock: FixedClock) -> None:
    happened(ana, ENOUGH)
    ana.learnings.nudge()
    updated(ana, clock)
    happened(ana, ENOUGH, type="tool.call")
    assert ana.learnings.nudge() is None


def test_the_next_session_is_reminded_again(ana: Remembrancer) -> None:
    happened(ana, ENOUGH)
    ana.learnings.nudge()
    assert ana.scoped(session="tuesday").learnings.nudge() is not None


def test_another_agent_in_a_session_of_the_same_name_is_reminded_too(ana: Remembrancer) -> None:
    bob = ana.scoped(agent="bob")
    happened(ana, ENOUGH)
    happened(bob, ENOUGH)
    ana.learnings.nudge()
    assert bob.learnings.nudge() is not None


def test_too_early_is_not_held_to_be_the_one_time(ana: Remembrancer) -> None:
    ana.learnings.nudge()
    happened(ana, ENOUGH)
    assert ana.learnings.nudge() is not None


def test_a_session_may_have_the_longest_of_names(wordy: Remembrancer) -> None:
    view = wordy.scoped(agent="a" * 200, session="s" * 200)
    happened(view, ENOUGH)
    assert [view.learnings.nudge() is None, view.learnings.nudge() is None] == [False, True]


def test_of_processes_that_ask_at_once_one_gives_the_reminder(tmp_path: Path) -> None:
    settings = replace(QUIET, db=str(tmp_path / "a.db"))

    async def steps() -> list[bool]:
        views = [
            await AsyncRemembrancer.open(settings=settings, agent="ana", session="monday", clock=FixedClock())
            for _ in range(4)
        ]
        await views[0].observe_many({"text": f"text {number}"} for number in range(ENOUGH))
        told = await asyncio.gather(*(view.learnings.nudge() for view in views))
        for view in views:
            await view.close()
        return sorted(one is not None for one in told)

    assert asyncio.run(steps()) == [False, False, False, True]


# ── what is kept of it ───────────────────────────────────────────────────────────────────────────────────────────────


def test_the_words_of_a_reminder_are_kept_nowhere(ana: Remembrancer, tmp_path: Path) -> None:
    happened(ana, ENOUGH)
    told = ana.learnings.nudge() or ""
    ana.export(tmp_path / "all.jsonl")
    kept = (tmp_path / "all.jsonl").read_text(encoding="utf-8")
    assert [words for words in told.split(". ") if words in kept] == []


def test_the_journal_records_how_many_entries_there_were(ana: Remembrancer) -> None:
    happened(ana, ENOUGH)
    ana.learnings.nudge()
    [event] = ana.journal.list(types=["memory.nudged"])
    assert (event.role, event.payload) == ("system", {"entries": ENOUGH})


def test_a_reminder_forms_no_memory_under_any_preset(under_preset: Remembrancer, preset: str) -> None:
    happened(under_preset, PRESETS[preset].nudge_after)
    before = under_preset.health.stats()
    given = under_preset.learnings.nudge()
    after = under_preset.health.stats()
    assert (given is None, after.memories, after.events) == (False, before.memories, before.events + 1)


def test_no_reminder_writes_nothing(ana: Remembrancer) -> None:
    happened(ana, ENOUGH - 1)
    ana.learnings.nudge()
    assert ana.health.stats().events == ENOUGH - 1


@pytest.mark.parametrize(
    ("scope", "missing"),
    [
        ({"session": "monday"}, "agent"),
        ({"agent": "ana"}, "session"),
        (dict[str, str](), "agent and session"),
    ],
)
def test_a_reminder_needs_somebody_to_remind(wordy: Remembrancer, scope: dict[str, str], missing: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{missing}: None "):
        wordy.scoped(**scope).learnings.nudge()
