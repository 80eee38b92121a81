"""Requests and answers of embedding services: OpenAI's protocol and Gemini's. No HTTP here.

Sources: OpenAI's API reference, "Create embeddings", `POST /v1/embeddings`, which vLLM, llama.cpp, LM Studio, Text
Embeddings Inference and Infinity implement too; Google's, `models.batchEmbedContents`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, Protocol, cast

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

RemoteProtocol = Literal["openai", "gemini"]

ADDRESSES: Final[Mapping[str, str]] = {
    "openai": "https://api.openai.com/v1",
    "gemini": "https://generativelanguage.googleapis.com",
}
"""Each protocol's default address."""

RawVectors = list[object]


class EmbeddingService(Protocol):
    """One model of one protocol: what is sent, and how the answer is read."""

    @property
    def name(self) -> str: ...
    @property
    def model_id(self) -> str: ...
    @property
    def dim(self) -> int | None:
        """The number of components; None when unknown until the first answer."""
        ...

    @property
    def who(self) -> str:
        """The service's name in messages."""
        ...

    @property
    def setting(self) -> str:
        """The setting that holds its address."""
        ...

    @property
    def running(self) -> str:
        """The hint in an error if no server listens at the address."""
        ...

    @property
    def loading(self) -> str:
        """The hint in an error about a timeout: the step that may take long."""
        ...

    @property
    def path(self) -> str: ...
    @property
    def texts_a_call(self) -> int: ...
    @property
    def characters_a_call(self) -> int:
        """The most characters of one request. A longer text is sent alone."""
        ...

    @property
    def cuts(self) -> bool:
        """Whether the service truncates a text that is too long, if the request has `cut`."""
        ...

    def headers(self, key: str) -> dict[str, str]: ...
    def request(self, texts: Sequence[str], *, query: bool, cut: bool) -> dict[str, Any]:
        """The body of one request. `query`: the texts are questions, not documents."""
        ...

    def rows(self, answer: Mapping[str, object]) -> RawVectors | None:
        """The vectors in an answer, in the order of the texts and not yet checked; None if there are none."""
        ...

    def is_too_long(self, message: str) -> bool:
        """Whether an error message says that a text is longer than the model's context."""
        ...

    def advice(self, status: int, message: str) -> str:
        """The hint in an error about an unsuccessful answer, if the service's own message is not enough."""
        ...

    def is_cut(self, text: str) -> bool:
        """Whether the service truncates this text without reporting it."""
        ...


_NAME: Final = re.compile(r"[A-Za-z0-9][\w./:@+-]{0,149}", re.ASCII)

# Of OpenAI, vLLM, llama.cpp and Text Embeddings Inference.
_TOO_LONG: Final = re.compile(
    r"maximum (context|input) length|exceeds?\b.*\bcontext|too large to process|must have less than \d+ tokens",
    re.IGNORECASE | re.DOTALL,
)


@dataclass(frozen=True, slots=True, kw_only=True)
class OpenAiModel:
    """A model behind `POST …/embeddings`.

    `asked_dim`: sent as `dimensions`; None: the model's own size. `own_address`: it is asked at OpenAI's address, which
    takes 2,048 texts a request; other servers often take 32.
    """

    name: str
    asked_dim: int | None = None
    own_address: bool = True

    who = "the embedder"
    setting = "embedder_url"
    running = "is it running there?"
    loading = ""
    path = "embeddings"
    characters_a_call = 65_536
    cuts = False

    @property
    def model_id(self) -> str:
        return _model_id("openai", self.name, self.asked_dim)

    @property
    def dim(self) -> int | None:
        return self.asked_dim or _OPENAI_DIMS.get(self.name)

    @property
    def texts_a_call(self) -> int:
        return 128 if self.own_address else 32

    def headers(self, key: str) -> dict[str, str]:
        return {"Authorization": f"Bearer {key}"} if key else {}

    def request(self, texts: Sequence[str], *, query: bool, cut: bool) -> dict[str, Any]:
        asked = {"model": self.name, "input": list(texts), "encoding_format": "float"}
        return asked if self.asked_dim is None else {**asked, "dimensions": self.asked_dim}

    def rows(self, answer: Mapping[str, object]) -> RawVectors | None:
        """The vectors, ordered by `index`; None if an index is missing or occurs twice."""
        given = answer.get("data")
        data = cast("list[object]", given) if isinstance(given, list) else []
        found: dict[int, object] = {}
        for row in data:
            fields = cast("dict[str, object]", row) if isinstance(row, dict) else {}
            index = fields.get("index")
            if isinstance(index, int):
                found[index] = fields.get("embedding")
        return (
            [found[index] for index in range(len(found))] if data and sorted(found) == list(range(len(data))) else None
        )

    def is_too_long(self, message: str) -> bool:
        return bool(_TOO_LONG.search(message))

    def advice(self, status: int, message: str) -> str:
        return ""

    def is_cut(self, text: str) -> bool:
        return False


