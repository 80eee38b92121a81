"""How much of an answer an agent gets to read: blocks of so many tokens, and how much evidence stands in them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.system import Block
from remembrancer.policies.rendering.frame import MAX_BLOCK_CHARS, Item, Room, place

CHARS_PER_TOKEN: Final = 4
"""Characters that are counted as one token. English prose has about so many under the usual vocabularies; what has more
symbols, or another script, has fewer.
"""

BUDGETS: Final = {"1k": 1_000, "2k": 2_000, "4k": 4_000}
"""Tokens of a block, by what the report calls them."""

SURVIVAL: Final = tuple(f"block-{name}@{budget}" for name in ("recall", "all") for budget in BUDGETS)
"""The names that `survival` gives, in its order."""


def chars_of(budget: str) -> int:
    """The characters of one of BUDGETS.

    >>> chars_of("2k")
    8000
    """
    return BUDGETS[budget] * CHARS_PER_TOKEN


def packed(ranked: Sequence[str], text_of: Mapping[str, str], max_chars: int) -> Block:
    """The texts in their order, a line each behind a dash, under the rule by which the memory fills its blocks.

    What does not fit is left out whole, and shorter texts after it may still come. A text stands there once.

    >>> packed(["a", "b", "c"], {"a": "long text", "b": "far too long a text", "c": "x"}, 16)
    Block(turns=('a', 'c'), chars=16)
    """
    validation.whole("max_chars", max_chars, 1, MAX_BLOCK_CHARS)
    items = (Item(turn_id, f"- {text_of[turn_id]}\n") for turn_id in dict.fromkeys(ranked))
    placed = place(items, Room(max_chars))
    return Block(tuple(item.of for item in placed), sum(len(item.text) for item in placed))


def survival(blocks: Mapping[str, Block], gold: Collection[str]) -> dict[str, float]:
    """For each of BUDGETS: the share of `gold` in its block (`block-recall`), and whether all are (`block-all`).

    Fractions in [0, 1], by the names of SURVIVAL. Raises InvalidInput for an empty `gold`.
    """
    if not gold:
        raise InvalidInput("gold", list(gold), "at least one item to be found")
    wanted = set(gold)
    held = {budget: len(wanted.intersection(blocks[budget].turns)) for budget in BUDGETS}
    shares = {f"block-recall@{budget}": count / len(wanted) for budget, count in held.items()}
    return shares | {f"block-all@{budget}": float(count == len(wanted)) for budget, count in held.items()}
