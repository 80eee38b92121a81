"""Requests and answers of rerank services, in the two formats in use.

Sources: Cohere's API reference, "Rerank (v2)"; Jina's, `POST /v1/rerank`, which vLLM, Infinity and llama.cpp implement
too; the OpenAPI description of Text Embeddings Inference 1.7, `POST /rerank`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Literal, cast, get_args

import numpy as np

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from numpy.typing import NDArray

RerankDialect = Literal["cohere", "tei"]
"""`cohere`: `{"model", "query", "documents", "top_n"}` to `{"results": [{"index", "relevance_score"}]}`; `tei`:
`{"query", "texts"}` to `[{"index", "score"}]`.
"""

ScoreScale = Literal["probability", "logit", "cosine"]
"""The range of a service's scores. `probability`: [0, 1] (most services); `logit`: any number (llama.cpp); `cosine`:
[-1, 1] (jina-reranker-v3).
"""

# Cohere bills per hundred texts; 32 is the default limit of Text Embeddings Inference.
_TEXTS_A_CALL: Final[Mapping[RerankDialect, int]] = {"cohere": 100, "tei": 32}

# Tolerance for scores that exceed their range through float32 and decimal rounding.
_SLACK: Final = 1e-3


class AnswerError(Exception):
    """The service's answer is invalid; the message says why."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RerankService:
    """A model behind an endpoint, with the endpoint's format.

    `texts_a_call`: maximum number of texts per request; None: the format's default. A model that reads all texts of a
    request together (jina-reranker-v3) judges better with more texts.
    """

    model: str
    dialect: RerankDialect = "cohere"
    scale: ScoreScale = "probability"
    texts_a_call: int | None = None

    def __post_init__(self) -> None:
        if not self.model.strip() or not self.model.isprintable():
            raise InvalidInput("model", self.model, "the name of a model")
        for name, value, choices in (
            ("dialect", self.dialect, get_args(RerankDialect)),
            ("scale", self.scale, get_args(ScoreScale)),
        ):
            if value not in choices:
                raise InvalidInput(name, value, " or ".join(choices))
        if self.texts_a_call is not None and self.texts_a_call < 1:
            raise InvalidInput("texts_a_call", self.texts_a_call, "1 or more")

    @property
    def model_id(self) -> str:
        return f"rerank/{self.model}"

    @property
    def batch(self) -> int:
        """Maximum number of texts per request."""
        return self.texts_a_call or _TEXTS_A_CALL[self.dialect]

    def request(self, question: str, texts: Sequence[str]) -> dict[str, Any]:
        """The body of one request. The service truncates a text that is too long for the model."""
        match self.dialect:
            case "cohere":
                return {"model": self.model, "query": question, "documents": list(texts), "top_n": len(texts)}
            case "tei":
                # By default it rejects texts that are too long, and returns probabilities instead of raw scores.
                raw = self.scale != "probability"
                return {"query": question, "texts": list(texts), "truncate": True, "raw_scores": raw}

    def scores(self, answer: object, count: int) -> NDArray[np.float32]:
        """The scores in an answer for `count` texts, in the order of the texts: shape (count,), in [0, 1]. Raises
        AnswerError.
        """
        field = "relevance_score" if self.dialect == "cohere" else "score"
        found = np.full(count, math.nan)
        for row in self._rows(answer, count):
            index, score = row.get("index"), row.get(field)
            if not isinstance(index, int) or isinstance(index, bool) or not 0 <= index < count:
                raise AnswerError(f"answered with the index {_shown(index)} for {count} texts")
            if not math.isnan(found[index]):
                raise AnswerError(f"answered twice for the index {index}")
            if not _is_finite(score):
                raise AnswerError(f"answered with the {field} {_shown(score)}")
            found[index] = score
        return self._probabilities(found).astype(np.float32)

    def _rows(self, answer: object, count: int) -> list[dict[str, Any]]:
        rows = cast("dict[str, object]", answer).get("results") if isinstance(answer, dict) else answer
        if not isinstance(rows, list) or isinstance(answer, dict) != (self.dialect == "cohere"):
            raise AnswerError("answered without results" if self.dialect == "cohere" else "answered without a list")
        found = cast("list[object]", rows)
        if len(found) != count:
            raise AnswerError(f"answered with {len(found)} scores for {count} texts")
        if not all(isinstance(row, dict) for row in found):
            raise AnswerError("answered with a value that is not a score")
        return cast("list[dict[str, Any]]", found)

    def _probabilities(self, found: NDArray[np.float64]) -> NDArray[np.float64]:
        if self.scale == "logit":
            return 1 / (1 + np.exp(-np.clip(found, -60, 60)))
        least = 0.0 if self.scale == "probability" else -1.0
        beyond = found[(found < least - _SLACK) | (found > 1 + _SLACK)]
        if beyond.size:
            raise AnswerError(
                f"answered with the score {beyond[0]:g}, which is no {self.scale} (in [{least:g}, 1]): "
                "its scores are of another scale"
            )
        return np.clip((found - least) / (1 - least), 0, 1)


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    # JSON allows integers of any size, but a float cannot represent them.
    return math.isfinite(value) if isinstance(value, float) else abs(value) < 1 << 53


def _shown(value: object) -> str:
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:37]}..."
