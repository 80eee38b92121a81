from __future__ import annotations

import pickle
from datetime import timedelta

from remembrancer.domain.age import Age

AGE = Age.of(timedelta(days=22, microseconds=5))


def test_an_age_prints_in_words() -> None:
    assert f"{AGE}" == "3 weeks ago"


def test_an_age_is_the_timedelta_it_was_made_of() -> None:
    assert timedelta(days=22, microseconds=5) == AGE
    assert AGE - timedelta(microseconds=5) == timedelta(days=22)


def test_an_age_comes_back_from_a_pickle() -> None:
    assert str(pickle.loads(pickle.dumps(AGE))) == "3 weeks ago"  # noqa: S301  our own bytes
