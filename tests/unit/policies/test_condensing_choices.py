"""The options of presets for sleep, clusters, compaction and promotion."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.consolidation.sleeping import Sleep
from remembrancer.policies.learning.promoting import Promotion
from remembrancer.presets.mnemosyne import MNEMOSYNE
from remembrancer.presets.text import preset_of, table_of

WRONG: dict[str, Callable[[], object]] = {
    "sleep.ttl_hours": lambda: Sleep(ttl_hours=0),
    "sleep.by": lambda: Sleep(by=("source", "day")),  # type: ignore[arg-type]
    "sleep.most": lambda: Sleep(most=0),
    "sleep.chars": lambda: Sleep(chars=10),
    "sleep.summary_chars": lambda: Sleep(summary_chars=0),
    "compaction.above": lambda: Compaction(above=1.0),
    "promotion.similar": lambda: Promotion(similar=0.0),
    "promotion.jobs": lambda: Promotion(jobs=1),
}


@pytest.mark.parametrize("argument", WRONG)
def test_a_choice_out_of_range_is_refused_by_its_name(argument: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        WRONG[argument]()
    assert caught.value.argument == argument


def test_a_choice_of_traits_is_read_back_from_a_file() -> None:
    preset = replace(MNEMOSYNE, name="mine", sleep=Sleep(by=("source",), ttl_hours=48))
    assert preset_of(table_of(preset)) == preset
