"""Ranking the best candidates again: by late interaction, or by a reranker."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.engine.choose import Ranked, ranked_by
from remembrancer.errors import ModelUnavailable
from remembrancer.policies.ranking.late_interaction import QuestionTokens, compared
from remembrancer.policies.ranking.ranking import LATE_INTERACTION, PASSAGE_WORDS, RERANK, SESSION_WORDS, Ranking
from remembrancer.ports.embedder import calibration

if TYPE_CHECKING:
    from collections.abc import Mapping

    from numpy.typing import NDArray

    from remembrancer.domain.memory import Cue
    from remembrancer.domain.query import Filter
    from remembrancer.domain.scope import Reader
    from remembrancer.engine.context import Context
    from remembrancer.policies.ranking.scoring import FloatColumn
    from remembrancer.ports.changes import ReadView
    from remembrancer.ports.reranker import Reranker


# Tolerance for a model's rounding to float32: by how much a score may exceed 1.
_SLACK: Final = 1e-6


async def rerank(
    ctx: Context, reader: Reader, where: Filter, reranker: Reranker, ranking: Ranking, ranked: Ranked, asked: str
) -> Ranked:
    """Rank the candidates again, using a reranker's scores of the best `ranking.rerank` above the relevance threshold.

    The others above the threshold come after these. Unchanged if none is above it. Raises ModelUnavailable.
    """
    best: list[int] = ranked.order[ranked.relevant[ranked.order]][: ranking.rerank].tolist()
    ids = ranked.found.ids
    cues = await ctx.read(where, lambda view: view.cues(reader, [ids[index] for index in best]))
    there = [index for index in best if ids[index] in cues]  # without those erased since the search
    if not there:
        return ranked
    texts = [_text(ranked.best_cue(index, cues[ids[index]])) for index in there]
    column: FloatColumn = np.full(len(ids), np.nan)
    column[there] = await judged(reranker, asked, texts)
    # Equal scores keep their order: a candidate with reranker score 0 still precedes those that were not reranked.
    return ranked_by(
        ranking.reranked(ranked.expression),
        ranked.found,
        {**ranked.table, RERANK: column},
        ranked.accepts,
        outcome_weight=ranking.outcome_weight,
        before=ranked,
    )


async def judged(reranker: Reranker, asked: str, texts: Sequence[str]) -> NDArray[np.float32]:
    """The reranker's scores, checked: one for each text, in [0, 1]. Raises ModelUnavailable for anything else."""
    scores = np.asarray(await reranker.scores(asked, texts))
    if scores.shape != (len(texts),):
        raise ModelUnavailable(f"{reranker.model_id} gave scores of shape {scores.shape} for {len(texts)} texts")
    beyond = scores[~((scores >= 0) & (scores <= 1 + _SLACK))]
    if beyond.size:
        raise ModelUnavailable(f"{reranker.model_id} gave the score {beyond[0]:g}, which is not in [0, 1]")
    return np.minimum(scores, 1)


def _text(cue: Cue) -> str:
    """The text of a cue for the reranker: heading, then text."""
    return f"{cue.heading}\n{cue.text}" if cue.heading else cue.text


def late_interaction(
    ctx: Context, view: ReadView, reader: Reader, ranking: Ranked, model: str, tokens: QuestionTokens, count: int
) -> Mapping[str, FloatColumn] | None:
    """The late-interaction signals of the best `count` candidates, NaN for the others: MaxSim of the whole text, of its
    best passage, and of all compared texts of its session together.

    None if none of them has token embeddings. Raises ModelUnavailable if they cannot be compared.
    """
    best = ranking.order[:count]
    refs: list[int] = ranking.found.ref[best].tolist()
    read = ctx.index.token_embeddings(view, reader, model, refs)
    if not read:
        return None
    nothing = np.zeros((0, -(-tokens.vectors.shape[1] // 8)), dtype=np.uint8)
    close = compared(tokens, [read.get(ref, nothing) for ref in refs])
    if (scale := calibration(ctx.embedder)) is not None:
        halves = scale.token_similarities(close.halves)
        close = replace(close, nearest=scale.token_similarities(close.nearest), halves=halves)
    around = ranking.found.context_features
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
