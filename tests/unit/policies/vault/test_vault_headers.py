from __future__ import annotations

from datetime import UTC, date, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.policies.vault.headers import Fault, Header, Value, edited, header, rendered, scalar

TEXT = """\
id: "6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11"   # the id, ü
type:   procedural
tags: [a,b,  c]
files:
- one
nested:
    deep:   1
importance: 0.50
reinforcement_count: 3   # by hand
last_reinforced: 2026-03-01 # a day
phase:
session_task: >
  folded é
  text

# a last word
"""


def read(text: str) -> Header:
    found = header(text)
    assert isinstance(found, Header), found
    return found


def changed(text: str, **changes: Value) -> str:
    found = edited(read(text), changes)
    assert isinstance(found, str), found
    return found


@pytest.mark.parametrize(
    ("changes", "before", "after"),
    [
        ({"reinforcement_count": 4}, "reinforcement_count: 3 ", "reinforcement_count: 4 "),
        ({"last_reinforced": date(2026, 4, 2)}, "2026-03-01", "2026-04-02"),
        ({"importance": 0.00001}, "0.50", "0.00001"),
        ({"phase": "design: x"}, "phase:\n", "phase: 'design: x'\n"),
        ({"session_task": "one line"}, ">\n  folded é\n  text\n", "one line\n"),
        ({"session_task": None}, ">\n  folded é\n  text\n", "null\n"),
        ({"tags": ("x, y", "z")}, "[a,b,  c]", "['x, y', z]"),
        ({"status": "retired"}, "# a last word\n", "# a last word\nstatus: retired\n"),
        ({"title": None}, "", ""),
    ],
)
def test_only_changed_fields_are_rewritten(changes: dict[str, Value], before: str, after: str) -> None:
    assert changed(TEXT, **changes) == TEXT.replace(before, after, 1)


def test_line_ends_of_the_header_are_those_of_new_fields() -> None:
    assert changed("id: x\r\n", phase="design") == "id: x\r\nphase: design\r\n"


def test_quotes_stay_around_a_day() -> None:
    assert changed('last_reinforced: "2026-03-01"\n', last_reinforced=date(2026, 3, 2)) == (
        'last_reinforced: "2026-03-02"\n'
    )


def test_an_anchor_that_others_refer_to_is_not_broken() -> None:
    found = edited(read("phase: &one design\nnote: *one\n"), {"phase": "review"})
    assert isinstance(found, Fault)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("a: b\nid: 1\nid: 2\n", 3, "twice"),
        ("words\n", 0, "not a list of fields"),
        ("phase: [design\n", 2, "not YAML"),
        ("id: x\ncreated_at: 2026-13-45\n", 2, "cannot be read"),
        ("id: x\ntags: [{a: b}]\n", 2, "one value"),
        ("id: x\ntags: [2026-13-45]\n", 2, "cannot be read"),
        ("note: " + "x" * 70_000, 0, "at most 65,536"),
    ],
)
def test_invalid_values_are_reported_with_their_line(text: str, line: int, said: str) -> None:
    found = header(text)
    assert isinstance(found, Fault)
    assert (found.line, said in found.message) == (line, True), found


def test_aliases_cannot_make_a_header_endless() -> None:
    nested = "".join(f"a{n}: &a{n} [*a{n - 1}, *a{n - 1}]\n" for n in range(1, 60))
    text = f"id: x\na0: &a0 [y]\n{nested}"
    assert changed(text, phase="design") == f"{text}phase: design\n"


NAMES = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=20).filter(
    lambda text: text == text.strip()
)
VALUES = (
    NAMES
    | st.sampled_from(
        ["yes", "null", "~", "1e3", "0x1f", "2026-03-01", "12:30", "- a", "#", "a: b", "[a]", "'", '"', "\\"]
    )
    | st.lists(NAMES, max_size=3).map(tuple)
    | st.integers(0, 2**31)
    | st.floats(0, 1)
)


@given(VALUES)
def test_a_value_is_read_with_its_type(value: Value) -> None:
    read_back = read(f"phase: {scalar(value)}\n").values["phase"]
    assert read_back == (list(value) if isinstance(value, tuple) else value)


@given(VALUES, VALUES)
def test_a_value_changed_to_another_is_that_one(before: Value, after: Value) -> None:
    text = f"# first\nid: x\nphase: {scalar(before)}  # why\nother: [1,2]\n"
    assert changed(text, phase=after) == text.replace(f"phase: {scalar(before)}  #", f"phase: {scalar(after)}  #")


def test_a_new_header_has_the_usual_order_without_absent_fields() -> None:
    moment = datetime(2026, 3, 1, 10, tzinfo=UTC)
    values: dict[str, Value] = {"status": "active", "id": "x", "phase": None, "created_at": moment}
    assert rendered(values) == "id: x\nstatus: active\ncreated_at: '2026-03-01T10:00:00+00:00'\n"


@pytest.mark.parametrize(
    "value", ["!!int ''", "!!float ''", "!!bool maybe", "!!timestamp soon", "2026-02-30", "9" * 5_000]
)
def test_a_value_that_does_not_fit_its_tag_is_a_fault_of_its_field(value: str) -> None:
    found = header(f"importance: {value}\n")
    assert isinstance(found, Fault)
    assert found.message.startswith("importance: ")


def test_a_header_that_is_nested_too_deeply_is_a_fault() -> None:
    for nested in ("[" * 30_000, "\n" + "- " * 30_000, "\n" + "? " * 30_000):
        found = header(f"tags: {nested}")
        assert isinstance(found, Fault)
