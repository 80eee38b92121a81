from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from uuid import UUID

import pytest
from golden_tables import every_row, number, table

from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Memory, MemoryDraft, Tier
from remembrancer.domain.scope import Visibility
from remembrancer.domain.strength import INITIAL_DIFFICULTY, Strength, Usage
from remembrancer.errors import InvalidInput
from remembrancer.language.english.dates import spoken_date
from remembrancer.policies.admission.formation import (
    Formation,
    episode,
    memory_of_draft,
    memory_of_event,
    origin_of,
    revised,
    says_the_same,
    stability_at_birth,
)
from remembrancer.policies.admission.importance import Importance
from remembrancer.testing.doubles import NOW, SCOPE, an_event

PLAIN = Formation()
GRADED = Formation(importance=Importance(by_severity={Severity.NOTICE: 0.05, Severity.WARN: 0.1, Severity.ERROR: 0.2}))
LATER = NOW + timedelta(days=1)
ID = UUID(int=7)


def formed(draft: MemoryDraft) -> Memory:
    return memory_of_draft(draft, scope=SCOPE, identifier=ID, now=NOW).memory


def heading(event: Event) -> str:
    return memory_of_event(event, PLAIN).cues[0].cue.heading


@every_row(table("spoken_date"), name=lambda row: row["moment"])
def test_a_date_is_spoken_in_english(row: dict[str, str]) -> None:
    assert spoken_date(datetime.fromisoformat(row["moment"])) == row["expected"]


def test_an_event_is_headed_by_its_actor_and_its_day() -> None:
    assert heading(replace(an_event(), actor="Ana")) == "Ana, Wednesday 4 March 2026"


def test_an_event_without_an_actor_is_headed_by_its_role() -> None:
    assert heading(replace(an_event(), role=Role.TOOL)) == "tool, Wednesday 4 March 2026"


def test_an_event_is_headed_by_the_day_it_happened_not_the_day_it_was_recorded() -> None:
    assert heading(replace(an_event(), recorded_at=LATER)) == "user, Wednesday 4 March 2026"


def test_a_memory_of_an_event_has_its_text_verbatim() -> None:
    text = "  The deploy\n\tfailed  \n"
    write = memory_of_event(an_event(text), PLAIN)
    assert (write.memory.text, write.cues[0].cue.text) == (text, text)


def test_a_memory_of_an_event_has_an_id_that_follows_from_it() -> None:
    event = an_event()
    assert memory_of_event(event, PLAIN).memory.id == derived_id(event.id, "memory")


def test_a_memory_of_an_event_names_it_as_its_source() -> None:
    event = an_event()
    write = memory_of_event(event, PLAIN)
    assert (write.event_ids, [cue.cue.event_id for cue in write.cues]) == ((event.id,), [event.id])


def test_a_memory_of_an_event_is_an_episode_of_the_events_kind_and_scope() -> None:
    memory = memory_of_event(replace(an_event(), type="mission.status_change"), PLAIN).memory
    assert (memory.tier, memory.kind, memory.scope) == (Tier.EPISODIC, "mission.status_change", SCOPE)


def test_a_worse_event_matters_more() -> None:
    events = [replace(an_event(), severity=severity) for severity in Severity]
    assert [memory_of_event(event, GRADED).memory.strength.importance for event in events] == [0.5, 0.55, 0.6, 0.7]


def test_the_memory_of_a_pinned_event_has_its_importance_floor_from_the_start() -> None:
    strength = memory_of_event(replace(an_event(), priority=Priority.PERMANENT), PLAIN).memory.strength
    assert (strength.importance, strength.importance_floor) == (0.95, 0.95)


def test_the_memory_of_an_event_of_normal_priority_has_no_importance_floor() -> None:
    assert memory_of_event(an_event(), GRADED).memory.strength == Strength()


def test_an_event_begins_in_the_tier_of_the_preset() -> None:
    assert memory_of_event(an_event(), Formation(event_tier=Tier.WORKING)).memory.tier is Tier.WORKING


