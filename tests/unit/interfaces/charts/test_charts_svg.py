from __future__ import annotations

import math

import pytest
from charted import HOSTILE, read
from hypothesis import given
from hypothesis import strategies as st
from markupsafe import Markup

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.charts.frame import ContainerWidths, Picture, figure, table
from remembrancer.interfaces.charts.svg import element, fitted, number, plain, text_width

PICTURE = Picture(marks=Markup("<g></g>"), height=10.0)


@given(st.text())
def test_any_text_stays_text_in_an_element_and_in_its_attributes(text: str) -> None:
    tree = read(element("text", text, class_=text))[0]
    assert (tree.text or "", tree.get("class"), len(tree)) == (plain(text), plain(text), 0)


def test_controls_and_overrides_are_left_out() -> None:
    assert plain("\x1b[31mred\x1b[0m \u202emirrored\u202c \ufffe\x00 end") == "red mirrored end"


@pytest.mark.parametrize("value", [math.nan, math.inf])
def test_a_value_that_is_no_number_has_no_position(value: float) -> None:
    with pytest.raises(InvalidInput):
        number(value)


@given(st.text(), st.floats(0.0, 500.0))
def test_a_text_that_was_fitted_fits(text: str, width: float) -> None:
    assert text_width(fitted(text, width)) <= width + 1e-6


def test_a_text_that_fits_is_whole() -> None:
    assert fitted("a short title", 200.0) == "a short title"


def test_a_cut_is_marked() -> None:
    assert fitted("a title that is longer than its room", 100.0) == "a title that is…"


def test_the_words_above_a_picture_name_it() -> None:
    tree = read(figure("sample", title="What it shows", description="And more.", pictures=[PICTURE]))
    named = tree.find(".//svg")
    assert named is not None
    by_id = {each.get("id"): each.text for each in tree.iter() if each.get("id")}
    assert [by_id[name] for name in named.attrib["aria-labelledby"].split()] == ["What it shows", "And more."]


def test_a_picture_without_links_is_an_image_and_one_with_links_a_group() -> None:
    roles = [
        [
            each.get("role")
            for each in read(figure("s", title="t", description="", pictures=[PICTURE], linked=linked)).iter("svg")
        ]
        for linked in (False, True)
    ]
    assert roles == [["img"], ["group"]]


def test_two_charts_of_one_page_have_names_of_their_own() -> None:
    one, other = (figure("s", title=title, description="", pictures=[PICTURE]) for title in ("One", "Other"))
    ids = [each.get("id") for each in read(one + other).iter() if each.get("id")]
    assert len(ids) == len(set(ids)) == 2


def test_a_wide_chart_can_be_scrolled_with_the_keyboard() -> None:
    wide = Picture(marks=Markup(""), height=10.0, width=900.0, room=ContainerWidths.WIDE)
    region = read(figure("s", title="t", description="", pictures=[wide])).find(".//div")
    assert region is not None
    assert (region.get("tabindex"), region.get("role")) == ("0", "region")


def test_a_table_has_heads_for_columns_and_rows() -> None:
    tree = read(table("In numbers", ["Day", "Count"], [["Monday", HOSTILE]]))
    assert [(each.tag, each.get("scope")) for each in tree.iter() if each.tag in {"th", "td"}] == [
        ("th", "col"),
        ("th", "col"),
        ("th", "row"),
        ("td", None),
    ]
