from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from contexts import a_context, over

from remembrancer import AsyncRemembrancer, Conflict, EventDraft, InvalidInput, Remembrancer, Settings
from remembrancer.adapters.reference.store import ReferenceStore
from remembrancer.domain.event import Origin, Priority, Role, Severity
from remembrancer.domain.journal import searchable_text
from remembrancer.domain.memory import Memory, Tier
from remembrancer.domain.scope import Scope, Visibility
from remembrancer.engine.record import observe
from remembrancer.language.lexical import analyse
from remembrancer.ports.journal import Appended, Entry
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, FixedClock

NAIVE = datetime(2026, 3, 4, 9, 0)  # noqa: DTZ001  the fault under test
LARGEST = "a" * 65_536


def kept(rem: Remembrancer) -> tuple[int, int]:
    """How many events and memories there are."""
    stats = rem.health.stats()
    return stats.events, sum(stats.memories.values())


# ── observe ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_an_event_is_recorded_as_it_was_observed(rem: Remembrancer) -> None:
    event = rem.observe(
        "Deploy of checkout failed",
        role="tool",
        type="mission.status_change",
        severity="error",
        priority="high",
        actor="ci",
        occurred_at=NOW - timedelta(hours=1),
        payload={"exit": 137, "hosts": ["a", "b"]},
        refs={"mission": "m-1"},
        key="k-1",
        session="monday",
    )
    assert rem.journal.list() == (event,)
    assert (event.role, event.type, event.severity, event.priority) == (
        Role.TOOL,
        "mission.status_change",
        Severity.ERROR,
        Priority.HIGH,
    )
    assert (event.actor, event.key, event.scope.session, event.origin) == ("ci", "k-1", "monday", Origin.TOOL)
    assert (event.occurred_at, event.recorded_at) == (NOW - timedelta(hours=1), NOW)
    assert (event.payload, event.refs) == ({"exit": 137, "hosts": ["a", "b"]}, {"mission": "m-1"})


def test_an_event_without_a_time_happened_when_it_was_recorded(rem: Remembrancer) -> None:
    assert rem.observe("Deploy failed").occurred_at == NOW


def test_a_time_of_another_zone_is_kept_in_utc(rem: Remembrancer) -> None:
    event = rem.observe("Deploy failed", occurred_at=NOW.astimezone(timezone(timedelta(hours=5, minutes=45))))
    assert (event.occurred_at, event.occurred_at.tzinfo) == (NOW, UTC)


@pytest.mark.parametrize(
    "text",
    [
        "  leading and trailing  ",
        "\n\nlines\r\nof\tall\n kinds\n",
        "cafe\u0301 and caf\u00e9",
        "\u202eright to left\u202c\u200b\ufeff",
        "👩\u200d👩\u200d👧 𝔘𝔫𝔦 \U0010ffff",
        "\x1b[31mred\x1b[0m\x07",
        "'; DROP TABLE events; --",
        LARGEST,
        "ё" * 32_768,
    ],
)
def test_a_text_is_kept_exactly(rem: Remembrancer, text: str) -> None:
    rem.observe(text)
    assert (rem.journal.list()[0].text, rem.recent()[0].text) == (text, text)


@pytest.mark.parametrize("text", ["Ana's payment-worker crashed", "部署失败 twice", "long. " * 900])
@pytest.mark.parametrize("payload", [{}, {"exit": 137}])
def test_an_event_has_the_words_of_its_own_text(text: str, payload: dict[str, Any]) -> None:
    async def steps(store: Store) -> Entry:
        assert isinstance(store, Noting)
        await observe(a_context(store, DEFAULT), Scope(workspace="default"), [EventDraft(text=text, payload=payload)])
        return store.given[0]

    entry = over(Noting, steps)
    assert entry.tokens == analyse(searchable_text(entry.event)).tokens


def test_events_of_one_stream_are_counted_in_order(rem: Remembrancer) -> None:
    first = rem.observe("one")
    others = rem.observe_many([{"text": "two"}, {"text": "three"}])
    assert [event.seq for event in (first, *others)] == [1, 2, 3]


