from __future__ import annotations

import pytest

from remembrancer.policies.learning.nudge import reminder


def test_a_reminder_names_the_count() -> None:
    assert reminder(1_072, ever_updated=True).startswith("1,072 new journal entries since your last memory update. ")


def test_one_entry_is_not_several() -> None:
    assert reminder(1, ever_updated=True).startswith("1 new journal entry since ")


def test_without_an_earlier_update_the_reminder_names_no_last_time() -> None:
    assert reminder(72, ever_updated=False).startswith(
        "72 new journal entries and you have not updated your memory yet. "
    )


@pytest.mark.parametrize("ever_updated", [True, False])
def test_a_reminder_is_one_line_that_asks_and_does_not_order(ever_updated: bool) -> None:
    told = reminder(72, ever_updated=ever_updated)
    assert "consider " in told
    assert "\n" not in told
