from __future__ import annotations

from dataclasses import replace

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.domain.scope import Reach, Reader, Scope
from remembrancer.engine.context import Caller, Context, reader_of
from remembrancer.errors import InvalidInput
from remembrancer.index.resident import ResidentIndex
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import SCOPE, FixedClock, HashEmbedder, SequentialIds


def a_context() -> Context:
    ids = SequentialIds()
    return Context(
        store=ReferenceStore(),
        index=ResidentIndex(),
        embedder=HashEmbedder(),
        without_embedder="",
        preset=DEFAULT,
        clock=FixedClock(),
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
    )


@pytest.mark.parametrize(("role", "reach"), [("AGENT", Reach.OWN), ("LEAD", Reach.CREW_SHARED)])
def test_a_role_has_the_reach_of_the_preset(role: str, reach: Reach) -> None:
    assert reader_of(a_context(), Caller(scope=SCOPE, role=role)) == Reader(SCOPE, reach)


@pytest.mark.parametrize("reach", list(Reach))
def test_a_requested_reach_overrides_that_of_the_role(reach: Reach) -> None:
    assert reader_of(a_context(), Caller(scope=SCOPE, role="AGENT"), reach) == Reader(SCOPE, reach)


@pytest.mark.parametrize("role", ["AGENT", "LEAD"])
def test_a_role_whose_reach_speaks_of_a_part_the_scope_lacks_looks_over_the_workspace(role: str) -> None:
    scope = Scope(workspace="acme")
    assert reader_of(a_context(), Caller(scope=scope, role=role)) == Reader(scope, Reach.WORKSPACE)


@pytest.mark.parametrize(
    ("reach", "needed"), [(Reach.SESSION, "session"), (Reach.OWN, "agent"), (Reach.CREW_SHARED, "crew")]
)
def test_a_requested_reach_that_the_scope_cannot_have_is_refused(reach: Reach, needed: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^reach: '{reach}' .*{needed} set"):
        reader_of(a_context(), Caller(scope=Scope(workspace="acme"), role="AGENT"), reach)


def test_a_context_without_an_embedder_has_no_model() -> None:
    assert replace(a_context(), embedder=None).model is None


def test_the_model_of_a_context_is_its_embedders() -> None:
    assert a_context().model == "hash-256"


def test_a_role_the_preset_does_not_know_is_refused_rather_than_let_see_all() -> None:
    with pytest.raises(InvalidInput, match=r"^role: 'agent' .*one of AGENT, LEAD"):
        reader_of(a_context(), Caller(scope=SCOPE, role="agent"))
