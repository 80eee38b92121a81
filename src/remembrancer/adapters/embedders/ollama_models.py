"""What is known of Ollama's embedding models before they answer."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Final

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaModel:
    """A model by the name `ollama pull` takes, and how it is to be addressed.

    `dim`: components of its vectors; None where nobody knows before it has answered. The prefixes are part of what
    the model was trained on: they tell it whether a text is kept or asked, and without them it ranks worse.
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
"""Models of which every tag has the same size and prefixes, as their cards give them."""

_NAME: Final = re.compile(r"[A-Za-z0-9][\w./:-]{0,149}", re.ASCII)


def model_named(name: str) -> OllamaModel:
    """The model of that name, `name:tag` or `host/owner/name:tag`; the tag `latest` is the one without a tag.

    A model that is not known here has no prefixes, and a dimension once it has answered. Raises InvalidInput for what
    cannot be a model's name.
    """
    if not _NAME.fullmatch(name):
        raise InvalidInput("embedder", f"ollama:{name}", "ollama:MODEL, such as ollama:nomic-embed-text")
    name = name.removesuffix(":latest")
    family = name.partition(":")[0]
    return replace(_KNOWN.get(family, OllamaModel(name=name)), name=name)
