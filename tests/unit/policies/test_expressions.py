from __future__ import annotations

import pytest

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking.expressions import FUNCTIONS, MAX_CHARS, parse, printed
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
)

A, B, C = Signal("a"), Signal("b"), Signal("c")
A_HALF = Weighted(((A, 0.5),))

CANONICAL: list[tuple[str, Expression]] = [
    ("a", A),
    ("0.25", Const(0.25)),
    ("0", Const(0)),
    ("1", Const(1.0)),
    ("1e-07", Const(1e-7)),
    ("0.5*a", A_HALF),
    ("1*a", Weighted(((A, 1),))),
    ("0.7*a + 0.3*b", Weighted(((A, 0.7), (B, 0.3)))),
    ("a * b * c", Product((A, B, C))),
    ("product(a)", Product((A,))),
    ("minmax(a)", MinMax(A)),
    ("minmax(a, least=0)", MinMax(A, least=0)),
    ("minmax(a, least=-0.5)", MinMax(A, least=-0.5)),
    ("clamp(a)", Clamp(A)),
    ("saturating(a)", Saturating(A)),
    ("greatest(a, b)", Greatest((A, B))),
    ("rrf(a, b, k=60)", Rrf((A, B))),
    ("rrf(a, k=1)", Rrf((A,), k=1)),
    # What stands inside what.
    ("(0.7*a + 0.3*b) * c", Product((Weighted(((A, 0.7), (B, 0.3))), C))),
    ("(0.5*a) * b", Product((A_HALF, B))),
    ("b * (0.5*a)", Product((B, A_HALF))),
    ("(a * b) * c", Product((Product((A, B)), C))),
    ("a * (b * c)", Product((A, Product((B, C))))),
    ("product(a) * b", Product((Product((A,)), B))),
    ("product(a * b)", Product((Product((A, B)),))),
    ("(0.5) * a", Product((Const(0.5), A))),
    ("a * 0.5", Product((A, Const(0.5)))),
    ("product(0.5)", Product((Const(0.5),))),
    ("0.3*(a * b)", Weighted(((Product((A, B)), 0.3),))),
    ("0.3*((0.5) * a)", Weighted(((Product((Const(0.5), A)), 0.3),))),
    ("0.3*product(0.5)", Weighted(((Product((Const(0.5),)), 0.3),))),
    ("0.3*0.5", Weighted(((Const(0.5), 0.3),))),
    ("0.3*(0.5*a)", Weighted(((A_HALF, 0.3),))),
    ("0.3*(0.5*a) + 0.1*b", Weighted(((A_HALF, 0.3), (B, 0.1)))),
    ("clamp(0.5*a)", Clamp(A_HALF)),
    ("saturating(0.5*a) * b", Product((Saturating(A_HALF), B))),
]


@pytest.mark.parametrize(("text", "expression"), CANONICAL)
def test_an_expression_is_printed_in_one_way(text: str, expression: Expression) -> None:
    assert printed(expression) == text


@pytest.mark.parametrize(("text", "expression"), CANONICAL)
def test_a_printed_expression_is_parsed_to_the_same_expression(text: str, expression: Expression) -> None:
    assert parse("score", text) == expression


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("0.5*a*b", "0.5*(a * b)"),
        ("0.5 * a", "0.5*a"),
        ("  a*\n  b\t*c ", "a * b * c"),
        ("0.7*a+0.3*b", "0.7*a + 0.3*b"),
        ("(0.5*a) + 0.3*b", "0.5*a + 0.3*b"),
        ("(0.5*a)", "0.5*a"),
        ("((a))", "a"),
        ("rrf(a)", "rrf(a, k=60)"),
        ("product(a, b)", "a * b"),
        (".5", "0.5"),
        ("5e-1", "0.5"),
        ("1.0*a", "1*a"),
        ("minmax(a, least= - 1)", "minmax(a, least=-1)"),
    ],
)
def test_other_spellings_mean_the_same(text: str, canonical: str) -> None:
    assert printed(parse("score", text)) == canonical


def test_a_name_is_replaced_by_its_expression() -> None:
    assert parse("score", "a * whole", names={"whole": Product((B, C))}) == Product((A, Product((B, C))))


def test_an_expression_that_has_a_name_is_printed_by_it() -> None:
    named = Product((B, C))
    assert printed(Weighted(((named, 0.5), (A, 0.5))), names={"whole": named}) == "0.5*whole + 0.5*a"