def test_each_session_counts_its_own_events(rem: Remembrancer) -> None:
    drafts = [EventDraft(text=f"{session} {n}", session=session) for n in range(2) for session in ("a", "b")]
    assert [(event.scope.session, event.seq) for event in rem.observe_many(drafts)] == [
        ("a", 1),
        ("b", 1),
        ("a", 2),
        ("b", 2),
    ]


def test_a_drafts_session_overrides_the_callers(rem: Remembrancer) -> None:
    monday = rem.scoped(session="monday")
    events = monday.observe_many([EventDraft(text="one"), EventDraft(text="two", session="tuesday")])
    assert [event.scope.session for event in events] == ["monday", "tuesday"]


def test_a_batch_is_returned_in_its_order(rem: Remembrancer) -> None:
    texts = [f"event {n}" for n in range(300)]
    assert [event.text for event in rem.observe_many(EventDraft(text=text) for text in texts)] == texts


def test_a_batch_without_times_is_listed_in_its_order(rem: Remembrancer) -> None:
    texts = [f"line {number}" for number in range(12)]
    rem.observe_many([{"text": text} for text in texts])
    assert [memory.text for memory in rem.recent(limit=12)] == texts[::-1]


def test_no_events_are_recorded_where_there_are_none(rem: Remembrancer) -> None:
    assert rem.observe_many([]) == ()


@pytest.mark.parametrize("kind", ["exec.output_chunk", "container.metrics", "network.request"])
def test_an_event_that_is_never_remembered_is_still_recorded(rem: Remembrancer, kind: str) -> None:
    event = rem.observe("GET /health 200", type=kind)
    assert (rem.journal.list(), rem.recent()) == ((event,), ())


def test_a_known_key_gives_the_event_as_it_was_recorded(rem: Remembrancer, clock: FixedClock) -> None:
    first = rem.observe("Deploy failed", key="k-1", severity="error")
    clock.advance(timedelta(hours=1))
    assert rem.observe("Deploy failed", key="k-1", severity="info") == first
    assert kept(rem) == (1, 1)


def test_a_known_key_with_another_text_is_a_conflict(rem: Remembrancer) -> None:
    rem.observe("Deploy failed", key="k-1")
    with pytest.raises(Conflict, match="k-1"):
        rem.observe("Deploy succeeded", key="k-1")
    assert kept(rem) == (1, 1)


def test_a_key_is_known_in_every_session_of_its_scope(rem: Remembrancer) -> None:
    first = rem.observe("Deploy failed", key="k-1", session="monday")
    assert rem.observe("Deploy failed", key="k-1", session="tuesday") == first


def test_a_key_is_its_own_in_each_scope(rem: Remembrancer) -> None:
    rem.scoped(agent="ana").observe("Deploy failed", key="k-1")
    assert rem.scoped(agent="bob").observe("Deploy succeeded", key="k-1").text == "Deploy succeeded"


def test_a_key_repeated_within_a_batch_is_recorded_once(rem: Remembrancer) -> None:
    events = rem.observe_many([{"text": "Deploy failed", "key": "k-1"}] * 3)
    assert (len({event.id for event in events}), kept(rem)) == (1, (1, 1))


def test_a_conflict_in_a_batch_leaves_nothing_of_it(rem: Remembrancer) -> None:
    rem.observe("Deploy failed", key="k-1")
    with pytest.raises(Conflict):
        rem.observe_many([{"text": "new"}, {"text": "Deploy succeeded", "key": "k-1"}, {"text": "newer"}])
    assert kept(rem) == (1, 1)


def test_a_fault_in_a_batch_leaves_nothing_of_it(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput):
        rem.observe_many([{"text": "new"}, {"text": "  "}])
    assert kept(rem) == (0, 0)


