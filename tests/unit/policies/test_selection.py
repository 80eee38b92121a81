from __future__ import annotations

import math
from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from remembrancer.domain.memory import Status, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.domain.selection import can_see, excluded_by
from remembrancer.domain.validation import JsonScalar, JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.testing.doubles import NOW, a_memory

ANA = Scope(workspace="acme", project="web", crew="platform", agent="ana", session="monday")
AT_NOW = Filter(current_at=NOW)
INSTANT = timedelta(microseconds=1)


def owned_by(**parts: str | None) -> Scope:
    return Scope(workspace="acme", **parts)


def sees(reach: Reach, owner: Scope, visibility: Visibility = Visibility.WORKSPACE) -> bool:
    return can_see(Reader(ANA, reach), owner, visibility)


@pytest.mark.parametrize("reach", Reach)
@pytest.mark.parametrize("visibility", Visibility)
def test_no_reader_sees_over_the_workspace_wall(reach: Reach, visibility: Visibility) -> None:
    assert not can_see(Reader(ANA, reach), replace(ANA, workspace="rival"), visibility)


@pytest.mark.parametrize("reach", Reach)
@pytest.mark.parametrize("visibility", Visibility)
def test_every_reader_sees_the_rows_of_exactly_its_scope(reach: Reach, visibility: Visibility) -> None:
    assert can_see(Reader(ANA, reach), ANA, visibility)


@pytest.mark.parametrize("reach", Reach)
def test_a_reader_in_a_project_does_not_see_another_one(reach: Reach) -> None:
    assert not can_see(Reader(ANA, reach), replace(ANA, project="app"), Visibility.WORKSPACE)


@pytest.mark.parametrize("reach", Reach)
def test_a_row_without_a_project_belongs_to_all(reach: Reach) -> None:
    assert can_see(Reader(ANA, reach), replace(ANA, project=None), Visibility.WORKSPACE)


@pytest.mark.parametrize("reach", Reach)
def test_a_reader_without_a_project_sees_every_project(reach: Reach) -> None:
    assert can_see(Reader(replace(ANA, project=None), reach), ANA, Visibility.WORKSPACE)


@pytest.mark.parametrize(
    ("visibility", "same_crew", "same_agent", "same_session"),
    [
        (Visibility.WORKSPACE, True, True, True),
        (Visibility.CREW, True, False, False),
        (Visibility.OWN, False, True, False),
        (Visibility.SESSION, False, False, False),
    ],
)
def test_visibility_bounds_how_far_a_row_is_shown(
    visibility: Visibility, same_crew: bool, same_agent: bool, same_session: bool
) -> None:
    owners = [
        owned_by(crew="platform", agent="bob", session="friday"),
        owned_by(crew="data", agent="ana", session="friday"),
        owned_by(crew="data", agent="bob", session="monday"),
    ]
    seen = [sees(Reach.WORKSPACE, owner, visibility) for owner in owners]
    assert seen == [same_crew, same_agent, same_session]


def test_a_session_s_row_is_shown_to_its_agent_in_that_session() -> None:
    owner = owned_by(crew="data", agent="ana", session="monday")
    assert sees(Reach.WORKSPACE, owner, Visibility.SESSION)


