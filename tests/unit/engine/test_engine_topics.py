"""Topics that belong to the whole workspace: one current memory for all its projects, crews and agents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

import pytest

from remembrancer import Conflict, InvalidInput, Remembrancer, Settings
from remembrancer.domain.memory import Memory
from remembrancer.domain.scope import Level, Visibility
from remembrancer.policies.admission.formation import Formation
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.spec import Preset
from remembrancer.testing.doubles import FixedClock

TOPIC = "current-sprint"
Opener = Callable[..., Remembrancer]


@pytest.fixture
def open_memory(tmp_path: Path) -> Iterator[Opener]:
    with ExitStack() as stack:

        def opened(preset: str | Preset = "engram") -> Remembrancer:
            quiet = Settings(db=str(tmp_path / "a.db"), workspace="acme", background_index=False)
            return stack.enter_context(
                Remembrancer.open(preset=preset, embedder="none", settings=quiet, clock=FixedClock())
            )

        yield opened


@pytest.fixture
def rem(open_memory: Opener) -> Remembrancer:
    return open_memory()


def current(rem: Remembrancer) -> list[str]:
    return [memory.text for memory in rem.recent() if memory.topic_key == TOPIC]


@pytest.mark.parametrize("part", ["project", "crew", "agent"])
def test_one_namespace_has_one_current_memory_a_topic(rem: Remembrancer, part: str) -> None:
    first = rem.scoped(**{part: "one"}).remember("Sprint 42", topic_key=TOPIC)
    again = rem.scoped(**{part: "two"}).remember("Sprint 43", topic_key=TOPIC)
    assert (again.id, again.revision, current(rem)) == (first.id, 2, ["Sprint 43"])


def test_every_author_of_a_topic_sees_it(rem: Remembrancer) -> None:
    ana, ben = (rem.scoped(project=agent, crew="web", agent=agent, role="AGENT") for agent in ("ana", "ben"))
    ana.remember("Sprint 42", topic_key=TOPIC)
    told = ben.remember("Sprint 43", topic_key=TOPIC)
    assert (told.scope.project, told.scope.crew, told.scope.agent) == (None, "web", None)
    for one in (ana, ben):
        assert [hit.memory.text for hit in one.recall("sprint", reach="own")] == ["Sprint 43"]


def test_an_equal_text_of_another_author_belongs_to_both(rem: Remembrancer) -> None:
    rem.scoped(agent="ana").remember("Sprint 42", topic_key=TOPIC)
    assert rem.scoped(agent="ben").remember("Sprint 42", topic_key=TOPIC).scope.agent is None
    assert current(rem) == ["Sprint 42"]


def test_a_private_memory_has_a_topic_of_its_own(rem: Remembrancer) -> None:
    ana, ben = rem.scoped(agent="ana"), rem.scoped(agent="ben")
    private = ana.remember("Sprint 42, I think", topic_key=TOPIC, visibility="own")
    told = ben.remember("Sprint 43", topic_key=TOPIC)
    assert told.id != private.id
    again = ana.remember("Sprint 42, surely", topic_key=TOPIC)
    assert (again.id, again.visibility) == (private.id, Visibility.OWN)
    assert current(ben) == ["Sprint 43"]


def test_a_private_text_does_not_hide_a_public_one(rem: Remembrancer) -> None:
    rem.scoped(agent="ana").remember("Sprint 42", topic_key=TOPIC)
    rem.scoped(agent="ben").remember("a secret", topic_key=TOPIC, visibility="own")
    assert current(rem) == ["Sprint 42"]


def test_several_of_an_older_preset_become_one(open_memory: Opener) -> None:
    before = open_memory("default")
    olds = [before.scoped(agent=agent).remember(f"Sprint {n}", topic_key=TOPIC) for n, agent in enumerate("abc")]
    rem = open_memory("engram")
    told = rem.scoped(agent="ben").remember("Sprint 43", topic_key=TOPIC)
    assert told.id in {memory.id for memory in olds}
    assert current(rem) == ["Sprint 43"]
    others = [rem.get(memory.id) for memory in olds if memory.id != told.id]
    assert [memory.superseded_by for memory in others] == [told.id, told.id]


def test_a_forgotten_topic_cannot_be_restored_while_another_agent_has_it(rem: Remembrancer) -> None:
    first = rem.scoped(agent="ana").remember("Sprint 42", topic_key=TOPIC)
    rem.forget(first.id)
    rem.scoped(agent="ben").remember("Sprint 43", topic_key=TOPIC)
    with pytest.raises(Conflict):
        rem.restore(first.id)


def under(topics: Level) -> Preset:
    default = PRESETS["default"]
    return replace(default, name="topical", formation=replace(default.formation, topics=topics))


@pytest.mark.parametrize(
    ("topics", "memories"), [(Level.WORKSPACE, 1), (Level.PROJECT, 2), (Level.CREW, 3), (Level.AGENT, 4)]
)
def test_a_preset_chooses_the_scope_of_its_topics(open_memory: Opener, topics: Level, memories: int) -> None:
    rem = open_memory(under(topics))
    told: list[Memory] = []
    for project, crew, agent in (("p", "c", "a"), ("p", "c", "b"), ("p", "d", "b"), ("q", "d", "b")):
        told.append(rem.scoped(project=project, crew=crew, agent=agent).remember(agent, topic_key=TOPIC))
    assert len({memory.id for memory in told}) == memories


def test_a_topic_cannot_belong_to_a_session() -> None:
    with pytest.raises(InvalidInput, match=r"^formation.topics: 'session' .*workspace, project, crew, agent"):
        Formation(topics=Level.SESSION)