def test_the_place_in_a_stream_after_a_refused_batch_is_the_next(rem: Remembrancer) -> None:
    rem.observe("one", key="k-1")
    with pytest.raises(Conflict):
        rem.observe_many([{"text": "lost"}, {"text": "other", "key": "k-1"}])
    assert rem.observe("two").seq == 2


def test_ten_thousand_events_are_recorded_at_once(wordy: Remembrancer) -> None:
    chunk = [{"text": f"line {n}", "type": "exec.output_chunk"} for n in range(10_000)]
    assert len(wordy.observe_many(chunk)) == 10_000


class Noting(ReferenceStore):
    """Notes what it was given to append, and how often others had their turn on the event loop before."""

    def __init__(self) -> None:
        super().__init__()
        self.turns = self.before = 0
        self.given: Sequence[Entry] = ()

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        self.before, self.given = self.turns, entries
        return await super().append(scope, entries)


@pytest.mark.parametrize(("count", "length"), [(500, 1), (2, 2_000)], ids=["many", "long"])
def test_others_have_their_turn_while_much_is_read_for_its_words(count: int, length: int) -> None:
    async def steps(store: Store) -> int:
        assert isinstance(store, Noting)

        async def others() -> None:
            while not store.before:
                store.turns += 1
                await asyncio.sleep(0)

        waiting = asyncio.create_task(others())
        await asyncio.sleep(0)
        drafts = [EventDraft(text=f"the deploy of {number} failed " * length) for number in range(count)]
        await observe(a_context(store, DEFAULT), Scope(workspace="default"), drafts)
        await waiting
        return store.before

    assert over(Noting, steps) > 10


def test_more_than_ten_thousand_events_at_once_are_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match=r"^events: '10,001 events' .*at most 10,000"):
        rem.observe_many([EventDraft(text="line")] * 10_001)
    assert kept(rem) == (0, 0)


def nested(levels: int) -> dict[str, Any]:
    return {"deeper": nested(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": ""}, r"^text: '' .*not blank"),
        ({"text": " \n\t"}, r"^text: .*not blank"),
        ({"text": "a\x00b"}, r"^text: 'a\\x00b' .*NUL"),
        ({"text": "a\ud800b"}, r"^text: 'a\\ud800b' .*lone surrogate"),
        ({"text": 5}, r"^text: 5 .*a string"),
        ({"text": "a", "role": "boss"}, r"^role: 'boss' .*user, assistant, system, tool"),
        ({"text": "a", "severity": "fatal"}, r"^severity: 'fatal' .*info, notice, warn, error"),
        ({"text": "a", "priority": "urgent"}, r"^priority: 'urgent' .*normal, high, pin, permanent"),
        ({"text": "a", "type": "My Type"}, r"^type: 'My Type' .*lower-case"),
        ({"text": "a", "occurred_at": NAIVE}, r"^occurred_at: .*UTC offset"),
        ({"text": "a", "occurred_at": "2026-03-04"}, r"^occurred_at: '2026-03-04' .*a datetime"),
        ({"text": "a", "actor": " ana"}, r"^actor: ' ana' "),
        ({"text": "a", "key": "k" * 201}, r"^key: .*1 to 200 characters"),
        ({"text": "a", "session": ""}, r"^session: '' "),
        ({"text": "a", "payload": {"at": NOW}}, r"^payload\.at: .*JSON values"),
        ({"text": "a", "payload": {"n": float("nan")}}, r"^payload\.n: nan .*finite"),
        ({"text": "a", "payload": {1: 2}}, r"^payload: 1 .*string keys"),
        ({"text": "a", "payload": {"long": LARGEST}}, r"^payload: .*at most 65,536 bytes"),
        ({"text": "a", "payload": nested(40)}, r"^payload.*at most 32 levels deep"),
        ({"text": "a", "refs": {"a": {1, 2}}}, r"^refs\.a: "),
    ],
)
def test_an_invalid_event_is_refused_with_argument_value_and_allowed_values(
    rem: Remembrancer, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        rem.observe(**given)
    assert kept(rem) == (0, 0)


def test_an_argument_no_event_has_is_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match=r"^events\[0\]: .*colour.*text, and any of actor, key"):
        rem.observe_many([{"text": "a", "colour": "red"}])


