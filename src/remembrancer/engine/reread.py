"""Late-interaction rerank: the best candidates compared with the question by their token embeddings."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.rank import Ranked
from remembrancer.policies.ranking.late_interaction import QuestionWords, compared
from remembrancer.policies.ranking.ranking import LATE_INTERACTION, PASSAGE_WORDS, SESSION_WORDS
from remembrancer.ports.changes import ReadView

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from remembrancer.policies.ranking.scoring import FloatColumn


def reread(
    ctx: Context, view: ReadView, reader: Reader, ranking: Ranked, model: str, words: QuestionWords, count: int
) -> Mapping[str, FloatColumn] | None:
    """Signals of the best `count` candidates, NaN for the others: how close each one's words come to the question's,
    those of its closest passage, and those of all of its session that are compared.

    None where none of them has token embeddings. Raises ModelUnavailable when they cannot be compared.
    """
    best = ranking.order[:count]
    refs: list[int] = ranking.found.ref[best].tolist()
    read = ctx.index.token_embeddings(view, reader, model, refs)
    if not read:
        return None
    nothing = np.zeros((0, -(-words.vectors.shape[1] // 8)), dtype=np.uint8)
    close = compared(words, [read.get(ref, nothing) for ref in refs])
    around = ranking.found.surroundings
    alone = np.full(len(best), -1)
    candidates = len(ranking.found.ids)
    return {
        LATE_INTERACTION: _spread(close.closeness(), best, candidates),
        PASSAGE_WORDS: _spread(close.closest_passage(), best, candidates),
        SESSION_WORDS: _spread(close.together(alone if around is None else around.stream[best]), best, candidates),
    }


def _spread(values: FloatColumn, places: NDArray[np.int64], count: int) -> FloatColumn:
    column = np.full(count, np.nan)
    column[places] = values
    return column
