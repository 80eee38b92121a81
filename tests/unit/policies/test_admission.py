from __future__ import annotations

import pytest

from remembrancer.domain.event import EventDraft
from remembrancer.policies.admission import Admission

NEVER = Admission(never=("exec.output_chunk", "network.*"))


def test_every_event_is_admitted_where_nothing_is_excluded() -> None:
    assert Admission().admits(EventDraft(text="The deploy failed", type="anything.at-all"))


def test_a_type_on_the_never_list_is_not_admitted() -> None:
    assert not NEVER.admits(EventDraft(text="The deploy failed", type="exec.output_chunk"))


@pytest.mark.parametrize("kind", ["network.", "network.request", "network.request.failed"])
def test_a_star_stands_for_anything(kind: str) -> None:
    assert not NEVER.admits(EventDraft(text="The deploy failed", type=kind))


@pytest.mark.parametrize("kind", ["network", "networks.request", "a.network.request", "exec.output_chunks", "exec"])
def test_a_pattern_speaks_of_whole_types(kind: str) -> None:
    assert NEVER.admits(EventDraft(text="The deploy failed", type=kind))
