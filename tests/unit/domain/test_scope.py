from __future__ import annotations

import pytest

from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.errors import InvalidInput

FULL = Scope(workspace="acme", project="web", crew="platform", agent="ana", session="monday")


def test_a_scope_needs_only_its_workspace() -> None:
    scope = Scope(workspace="acme")
    assert (scope.project, scope.crew, scope.agent, scope.session) == (None, None, None, None)


@pytest.mark.parametrize("part", ["workspace", "project", "crew", "agent", "session"])
@pytest.mark.parametrize("value", ["", " padded", "two\nlines", "x" * 201])
def test_each_part_is_a_short_name(part: str, value: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{part}: "):
        Scope(**{"workspace": "acme", part: value})


def test_narrowing_replaces_the_named_parts() -> None:
    expected = Scope(workspace="acme", project="web", crew="platform", agent="bob")
    assert FULL.narrowed(agent="bob", session=None) == expected


def test_narrowing_leaves_the_scope_it_came_from() -> None:
    FULL.narrowed(agent="bob")
    assert FULL.agent == "ana"


@pytest.mark.parametrize("part", ["workspace", "planet"])
def test_narrowing_cannot_touch_anything_else(part: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^{part}: 'x' .* one of project, crew, agent, session"):
        FULL.narrowed(**{part: "x"})


def test_narrowing_checks_the_new_part() -> None:
    with pytest.raises(InvalidInput, match=r"^agent: "):
        FULL.narrowed(agent="")


@pytest.mark.parametrize(
    ("reach", "part"), [(Reach.SESSION, "session"), (Reach.OWN, "agent"), (Reach.CREW_SHARED, "crew")]
)
def test_a_reach_needs_the_part_it_speaks_of(reach: Reach, part: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^reach: '{reach.value}' .* a scope with {part} set"):
        Reader(FULL.narrowed(**{part: None}), reach)


@pytest.mark.parametrize("reach", Reach)
def test_a_full_scope_may_have_any_reach(reach: Reach) -> None:
    assert Reader(FULL, reach).reach is reach


def test_a_reader_sees_its_workspace_by_default() -> None:
    assert Reader(Scope(workspace="acme")).reach is Reach.WORKSPACE