_OPENAI_DIMS: Final[Mapping[str, int]] = {
    "text-embedding-3-small": 1536,
    "text-embedding-3-large": 3072,
    "text-embedding-ada-002": 1536,
}


@dataclass(frozen=True, slots=True, kw_only=True)
class GeminiModel:
    """A model behind `POST /v1beta/models/MODEL:batchEmbedContents`.

    `asked_dim`: sent as `outputDimensionality`; None: 1,536 for `gemini-embedding-001`, otherwise the model's own size.
    """

    name: str
    asked_dim: int | None = None

    who = "the embedder"
    setting = "embedder_url"
    running = "is it running there?"
    loading = ""
    texts_a_call = 100  # the most that a request may hold
    characters_a_call = 65_536
    cuts = True

    @property
    def model_id(self) -> str:
        return _model_id("gemini", self.name, self.asked_dim)

    @property
    def dim(self) -> int | None:
        return self.asked_dim or _GEMINI_DIMS.get(self.name)

    @property
    def path(self) -> str:
        return f"v1beta/models/{self.name}:batchEmbedContents"

    def headers(self, key: str) -> dict[str, str]:
        return {"x-goog-api-key": key} if key else {}

    def request(self, texts: Sequence[str], *, query: bool, cut: bool) -> dict[str, Any]:
        each: dict[str, Any] = {
            "model": f"models/{self.name}",
            "taskType": "RETRIEVAL_QUERY" if query else "RETRIEVAL_DOCUMENT",
        }
        if self.dim is not None:
            each["outputDimensionality"] = self.dim
        return {"requests": [{**each, "content": {"parts": [{"text": text}]}} for text in texts]}

    def rows(self, answer: Mapping[str, object]) -> RawVectors | None:
        found = answer.get("embeddings")
        if not isinstance(found, list) or not all(isinstance(one, dict) for one in cast("RawVectors", found)):
            return None
        return [one.get("values") for one in cast("list[dict[str, object]]", found)]

    def is_too_long(self, message: str) -> bool:
        return False

    def advice(self, status: int, message: str) -> str:
        return ""

    def is_cut(self, text: str) -> bool:
        """Whether Gemini truncates this text. It reads 2,048 tokens and does not report truncation, so this is
        estimated at four characters per token.
        """
        return len(text) > 4 * 2_048


_GEMINI_DIMS: Final[Mapping[str, int]] = {"gemini-embedding-001": 1536}


def remote_model(
    protocol: RemoteProtocol, name: str, *, dim: int | None = None, own_address: bool = True
) -> EmbeddingService:
    """The model of a protocol. Raises InvalidInput for an invalid model name."""
    if not _NAME.fullmatch(name):
        raise InvalidInput("embedder", f"{protocol}:{name}", f"{protocol}:MODEL")
    if protocol == "gemini":
        return GeminiModel(name=name.removeprefix("models/"), asked_dim=dim)
    return OpenAiModel(name=name, asked_dim=dim, own_address=own_address)


def _model_id(protocol: str, name: str, asked_dim: int | None) -> str:
    return f"{protocol}/{name}" + ("" if asked_dim is None else f"@{asked_dim}")
