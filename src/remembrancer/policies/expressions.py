"""A score expression as text and back: `0.4*similarity + 0.5*lexical`, `rrf(dense_leg, lexical_leg, k=60) * retention`.

The text is arithmetic over signals. Python's parser takes it apart; nothing ever runs it.

- `0.7*similarity + 0.3*lexical` is a Weighted. Every term begins with its weight, the only term of a sum too.
- `similarity * importance` is a Product. One that begins with a Const has it in parentheses, where it is no weight:
  `(0.5) * similarity`. Parentheses count: `(a * b) * c` is a Product inside a Product.
- `product(x)` is a Product of one factor; `clamp`, `minmax`, `saturating`, `greatest` and `rrf(x, y, k=60)` are by name.

What is printed is canonical: reading it gives an equal expression, and printing that the same text.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final, TypeVar, assert_never

from remembrancer.errors import InvalidInput
from remembrancer.policies.scoring import (
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

N = TypeVar("N", bound=Expression)
Names = Mapping[str, Expression]
"""Expressions that a text may call by a name."""

NO_NAMES: Final[Names] = MappingProxyType({})
MAX_CHARS: Final = 4_000

_OF_ONE: Final[Mapping[str, Callable[[Expression], Expression]]] = {
    "clamp": Clamp,
    "minmax": MinMax,
    "saturating": Saturating,
}
_OF_SEVERAL: Final[Mapping[str, Callable[[tuple[Expression, ...]], Expression]]] = {
    "greatest": Greatest,
    "product": Product,
    "rrf": Rrf,
}
FUNCTIONS: Final = tuple(sorted((*_OF_ONE, *_OF_SEVERAL)))

_ALLOWED: Final = "signals, numbers, sums of weighted terms, products, and " + ", ".join(FUNCTIONS)
_WEIGHT_FIRST: Final = "a sum whose terms each begin with their weight, as in 0.7*similarity + 0.3*lexical"
# What Python's parser would take, and we do not: comments, strings, `**`, numbers such as 0x1f or 1_000.
_TOKEN: Final = re.compile(r"\s+|[^\W\d]\w*|(?>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?)(?!\w)|\*(?!\*)|[+(),=]", re.ASCII)


def parse(argument: str, text: str, *, names: Names = NO_NAMES) -> Expression:
    """The expression that the text tells; one of `names` stands for what it names.

    Whether its signals exist is not asked here: `signals.check` does. Raises InvalidInput with the place of the fault.
    """
    reading = _Reading(argument, text, names)
    try:
        return reading.expression(reading.tree())
    except RecursionError:
        raise InvalidInput(argument, text, "an expression that is not nested as deeply") from None


def printed(expression: Expression, *, names: Names = NO_NAMES) -> str:
    """The expression as text, with a name wherever one of `names` occurs."""
    for name, named in names.items():
        if expression == named:
            return name
    match expression:
        case Signal(name):
            return name
        case Const(value):
            return _number(value)
        case Weighted(terms):
            return " + ".join(f"{_number(weight)}*{_inside(term, names)}" for term, weight in terms)
        case Product((first, *others)) if others:
            begin = _grouped(first, names) if isinstance(first, Const) else _inside(first, names)
            return " * ".join((begin, *(_inside(factor, names) for factor in others)))
        case Product(factors):
            return _call("product", factors, names)
        case MinMax(inner):
            return _call("minmax", (inner,), names)
        case Clamp(inner):
            return _call("clamp", (inner,), names)
        case Saturating(inner):
            return _call("saturating", (inner,), names)
        case Greatest(terms):
            return _call("greatest", terms, names)
        case Rrf(rankings, k):
            return _call("rrf", rankings, names, f"k={k}")
        case _:
            assert_never(expression)


def _inside(expression: Expression, names: Names) -> str:
    """As a factor: what is a sum or a product of its own stands in parentheses."""
    several = isinstance(expression, Weighted) or (isinstance(expression, Product) and len(expression.factors) > 1)
    named = expression in names.values()
    return _grouped(expression, names) if several and not named else printed(expression, names=names)


def _grouped(expression: Expression, names: Names) -> str:
    return f"({printed(expression, names=names)})"


def _call(function: str, inner: tuple[Expression, ...], names: Names, *more: str) -> str:
    return f"{function}({', '.join((*(printed(one, names=names) for one in inner), *more))})"


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
            raise self._refused((error.offset or 1) - 1, f"an expression of {_ALLOWED}") from None
        except (MemoryError, ValueError):
            raise self._too_deep() from None

    def expression(self, node: ast.expr) -> Expression:
        match node:
            case ast.Name(name):
                return self.names.get(name, Signal(name))
            case ast.Constant():
                return self._made(node, Const, self._number(node))
            case ast.BinOp(op=ast.Add()):
                return self._made(node, Weighted, tuple(self._term(term) for term in _chain(node, ast.Add)))
            case ast.BinOp(op=ast.Mult()) if _begins_with_a_weight(node):
                return self._made(node, Weighted, (self._term(node),))
            case ast.BinOp(op=ast.Mult()):
                return self._product(_chain(node, ast.Mult))
            case ast.Call(ast.Name(function), arguments, keywords):
                return self._called(node, function, arguments, keywords)
            case _:
                raise self._refused(node.col_offset, _ALLOWED)

    def _term(self, node: ast.expr) -> tuple[Expression, float]:
        """A term of a sum, with its weight."""
        if not _begins_with_a_weight(node):
            raise self._refused(node.col_offset, _WEIGHTS_FIRST)
        weight, *factors = _chain(node, ast.Mult)
        return self._product(factors), self._number(weight)

    def _product(self, factors: Sequence[ast.expr]) -> Expression:
        inner = tuple(self.expression(factor) for factor in factors)
        return inner[0] if len(inner) == 1 else Product(inner)

    def _called(
        self, node: ast.Call, function: str, arguments: Sequence[ast.expr], keywords: Sequence[ast.keyword]
    ) -> Expression:
        inner = tuple(self.expression(argument) for argument in arguments)
        match function, keywords:
            case "rrf", [ast.keyword("k", k)]:
                return self._made(node, lambda rankings: Rrf(rankings, self._number(k)), inner)
            case _, [keyword, *_]:
                raise self._refused(keyword.value.col_offset, "no argument by name but the k of rrf")
            case _ if function in _OF_SEVERAL:
                return self._made(node, _OF_SEVERAL[function], inner)
            case _ if function in _OF_ONE and len(inner) == 1:
                return self._made(node, _OF_ONE[function], inner[0])
            case _ if function in _OF_ONE:
                raise self._refused(node.col_offset, f"one expression inside {function}")
            case _:
                raise self._refused(node.col_offset, "one of the functions " + ", ".join(FUNCTIONS))

    def _number(self, node: ast.expr) -> Any:
        """A float, or an int where it is written so. Named constants are ints in Python, and none here."""
        if isinstance(node, ast.Constant) and type(node.value) in (int, float):
            return node.value
        raise self._refused(node.col_offset, "a number")

    def _made(self, node: ast.expr, make: Callable[[T], Expression], inner: T) -> Expression:
        """What the node's own check refuses is an error of the text."""
        try:
            return make(inner)
        except InvalidInput as error:
            raise self._refused(node.col_offset, f"{error.allowed}, not {error.value},") from None

    def _refused(self, place: int, allowed: str) -> InvalidInput:
        here = self.text[place : place + 20]
        return InvalidInput(self.argument, self.text, f"{allowed} at character {place + 1}" + (here and f": {here!r}"))

    def _too_deep(self) -> InvalidInput:
        return InvalidInput(self.argument, self.text, "an expression that is not nested as deeply")


def _chain(node: ast.expr, operator: type[ast.operator]) -> list[ast.expr]:
    """What one operator joins, from the left: three parts for `a * b * c`, two for `(a * b) * c`."""
    parts: list[ast.expr] = []
    while isinstance(node, ast.BinOp) and isinstance(node.op, operator):
        parts.append(node.right)
        if _stands_in_parentheses(node):
            parts.append(node.left)
            break
        node = node.left
    else:
        parts.append(node)
    return parts[::-1]


def _stands_in_parentheses(node: ast.BinOp) -> bool:
    """Whether the left operand does: it then begins after its parent."""
    return node.left.col_offset > node.col_offset


def _begins_with_a_weight(node: ast.expr) -> bool:
    factors = _chain(node, ast.Mult)
    ...
