"""The best of what was found compared with the question word by word, by what is kept of their words' vectors."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from remembrancer.domain.scope import Reader
from remembrancer.engine.context import Context
from remembrancer.engine.rank import Ranked
from remembrancer.policies.late_interaction import QuestionWords, closeness

if TYPE_CHECKING:
    from remembrancer.policies.scoring import Column


async def reread(
    ctx: Context, reader: Reader, ranking: Ranked, model: str, words: QuestionWords, count: int
) -> Column | None:
    """Of each candidate how close its words come to the question's, NaN but for the best `count`; None where none of
    them has vectors of its words.
    """
    best: list[int] = ranking.order[:count].tolist()
    ids, cues = ranking.found.ids, ranking.found.cue
    read = await ctx.store.words(reader, model, {ids[index]: int(cues[index]) for index in best})
    if not read:
        return None
    nothing = np.zeros((0, -(-words.vectors.shape[1] // 8)), dtype=np.uint8)
    column = np.full(len(ids), np.nan)
    column[best] = closeness(words, [read.get(ids[index], nothing) for index in best])
    return column