# ── kinds ────────────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("kinds", "asked", "expected"),
    [
        ((), None, "note"),
        ((), "anything", "anything"),
        (("fact", "todo"), None, "fact"),
        (("fact", "todo"), "todo", "todo"),
    ],
)
def test_a_note_has_the_kind_that_is_asked_for_or_the_first(
    kinds: tuple[str, ...], asked: str | None, expected: str
) -> None:
    assert Formation(kinds=kinds).kind(asked) == expected


def test_a_kind_that_the_preset_does_not_have_is_refused_with_those_it_has() -> None:
    with pytest.raises(InvalidInput, match=r"^kind: 'note' .*one of fact, todo"):
        Formation(kinds=("fact", "todo")).kind("note")


def test_a_kind_that_is_no_plain_word_is_refused() -> None:
    with pytest.raises(InvalidInput, match=r"^formation\.kinds: "):
        Formation(kinds=("My kind",))


# ── surprise ─────────────────────────────────────────────────────────────────────────────────────────────────────────


@every_row(table("stability_at_birth"), name=lambda row: row["surprise"])
def test_the_unexpected_lasts_longer_as_worked_out(row: dict[str, str]) -> None:
    assert stability_at_birth(number(row["surprise"])) == pytest.approx(number(row["expected"]), rel=1e-11)
    assert pytest.approx(number(row["difficulty"]), rel=1e-11) == INITIAL_DIFFICULTY


def test_a_surprising_text_is_remembered_with_its_surprise_and_stability() -> None:
    strength = formed(MemoryDraft(text="2 GiB", surprise=1.0)).strength
    assert (strength.surprise, strength.stability) == (1.0, pytest.approx(3.45975))


# ── the rest of a memory ─────────────────────────────────────────────────────────────────────────────────────────────


def test_the_terms_of_a_cue_hold_who_and_when() -> None:
    terms = memory_of_event(replace(an_event(), actor="Ana"), PLAIN).cues[0].terms
    assert {"ana", "wednesdai", "march", "2026", "deploi", "fail"} <= set(terms)


@pytest.mark.parametrize("role", list(Role))
def test_the_origin_of_a_text_is_its_speaker(role: Role) -> None:
    assert origin_of(role) is Origin(role.value)


def test_a_memory_has_all_requested_values() -> None:
    draft = MemoryDraft(
        text="Checkout needs 2 GiB",
        title="Checkout",
        kind="decision",
        tier=Tier.WORKING,
        source="runbook",
        origin=Origin.WEB,
        importance=0.9,
        priority=8,
        confidence=0.4,
        tags=("checkout",),
        metadata={"ticket": 7},
        topic_key="checkout-memory",
        valid_from=NOW,
        valid_until=LATER,
        occurred_at=NOW - timedelta(days=1),
        visibility=Visibility.CREW,
        key="k-1",
    )
    assert formed(draft) == Memory(
        id=ID,
        scope=SCOPE,
        visibility=Visibility.CREW,
        tier=Tier.WORKING,
        kind="decision",
        title="Checkout",
        text="Checkout needs 2 GiB",
        source="runbook",
        origin=Origin.WEB,
        occurred_from=NOW - timedelta(days=1),
        occurred_to=NOW - timedelta(days=1),
        recorded_at=NOW,
        valid_from=NOW,
        valid_until=LATER,
        topic_key="checkout-memory",
        key="k-1",
        tags=("checkout",),
        metadata={"ticket": 7},
        strength=Strength(importance=0.9, priority=8, confidence=0.4),
    )


def test_a_memory_without_a_time_happened_now() -> None:
    memory = formed(MemoryDraft(text="Checkout needs 2 GiB"))
    assert (memory.occurred_from, memory.occurred_to) == (NOW, NOW)


def test_the_cue_of_a_memory_is_its_title_and_text_under_its_day() -> None:
    write = memory_of_draft(MemoryDraft(text="2 GiB", title="Checkout"), scope=SCOPE, identifier=ID, now=NOW)
    assert [(each.cue.heading, each.cue.text) for each in write.cues] == [("Wednesday 4 March 2026", "Checkout\n2 GiB")]


