"""Explanations of hits and outcomes of other candidates, computed on first use."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID

import numpy as np

from remembrancer.domain.memory import searchable_text
from remembrancer.domain.recall import CandidateOutcome, Explanation, HeldBack, Part, Shortfall, Stage
from remembrancer.language.lexical import written
from remembrancer.policies.ranking.groups import PRECEDES
from remembrancer.policies.ranking.scoring import ranks_at

if TYPE_CHECKING:
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.engine.choose import Choice, Chosen, Ranked
    from remembrancer.language.reading import Reading
    from remembrancer.policies.ranking.diversity import Mmr
    from remembrancer.policies.ranking.scoring import FloatColumn


def explanations(
    ranked: Ranked, diversity: Mmr | None, chosen: Sequence[Chosen], reading: Reading | None
) -> tuple[Explanation, ...]:
    """The explanations of the chosen candidates, in order. `reading`: the question, if their matched words and reasons
    are requested.
    """
    all_of_them = _All(ranked, diversity, chosen, reading)
    return tuple(_later(lambda place=place: all_of_them.made[place]) for place in range(len(chosen)))


class LazyExplanation(Explanation):
    """An explanation whose fields are computed when one is first read."""

    __slots__ = ("_make",)
    _make: Callable[[], Explanation]

    def __getattr__(self, name: str) -> Any:
        if name not in _FIELDS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)
        made = self._make()
        for field in _FIELDS:
            object.__setattr__(self, field, getattr(made, field))
        object.__setattr__(self, "_make", lambda: made)  # the ranking is not needed any more
        return getattr(made, name)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Explanation):
            return NotImplemented
        return all(getattr(self, field) == getattr(other, field) for field in _FIELDS)

    def __repr__(self) -> str:
        return repr(Explanation(**{field.name: getattr(self, field.name) for field in fields(Explanation)}))

    __hash__ = None  # type: ignore[assignment]  # like every explanation: its mappings have none


_FIELDS: Final = frozenset(field.name for field in fields(Explanation))


def _later(make: Callable[[], Explanation]) -> Explanation:
    explanation = object.__new__(LazyExplanation)  # not by its constructor, because the fields are not computed yet
    object.__setattr__(explanation, "_make", make)
    return explanation


_LEGS: Final = {"dense": "dense_leg", "lexical": "lexical_leg"}
"""The signal of each search."""


class _All:
    """The explanations of all hits of one answer, computed together when one is first read. A hit keeps the whole
    ranking in memory until its own explanation is read.
    """

    def __init__(
        self, ranked: Ranked, diversity: Mmr | None, chosen: Sequence[Chosen], reading: Reading | None
    ) -> None:
        self._ranked = ranked
        self._candidates = [one.candidate for one in chosen]
        self._scores, self._diversity = [one.score for one in chosen], diversity
        self._raised = [one.raised for one in chosen]
        self._reading = reading
        self._chosen = [(one.memory, one.cue) for one in chosen] if reading else []

    def _shown(self, place: int, own: Part) -> Part:
        """The parts of a hit's score, given those of its own score."""
        if self._diversity is not None:
            return self._diversity.explain(own, self._scores[place])
        return _raised(own, self._scores[place]) if self._raised[place] else own

    @cached_property
    def made(self) -> list[Explanation]:
        ranked, rows = self._ranked, np.array(self._candidates, dtype=np.int64)
        # Ranked as the score ranks them, so that tied candidates have the same ranks in the explanation.
        ranks = [(leg, ranks_at(ranked.table[signal], rows).tolist()) for leg, signal in _LEGS.items()]
        if ranked.found.context_features is not None:
            context = ranked.found.context_features.rank.take(rows)
            ranks.append(("context", np.where(context > 0, context, np.nan).tolist()))
        signals = [(name, column.take(rows).tolist()) for name, column in ranked.table.items()]
        explained = [
            Explanation(
                score=self._shown(place, score),
                signals={name: None if math.isnan(values[place]) else float(values[place]) for name, values in signals},
                ranks={leg: int(values[place]) for leg, values in ranks if not math.isnan(values[place])},
            )
            for place, score in enumerate(ranked.scored.at(rows).explained())
        ]
        reading = self._reading
        if reading is None:
            return explained
        return [_in_words(each, *of, reading) for each, of in zip(explained, self._chosen, strict=True)]


def _raised(own: Part, score: float) -> Part:
    """The explanation of a score that was raised to that of the hit that it precedes."""
    precedes = Part(PRECEDES, None, score - own.contribution)
    return Part("with the hit that it precedes", score, score, (own, precedes))


