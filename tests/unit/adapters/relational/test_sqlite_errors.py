"""Errors of the SQLite driver are raised as errors of the package."""

from __future__ import annotations

import apsw
import pytest

from remembrancer.adapters.relational.sqlite.errors import MEANINGS, translated
from remembrancer.errors import Conflict, RemembrancerError, StoreUnavailable

OUR_OWN_DEFECTS = {
    apsw.SQLError: "a statement of ours is wrong (one whose table is missing is damage, and is told as such)",
    apsw.MisuseError: "SQLite's functions are called in a wrong order",
    apsw.RangeError: "a binding is out of range",
    apsw.MismatchError: "a row number that is no whole number",
    apsw.InternalError: "SQLite says that it has a defect itself",
    apsw.NotFoundError: "an operation that the file system layer does not know",
    apsw.EmptyError: "no longer used by SQLite",
}
"""Error classes that no state of the file or of other processes brings about: they surface as they are."""


def of_result_codes() -> set[type[Exception]]:
    """The classes that SQLite's primary result codes become."""
    return {type(apsw.exception_for(code)) for code in range(1, 27)}


def test_every_result_code_has_a_meaning_or_is_our_own_defect() -> None:
    assert of_result_codes() - MEANINGS.keys() == OUR_OWN_DEFECTS.keys()


def test_nothing_is_both_a_meaning_and_a_defect() -> None:
    assert MEANINGS.keys() & OUR_OWN_DEFECTS.keys() == set()


@pytest.mark.parametrize("kind", MEANINGS, ids=lambda kind: kind.__name__)
def test_a_known_error_is_reported_with_the_file_and_its_cause(kind: type[apsw.Error]) -> None:
    cause = kind("as SQLite says it")
    ours, meaning = MEANINGS[kind]
    with pytest.raises(ours) as caught, translated("notes.db"):
        raise cause
    assert (str(caught.value), caught.value.__cause__) == (f"notes.db: {meaning} (as SQLite says it)", cause)


@pytest.mark.parametrize("kind", OUR_OWN_DEFECTS, ids=lambda kind: kind.__name__)
def test_a_defect_of_ours_is_not_dressed_up(kind: type[apsw.Error]) -> None:
    with pytest.raises(kind), translated("notes.db"):
        raise kind("as SQLite says it")


@pytest.mark.parametrize(
    "said",
    ["no such table: memories", "no such column: m.kind", "table cues has no column named heading",
     "malformed database schema (cues)"],
)  # fmt: skip
def test_a_table_that_is_not_as_we_made_it_is_damage(said: str) -> None:
    with pytest.raises(StoreUnavailable, match=r"notes\.db: the file is damaged"), translated("notes.db"):
        raise apsw.SQLError(said)


def test_a_text_that_is_no_longer_unicode_is_damage() -> None:
    with pytest.raises(StoreUnavailable, match=r"notes\.db: the file is damaged"), translated("notes.db"):
        b"\xff".decode()


def test_our_own_errors_pass_as_they_are() -> None:
    ours: RemembrancerError = Conflict("the row has moved on")
    with pytest.raises(Conflict) as caught, translated("notes.db"):
        raise ours
    assert caught.value is ours
