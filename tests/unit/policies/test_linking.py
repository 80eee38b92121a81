from __future__ import annotations

import math
from dataclasses import replace
from typing import Any
from uuid import UUID

import pytest
from golden_tables import every_row, table

from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.linking import SimilarLinks
from remembrancer.presets.crewship import CREWSHIP
from remembrancer.testing.doubles import NOW

THREE = SimilarLinks(at_most=3, above=0.80)
NEW = UUID(int=0)


def edges(cell: str) -> list[tuple[int, float]]:
    pairs = (one.split(":") for one in cell.split())
    return [(int(other), float(cosine)) for other, cosine in pairs]


@every_row(table("similar_links"), name=lambda row: row["cosines"] or "nothing")
def test_a_new_memory_is_joined_to_those_that_were_worked_out(row: dict[str, str]) -> None:
    cosines = {UUID(int=other): cosine for other, cosine in edges(row["cosines"])}
    assert CREWSHIP.links is not None
    found = CREWSHIP.links.from_(NEW, cosines, NOW)
    assert [(edge.target.int, edge.weight) for edge in found] == edges(row["expected"])


def test_an_edge_leads_from_the_new_to_the_earlier_and_weighs_their_cosine() -> None:
    assert THREE.from_(NEW, {UUID(int=1): 0.875}, NOW) == (
        Relation(NEW, UUID(int=1), RelationKind.SIMILAR, 0.875, NOW),
    )


def test_a_cosine_that_rounding_made_more_than_one_weighs_one() -> None:
    assert [edge.weight for edge in THREE.from_(NEW, {UUID(int=1): 1.0000001}, NOW)] == [1.0]


def test_ties_are_broken_by_id_in_any_order() -> None:
    forth = THREE.from_(NEW, {UUID(int=n): 0.9 for n in (5, 3, 4, 1, 2)}, NOW)
    back = THREE.from_(NEW, {UUID(int=n): 0.9 for n in (1, 2, 3, 4, 5)}, NOW)
    assert [edge.target.int for edge in forth] == [edge.target.int for edge in back] == [1, 2, 3]


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"at_most": 0}, r"^at_most: "),
        ({"at_most": 101}, r"^at_most: "),
        ({"above": -0.1}, r"^above: "),
        ({"above": 1.1}, r"^above: "),
        ({"above": math.nan}, r"^above: "),
    ],
)
def test_links_out_of_range_are_refused(given: dict[str, Any], said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        replace(THREE, **given)
