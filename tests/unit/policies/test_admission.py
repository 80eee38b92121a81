from __future__ import annotations

from typing import Any

import pytest
from golden_tables import cells, every_row, table

from remembrancer.domain.event import EventDraft, Severity
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.admission import Admission
from remembrancer.presets.crewship import CREWSHIP

NEVER = Admission(never=("exec.output_chunk", "network.*"))
FLAGS: dict[str, Any] = {"true": True, "false": False, '"true"': "true", "1": 1}


def draft(row: dict[str, str]) -> EventDraft:
    where, _, value = row["forced"].partition(":")
    refs = {"episodic": FLAGS[value]} if where == "refs" else {}
    payload: dict[str, Any] = {"refs": {"episodic": FLAGS[value]}} if where == "payload" else {}
    if row["state"]:
        payload["state"] = row["state"]
    return EventDraft(
        text="something", type=row["type"], severity=Severity(row["severity"]), refs=refs, payload=payload
    )


def a(kind: str, **given: Any) -> EventDraft:
    return EventDraft(text="The deploy failed", type=kind, **given)


@every_row(table("admission_crewship"), cells)
def test_crewship_admits_the_types_of_its_text(row: dict[str, str]) -> None:
    assert CREWSHIP.admission.admits(draft(row)) is (row["expected"] == "yes")


def test_every_event_is_admitted_where_nothing_is_excluded() -> None:
    assert Admission().admits(a("anything.at-all"))


def test_a_type_on_the_never_list_is_not_admitted() -> None:
    assert not NEVER.admits(a("exec.output_chunk"))


@pytest.mark.parametrize("kind", ["network.", "network.request", "network.request.failed"])
def test_a_star_matches_anything(kind: str) -> None:
    assert not NEVER.admits(a(kind))


@pytest.mark.parametrize("kind", ["network", "networks.request", "a.network.request", "exec.output_chunks", "exec"])
def test_a_pattern_speaks_of_whole_types(kind: str) -> None:
    assert NEVER.admits(a(kind))


def test_with_nothing_named_nothing_is_admitted() -> None:
    assert not Admission(always=()).admits(a("message"))


@pytest.mark.parametrize("severity", list(Severity))
def test_a_type_is_admitted_from_its_severity_on(severity: Severity) -> None:
    admission = Admission(always=(), from_severity={"disk.full": Severity.NOTICE})
    assert admission.admits(a("disk.full", severity=severity)) is (severity is not Severity.INFO)


def test_a_rule_by_severity_or_state_holds_though_all_else_is_admitted() -> None:
    admission = Admission(from_severity={"a": Severity.WARN}, in_states={"b": ("done",)})
    assert [admission.admits(a(kind)) for kind in ("a", "b", "c")] == [False, False, True]


@pytest.mark.parametrize("state", [None, True, 1, ["done"], {"done": 1}, "Done"])
def test_a_state_of_another_kind_is_none_of_those_named(state: Any) -> None:
    assert not Admission(in_states={"b": ("done",)}).admits(a("b", payload={"state": state}))


@pytest.mark.parametrize("refs", [None, True, "episodic", ["episodic"], {}])
def test_references_of_another_shape_force_nothing(refs: Any) -> None:
    assert not Admission(always=(), forced_by="episodic").admits(a("b", payload={"refs": refs}))


def test_a_flag_that_is_not_requested_forces_nothing() -> None:
    assert not Admission(always=()).admits(a("b", refs={"episodic": True}))


@pytest.mark.parametrize(
    "given",
    [{"from_severity": {"My Type": Severity.WARN}}, {"in_states": {"": ("done",)}}, {"forced_by": ""}],
    ids=lambda given: next(iter(given)),
)
def test_a_rule_about_an_invalid_type_is_refused(given: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match=r"^admission"):
        Admission(**given)