def test_the_events_of_a_batch_may_be_plain_texts(rem: Remembrancer) -> None:
    events = rem.observe_many(["Deploy failed", {"text": "Rolled back", "role": "tool"}])
    assert [(event.text, event.role) for event in events] == [("Deploy failed", Role.USER), ("Rolled back", Role.TOOL)]


# ── remember ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_memory_is_kept_as_it_was_given(rem: Remembrancer) -> None:
    memory = rem.remember(
        " Checkout needs 2 GiB\n",
        title="Checkout",
        kind="decision",
        tier="working",
        source="runbook",
        origin="web",
        importance=0.9,
        priority=8,
        confidence=0.4,
        tags=["checkout", "memory", "checkout"],
        metadata={"ticket": 7},
        topic_key="checkout-memory",
        valid_from=NOW,
        valid_until=NOW + timedelta(days=1),
        occurred_at=NOW - timedelta(days=1),
        visibility="crew",
        key="k-1",
    )
    assert rem.get(memory.id) == memory
    assert (memory.text, memory.title, memory.kind, memory.tier) == (
        " Checkout needs 2 GiB\n",
        "Checkout",
        "decision",
        Tier.WORKING,
    )
    assert (memory.tags, memory.metadata, memory.visibility) == (
        ("checkout", "memory"),
        {"ticket": 7},
        Visibility.CREW,
    )


def test_a_known_key_gives_the_memory_as_it_is(rem: Remembrancer) -> None:
    first = rem.remember("2 GiB", key="k-1", importance=0.9)
    assert rem.remember("2 GiB", key="k-1", importance=0.1) == first
    assert kept(rem) == (0, 1)


def test_a_known_key_of_another_memory_is_a_conflict(rem: Remembrancer) -> None:
    rem.remember("2 GiB", key="k-1")
    with pytest.raises(Conflict, match="k-1"):
        rem.remember("4 GiB", key="k-1")
    assert kept(rem) == (0, 1)


def test_a_known_key_of_another_memory_is_a_conflict_with_a_new_topic_too(rem: Remembrancer) -> None:
    rem.remember("2 GiB", key="k-1")
    with pytest.raises(Conflict, match="k-1"):
        rem.remember("4 GiB", key="k-1", topic_key="checkout-memory")
    assert kept(rem) == (0, 1)


def test_two_memories_without_a_key_may_have_equal_texts(rem: Remembrancer) -> None:
    rem.remember("2 GiB")
    rem.remember("2 GiB")
    assert kept(rem) == (0, 2)


def test_a_topic_repeated_with_the_same_text_changes_nothing(rem: Remembrancer, clock: FixedClock) -> None:
    first = rem.remember("2 GiB", title="Memory", topic_key="checkout-memory")
    clock.advance(timedelta(hours=1))
    assert rem.remember("2 GiB", title="Memory", topic_key="checkout-memory") == first
    assert rem.show(first.id).revisions == ()


def test_an_updated_topic_is_the_same_memory_one_revision_on(rem: Remembrancer) -> None:
    first = rem.remember("2 GiB", topic_key="checkout-memory")
    second = rem.remember("4 GiB", topic_key="checkout-memory")
    assert (second.id, second.text, second.revision) == (first.id, "4 GiB", 2)
    assert rem.get(first.id) == second
    assert kept(rem) == (0, 1)


def test_a_new_title_alone_is_a_revision(rem: Remembrancer) -> None:
    rem.remember("2 GiB", title="Memory", topic_key="checkout-memory")
    assert rem.remember("2 GiB", title="RAM", topic_key="checkout-memory").revision == 2


