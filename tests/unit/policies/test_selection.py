from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any
from uuid import UUID

import pytest

from remembrancer.domain.memory import Status, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reach, Reader, Scope, Visibility
from remembrancer.policies.selection import can_see, excluded_by
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
def test_what_is_not_current_is_left_out(fields: dict[str, Any], reasons: tuple[str, ...]) -> None:
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
        pytest.param({"source": "mail"}, (), id="its source"),
        pytest.param({"source": "chat"}, ("source",), id="another source"),
        pytest.param({"crew": "platform"}, (), id="its crew"),
        pytest.param({"crew": "data"}, ("crew",), id="another crew"),
        pytest.param({"session": "monday"}, (), id="its session"),
        pytest.param({"session": "friday"}, ("session",), id="another session"),
    ],
)
def test_a_filter_leaves_out_what_it_does_not_name(asked: dict[str, Any], reasons: tuple[str, ...]) -> None:
    memory = replace(a_memory(scope=ANA), tags=("a", "b"), source="mail")
    assert excluded_by(memory, replace(AT_NOW, **asked)) == reasons


@pytest.mark.parametrize(
    ("asked", "reasons"),
    [
        pytest.param({"since": NOW}, (), id="the span ends with the beginning"),
        pytest.param({"since": NOW + INSTANT}, ("since",), id="the span ends before the beginning"),
        pytest.param({"until": NOW - timedelta(hours=1)}, ("until",), id="the span begins with the end"),
        pytest.param({"until": NOW - timedelta(hours=1) + INSTANT}, (), id="the span begins before the end"),
    ],
)
def test_a_period_keeps_what_overlaps_it(asked: dict[str, Any], reasons: tuple[str, ...]) -> None:
    memory = replace(a_memory(), occurred_from=NOW - timedelta(hours=1), occurred_to=NOW)
    assert excluded_by(memory, replace(AT_NOW, **asked)) == reasons
