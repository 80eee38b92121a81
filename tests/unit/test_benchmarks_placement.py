"""The simulation of workspaces on processes, in a small world."""

from __future__ import annotations

from dataclasses import replace

import pytest
from benchmarks.placement import (
    COSTS,
    PLACEMENTS,
    Costs,
    Process,
    Question,
    World,
    asked_in,
    in_turn,
    moved,
    outcomes,
    picture,
    ranked,
    sheet,
    simulate,
    sizes_of,
)

SMALL = World(tenants=200, memories=20_000, largest=2_000, processes=4, questions=2_000)


def test_the_same_arguments_give_the_same_result() -> None:
    assert outcomes(SMALL, COSTS, (0.5,)) == outcomes(SMALL, COSTS, (0.5,))
    assert asked_in(SMALL) != asked_in(replace(SMALL, seed=2))


def test_sizes_follow_the_exponent_up_to_the_largest() -> None:
    sizes = sizes_of(replace(SMALL, largest=1_000_000))
    assert sizes[0] == pytest.approx(10 * sizes[9], rel=0.01)
    assert sum(sizes) == pytest.approx(20_000, rel=0.01)
    assert max(sizes_of(replace(SMALL, largest=50))) == 50


def test_a_workspace_of_one_process_is_resident_more_often_than_one_of_any() -> None:
    found = outcomes(SMALL, COSTS, (0.5,))
    hits = {name: by_share[0.5].hits for name, by_share in found.items()}
    assert hits["rendezvous"] > hits["rendezvous of two"] > hits["random"]
    assert hits["random"] == pytest.approx(hits["round robin"], abs=0.05)


def test_a_process_drops_the_workspaces_used_least_recently() -> None:
    process = Process(budget=30.0)
    assert [process.has(workspace, 10.0) for workspace in (1, 2, 3, 1, 4, 1, 2)] == [
        False,
        False,
        False,
        True,
        False,
        True,
        False,
    ]
    assert process.bytes == 30.0


def test_a_workspace_larger_than_the_budget_is_held_alone() -> None:
    process = Process(budget=30.0)
    process.has(1, 10.0)
    process.has(2, 100.0)
    assert (process.has(2, 100.0), process.bytes) == (True, 100.0)


def test_a_question_waits_for_those_before_it_and_for_the_loading_of_its_workspace() -> None:
    costs = Costs(question_s=1.0, question_s_per_memory=0.0, load_s=0.01, bytes=1.0)
    world = World(tenants=1, memories=100, largest=100, processes=1)
    # Loaded until 1 and answered at 2, 3, 4 and 5; the last two are counted.
    asked = [Question(0.0, 0), Question(1.0, 0), Question(1.5, 0)]
    outcome = simulate(world, [Question(0.0, 0), *asked], costs, in_turn(world), 1.0)
    assert outcome.hits == 1.0
    assert (outcome.p50, outcome.p99) == (3.5, 3.5)


def test_questions_that_come_faster_than_they_are_answered_are_no_times() -> None:
    found = outcomes(replace(SMALL, rate=10_000.0), COSTS, (0.5,))
    assert found["rendezvous"][0.5].is_overloaded
    assert "∞" in sheet(found).columns[3].cells


def test_a_process_more_changes_the_process_of_few_workspaces() -> None:
    assert moved(SMALL) == pytest.approx(1 / 5, abs=0.07)
    assert sorted(ranked(7, 4)) == [0, 1, 2, 3]


def test_the_picture_has_every_placement() -> None:
    drawn = picture(outcomes(SMALL, COSTS, (0.1, 1.0)), SMALL)
    assert all(name in drawn for name in PLACEMENTS)