def test_earlier_texts_of_a_topic_are_kept_as_revisions(rem: Remembrancer, clock: FixedClock) -> None:
    memory = rem.remember("2 GiB", title="Memory", topic_key="checkout-memory")
    for text in ("4 GiB", "8 GiB"):
        clock.advance(timedelta(hours=1))
        rem.remember(text, topic_key="checkout-memory")
    said = [(each.number, each.title, each.text, each.replaced_at) for each in rem.show(memory.id).revisions]
    hour = timedelta(hours=1)
    assert said == [(1, "Memory", "2 GiB", NOW + hour), (2, None, "4 GiB", NOW + 2 * hour)]


def test_an_updated_topic_keeps_its_confidence_its_usage_its_source_and_its_first_recording(
    rem: Remembrancer, clock: FixedClock
) -> None:
    memory = rem.remember("2 GiB", topic_key="checkout-memory", source="runbook", confidence=0.9)
    rem.mark([memory.id], "used")
    clock.advance(timedelta(hours=1))
    later = rem.remember("4 GiB", topic_key="checkout-memory", source="rumour", confidence=0.1)
    assert (later.source, later.strength.confidence, later.recorded_at) == ("runbook", 0.9, NOW)
    assert rem.get(memory.id).strength.usage.used == 1


GIVEN: dict[str, Any] = {
    "kind": "decision",
    "importance": 0.9,
    "priority": 9,
    "tags": ("checkout",),
    "metadata": {"ticket": "OPS-7"},
}


def given_of(memory: Memory) -> dict[str, Any]:
    strength = {"importance": memory.strength.importance, "priority": memory.strength.priority}
    return strength | {name: getattr(memory, name) for name in ("kind", "tags", "metadata")}


def test_fields_that_are_not_given_again_stay_when_a_topic_is_updated(rem: Remembrancer) -> None:
    rem.remember("2 GiB", topic_key="checkout-memory", **GIVEN)
    assert given_of(rem.remember("4 GiB", topic_key="checkout-memory")) == GIVEN


@pytest.mark.parametrize(
    "anew", [{"kind": "fact"}, {"importance": 0.1}, {"priority": 1}, {"tags": ()}, {"tags": ("ops",)}, {"metadata": {}}]
)
def test_fields_that_are_given_again_change_and_the_rest_stays(rem: Remembrancer, anew: dict[str, Any]) -> None:
    rem.remember("2 GiB", topic_key="checkout-memory", **GIVEN)
    assert given_of(rem.remember("4 GiB", topic_key="checkout-memory", **anew)) == GIVEN | anew


def test_the_same_text_without_the_other_fields_changes_nothing(rem: Remembrancer) -> None:
    first = rem.remember("2 GiB", topic_key="checkout-memory", **GIVEN)
    assert rem.remember("2 GiB", topic_key="checkout-memory") == first


def test_an_updated_topic_is_found_by_its_new_words_and_not_by_its_old(rem: Remembrancer) -> None:
    rem.remember("penguins", topic_key="favourite")
    rem.jobs.index_now()
    memory = rem.remember("walruses", topic_key="favourite")
    rem.jobs.index_now()
    assert [hit.id for hit in rem.recall("walruses")] == [memory.id]
    assert len(rem.recall("penguins")) == 0


def test_a_topic_is_its_own_in_each_scope(rem: Remembrancer) -> None:
    first = rem.scoped(agent="ana").remember("2 GiB", topic_key="checkout-memory")
    second = rem.scoped(agent="bob").remember("4 GiB", topic_key="checkout-memory")
    assert first.id != second.id


def test_a_topic_is_the_same_in_every_session(rem: Remembrancer) -> None:
    first = rem.scoped(session="monday").remember("2 GiB", topic_key="checkout-memory")
    assert rem.scoped(session="tuesday").remember("4 GiB", topic_key="checkout-memory").id == first.id


def test_a_topic_that_was_forgotten_begins_again(rem: Remembrancer) -> None:
    first = rem.remember("2 GiB", topic_key="checkout-memory")
    rem.forget(first.id)
    second = rem.remember("4 GiB", topic_key="checkout-memory")
    assert (second.id != first.id, second.revision) == (True, 1)


