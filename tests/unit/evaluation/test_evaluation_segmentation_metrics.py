"""Distances of segmentations against exact ones worked out apart, and what must hold of them."""

from __future__ import annotations

import pytest
from golden_tables import cells, every_row, table
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.evaluation.segmentation_metrics import boundaries, f1, found, lengths, pk, window, window_diff


def read(cell: str) -> tuple[int, ...]:
    return tuple(int(one) for one in cell.split())


@every_row(table("segmentation"), cells)
def test_distances_are_those_worked_out_apart(row: dict[str, str]) -> None:
    gold, predicted = read(row["gold"]), read(row["told"])
    assert window(gold) == int(row["k"])
    assert pk(gold, predicted) == pytest.approx(float(row["pk"]))
    assert window_diff(gold, predicted) == pytest.approx(float(row["window_diff"]))
    counts = found(gold, predicted)
    assert (counts.right, counts.predicted, counts.gold) == (int(row["right"]), len(predicted) - 1, len(gold) - 1)


Lengths = st.lists(st.integers(1, 12), min_size=1, max_size=8).map(tuple).filter(lambda each: sum(each) > 1)


@given(Lengths)
def test_the_gold_segmentation_is_at_no_distance_from_itself(gold: tuple[int, ...]) -> None:
    assert pk(gold, gold) == window_diff(gold, gold) == 0


@given(Lengths, st.data())
def test_window_diff_is_never_less_than_pk(gold: tuple[int, ...], data: st.DataObject) -> None:
    turns = sum(gold)
    begun = data.draw(st.sets(st.integers(1, turns - 1)))
    predicted = lengths(sorted(begun), turns)
    assert boundaries(predicted) == begun
    assert 0 <= pk(gold, predicted) <= window_diff(gold, predicted) <= 1


def test_f1_of_no_boundaries_at_all_is_zero() -> None:
    assert f1(0, 0, 0) == 0
    assert f1(2, 3, 5) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("gold", "predicted"), [((4, 4), (4, 3)), ((4, 0), (4,)), ((4,), ()), ((), (4,)), ((1,), (1,))]
)
def test_segmentations_of_other_turns_are_refused(gold: tuple[int, ...], predicted: tuple[int, ...]) -> None:
    with pytest.raises(InvalidInput):
        pk(gold, predicted)