@pytest.mark.parametrize(
    ("owner", "seen_by"),
    [
        pytest.param(owned_by(), {Reach.WORKSPACE, Reach.CREW_SHARED, Reach.OWN}, id="of nobody"),
        pytest.param(owned_by(session="monday"), set(Reach), id="of the session, of nobody"),
        pytest.param(
            owned_by(crew="platform"), {Reach.WORKSPACE, Reach.CREW_SHARED, Reach.OWN}, id="of the crew, no agent"
        ),
        pytest.param(owned_by(crew="platform", session="monday"), set(Reach), id="of the crew, in the session"),
        pytest.param(owned_by(crew="data"), {Reach.WORKSPACE}, id="of another crew, no agent"),
        pytest.param(owned_by(crew="data", session="monday"), {Reach.WORKSPACE}, id="of another crew, same session"),
        pytest.param(owned_by(crew="platform", agent="bob"), {Reach.WORKSPACE, Reach.CREW_SHARED}, id="of a crew mate"),
        pytest.param(
            owned_by(crew="platform", agent="bob", session="monday"),
            {Reach.WORKSPACE, Reach.CREW_SHARED},
            id="of a crew mate, same session",
        ),
        pytest.param(
            owned_by(crew="data", agent="ana"),
            {Reach.WORKSPACE, Reach.CREW_SHARED, Reach.OWN},
            id="of the agent, in another crew",
        ),
        pytest.param(owned_by(agent="ana", session="monday"), set(Reach), id="of the agent, in the session"),
        pytest.param(
            owned_by(agent="ana", session="friday"),
            {Reach.WORKSPACE, Reach.CREW_SHARED, Reach.OWN},
            id="of the agent, in another session",
        ),
        pytest.param(owned_by(agent="bob"), {Reach.WORKSPACE}, id="of another agent without a crew"),
    ],
)
def test_reach_bounds_how_far_a_reader_looks(owner: Scope, seen_by: set[Reach]) -> None:
    assert {reach for reach in Reach if sees(reach, owner)} == seen_by


@pytest.mark.parametrize("visibility", Visibility)
def test_a_narrower_reach_never_shows_more(visibility: Visibility) -> None:
    owners = [
        owned_by(crew=crew, agent=agent, session=session)
        for crew in (None, "platform", "data")
        for agent in (None, "ana", "bob")
        for session in (None, "monday", "friday")
    ]
    for narrow, wide in (
        (Reach.SESSION, Reach.OWN),
        (Reach.OWN, Reach.CREW_SHARED),
        (Reach.CREW_SHARED, Reach.WORKSPACE),
    ):
        assert [owner for owner in owners if sees(narrow, owner, visibility) > sees(wide, owner, visibility)] == []


SHARING = Reader(ANA, Reach.CREW_SHARED, shared_from=0.65)
MATE = owned_by(crew="platform", agent="bob")


@pytest.mark.parametrize(("importance", "seen"), [(0.0, False), (math.nextafter(0.65, 0), False), (0.65, True)])
def test_a_crew_mate_s_row_is_shared_from_the_very_importance_on(importance: float, seen: bool) -> None:
    assert can_see(SHARING, MATE, Visibility.WORKSPACE, importance) is seen


@pytest.mark.parametrize(
    "owner",
    [
        pytest.param(ANA, id="of the reader"),
        pytest.param(owned_by(crew="data", agent="ana"), id="of the agent, in another crew"),
        pytest.param(owned_by(crew="platform"), id="of the crew, no agent"),
        pytest.param(owned_by(), id="of nobody"),
    ],
)
def test_a_reader_sees_its_own_row_with_any_importance(owner: Scope) -> None:
    assert can_see(SHARING, owner, Visibility.WORKSPACE, 0.0)


@pytest.mark.parametrize("owner", [owned_by(crew="data", agent="carl"), owned_by(agent="carl")])
def test_no_importance_shows_a_row_of_another_crew(owner: Scope) -> None:
    assert not can_see(SHARING, owner, Visibility.WORKSPACE, 1.0)


@pytest.mark.parametrize("visibility", [Visibility.OWN, Visibility.SESSION])
def test_no_importance_shows_a_row_that_its_visibility_hides(visibility: Visibility) -> None:
    assert not can_see(SHARING, MATE, visibility, 1.0)


@pytest.mark.parametrize("reach", [Reach.WORKSPACE, Reach.OWN, Reach.SESSION])
@pytest.mark.parametrize("importance", [0.0, 1.0])
def test_importance_counts_only_where_a_crew_shares(reach: Reach, importance: float) -> None:
    for owner in (ANA, MATE, owned_by()):
        plain = can_see(Reader(ANA, reach), owner, Visibility.WORKSPACE, importance)
        assert can_see(Reader(ANA, reach, shared_from=0.65), owner, Visibility.WORKSPACE, importance) == plain


