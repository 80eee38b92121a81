"""Which preferences apply to a request."""

from __future__ import annotations

import numpy as np

from remembrancer.domain.preference import Stated
from remembrancer.policies.ranking.preferring import MOST, MOST_ALWAYS, RELATED, applying

NAN = float("nan")


def applied(stated: list[Stated], similarity: list[float], coverage: list[float] | None = None) -> list[float]:
    shares = [NAN] * len(stated) if coverage is None else coverage
    kinds, alike = np.array(stated, dtype=np.int8), np.array(similarity, dtype=np.float32)
    return applying(kinds, alike, np.array(shares, dtype=np.float32)).tolist()


def test_a_preference_applies_as_far_as_it_is_about_the_request() -> None:
    several = [Stated.PREFERENCE] * 4
    assert applied(several, [RELATED, RELATED / 2, -0.1, NAN]) == [1.0, 0.5, 0.0, 0.0]


def test_the_words_of_the_request_count_too() -> None:
    assert applied([Stated.PREFERENCE], [NAN], [1.0]) == [1.0]


def test_what_is_about_every_answer_applies_to_any_request() -> None:
    assert applied([Stated.ALWAYS, Stated.NOTHING], [NAN, 1.0]) == [1.0, 0.0]


def test_of_many_the_most_related_apply() -> None:
    count = 2 * MOST
    values = applied([Stated.PREFERENCE] * count, [RELATED + place / 100 for place in range(count)])
    assert values == [0.0] * (count - MOST) + [1.0] * MOST


def test_of_many_about_every_answer_the_first_of_equal_ones_apply() -> None:
    values = applied([Stated.ALWAYS] * 5, [NAN] * 5)
    assert values == [1.0] * MOST_ALWAYS + [0.0] * (5 - MOST_ALWAYS)