def test_a_forgotten_topic_cannot_be_restored_while_its_successor_exists(rem: Remembrancer) -> None:
    first = rem.remember("2 GiB", topic_key="checkout-memory")
    rem.forget(first.id)
    rem.remember("4 GiB", topic_key="checkout-memory")
    with pytest.raises(Conflict):
        rem.restore(first.id)


def test_concurrent_writers_of_a_topic_end_in_one_memory_with_all_texts() -> None:
    texts = [f"{size} GiB" for size in range(8)]

    async def tell() -> tuple[set[UUID], list[str]]:
        settings = Settings(db=":memory:", background_index=False)
        async with await AsyncRemembrancer.open(embedder="none", settings=settings) as rem:
            told = await asyncio.gather(*(rem.remember(text, topic_key="checkout-memory") for text in texts))
            details = await rem.show(told[0].id)
            return {memory.id for memory in told}, [*(each.text for each in details.revisions), details.memory.text]

    ids, said = asyncio.run(tell())
    assert (len(ids), sorted(said)) == (1, texts)


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"text": " "}, r"^text: "),
        ({"text": LARGEST + "a"}, r"^text: '65,537 bytes' "),
        ({"text": "a", "title": "t" * 501}, r"^title: .*1 to 500"),
        ({"text": "a", "title": "two\nlines"}, r"^title: "),
        ({"text": "a", "kind": "My Kind"}, r"^kind: "),
        ({"text": "a", "tier": "deep"}, r"^tier: 'deep' .*working, episodic, semantic"),
        ({"text": "a", "origin": "dream"}, r"^origin: 'dream' .*user, assistant, system, tool, web, import"),
        ({"text": "a", "visibility": "all"}, r"^visibility: 'all' .*session, own, crew, workspace"),
        ({"text": "a", "importance": 1.1}, r"^importance: 1\.1 .*from 0 to 1"),
        ({"text": "a", "confidence": -0.1}, r"^confidence: -0\.1 "),
        ({"text": "a", "importance": float("nan")}, r"^importance: nan "),
        ({"text": "a", "importance": True}, r"^importance: True "),
        ({"text": "a", "priority": 0}, r"^priority: 0 .*from 1 to 10"),
        ({"text": "a", "priority": 11}, r"^priority: 11 "),
        ({"text": "a", "priority": 5.0}, r"^priority: 5\.0 "),
        ({"text": "a", "tags": "checkout"}, r"^tags: 'checkout' .*a list"),
        ({"text": "a", "tags": [f"t{n}" for n in range(65)]}, r"^tags: '65 tags' .*at most 64"),
        ({"text": "a", "tags": [5]}, r"^tags: 5 "),
        ({"text": "a", "metadata": {"at": NOW}}, r"^metadata\.at: "),
        ({"text": "a", "topic_key": " t"}, r"^topic_key: "),
        ({"text": "a", "valid_from": NAIVE}, r"^valid_from: .*UTC offset"),
        ({"text": "a", "valid_until": NAIVE}, r"^valid_until: .*UTC offset"),
        ({"text": "a", "occurred_at": NAIVE}, r"^occurred_at: .*UTC offset"),
        ({"text": "a", "valid_from": NOW, "valid_until": NOW}, r"^valid_until: .*after valid_from"),
    ],
)
def test_an_invalid_memory_is_refused_with_argument_value_and_allowed_values(
    rem: Remembrancer, given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidInput, match=said):
        rem.remember(**given)
    assert kept(rem) == (0, 0)


def test_a_topic_updated_with_a_narrower_visibility_is_shown_to_fewer_readers(rem: Remembrancer) -> None:
    rem.remember("Deploys are on Fridays", topic_key="day")
    told = rem.scoped(session="monday").remember("Deploys are on Mondays", topic_key="day", visibility="session")
    assert (told.visibility, told.scope.session) == (Visibility.SESSION, "monday")


