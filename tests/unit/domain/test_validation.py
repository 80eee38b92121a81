from __future__ import annotations

import math
from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone
from uuid import UUID

import pytest

from remembrancer.domain import validation
from remembrancer.domain.memory import Tier
from remembrancer.domain.validation import MAX_JSON_BYTES, MAX_JSON_DEPTH, MAX_TEXT_BYTES
from remembrancer.errors import InvalidInput

Check = Callable[[str, object], object]

NAIVE = datetime(2026, 3, 4)  # noqa: DTZ001  what is refused
BEFORE_YEAR_ONE = datetime(1, 1, 1, tzinfo=timezone(timedelta(hours=1)))


def refused(check: Check, value: object) -> InvalidInput:
    with pytest.raises(InvalidInput) as caught:
        check("the_argument", value)
    return caught.value


def tier(argument: str, value: object) -> Tier:
    return validation.choice(argument, value, Tier)


def one_to_ten(argument: str, value: object) -> int:
    return validation.whole(argument, value, 1, 10)


def nested(levels: int) -> object:
    return 1 if levels == 0 else {"in": nested(levels - 1)}


REFUSED: dict[Check, list[object]] = {
    validation.text: [
        *(None, 7, b"bytes", "", " \n\t", "\ud800", "a\x00b"),
        *("x" * (MAX_TEXT_BYTES + 1), "ü" * (MAX_TEXT_BYTES // 2 + 1)),
    ],
    validation.name: [None, 7, "", " a", "a ", "a\nb", "a\x7f", "\ud800", "x" * 201],
    validation.optional_name: ["", 0],
    validation.slug: [None, "", "Upper", "two words", "-a", ".a", "a/b", "a\n", "x" * 101],
    tier: [None, "Working", "cosmic", 1, ["working"]],
    validation.moment: [None, "2026-03-04T09:00:00Z", NAIVE, BEFORE_YEAR_ONE],
    validation.optional_moment: [NAIVE],
    validation.fraction: [None, True, "0.5", -0.1, 1.1, math.nan, math.inf],
    one_to_ten: [None, True, 1.0, "5", 0, 11],
    validation.tags: [None, "tag", 7, ["ok", ""], ["ok", 7], [f"t{n}" for n in range(65)], ["x" * 101]],
    validation.json_object: [
        *(None, "{}", ["a"], {1: 2}, {"a": {2: 3}}, {"a": {1, 2}}, {"a": b""}),
        *({"a": math.nan}, {"a": math.inf}, {"a": "\ud800"}, {"a": "x" * MAX_JSON_BYTES}),
        nested(MAX_JSON_DEPTH + 1),
    ],
    validation.identifier: [None, 7, "", "not an id", b"0" * 16],
}


@pytest.mark.parametrize(
    ("check", "value"),
    [
        pytest.param(check, value, id=f"{check.__name__} {value!r:.30}")
        for check, values in REFUSED.items()
        for value in values
    ],
)
def test_an_invalid_value_is_refused_with_the_argument_s_name(check: Check, value: object) -> None:
    error = refused(check, value)
    assert error.argument.split(".")[0] == "the_argument"
    assert str(error).startswith("the_argument")


@pytest.mark.parametrize(
    ("check", "value"),
    [
        (validation.text, "x" * MAX_TEXT_BYTES),
        (validation.text, " kept as it is\n"),
        (validation.name, "x" * 200),
        (validation.name, "Ana María — 安娜"),
        (validation.optional_name, None),
        (validation.slug, "tool.call_2-x"),
        (validation.slug, "x" * 100),
        (validation.optional_moment, None),
        (validation.fraction, 0.0),
        (validation.fraction, 1.0),
        (one_to_ten, 1),
        (one_to_ten, 10),
        (validation.json_object, {"a": [1, 2.5, None, True, {"b": "ü"}], "c": {}}),
    ],
)
def test_a_valid_value_is_returned_unchanged(check: Check, value: object) -> None:
    assert check("the_argument", value) == value


def test_an_error_names_the_argument_the_value_and_the_allowed_values() -> None:
    assert str(refused(validation.fraction, 1.5)) == "the_argument: 1.5 is not allowed; expected a number from 0 to 1"


def test_an_error_shows_a_long_value_cut() -> None:
    assert len(str(refused(validation.slug, "X" * 10_000))) < 300


def test_an_error_of_a_closed_set_lists_it() -> None:
    assert refused(tier, "cosmic").allowed == "one of working, episodic, semantic"


def test_an_error_about_a_long_text_has_its_size() -> None:
    assert "65,537 bytes" in str(refused(validation.text, "x" * 65_537))


def test_a_member_is_found_by_its_value() -> None:
    assert tier("tier", "working") is Tier.WORKING


def test_a_whole_number_is_a_fraction_too() -> None:
    value = validation.fraction("importance", 1)
    assert (value, type(value)) == (1.0, float)


def test_a_moment_comes_back_in_utc() -> None:
    given = datetime(2026, 3, 4, 10, 0, tzinfo=timezone(timedelta(hours=1)))
    moment = validation.moment("at", given)
    assert (moment, moment.tzinfo) == (datetime(2026, 3, 4, 9, 0, tzinfo=UTC), UTC)


@pytest.mark.parametrize(
    "written", ["2026-03-04T09:00:00Z", "2026-03-04T10:00:00+01:00", "2026-03-04 09:00:00.000000+00:00"]
)
def test_a_written_moment_is_read_with_its_offset(written: str) -> None:
    assert validation.parse_moment("at", written) == datetime(2026, 3, 4, 9, 0, tzinfo=UTC)


@pytest.mark.parametrize("written", ["", "yesterday", "2026-03-04", "2026-03-04T09:00:00", "2026-13-01T00:00:00Z"])
def test_a_written_moment_without_an_offset_is_refused(written: str) -> None:
    with pytest.raises(InvalidInput, match=r"at: .*ISO 8601"):
        validation.parse_moment("at", written)


def test_tags_are_made_distinct_in_their_order() -> None:
    assert validation.tags("tags", ["b", "a", "b"]) == ("b", "a")


def test_tags_may_come_from_a_generator() -> None:
    assert validation.tags("tags", (tag for tag in "ab")) == ("a", "b")


def test_a_json_object_is_a_copy() -> None:
    inner = [1]
    copied = validation.json_object("payload", {"list": inner})
    inner.append(2)
    assert copied == {"list": [1]}


def test_a_tuple_in_json_becomes_a_list() -> None:
    assert validation.json_object("payload", {"a": (1, 2)}) == {"a": [1, 2]}


def test_an_error_in_json_names_the_path() -> None:
    assert refused(validation.json_object, {"a": {"b": {1, 2}}}).argument == "the_argument.a.b"


@pytest.mark.parametrize("value", [UUID(int=7), "00000000-0000-0000-0000-000000000007"])
def test_an_id_is_given_as_itself_or_as_text(value: object) -> None:
    assert validation.identifier("id", value) == UUID(int=7)
