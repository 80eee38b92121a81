"""Simulated prompt blocks: how much of the evidence fits into a block of 1,000, 2,000 or 4,000 tokens."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.system import MeasuredBlock
from remembrancer.policies.rendering.frame import MAX_BLOCK_CHARS, CharBudget, Item, place

CHARS_PER_TOKEN: Final = 4
"""The number of characters counted as one token. This is about right for English prose under the usual vocabularies;
text with many symbols, or in another script, has fewer characters per token.
"""

BUDGETS: Final = {"1k": 1_000, "2k": 2_000, "4k": 4_000}
"""Block sizes in tokens, by their names in the report."""

BLOCK_METRICS: Final = tuple(f"block-{name}@{budget}" for name in ("recall", "all") for budget in BUDGETS)
"""The metric names that `block_metrics` returns, in its order."""


def chars_of(budget: str) -> int:
    """The block size in characters of one of BUDGETS.

    >>> chars_of("2k")
    8000
    """
    return BUDGETS[budget] * CHARS_PER_TOKEN


def pack_block(ranked: Sequence[str], text_of: Mapping[str, str], max_chars: int) -> MeasuredBlock:
    """Fill a block with the texts in rank order, each on its own line after "- ".

    The rule is the one by which the memory fills its own blocks: a text that does not fit is left out whole, and
    shorter texts after it may still be placed. A turn that is ranked twice is placed once.

    >>> pack_block(["a", "b", "c"], {"a": "long text", "b": "far too long a text", "c": "x"}, 16)
    MeasuredBlock(turns=('a', 'c'), chars=16)
    """
    validation.whole("max_chars", max_chars, 1, MAX_BLOCK_CHARS)
    items = (Item(turn_id, f"- {text_of[turn_id]}\n") for turn_id in dict.fromkeys(ranked))
    placed = place(items, CharBudget(max_chars))
    return MeasuredBlock(tuple(item.of for item in placed), sum(len(item.text) for item in placed))


def block_metrics(blocks: Mapping[str, MeasuredBlock], gold: Collection[str]) -> dict[str, float]:
    """Evidence in the blocks: for each of BUDGETS, the share of `gold` in its block (`block-recall`), and whether the
    block holds all of it (`block-all`).

    Fractions in [0, 1], keyed by the names of BLOCK_METRICS. Raises InvalidInput for an empty `gold`.
    """
    if not gold:
        raise InvalidInput("gold", list(gold), "at least one item to be found")
    wanted = set(gold)
    held = {budget: len(wanted.intersection(blocks[budget].turns)) for budget in BUDGETS}
    shares = {f"block-recall@{budget}": count / len(wanted) for budget, count in held.items()}
    return shares | {f"block-all@{budget}": float(count == len(wanted)) for budget, count in held.items()}