def test_a_row_without_an_importance_is_shared() -> None:
    assert can_see(SHARING, MATE, Visibility.WORKSPACE)


@pytest.mark.parametrize("shared_from", [-0.1, 1.1, math.nan])
def test_the_sharing_threshold_is_in_the_unit_interval(shared_from: float) -> None:
    with pytest.raises(InvalidInput, match="shared_from"):
        Reader(ANA, Reach.CREW_SHARED, shared_from)


def test_a_plain_memory_is_kept() -> None:
    assert excluded_by(a_memory(), AT_NOW) == ()


@pytest.mark.parametrize(
    ("fields", "reasons"),
    [
        pytest.param({"recorded_at": NOW}, (), id="recorded now"),
        pytest.param({"recorded_at": NOW + INSTANT}, ("recorded later",), id="recorded later"),
        pytest.param({"superseded_by": UUID(int=1)}, ("superseded",), id="superseded, unknown when"),
        pytest.param({"superseded_by": UUID(int=1), "superseded_at": NOW}, ("superseded",), id="superseded now"),
        pytest.param({"superseded_by": UUID(int=1), "superseded_at": NOW + INSTANT}, (), id="superseded later"),
        pytest.param({"superseded_at": NOW}, (), id="superseded by none"),
        pytest.param({"status": Status.RETIRED}, ("retired",), id="retired, unknown when"),
        pytest.param({"status": Status.ARCHIVED, "retired_at": NOW}, ("retired",), id="archived now"),
        pytest.param({"status": Status.COMPACTED, "retired_at": NOW + INSTANT}, (), id="compacted later"),
        pytest.param({"status": Status.ACTIVE, "retired_at": NOW}, (), id="active again"),
        pytest.param({"valid_from": NOW}, (), id="valid from now"),
        pytest.param({"valid_from": NOW + INSTANT}, ("not yet valid",), id="valid from later"),
        pytest.param({"valid_until": NOW}, ("expired",), id="valid until now"),
        pytest.param({"valid_until": NOW + INSTANT}, (), id="valid until later"),
        pytest.param(
            {"status": Status.RETIRED, "valid_until": NOW}, ("retired", "expired"), id="every reason is named"
        ),
    ],
)
def test_memories_that_are_not_current_are_left_out(fields: dict[str, Any], reasons: tuple[str, ...]) -> None:
    assert excluded_by(replace(a_memory(), **fields), AT_NOW) == reasons