def _in_words(explanation: Explanation, memory: Memory, cue: Cue, reading: Reading) -> Explanation:
    """The explanation with its matched words and its reason."""
    from remembrancer.policies.rendering.reason import reason  # noqa: PLC0415 - only where it is requested

    terms = reading.lexical.terms or reading.lexical.phrase
    matching = replace(explanation, matched=written(searchable_text(cue), terms))
    return replace(matching, reason=reason(matching, memory, cue, reading))


def held_back(ranked: Ranked, choice: Choice, limit: int) -> tuple[HeldBack, ...]:
    """The memories among the best `limit` that are below the relevance threshold, the least score or the least
    probability, best first, without those that were chosen as replies.
    """
    best = ranked.order[:limit]
    below: list[int] = best[~ranked.passed[best]].tolist()
    chosen = {one.candidate for one in choice.chosen} if below else set[int]()
    return tuple(
        HeldBack(ranked.found.ids[index], float(ranked.scores[index]), ranked.probability(index))
        for index in below
        if index not in chosen
    )


class CandidateOutcomes(Mapping[UUID, CandidateOutcome]):
    """The outcome of each candidate, best first; computed when first read."""

    def __init__(self, ranking: Ranked, choice: Choice) -> None:
        self._ranking = ranking
        self._choice = choice

    def __getitem__(self, identifier: UUID) -> CandidateOutcome:
        return self._outcomes[identifier]

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._outcomes)

    def __len__(self) -> int:
        return len(self._ranking.found.ids)

    def _left_out(self, index: int) -> Stage:
        if not self._ranking.relevant[index]:
            return Stage.THRESHOLD
        if self._ranking.passed[index]:
            return Stage.LIMIT
        return Stage.MIN_SCORE if self._ranking.scores[index] < self._ranking.accepts.min_score else Stage.FLOOR

    @cached_property
    def _outcomes(self) -> dict[UUID, CandidateOutcome]:
        """The outcomes, best candidate first."""
        ranking, choice = self._ranking, self._choice
        ids = ranking.found.ids
        returned = {chosen.candidate for chosen in choice.chosen}
        ranked = list(map(int, ranking.order))
        last = max((rank for rank, index in enumerate(ranked, start=1) if index in returned), default=0)
        outcomes: dict[UUID, CandidateOutcome] = {}
        for rank, index in enumerate(ranked, start=1):
            detail = ""
            if index in returned:
                stage = Stage.RETURNED
            elif index in choice.missing:
                stage = Stage.ROW_MISSING
            elif index in choice.message:
                stage = Stage.MESSAGE
            elif index in choice.repeated:
                stage, detail = Stage.DUPLICATE, str(ids[choice.repeated[index]])
            elif rank < last and ranking.passed[index]:
                stage = Stage.ALIKE
            else:
                stage = self._left_out(index)
            score = float(ranking.scores[index])
            outcomes[ids[index]] = CandidateOutcome(
                stage, score, rank, detail, self._shortfall(stage, index), ranking.probability(index)
            )
        return outcomes

    def _shortfall(self, stage: Stage, index: int) -> Shortfall | None:
        score = float(self._ranking.scores[index])
        match stage:
            case Stage.THRESHOLD if self._margin is not None:
                has, needed = self._margin
                return Shortfall("relevance", float(has[index]), needed)
            case Stage.MIN_SCORE:
                return Shortfall("score", score, self._ranking.accepts.min_score)
            case Stage.FLOOR:
                has = self._ranking.probability(index)
                return None if has is None else Shortfall("probability", has, self._ranking.accepts.min_probability)
            case Stage.LIMIT if self._choice.chosen:
                return Shortfall("score", score, self._choice.chosen[-1].score)
            case _:
                return None

    @cached_property
    def _margin(self) -> tuple[FloatColumn, float] | None:
        return self._ranking.accepts.margin(self._ranking.judged_by, self._ranking.table)


class Scores(Mapping[UUID, Part]):
    """The score tree of each candidate, computed when it is read."""

    def __init__(self, ranking: Ranked) -> None:
        self._ranking = ranking

    def __getitem__(self, identifier: UUID) -> Part:
        return self._ranking.scored.explain(self._rows[identifier])

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._ranking.found.ids)

    def __len__(self) -> int:
        return len(self._ranking.found.ids)

    @cached_property
    def _rows(self) -> dict[UUID, int]:
        return {identifier: row for row, identifier in enumerate(self._ranking.found.ids)}