def test_a_constant_that_has_a_name_is_printed_by_it() -> None:
    names = {"half": Const(0.5)}
    assert parse("score", printed(Product((Const(0.5), A)), names=names), names=names) == Product((Const(0.5), A))


@pytest.mark.parametrize(
    ("text", "allowed", "place", "found"),
    [
        ("", "signals, numbers", 1, "nothing"),
        ("0.4*a - b", "signals, numbers", 7, "'- b'"),
        ("a / b", "signals, numbers", 3, "'/ b'"),
        ("a ** b", "signals, numbers", 3, "'** b'"),
        ("a # b", "signals, numbers", 3, "'# b'"),
        ("'a'", "signals, numbers", 1, "\"'a'\""),
        ("0x1f*a", "signals, numbers", 1, "'0x1f*a'"),
        ("0.5and b", "signals, numbers", 1, "'0.5and b'"),
        ("é", "signals, numbers", 1, "'é'"),
        ("a b", "signals, numbers", 3, "'b'"),
        ("a if b else c", "signals, numbers", 1, "'a if b else c'"),
        ("a * not_a(b)", "one of the functions " + ", ".join(FUNCTIONS), 5, "'not_a(b)'"),
        ("rrf(*a)", "signals, numbers", 5, "'*a)'"),
        ("a.b", "signals, numbers", 2, "'.b'"),
        ("True", "a number", 1, "'True'"),
        ("a + b", "a sum whose terms each begin with their weight", 1, "'a + b'"),
        ("0.5*a + b", "a sum whose terms each begin with their weight", 9, "'b'"),
        ("0.5*a + b*0.5", "a sum whose terms each begin with their weight", 9, "'b*0.5'"),
        ("(0.5)*a + 0.5*b", "a sum whose terms each begin with their weight", 1, "'(0.5)*a + 0.5*b'"),
        ("(0.2*a + 0.3*b) + 0.1*c", "a sum whose terms each begin with their weight", 2, "'0.2*a + 0.3*b) + 0.1'"),
        ("a * 1.5", "a number from 0 to 1, not 1.5", 5, "'1.5'"),
        ("1.5*a", "weights in [0, 1], not 1.5", 1, "'1.5*a'"),
        ("0.7*a + 0.6*b", "weights that sum to at most 1, not 1.29", 1, "'0.7*a + 0.6*b'"),
        ("rrf()", "at least one ranking", 1, "'rrf()'"),
        ("greatest()", "at least one term", 1, "'greatest()'"),
        ("rrf(a, k=0)", "a whole number from 1 to", 1, "'rrf(a, k=0)'"),
        ("rrf(a, k=1.5)", "a whole number from 1 to", 1, "'rrf(a, k=1.5)'"),
        ("rrf(a, k=b)", "a number", 10, "'b)'"),
        ("rrf(a, j=3)", "rrf with k= at most once", 8, "'j=3)'"),
        ("rrf(a, k=1, k=2)", "rrf with k= at most once", 13, "'k=2)'"),
        ("clamp(a, k=1)", "clamp without a constant", 10, "'k=1)'"),
        ("minmax(a, least=1e999)", "a finite number", 1, "'minmax(a, least=1e99'"),
        ("clamp(a, b)", "one expression inside clamp", 1, "'clamp(a, b)'"),
        ("clamp()", "one expression inside clamp", 1, "'clamp()'"),
    ],
)
def test_an_invalid_expression_is_refused_with_the_position_and_the_allowed_tokens(
    text: str, allowed: str, place: int, found: str
) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse("ranking.score", text)
    said = caught.value
    assert (said.argument, said.value) == ("ranking.score", text)
    assert said.allowed.startswith(allowed)
    assert said.allowed.endswith(f"; found {found} at character {place}")


@pytest.mark.parametrize("text", ["(", "a *", "rrf(a", "0.5*a +"])
def test_a_truncated_text_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^score: .*; found .* at character \d+$"):
        parse("score", text)


@pytest.mark.parametrize("text", ["(" * 300 + "a" + ")" * 300, "clamp(" * 250 + "a" + ")" * 250, "a" * (MAX_CHARS + 1)])
def test_a_text_beyond_all_bounds_is_refused(text: str) -> None:
    with pytest.raises(InvalidInput, match=r"^score: "):
        parse("score", text)
