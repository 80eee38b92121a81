"""What became of each candidate, and what its score is made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from uuid import UUID

from remembrancer.domain.recall import CandidateOutcome, Part, Stage
from remembrancer.engine.choose import Choice
from remembrancer.engine.rank import Ranked


class CandidateOutcomes(Mapping[UUID, CandidateOutcome]):
    """What became of each candidate; worked out when first asked for, which most callers never do."""

    def __init__(self, ranking: Ranked, choice: Choice) -> None:
        self._ranking = ranking
        self._choice = choice

    def __getitem__(self, identifier: UUID) -> CandidateOutcome:
        return self._fates[identifier]

    def __iter__(self) -> Iterator[UUID]:
        return iter(self._fates)

    def __len__(self) -> int:
        return len(self._ranking.found.ids)

    def _left_out(self, index: int) -> Stage:
        if not self._ranking.relevant[index]:
            return Stage.FLOOR
        return Stage.LIMIT if self._ranking.passed[index] else Stage.MIN_SCORE

    @cached_property
    def _fates(self) -> dict[UUID, CandidateOutcome]:
        """Best first."""
        ranking, choice = self._ranking, self._choice
        ids = ranking.found.ids
        returned = {chosen.candidate for chosen in choice.chosen}
        ranked = list(map(int, ranking.order))
        last = max((rank for rank, index in enumerate(ranked, start=1) if index in returned), default=0)
        fates: dict[UUID, CandidateOutcome] = {}
        for rank, index in enumerate(ranked, start=1):
            detail = ""
            if index in returned:
                stage = Stage.RETURNED
            elif index in choice.missing:
                stage = Stage.ROW_MISSING
            elif index in choice.repeated:
                stage, detail = Stage.DUPLICATE, str(ids[choice.repeated[index]])
            elif rank < last and ranking.passed[index]:
                stage = Stage.ALIKE
            else:
                stage = self._left_out(index)
            fates[ids[index]] = CandidateOutcome(stage, float(ranking.scores[index]), rank, detail)
        return fates


class Scores(Mapping[UUID, Part]):
    """The score of each candidate as a tree, made when it is asked for."""

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
