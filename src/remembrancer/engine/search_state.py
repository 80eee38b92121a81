"""The present search mode: by words and vectors, or by words only, with the reason."""

from __future__ import annotations

from enum import StrEnum

from remembrancer.engine.context import Context
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.embedder import arithmetic
from remembrancer.values import dataclass


class SearchMode(StrEnum):
    """Which searches are available."""

    VECTOR = "vector"
    """Search by words and vectors."""
    VECTOR_DEGRADED = "vector-degraded"
    """Search by words only, because the embedder does not answer."""
    SPARSE_ONLY = "sparse-only"
    """Search by words only, because there is no embedder."""


@dataclass(frozen=True, slots=True)
class SearchState:
    """The search mode of recall. `detail`: the model that answers, or the reason why none does."""

    mode: SearchMode
    detail: str


async def search_state(ctx: Context) -> SearchState:
    """Call the embedder to find out how recall searches now. Waits for its answer."""
    if ctx.embedder is None:
        return SearchState(SearchMode.SPARSE_ONLY, ctx.without_embedder)
    try:
        await ctx.embedder.embed_query("Does the embedder answer?")
    except ModelUnavailable as error:
        return SearchState(SearchMode.VECTOR_DEGRADED, str(error))
    said = f"{ctx.embedder.model_id}, {ctx.embedder.dim} dimensions"
    return SearchState(SearchMode.VECTOR, "; ".join(filter(None, (said, arithmetic(ctx.embedder)))))