def test_a_topic_that_few_see_is_not_opened_by_being_updated(rem: Remembrancer) -> None:
    rem.remember("Deploys are on Fridays", topic_key="day", visibility="own")
    assert rem.remember("Deploys are on Mondays", topic_key="day").visibility is Visibility.OWN


def test_an_updated_topic_has_the_origin_of_its_last_writer(rem: Remembrancer) -> None:
    rem.remember("Deploys are on Fridays", topic_key="day")
    assert rem.remember("Deploys are on Mondays", topic_key="day", origin="tool").origin is Origin.TOOL


# ── remember_many ────────────────────────────────────────────────────────────────────────────────────────────────────


def test_memories_of_a_batch_are_those_that_remember_would_store(rem: Remembrancer) -> None:
    [turn] = rem.observe_many(["We chose Kafka"])
    given: dict[str, Any] = {
        "kind": "decision",
        "tags": ["queue"],
        "importance": 0.9,
        "metadata": {"a": 1},
        "key": "k-1",
    }
    first, second, episode = rem.remember_many(
        ["Checkout needs 2 GiB", {"text": "Kafka it is", **given}, {"text": "The choice", "events": [turn.id]}]
    )
    alone = rem.scoped(agent="else").remember("Kafka it is", **given)
    assert (first.text, first.kind, first.tier) == ("Checkout needs 2 GiB", "note", Tier.SEMANTIC)
    assert (second.kind, second.tags, second.metadata, second.strength) == (
        alone.kind,
        alone.tags,
        alone.metadata,
        alone.strength,
    )
    assert [event.id for event in rem.show(episode.id).events] == [turn.id]
    assert rem.recall("how much does checkout need?")[0].memory == first


def test_memories_of_a_batch_are_listed_in_their_order(rem: Remembrancer) -> None:
    texts = [f"note {n}" for n in range(12)]
    rem.remember_many(texts)
    assert [memory.text for memory in rem.timeline()] == texts


def test_a_known_key_in_a_batch_returns_the_stored_memory(rem: Remembrancer) -> None:
    known = rem.remember("one", key="k-1")
    again, new, twice = rem.remember_many(
        [{"text": "one", "key": "k-1"}, {"text": "two", "key": "k-2"}, {"text": "two", "key": "k-2"}]
    )
    assert (again, twice, new.text) == (known, new, "two")
    assert kept(rem) == (0, 2)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"text": "a", "importance": 2}, r"^memories\[1\]\.importance: "),
        ({"text": "a", "colour": "red"}, r"^memories\[1\]: .*text, and any of confidence, events, importance"),
        ({"text": "a", "topic_key": "t"}, r"^memories\[1\]\.topic_key: .*`remember` takes topics"),
        ({"kind": "note"}, r"^memories\[1\]: "),
        (7, r"^memories\[1\]: .*a string, or a mapping"),
    ],
)
def test_a_fault_in_a_batch_of_memories_leaves_nothing_of_it(rem: Remembrancer, wrong: Any, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        rem.remember_many(["new", wrong])
    assert kept(rem) == (0, 0)


def test_a_conflict_in_a_batch_of_memories_leaves_nothing_of_it(rem: Remembrancer) -> None:
    rem.remember("one", key="k-1")
    with pytest.raises(Conflict):
        rem.remember_many(["new", {"text": "other", "key": "k-1"}])
    assert kept(rem) == (0, 1)


def test_more_than_ten_thousand_memories_are_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="at most 10,000"):
        rem.remember_many(["a"] * 10_001)


def test_a_text_that_a_batch_repeats_counts_as_remembering_it_again(clock: FixedClock) -> None:
    def opened() -> Remembrancer:
        return Remembrancer.open(":memory:", preset="engram", embedder="none", clock=clock)

    with opened() as several, opened() as single:
        batch = several.remember_many(["Checkout needs 2 GiB", "another", "Checkout needs 2 GiB"])
        alone = [single.remember(memory.text) for memory in batch]
        assert batch[0].id == batch[2].id
        assert [memory.strength for memory in batch] == [memory.strength for memory in alone]
