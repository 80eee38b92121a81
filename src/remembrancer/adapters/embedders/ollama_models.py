"""Ollama's embedding models, and the requests and answers of its `POST /api/embed`. No HTTP here."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from http import HTTPStatus
from typing import Any, Final, cast

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

# Error messages for a text that is longer than the context, of Ollama's versions and of its runners.
_TOO_LONG: Final = re.compile(r"exceeds?\b.*\bcontext|too large to process", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True, slots=True, kw_only=True)
class OllamaModel:
    """An embedding model, by the name that `ollama pull` takes; an `EmbeddingService`.

    Requests are sent with `truncate: false`, so that Ollama rejects a text that exceeds the context, whose length is a
    setting of the server; to have it cut, the text is sent again with `truncate: true`.

    `dim`: size of its vectors; None when unknown until the first answer. The prefixes are those of the model's
    training: they mark a text as document or query, and without them it ranks worse. `languages`: those of its
    training; None if they are many or unknown.
    """

    name: str
    dim: int | None = None
    document_prefix: str = ""
    query_prefix: str = ""
    languages: frozenset[str] | None = None

    who = "Ollama"
    setting = "ollama_url"
    running = "is it running there, `ollama serve`?"
    loading = ": it may be loading the model"
    path = "api/embed"
    # Without a GPU, Ollama reads about a thousand characters a second, so a larger request would not be answered within
    # the timeout.
    texts_a_call = 32
    characters_a_call = 8_192
    cuts = True

    @property
    def model_id(self) -> str:
        return f"ollama/{self.name}"

    def headers(self, key: str) -> dict[str, str]:
        return {}

    def request(self, texts: Sequence[str], *, query: bool, cut: bool) -> dict[str, Any]:
        prefix = self.query_prefix if query else self.document_prefix
        return {"model": self.name, "input": [prefix + text for text in texts], "truncate": cut}

    def rows(self, answer: Mapping[str, object]) -> list[object] | None:
        found = answer.get("embeddings")
        return cast("list[object]", found) if isinstance(found, list) else None

    def is_too_long(self, message: str) -> bool:
        return bool(_TOO_LONG.search(message))

    def advice(self, status: int, message: str) -> str:
        missing = status == HTTPStatus.NOT_FOUND and "model" in message
        return f"does not have the model: ollama pull {self.name}" if missing else ""

    def is_cut(self, text: str) -> bool:
        return False


_SEARCH_SENTENCE: Final = "Represent this sentence for searching relevant passages: "

_ENGLISH: Final = frozenset({"en"})

_KNOWN: Final = {
    model.name: model
    for model in (
        OllamaModel(
            name="nomic-embed-text",
            dim=768,
            document_prefix="search_document: ",
            query_prefix="search_query: ",
            languages=_ENGLISH,
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
        OllamaModel(name="mxbai-embed-large", dim=1024, query_prefix=_SEARCH_SENTENCE, languages=_ENGLISH),
        OllamaModel(name="all-minilm", dim=384, languages=_ENGLISH),
        OllamaModel(name="bge-m3", dim=1024),
    )
}
"""Models whose tags all have the same size, prefixes and languages, from their model cards."""

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
