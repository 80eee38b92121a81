from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from remembrancer import EventDraft, InvalidInput, NotFound, Remembrancer, Settings
from remembrancer.domain.event import Event
from remembrancer.engine.graph import Graph, LinkKind, NodeKind

AT = datetime(2026, 3, 4, 9, tzinfo=UTC)


@pytest.fixture
def rem() -> Iterator[Remembrancer]:
    settings = Settings(db=":memory:", workspace="acme", embedder="none", background_index=False)
    with Remembrancer.open(settings=settings, clock=lambda: AT + timedelta(days=1)) as opened:
        yield opened


@pytest.fixture
def chain(rem: Remembrancer) -> list[str]:
    """The ids of a - b - c - d, each linked to the next with a falling weight."""
    ids = [str(rem.remember(text).id) for text in "abcd"]
    for place, weight in enumerate((1.0, 0.5, 0.25)):
        rem.link(ids[place], ids[place + 1], "similar", weight)
    return ids


@pytest.fixture
def talks(rem: Remembrancer) -> dict[str, list[Event]]:
    """Two conversations of Ana with Bo and with Cleo."""
    told = {
        "monday": [("Ana", "The invoice from Pexley is late"), ("Bo", "I call Pexley and ask Ana")],
        "tuesday": [("Ana", "Did Pexley answer? Bo knows"), ("Cleo", "They moved to Lisbon")],
    }
    return {
        session: list(
            rem.observe_many(
                EventDraft(
                    text=text, actor=actor, session=session, occurred_at=AT + timedelta(hours=day, minutes=place)
                )
                for place, (actor, text) in enumerate(turns)
            )
        )
        for day, (session, turns) in enumerate(told.items())
    }


def texts(graph: Graph) -> list[str]:
    return [node.label for node in graph.nodes]


def of_kind(graph: Graph, kind: NodeKind) -> set[str]:
    return {node.label for node in graph.nodes if node.kind is kind}


def links(graph: Graph, kind: LinkKind) -> set[tuple[str, str, int]]:
    """The links of a kind: the labels of both ends, and the number of turns."""
    labels = {node.id: node.label for node in graph.nodes}
    return {(labels[one.source], labels[one.target], one.turns) for one in graph.links if one.kind is kind}


# ── from turns ───────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.usefixtures("talks")
def test_a_plain_import_is_drawn_with_who_spoke_where_and_of_what(rem: Remembrancer) -> None:
    graph = rem.graph()
    assert of_kind(graph, NodeKind.SPEAKER) == {"Ana", "Bo", "Cleo"}
    assert of_kind(graph, NodeKind.CONVERSATION) == {"monday", "tuesday"}
    assert of_kind(graph, NodeKind.NAME) == {"Pexley", "Lisbon"}
    assert links(graph, LinkKind.TAKES_PART_IN) == {
        ("Ana", "monday", 1),
        ("Bo", "monday", 1),
        ("Ana", "tuesday", 1),
        ("Cleo", "tuesday", 1),
    }
    assert ("monday", "Pexley", 2) in links(graph, LinkKind.MENTIONS)


@pytest.mark.usefixtures("talks")
def test_a_speaker_is_drawn_with_conversations_company_and_words(rem: Remembrancer) -> None:
    graph = rem.graph(speaker="Ana")
    assert graph.focus is not None
    assert (graph.focus.label, texts(graph)[0]) == ("Ana", "Ana")
    assert of_kind(graph, NodeKind.SPEAKER) == {"Ana", "Bo", "Cleo"}
    assert {one[1] for one in links(graph, LinkKind.MENTIONS) if one[0] == "Ana"} == {"Pexley"}
    assert {one[0] for one in links(graph, LinkKind.SAID_BY)} == of_kind(graph, NodeKind.MEMORY)
    assert graph.activity is not None
    assert (graph.activity.turns, graph.activity.last_at - graph.activity.first_at) == (2, timedelta(hours=1))


@pytest.mark.usefixtures("talks")
def test_a_name_is_drawn_with_who_mentions_it_and_where(rem: Remembrancer) -> None:
    graph = rem.graph(name="Pexley")
    assert {one[0] for one in links(graph, LinkKind.MENTIONS) if one[1] == "Pexley"} == {
        "Ana",
        "Bo",
        "monday",
        "tuesday",
        "The invoice from Pexley is late",
        "I call Pexley and ask Ana",
        "Did Pexley answer? Bo knows",
    }


def test_a_name_in_a_note_is_drawn_with_the_note(rem: Remembrancer) -> None:
    rem.remember("The contract is with Pexley")
    assert ("The contract is with Pexley", "Pexley", 1) in links(rem.graph(name="Pexley"), LinkKind.MENTIONS)


