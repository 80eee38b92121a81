from __future__ import annotations

from dataclasses import replace
from datetime import UTC, date, datetime
from uuid import UUID

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.event import Origin
from remembrancer.domain.front_matter import normalised
from remembrancer.domain.learning import Domain, Learning, LearningType
from remembrancer.domain.memory import Status
from remembrancer.domain.scope import Scope
from remembrancer.policies.learning.learnings import learning_of_memory, made_to_say, memory_of_learning, strengthened
from remembrancer.testing.doubles import NOW

SCOPE = Scope(workspace="acme", project="checkout")
NAMES = st.none() | st.text("abcdefgh ", min_size=1, max_size=9).filter(lambda name: name == name.strip())
DAYS = st.dates(date(1990, 1, 1), date(2090, 1, 1))
MOMENTS = st.integers(0, 3_000_000_000).map(lambda seconds: datetime.fromtimestamp(seconds, UTC))

LEARNINGS = st.builds(
    Learning,
    id=st.uuids(),
    text=st.text("ab \n-:é", min_size=1).map(normalised).filter(bool),
    type=st.sampled_from(LearningType),
    domain=st.sampled_from(Domain),
    importance=st.floats(0, 1),
    reinforcement_count=st.integers(0, 99),
    last_reinforced=st.none() | DAYS,
    status=st.sampled_from(Status),
    phase=NAMES,
    created_at=DAYS | MOMENTS.filter(lambda moment: (moment.hour, moment.minute) != (12, 0)),
    session_id=NAMES,
    session_task=NAMES,
    promoted_from=NAMES,
    merged_from=st.lists(st.uuids(), max_size=3).map(tuple),
    title=NAMES,
    tags=st.lists(st.sampled_from(["git", "house", "deploys"]), unique=True).map(tuple),
    origin=st.sampled_from(Origin),
    confidence=st.floats(0, 1),
    topic_key=NAMES,
    agent=NAMES,
    session=NAMES,
    valid_from=st.none(),
    valid_until=st.none() | MOMENTS,
)


@given(LEARNINGS)
def test_a_memory_of_a_learning_has_its_text(learning: Learning) -> None:
    write = memory_of_learning(learning, scope=SCOPE, source="MEMORY.md", tags=("institutional",), now=NOW)
    assert learning_of_memory(write.memory, file_tags=("institutional",)) == learning


@given(LEARNINGS, LEARNINGS)
def test_a_memory_updated_to_another_learning_has_its_text(before: Learning, after: Learning) -> None:
    memory = memory_of_learning(before, scope=Scope(workspace="acme"), source="MEMORY.md", now=NOW).memory
    meant = replace(after, id=before.id, agent=None, session=None)
    write = made_to_say(memory, meant, scope=SCOPE, source="checkout/MEMORY.md")
    said = replace(write.memory, strength=strengthened(memory.strength, meant), status=meant.status)
    assert learning_of_memory(said) == meant


def test_a_memory_updated_with_its_own_learning_is_unchanged() -> None:
    learning = Learning(id=UUID(int=1), text="Ask first.", created_at=date(2026, 2, 1))
    memory = memory_of_learning(learning, scope=SCOPE, source="MEMORY.md", metadata={"vault": "notes"}, now=NOW).memory
    again = made_to_say(memory, learning, scope=SCOPE, source="MEMORY.md", metadata={"vault": "notes"})
    assert again.memory == memory


def test_metadata_that_a_header_has_no_word_for_stays() -> None:
    learning = Learning(id=UUID(int=1), text="Ask first.")
    memory = memory_of_learning(
        learning, scope=SCOPE, source="MEMORY.md", metadata={"summary_of": ["a"]}, now=NOW
    ).memory
    later = made_to_say(memory, replace(learning, phase="design"), scope=SCOPE, source="MEMORY.md")
    assert later.memory.metadata == {"domain": "team", "summary_of": ["a"], "phase": "design"}


def test_a_day_that_is_known_to_the_second_stays_so() -> None:
    learning = Learning(id=UUID(int=1), text="Ask first.")
    strength = memory_of_learning(learning, scope=SCOPE, source="MEMORY.md", now=NOW).memory.strength
    used = replace(strength, usage=replace(strength.usage, last_retrieved_at=NOW))
    assert strengthened(used, replace(learning, last_reinforced=NOW.date())).usage.last_retrieved_at == NOW


def test_a_learning_without_a_day_has_the_time_of_its_file() -> None:
    learning = Learning(id=UUID(int=1), text="Ask first.")
    then = datetime(2026, 1, 1, 12, tzinfo=UTC)
    memory = memory_of_learning(learning, scope=SCOPE, source="MEMORY.md", otherwise_at=then, now=NOW).memory
    assert memory.occurred_to == then
