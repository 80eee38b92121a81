from __future__ import annotations

from typing import get_args

from expression_strategies import expressions_over
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.expressions import FUNCTIONS, parse, printed
from remembrancer.policies.ranking.scoring import (
    Clamp,
    Const,
    Expression,
    Greatest,
    MinMax,
    Product,
    Rrf,
    Saturating,
    Signal,
    Weighted,
    inner_expressions,
)
from remembrancer.policies.ranking.signals import SCALES

fractions = st.floats(min_value=0.0, max_value=1.0)
finite = st.floats(allow_nan=False, allow_infinity=False)


# A signal may be called as a function is.
signals = st.sampled_from([*SCALES, *FUNCTIONS, "_x", "k"]).map(Signal)
leaves: st.SearchStrategy[Expression] = st.one_of(signals, fractions.map(Const))
expressions = expressions_over(leaves, weights=fractions, least=finite, most_k=1_000_000, max_leaves=12)


def parts_of(expression: Expression) -> list[Expression]:
    return [expression, *(part for inner in inner_expressions(expression) for part in parts_of(inner))]


@given(expressions)
def test_an_expression_reads_as_it_was_printed(expression: Expression) -> None:
    assert parse("score", printed(expression)) == expression


@given(expressions, st.data())
def test_a_part_may_be_printed_by_a_name(expression: Expression, data: st.DataObject) -> None:
    names = {"strength": data.draw(st.sampled_from(parts_of(expression)))}
    text = printed(expression, names=names)
    assert "strength" in text
    assert parse("score", text, names=names) == expression


@given(expressions)
def test_a_printed_expression_is_on_one_line(expression: Expression) -> None:
    assert printed(expression).isprintable()


words = st.sampled_from(
    [*FUNCTIONS, "a", "0.5", "1", "(", ")", ",", "*", "+", "-", "=", "k", " ", "\n", ".", "and", "#"]
)


@given(st.lists(words, max_size=20).map("".join) | st.text(max_size=40))
def test_any_text_is_refused_or_an_expression_that_prints_and_reads(text: str) -> None:
    try:
        expression = parse("score", text)
    except InvalidInput:
        return
    assert parse("score", printed(expression)) == expression


def test_every_node_there_is_was_tried() -> None:
    tried = {Signal, Const, Weighted, Product, MinMax, Rrf, Clamp, Saturating, Greatest}
    assert tried == set(get_args(Expression))
