"""A score expression as text and back: `0.4*similarity + 0.5*lexical`, `rrf(dense_leg, lexical_leg, k=60) * retention`.

The text is arithmetic over signals. Python's parser parses it; it is never executed.

- `0.7*similarity + 0.3*lexical` is a Weighted. Every term begins with its weight, also the only one.
- `similarity * importance` is a Product. One that begins with a Const has it in parentheses, where it is no weight:
  `(0.5) * similarity`. Parentheses count: `(a * b) * c` is a Product inside a Product.
- `product(x)` is a Product of one factor. The other functions are named as their nodes: `rrf(x, y, k=60)`.

What is printed is canonical: reading it gives an equal expression, and printing that the same text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import fields
from functools import partial
from types import MappingProxyType
from typing import Any, Final, TypeVar, assert_never

from remembrancer.errors import InvalidInput
from remembrancer.policies.ranking import scoring
from remembrancer.values import dataclass

T = TypeVar("T")

Names = Mapping[str, scoring.Expression]
"""Expressions that a text may call by a name."""

NO_NAMES: Final[Names] = MappingProxyType({})
MAX_CHARS: Final = 4_000

_OF_ONE: Final[Mapping[str, type[scoring.Clamp | scoring.MinMax | scoring.Saturating]]] = {
    node.__name__.lower(): node for node in (scoring.Clamp, scoring.MinMax, scoring.Saturating)
}
_OF_SEVERAL: Final[Mapping[str, type[scoring.Greatest | scoring.Product | scoring.Rrf]]] = {
    node.__name__.lower(): node for node in (scoring.Greatest, scoring.Product, scoring.Rrf)
}
FUNCTIONS: Final = tuple(sorted((*_OF_ONE, *_OF_SEVERAL)))

_ALLOWED: Final = "signals, numbers, sums of weighted terms, products, and the functions " + ", ".join(FUNCTIONS)
_WEIGHTS_FIRST: Final = "a sum whose terms each begin with their weight, as in 0.7*similarity + 0.3*lexical"
# Less than Python's parser would take: no comments, strings, `**`, 0x1f or 1_000, and no minus but that of a constant.
_TOKEN: Final = re.compile(
    r"\s+|[^\W\d]\w*|(?>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?!\w)|\*(?!\*)|=\s*-?|[+(),]", re.ASCII
)


def parse(argument: str, text: str, *, names: Names = NO_NAMES) -> scoring.Expression:
    """Parse an expression. A key of `names` stands for the expression that is its value.

    It is not checked that its signals exist: `signals.check` does that. Raises InvalidInput with the position of the
    error.
    """
    reading = _Reading(argument, " ".join(text.split()), names)
    try:
        return reading.expression(reading.tree())
    except (RecursionError, MemoryError):
        raise InvalidInput(argument, text, "an expression that is not as deep") from None


def printed(expression: scoring.Expression, *, names: Names = NO_NAMES) -> str:
    """The expression as text, with a name wherever one of `names` occurs."""
    named = _named(expression, names)
    if named is not None:
        return named
    match expression:
        case scoring.Signal(name):
            return name
        case scoring.Const(value):
            return _number(value)
        case scoring.Weighted(terms):
            return " + ".join(f"{_number(weight)}*{_factor(term, names)}" for term, weight in terms)
        case scoring.Product((first, *others)) if others:
            begin = f"({printed(first, names=names)})" if isinstance(first, scoring.Const) else _factor(first, names)
            return " * ".join((begin, *(_factor(factor, names) for factor in others)))
        case (
            scoring.Product()
            | scoring.MinMax()
            | scoring.Clamp()
            | scoring.Saturating()
            | scoring.Greatest()
            | scoring.Rrf()
        ):
            inner = (printed(one, names=names) for one in scoring.inner_expressions(expression))
            constants = ((name, getattr(expression, name)) for name in _constants(type(expression)))
            told = (f"{name}={_number(value)}" for name, value in constants if value is not None)
            return f"{type(expression).__name__.lower()}({', '.join((*inner, *told))})"
        case _:
            assert_never(expression)


def _named(expression: scoring.Expression, names: Names) -> str | None:
    return next((name for name, named in names.items() if named == expression), None)


def _factor(expression: scoring.Expression, names: Names) -> str:
    """What is a sum, or a product of several factors, stands in parentheses."""
    text = printed(expression, names=names)
    match expression:
        case scoring.Weighted() | scoring.Product((_, _, *_)) if _named(expression, names) is None:
            return f"({text})"
        case _:
            return text


def _constants(node: type[scoring.Expression]) -> tuple[str, ...]:
    """The numbers of a node that stands as a function: all its fields but the first."""
    return tuple(field.name for field in fields(node)[1:])


def _number(value: float) -> str:
    # Adding 0 takes the sign off -0.0, which would read as a subtraction.
    return repr(float(value) + 0.0).removesuffix(".0")


@dataclass(frozen=True, slots=True)
class _Reading:
    """One text being read. Errors name the argument, the text, what is allowed there and the character, from 1."""

    argument: str
    text: str
    names: Names

    def tree(self) -> ast.expr:
        if len(self.text) > MAX_CHARS:
            raise InvalidInput(self.argument, self.text, f"at most {MAX_CHARS:,} characters")
        place = 0
        while place < len(self.text):
            token = _TOKEN.match(self.text, place)
            if token is None:
                raise self._refused(place, _ALLOWED)
            place = token.end()
        try:
            return ast.parse(self.text, mode="eval").body
        except SyntaxError as error:
            raise self._refused(error.offset - 1 if error.offset else len(self.text), _ALLOWED) from None

    def expression(self, node: ast.expr) -> scoring.Expression:
        match node:
            case ast.Name(name):
                return self.names.get(name, scoring.Signal(name))
            case ast.Constant():
                return self._made(node, scoring.Const, self._number(node))
            case ast.BinOp(op=ast.Add()):
                return self._made(node, scoring.Weighted, tuple(self._term(term) for term in _chain(node, ast.Add)))
            case ast.BinOp(op=ast.Mult()) if _weight(node) is not None:
                return self._made(node, scoring.Weighted, (self._term(node),))
            case ast.BinOp(op=ast.Mult()):
                return self._product(_chain(node, ast.Mult))
            case ast.Call(ast.Name(function)):
                return self._called(node, function)
            case _:
                raise self._refused(node.col_offset, _ALLOWED)

    def _term(self, node: ast.expr) -> tuple[scoring.Expression, float]:
        """A term of a sum, with its weight."""
        if _weight(node) is None:
            raise self._refused(node.col_offset, _WEIGHTS_FIRST)
        weight, *factors = _chain(node, ast.Mult)
        return self._product(factors), self._number(weight)

    def _product(self, factors: Sequence[ast.expr]) -> scoring.Expression:
        inner = tuple(self.expression(factor) for factor in factors)
        return inner[0] if len(inner) == 1 else scoring.Product(inner)

    def _called(self, node: ast.Call, function: str) -> scoring.Expression:
        inner = tuple(self.expression(argument) for argument in node.args)
        if function in _OF_SEVERAL:
            several = _OF_SEVERAL[function]
            return self._made(node, partial(several, **self._constants_of(node, several)), inner)
        if function not in _OF_ONE:
            raise self._refused(node.col_offset, "one of the functions " + ", ".join(FUNCTIONS))
        if len(inner) != 1:
            raise self._refused(node.col_offset, f"one expression inside {function}")
        one = _OF_ONE[function]
        return self._made(node, partial(one, **self._constants_of(node, one)), inner[0])

    def _constants_of(self, node: ast.Call, made: type[scoring.Expression]) -> dict[str, Any]:
        allowed = _constants(made)
        constants: dict[str, Any] = {}
        for given in node.keywords:
            if given.arg not in allowed or given.arg in constants:
                names = " and ".join(f"{name}=" for name in allowed)
                constant = f"with {names} at most once" if names else "without a constant"
                raise self._refused(given.col_offset, f"{made.__name__.lower()} {constant}")
            constants[given.arg] = self._number(given.value)
        return constants

    def _number(self, node: ast.expr) -> Any:
        """A float, or an int where it is written so."""
        match node:
            case ast.UnaryOp(ast.USub(), ast.Constant() as positive):
                return -self._number(positive)
            # True and False are ints to Python, and no numbers to us.
            case ast.Constant(value) if type(value) in (int, float):
                return value
            case _:
                raise self._refused(node.col_offset, "a number")

    def _made(self, node: ast.expr, make: Callable[[T], scoring.Expression], inner: T) -> scoring.Expression:
        """What the node's own check refuses is an error of the text."""
        try:
            return make(inner)
        except InvalidInput as error:
            raise self._refused(node.col_offset, f"{error.allowed}, not {error.value}") from None

    def _refused(self, place: int, allowed: str) -> InvalidInput:
        found = repr(self.text[place : place + 20]) if place < len(self.text) else "nothing"
        return InvalidInput(self.argument, self.text, f"{allowed}; at character {place + 1} stands {found}")


def _chain(node: ast.expr, operator: type[ast.operator]) -> list[ast.expr]:
    """What one operator joins, from the left: three parts for `a * b * c`, two for `(a * b) * c`."""
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        parts.append(node.right)
        if _begins_in_parentheses(node):
            return [node.left, *reversed(parts)]
        node = node.left
    return [node, *reversed(parts)]


def _weight(node: ast.expr) -> ast.Constant | None:
    """The number that a product begins with. One in parentheses is a factor."""
    first: ast.expr | None = None
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and not _begins_in_parentheses(node):
        first = node = node.left
    return first if isinstance(first, ast.Constant) else None


def _begins_in_parentheses(node: ast.BinOp) -> bool:
    """Whether its left operand stands in some: it then begins after the whole."""
    return node.left.col_offset > node.col_offset