def test_an_updated_topic_has_the_text_of_the_new_draft() -> None:
    old = formed(MemoryDraft(text="2 GiB", title="Memory", tags=("old",), importance=0.2, valid_until=LATER))
    draft = MemoryDraft(text="4 GiB", title="RAM", tags=("new",), importance=0.9, priority=9, metadata={"a": 1})
    memory = revised(old, draft, scope=SCOPE, now=LATER).memory
    assert (memory.text, memory.title, memory.tags, memory.metadata) == ("4 GiB", "RAM", ("new",), {"a": 1})
    assert (memory.strength.importance, memory.strength.priority) == (0.9, 9)
    assert (memory.valid_until, memory.occurred_to, memory.revision) == (None, LATER, 2)


def test_an_updated_topic_keeps_its_confidence_usage_source_and_first_recording() -> None:
    strength = Strength(confidence=0.9, usage=Usage(helped=3))
    old = replace(formed(MemoryDraft(text="2 GiB", source="runbook")), strength=strength)
    memory = revised(old, MemoryDraft(text="4 GiB", source="rumour", confidence=0.1), scope=SCOPE, now=LATER).memory
    assert (memory.strength.confidence, memory.strength.usage) == (0.9, Usage(helped=3))
    assert (memory.source, memory.recorded_at, memory.id) == ("runbook", NOW, ID)


def test_an_updated_topic_is_found_by_its_new_words_only() -> None:
    write = revised(formed(MemoryDraft(text="2 GiB")), MemoryDraft(text="4 GiB"), scope=SCOPE, now=LATER)
    assert [each.cue.text for each in write.cues] == ["4 GiB"]


def test_an_updated_topic_honours_a_new_expiry_and_drops_an_old_one() -> None:
    old = formed(MemoryDraft(text="2 GiB"))
    expiring = revised(old, MemoryDraft(text="2 GiB", valid_until=LATER), scope=SCOPE, now=NOW).memory
    assert expiring.valid_until == LATER
    assert revised(expiring, MemoryDraft(text="4 GiB"), scope=SCOPE, now=NOW).memory.valid_until is None


def test_an_unchanged_topic_keeps_its_text_at_any_time() -> None:
    old = formed(MemoryDraft(text="2 GiB"))
    assert says_the_same(revised(old, MemoryDraft(text="2 GiB"), scope=SCOPE, now=LATER).memory, old)


@pytest.mark.parametrize(
    "draft",
    [
        MemoryDraft(text="4 GiB"),
        MemoryDraft(text="2 GiB", title="Memory"),
        MemoryDraft(text="2 GiB", valid_until=LATER),
        MemoryDraft(text="2 GiB", tags=("new",)),
        MemoryDraft(text="2 GiB", importance=0.6),
        MemoryDraft(text="2 GiB", priority=9),
    ],
    ids=lambda draft: repr(draft)[:60],
)
def test_a_text_rewritten_with_any_difference_is_not_equal(draft: MemoryDraft) -> None:
    old = formed(MemoryDraft(text="2 GiB"))
    assert not says_the_same(revised(old, draft, scope=SCOPE, now=LATER).memory, old)


def test_an_episode_spans_its_turns_and_is_found_by_each_of_them() -> None:
    turns = [an_event("first", at=NOW - timedelta(hours=2)), an_event("second", at=NOW - timedelta(hours=1))]
    write = episode(formed(MemoryDraft(text="what was said")), turns)
    assert (write.memory.occurred_from, write.memory.occurred_to) == (turns[0].occurred_at, turns[1].occurred_at)
    assert write.memory.duration == timedelta(hours=1)
    assert [(each.cue.ordinal, each.cue.text) for each in write.cues] == [
        (0, "what was said"),
        (1, "first"),
        (2, "second"),
    ]
    assert write.event_ids == (turns[0].id, turns[1].id)
