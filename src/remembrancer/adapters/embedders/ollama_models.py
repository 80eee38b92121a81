"""Known properties of Ollama's embedding models."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaModel:
    """An embedding model, by the name that `ollama pull` takes.

    `dim`: size of its vectors; None when unknown until the first answer. The prefixes are those of the model's
    training: they mark a text as document or query, and without them it ranks worse.
    """

    name: str
    dim: int | None = None
    document_prefix: str = ""
    query_prefix: str = ""

    @property
    def model_id(self) -> str:
        return f"ollama/{self.name}"


_SEARCH_SENTENCE: Final = "Represent this sentence for searching relevant passages: "

_KNOWN: Final = {
    model.name: model
    for model in (
        OllamaModel(
            name="nomic-embed-text", dim=768, document_prefix="search_document: ", query_prefix="search_query: "
        ),
        OllamaModel(
            name="nomic-embed-text-v2-moe", dim=768, document_prefix="search_document: ", query_prefix="search_query: "
        ),
        OllamaModel(
            name="embeddinggemma",
            dim=768,
            document_prefix="title: none | text: ",
            query_prefix="task: search result | query: ",
        ),
        OllamaModel(name="mxbai-embed-large", dim=1024, query_prefix=_SEARCH_SENTENCE),
        OllamaModel(name="all-minilm", dim=384),
        OllamaModel(name="bge-m3", dim=1024),
    )
}
"""Models whose tags all have the same size and prefixes, from their model cards."""

_NAME: Final = re.compile(r"[A-Za-z0-9][\w./:-]{0,149}", re.ASCII)


def model_named(name: str) -> OllamaModel:
    """The model `name`, `name:tag` or `host/owner/name:tag`; the tag `latest` is dropped.

    An unknown model has no prefixes, and learns its dimension from the first answer. Raises InvalidInput for an invalid
    model name.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput("embedder", f"ollama:{name}", "ollama:MODEL, such as ollama:nomic-embed-text")
    name = name.removesuffix(":latest")
    family = name.partition(":")[0]
    return replace(_KNOWN.get(family, OllamaModel(name=name)), name=name)
