"""What an erasure can select, and the stored receipt."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

import pytest

from remembrancer.domain.erasure import (
    MAX_IDS,
    Erasure,
    ErasureSelection,
    Removed,
    RowSelection,
    UnreachedPlace,
    completed,
)
from remembrancer.domain.scope import Scope
from remembrancer.errors import InvalidInput
from remembrancer.ports.receipts import erasure_of, receipt_text
from remembrancer.testing.doubles import a_memory, an_event

ID, OTHER = UUID(int=1), UUID(int=2)
AT = datetime(2026, 3, 4, 9, 30, 15, 7, UTC)


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"ids": frozenset({ID}), "events": frozenset({OTHER})},
        {"ids": frozenset({ID}), "session": "monday"},
        {"events": frozenset({ID}), "agent": "ana"},
    ],
    ids=["nothing", "ids and events", "ids and a scope", "events and a scope"],
)
def test_a_selection_by_none_or_several_criteria_is_refused(chosen: dict[str, Any]) -> None:
    with pytest.raises(InvalidInput, match="what to erase"):
        ErasureSelection(**chosen)


def test_a_time_alone_chooses_nothing() -> None:
    with pytest.raises(InvalidInput, match="what to erase"):
        ErasureSelection(before=AT)


def test_a_time_narrows_no_ids() -> None:
    with pytest.raises(InvalidInput, match="before"):
        ErasureSelection(ids=frozenset({ID}), before=AT)


@pytest.mark.parametrize("name", ["", " ana", "a\nb"])
def test_a_part_of_a_scope_is_a_name(name: str) -> None:
    with pytest.raises(InvalidInput, match="agent"):
        ErasureSelection(agent=name)


def test_a_time_needs_its_offset() -> None:
    with pytest.raises(InvalidInput, match="before"):
        ErasureSelection(agent="ana", before=datetime(2026, 3, 4))  # noqa: DTZ001  the very thing


def test_no_more_ids_are_taken_than_can_be_followed() -> None:
    ErasureSelection(ids=frozenset(UUID(int=number) for number in range(MAX_IDS)))
    with pytest.raises(InvalidInput, match="ids"):
        ErasureSelection(ids=frozenset(UUID(int=number) for number in range(MAX_IDS + 1)))


@pytest.mark.parametrize(
    ("chosen", "matches"),
    [
        ({"agent": "ana"}, True),
        ({"agent": "ana", "session": "monday"}, True),
        ({"agent": "ana", "session": "tuesday"}, False),
        ({"actor": "Bo"}, True),
        ({"actor": "bo"}, False),
        ({"actor": "Bo", "origin": "web"}, False),
        ({"kind": "message"}, True),
        ({"kind": "note", "agent": "ana"}, False),
        ({"origin": "user"}, True),
        ({}, True),
    ],
)
def test_a_row_matches_a_selection_if_it_has_every_part(chosen: dict[str, Any], matches: bool) -> None:
    event = replace(an_event(scope=Scope(workspace="acme", agent="ana", session="monday")), actor="Bo", type="message")
    memory = replace(a_memory(scope=event.scope), actor="Bo", kind="message")
    selection = RowSelection(**chosen)
    assert (selection.matches(event), selection.matches(memory)) == (matches, matches)


def test_an_unknown_origin_selects_nothing() -> None:
    with pytest.raises(InvalidInput, match="origin"):
        ErasureSelection(origin="gossip")  # pyright: ignore[reportArgumentType]


def a_receipt() -> Erasure:
    ids = (ID, OTHER)
    return Erasure(
        id=UUID(int=3),
        at=AT,
        by="LEAD ana",
        asked=ErasureSelection(agent="ana", before=AT),
        counts={"memories": 2},
        memories=ids,
        derived=(OTHER,),
        events=ids,
        rebuilt=(ID,),
        restored=(OTHER,),
        requeued=ids,
        kept_sources=(ID,),
        repeated=(OTHER,),
        left=(UnreachedPlace("a file", "it is yours", "delete it"),),
    )


@pytest.mark.parametrize(
    "asked", [ErasureSelection(agent="ana", before=AT), ErasureSelection(ids=frozenset({ID, OTHER}))]
)
def test_a_receipt_comes_back_as_it_was_kept(asked: ErasureSelection) -> None:
    receipt = replace(a_receipt(), asked=asked)
    assert erasure_of(receipt_text(receipt), purged_at=None) == receipt


def test_a_receipt_stored_with_the_former_names_of_its_fields_is_read() -> None:
    text = receipt_text(a_receipt())
    for name, former in (("rebuilt", "retold"), ("requeued", "redrawn"), ("kept_sources", "apart")):
        text = text.replace(f'"{name}"', f'"{former}"')
    assert erasure_of(text, purged_at=None) == a_receipt()


def test_a_receipt_gets_the_time_at_which_the_files_were_purged() -> None:
    assert erasure_of(receipt_text(a_receipt()), purged_at=AT).purged_at == AT


def test_a_receipt_is_completed_with_the_counts() -> None:
    done = completed(a_receipt(), Removed(counts={"memories": 3}, repeated=(ID,)))
    assert (done.counts, done.repeated, done.by) == ({"memories": 3}, (ID,), "LEAD ana")
