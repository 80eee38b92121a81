"""Why each hit has its score: worked out when somebody looks, which an agent that only wants the text never does."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import fields
from functools import cached_property
from typing import Any, Final

import numpy as np

from remembrancer.domain.recall import Explanation
from remembrancer.engine.choose import Chosen
from remembrancer.engine.rank import Ranked
from remembrancer.policies.ranking.diversity import Mmr


def explanations(
    ranked: Ranked, diversity: Mmr | None, chosen: Sequence[Chosen], matched: Sequence[tuple[str, ...]]
) -> tuple[Explanation, ...]:
    """Of each that was chosen, in their order. `matched`: the terms found in each."""
    all_of_them = _All(ranked, diversity, chosen, matched)
    return tuple(_later(lambda place=place: all_of_them.made[place]) for place in range(len(chosen)))


class LazyExplanation(Explanation):
    """An explanation whose fields are not there until the first of them is asked for."""

    __slots__ = ("_make",)
    _make: Callable[[], Explanation]

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        made = self._make()
        for field in _FIELDS:
            object.__setattr__(self, field, getattr(made, field))
        return getattr(made, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in _FIELDS)

    def __repr__(self) -> str:
        return repr(Explanation(self.score, self.signals, self.ranks, self.matched))

    __hash__ = None  # type: ignore[assignment]  # like every explanation: its mappings have none


_FIELDS: Final = frozenset(field.name for field in fields(Explanation))


def _later(make: Callable[[], Explanation]) -> Explanation:
    explanation = object.__new__(LazyExplanation)  # not by its fields, which it has not got yet
    object.__setattr__(explanation, "_make", make)
    return explanation


class _All:
    """Made together, a column at a time, when the first is looked at: whoever looks at one mostly looks at all.

    Of the ranking it keeps what it needs of these candidates, so that a hit that is kept does not keep all the others.
    """

    def __init__(
        self, ranked: Ranked, diversity: Mmr | None, chosen: Sequence[Chosen], matched: Sequence[tuple[str, ...]]
    ) -> None:
        rows = np.array([one.candidate for one in chosen], dtype=np.int64)
        legs = {"dense": ranked.found.dense_rank, "lexical": ranked.found.lexical_rank}
        if ranked.found.surroundings is not None:
            legs["context"] = ranked.found.surroundings.rank
        self._ranks = {leg: column.take(rows) for leg, column in legs.items()}
        self._signals = {name: column.take(rows) for name, column in ranked.table.items()}
        self._scored = ranked.scored.at(rows)
        self._scores, self._diversity, self._matched = [one.score for one in chosen], diversity, matched

    @cached_property
    def made(self) -> list[Explanation]:
        ranks = [(leg, column.tolist()) for leg, column in self._ranks.items()]
        signals = [(name, column.tolist()) for name, column in self._signals.items()]
        return [
            Explanation(
                score=score if self._diversity is None else self._diversity.explain(score, self._scores[place]),
                signals={name: None if math.isnan(values[place]) else float(values[place]) for name, values in signals},
                ranks={leg: values[place] for leg, values in ranks if values[place]},
                matched=self._matched[place],
            )
            for place, score in enumerate(self._scored.explained())
        ]