def test_a_turn_is_drawn_with_its_speaker_conversation_and_episode(
    rem: Remembrancer, talks: dict[str, list[Event]]
) -> None:
    turns = talks["monday"]
    rem.scoped(session="monday").remember(
        "They talk", title="Invoice", kind="episode", events=[turn.id for turn in turns]
    )
    said = next(one for one in rem.timeline() if one.text.startswith("I call"))
    graph = rem.graph(said.id)
    assert links(graph, LinkKind.SAID_BY) == {("I call Pexley and ask Ana", "Bo", 1)}
    assert {one[1] for one in links(graph, LinkKind.PART_OF)} == {"monday", "Invoice"}
    assert of_kind(graph, NodeKind.EPISODE) == {"Invoice"}
    episode = next(node for node in graph.nodes if node.kind is NodeKind.EPISODE)
    around = rem.graph(episode.key)
    assert {one[0] for one in links(around, LinkKind.PART_OF)} >= {turn.text for turn in turns}


def test_a_conversation_is_found_by_any_of_its_turns(rem: Remembrancer, talks: dict[str, list[Event]]) -> None:
    one, other = (rem.graph(conversation=turn.id) for turn in talks["tuesday"])
    assert one == other
    assert of_kind(one, NodeKind.SPEAKER) == {"Ana", "Cleo"}


def test_a_speaker_without_a_name_is_called_by_the_role(rem: Remembrancer) -> None:
    rem.observe("hello", role="assistant")
    assert of_kind(rem.graph(), NodeKind.SPEAKER) == {"assistant"}
    assert rem.graph(speaker="assistant").turns == 1


def test_the_nodes_are_as_many_as_asked_for_and_the_others_are_counted(rem: Remembrancer) -> None:
    rem.observe_many(EventDraft(text=f"said by {place}", actor=f"Person {place}") for place in range(30))
    graph = rem.graph(limit=10)
    assert len(graph.nodes) <= 10
    assert graph.left_out[NodeKind.SPEAKER] == 30 - len(of_kind(graph, NodeKind.SPEAKER))


def test_nothing_of_a_sibling_is_drawn(rem: Remembrancer) -> None:
    ana, boris = rem.scoped(agent="ana"), rem.scoped(agent="boris")
    ana.observe("we met Pexley", actor="Ana", session="monday")
    [secret] = boris.observe_many(
        [EventDraft(text="we met Pexley and Quorra, a secret", actor="Boris", session="tuesday")]
    )
    boris.remember("a note on Pexley by Boris")
    drawn = [ana.graph(), ana.graph(name="Pexley"), ana.graph(speaker="Boris"), ana.graph(name="Quorra")]
    assert {label for graph in drawn for label in texts(graph)} == {
        *("Ana", "monday", "Pexley", "we met Pexley"),
        *("Boris", "Quorra"),  # in the middle, because they were asked for
    }
    assert [len(graph.links) for graph in drawn[2:]] == [0, 0]
    with pytest.raises(NotFound):
        ana.graph(conversation=secret.id)


# ── relations ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_around_a_memory_are_those_within_two_relations(rem: Remembrancer, chain: list[str]) -> None:
    assert texts(rem.graph(chain[0])) == ["a", "b", "c"]


def test_only_relations_among_shown_memories_are_reported(rem: Remembrancer, chain: list[str]) -> None:
    assert [one.weight for one in rem.graph(chain[0]).links] == [1.0, 0.5]


def test_of_those_equally_near_the_heavier_relation_comes_first(rem: Remembrancer, chain: list[str]) -> None:
    graph = rem.graph(chain[1], limit=2)
    assert (texts(graph), dict(graph.left_out)) == (["b", "a"], {NodeKind.MEMORY: 1})


def test_a_memory_without_relations_is_the_only_node(rem: Remembrancer) -> None:
    alone = rem.remember("alone")
    assert texts(rem.graph(alone.id)) == ["alone"]


def test_the_overview_begins_with_the_most_connected(rem: Remembrancer, chain: list[str]) -> None:
    graph = rem.graph()
    assert (set(texts(graph)[:2]), set(texts(graph)), len(graph.links)) == ({"b", "c"}, set("abcd"), 3)


def test_the_overview_of_an_empty_memory_is_empty(rem: Remembrancer) -> None:
    assert rem.graph() == Graph(focus=None, nodes=(), links=(), left_out={}, turns=0)


# ── refused ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_no_graph_is_drawn_around_a_memory_that_is_not_there(rem: Remembrancer) -> None:
    with pytest.raises(NotFound):
        rem.graph("00000000-0000-4000-8000-000000000404")


def test_a_graph_without_room_is_refused(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="limit"):
        rem.graph(limit=1)


def test_a_graph_has_one_middle(rem: Remembrancer) -> None:
    with pytest.raises(InvalidInput, match="name"):
        rem.graph(speaker="Ana", name="Pexley")
