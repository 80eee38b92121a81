"""A pattern is compiled when it is first used, and behaves as a compiled one."""

from __future__ import annotations

import re

import pytest

from remembrancer.patterns import pattern


def test_a_pattern_is_not_compiled_before_it_is_used() -> None:
    unused = pattern("(")  # no valid expression
    with pytest.raises(re.error):
        unused.search("anything")


def test_a_pattern_finds_the_same_as_a_compiled_one() -> None:
    source, text = r"(?P<word>[a-z]+)", "Two words"
    assert [found["word"] for found in pattern(source, re.IGNORECASE).finditer(text)] == ["Two", "words"]
    assert pattern(source).sub("-", text) == re.compile(source).sub("-", text)


def test_a_pattern_has_the_attributes_of_a_compiled_one() -> None:
    assert pattern("a", re.ASCII).flags == re.compile("a", re.ASCII).flags
