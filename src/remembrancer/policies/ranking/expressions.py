"""Parsing and printing score expressions: `0.4*similarity + 0.5*lexical`, `rrf(dense_leg, lexical_leg, k=60) *
retention`.

The text is arithmetic over signals. Python's parser parses it; it is never executed.

- `0.7*similarity + 0.3*lexical` is a Weighted. Each term begins with its weight, even a single one.
- `similarity * importance` is a Product. A Const as its first factor is put in parentheses, because a bare number there
  is a weight: `(0.5) * similarity`. Parentheses matter: `(a * b) * c` is a Product inside a Product.
- `product(x)` is a Product of one factor. Other nodes are functions of the same name: `rrf(x, y, k=60)`.

`printed` and `parse` are inverses: parsing a printed expression gives an equal one.
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
"""Named expressions that a text may refer to."""

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
# A subset of Python's syntax: no comments, strings, `**`, 0x1f or 1_000, and a minus only before a constant.
_TOKEN: Final = re.compile(
    r"\s+|[^\W\d]\w*|(?>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?!\w)|\*(?!\*)|=\s*-?|[+(),]", re.ASCII
)


def parse(argument: str, text: str, *, names: Names = NO_NAMES) -> scoring.Expression:
    """Parse an expression. A name in `names` stands for that expression.

    Whether its signals exist is not checked here but by `signals.check`. Raises InvalidInput with the position of the
    error.
    """
    reading = _Reading(argument, " ".join(text.split()), names)
    try:
        return reading.expression(reading.tree())
    except (RecursionError, MemoryError):
        raise InvalidInput(argument, text, "an expression that is not nested so deeply") from None


def printed(expression: scoring.Expression, *, names: Names = NO_NAMES) -> str:
    """The expression as text; parts equal to one of `names` are printed as that name."""
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
    """The expression as a factor: a sum, or a product of several factors, is put in parentheses."""
    text = printed(expression, names=names)
    match expression:
        case scoring.Weighted() | scoring.Product((_, _, *_)) if _named(expression, names) is None:
            return f"({text})"
        case _:
            return text


def _constants(node: type[scoring.Expression]) -> tuple[str, ...]:
    """The names of the numeric arguments of a node printed as a function: all its fields but the first."""
    return tuple(field.name for field in fields(node)[1:])


def _number(value: float) -> str:
    # Adding 0 turns -0.0 into 0.0; a printed minus would be a subtraction.
    return repr(float(value) + 0.0).removesuffix(".0")


@dataclass(frozen=True, slots=True)
class _Reading:
    """The parser of one text. Errors name the argument, the text, what is allowed, and the position, counted from 1."""

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
        """A number: an int if it is written as one, else a float."""
        match node:
            case ast.UnaryOp(ast.USub(), ast.Constant() as positive):
                return -self._number(positive)
            # True and False are ints in Python, but not numbers here.
            case ast.Constant(value) if type(value) in (int, float):
                return value
            case _:
                raise self._refused(node.col_offset, "a number")

    def _made(self, node: ast.expr, make: Callable[[T], scoring.Expression], inner: T) -> scoring.Expression:
        """Construct a node; an error of its own checks is raised as an error of the text."""
        try:
            return make(inner)
        except InvalidInput as error:
            raise self._refused(node.col_offset, f"{error.allowed}, not {error.value}") from None

    def _refused(self, place: int, allowed: str) -> InvalidInput:
        found = repr(self.text[place : place + 20]) if place < len(self.text) else "nothing"
        return InvalidInput(self.argument, self.text, f"{allowed}; found {found} at character {place + 1}")


def _chain(node: ast.expr, operator: type[ast.operator]) -> list[ast.expr]:
    """The operands of a chain of one operator, from the left: three for `a * b * c`, two for `(a * b) * c`."""
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        parts.append(node.right)
        if _begins_in_parentheses(node):
            return [node.left, *reversed(parts)]
        node = node.left
    return [node, *reversed(parts)]


def _weight(node: ast.expr) -> ast.Constant | None:
    """The weight that a product begins with; None if it begins with something else, such as a number in parentheses."""
    first: ast.expr | None = None
    while isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult) and not _begins_in_parentheses(node):
        first = node = node.left
    return first if isinstance(first, ast.Constant) else None


def _begins_in_parentheses(node: ast.BinOp) -> bool:
    """Whether the left operand is in parentheses: it then begins later than the whole expression."""
    return node.left.col_offset > node.col_offset