@pytest.mark.parametrize(
    ("asked", "reasons"),
    [
        pytest.param({"kinds": frozenset({"note", "fact"})}, (), id="any of the kinds"),
        pytest.param({"kinds": frozenset({"fact"})}, ("kinds",), id="none of the kinds"),
        pytest.param({"kinds": frozenset[str]()}, ("kinds",), id="no kind"),
        pytest.param({"tiers": frozenset({Tier.EPISODIC})}, (), id="the tier"),
        pytest.param({"tiers": frozenset({Tier.WORKING})}, ("tiers",), id="another tier"),
        pytest.param({"tags": frozenset({"a"})}, (), id="one of its tags"),
        pytest.param({"tags": frozenset({"a", "b"})}, (), id="all of its tags"),
        pytest.param({"tags": frozenset({"a", "c"})}, ("tags",), id="a tag too many"),
        pytest.param({"without_tags": frozenset({"c"})}, (), id="none of its tags"),
        pytest.param({"without_tags": frozenset({"b", "c"})}, ("without_tags",), id="an unwanted tag"),
        pytest.param({"visibilities": frozenset({Visibility.CREW, Visibility.OWN})}, (), id="any of the visibilities"),
        pytest.param({"visibilities": frozenset({Visibility.OWN})}, ("visibilities",), id="another visibility"),
        pytest.param({"visibilities": frozenset[Visibility]()}, ("visibilities",), id="no visibility"),
        pytest.param({"source": "mail"}, (), id="its source"),
        pytest.param({"source": "chat"}, ("source",), id="another source"),
        pytest.param({"crew": "platform"}, (), id="its crew"),
        pytest.param({"crew": "data"}, ("crew",), id="another crew"),
        pytest.param({"session": "monday"}, (), id="its session"),
        pytest.param({"session": "friday"}, ("session",), id="another session"),
    ],
)
def test_a_filter_leaves_out_values_that_it_does_not_name(asked: dict[str, Any], reasons: tuple[str, ...]) -> None:
    memory = replace(a_memory(scope=ANA), tags=("a", "b"), source="mail", visibility=Visibility.CREW)
    assert excluded_by(memory, replace(AT_NOW, **asked)) == reasons


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ({"k": "blue"}, "blue"),
        ({"k": ""}, ""),
        ({"k": 7}, 7.0),
        ({"k": 0.5}, 0.5),
        ({"k": True}, True),
        ({"k": False}, False),
        ({"k": None}, None),
    ],
)
def test_metadata_that_holds_exactly_the_value_keeps_a_memory(held: dict[str, JsonValue], asked: JsonScalar) -> None:
    where = replace(AT_NOW, metadata=(("k", asked),))
    assert excluded_by(replace(a_memory(), metadata={"other": 1, **held}), where) == ()


@pytest.mark.parametrize(
    ("held", "asked"),
    [
        ({}, None),
        ({"other": "blue"}, "blue"),
        ({"k": "Blue"}, "blue"),
        ({"k": "7"}, 7),
        ({"k": 1}, True),
        ({"k": True}, 1),
        ({"k": True}, 1.0),
        ({"k": False}, 0),
        ({"k": None}, 0),
        ({"k": 0}, None),
        ({"k": ["blue"]}, "blue"),
        ({"k": {"k": "blue"}}, "blue"),
    ],
)
def test_metadata_that_holds_another_value_leaves_a_memory_out(held: dict[str, JsonValue], asked: JsonScalar) -> None:
    where = replace(AT_NOW, metadata=(("k", asked),))
    assert excluded_by(replace(a_memory(), metadata=held), where) == ("metadata",)


def test_every_requested_value_must_be_there() -> None:
    where = replace(AT_NOW, metadata=(("k", 1), ("l", 2)))
    assert excluded_by(replace(a_memory(), metadata={"k": 1, "l": 2}), where) == ()
    assert excluded_by(replace(a_memory(), metadata={"k": 1, "l": 3}), where) == ("metadata",)


@pytest.mark.parametrize(
    ("asked", "reasons"),
    [
        pytest.param({"since": NOW}, (), id="the span ends with the beginning"),
        pytest.param({"since": NOW + INSTANT}, ("since",), id="the span ends before the beginning"),
        pytest.param({"until": NOW - timedelta(hours=1)}, ("until",), id="the span begins with the end"),
        pytest.param({"until": NOW - timedelta(hours=1) + INSTANT}, (), id="the span begins before the end"),
    ],
)
def test_a_period_selects_memories_that_overlap_it(asked: dict[str, Any], reasons: tuple[str, ...]) -> None:
    memory = replace(a_memory(), occurred_from=NOW - timedelta(hours=1), occurred_to=NOW)
    assert excluded_by(memory, replace(AT_NOW, **asked)) == reasons


@pytest.mark.parametrize("reach", [Reach.CREW_SHARED, Reach.SESSION])
def test_a_reader_without_an_agent_takes_no_other_crew_s_rows_for_its_own(reach: Reach) -> None:
    reader = Reader(Scope(workspace="acme", crew="platform", session="monday"), reach)
    assert not can_see(reader, Scope(workspace="acme", crew="data", session="monday"), Visibility.WORKSPACE)
