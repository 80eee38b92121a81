"""Targets: answers of language models, embedders and rerankers, and what they say in headers."""

from __future__ import annotations

import json
from contextlib import suppress
from typing import Any, Final, cast

import numpy as np

from fuzz.target import Target, pure
from remembrancer.adapters.embedders.services import remote_model
from remembrancer.adapters.endpoints import retry_after, service_message
from remembrancer.adapters.rerankers.services import AnswerError, RerankService
from remembrancer.domain.listing import parse_cursor
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.peers import peer_of
from remembrancer.interfaces.key_values import key_values
from remembrancer.policies.prompts import boundaries, condense, episode, extraction, facts, key_terms, review, rules
from remembrancer.policies.prompts.condense import HeadedMemory
from remembrancer.policies.segmentation.segments import BoundaryQuestion
from remembrancer.ports.quantised import rounded, vector_bytes, vector_of

_TOLD: Final = [HeadedMemory(heading="Ana, 3 March 2026", text="Checkout needs 2 GiB, 1,200 requests")]
_LABELS: Final = frozenset({"M1", "M2", "E1"})


def answers(data: bytes) -> None:
    """Each reader of answers takes any JSON object, and gives values, or the fault in words."""
    try:
        value: object = json.loads(data)
    except (ValueError, RecursionError):
        return
    if not isinstance(value, dict):
        return
    answer = cast("dict[str, Any]", value)
    found = [
        condense.read(answer, _TOLD, max_chars=500),
        episode.read(answer),
        extraction.read(answer, range(1, 9), 3),
        facts.read(answer, _LABELS),
        key_terms.read(answer, 1, 8),
        review.read(answer, _LABELS),
        rules.read(answer, 5, 2, 3),
        *(boundaries.read(answer, question) for question in _QUESTIONS),
    ]
    assert all(found_one is not None and found_one != "" for found_one in found)


def services(data: bytes) -> None:
    """What a service answers: vectors, scores, messages, and when to ask again."""
    text = data.decode("utf-8", "replace")
    head, _, body = text.partition("\n")
    names = ("retry-after", "retry-after-ms", "date", "x-ratelimit-reset-requests")
    wait = retry_after({**dict.fromkeys(names, head), "x-ratelimit-remaining-requests": "0"}, data)
    assert wait is None or wait >= 0, wait
    peer_of(head)
    with suppress(InvalidInput):
        parse_cursor("cursor", head, rest_bytes=16)
    with suppress(InvalidInput):
        key_values("metadata", text.split("\n"))
    try:
        answer: object = json.loads(body or head)
    except (ValueError, RecursionError):
        return
    service_message(answer)
    if isinstance(answer, dict):
        told = cast("dict[str, object]", answer)
        for model in _MODELS:
            model.rows(told)
    for service in _RERANKERS:
        with suppress(AnswerError):
            first, second = (float(score) for score in service.scores(cast("object", answer), 2))
            assert 0 <= first <= 1 and 0 <= second <= 1, (first, second)


def vectors(data: bytes) -> None:
    """A stored vector comes back as it was rounded."""
    values = np.frombuffer(data[: len(data) // 4 * 4], dtype=np.float32).astype(np.float64)
    length = float(np.linalg.norm(values)) if np.isfinite(values).all() else 0.0
    if not length:
        return
    unit = (values / length).astype(np.float32)
    packed = vector_bytes(unit)
    assert (vector_of(packed, unit.size) == rounded(unit)).all()
    assert vector_bytes(vector_of(packed, unit.size)) == packed
    assert float(np.abs(rounded(unit) - unit).max()) <= 1 / 127, unit


_QUESTIONS: Final = tuple(BoundaryQuestion(start=0, end=4, whole=whole) for whole in (True, False))
_MODELS: Final = (remote_model("openai", "m"), remote_model("gemini", "m"))
_RERANKERS: Final = tuple(
    RerankService(dialect=dialect, model="m", scale=scale)
    for dialect in ("cohere", "tei")
    for scale in ("logit", "probability", "cosine")
)
_ANSWERS: Final[list[dict[str, Any]]] = [
    {"summary": "Checkout needs 2 GiB.", "title": "Checkout"},
    {"segments": [{"first": 1, "last": 2, "title": "A topic here", "summary": "x", "surprise": "low"},
                  {"first": 3, "last": 4, "title": "Another topic here", "summary": "x", "surprise": "high"}]},
    {"begins_something_new": True, "about": "x"},
    {"learnings": [{"text": "Never deploy", "type": "procedural", "turns": [1, 2], "importance": 0.5, "title": "x"}]},
    {"facts": [{"text": "x", "episodes": ["E1"], "confidence": 0.5, "category": "preference", "keywords": ["a"]}]},
    {"terms": ["checkout", "memory"]},
    {"ratings": [{"memory": "M1", "rating": "good"}, {"memory": "M2", "rating": "again"}]},
    {"rules": [{"text": "x", "evidence": [1, 2], "confidence": 0.5, "title": "y"}]},
]  # fmt: skip
_SERVICES: Final = [
    b'2.5\n{"data": [{"index": 0, "embedding": [0.1, 0.2]}, {"index": 1, "embedding": [0.1, 0.2]}]}',
    b'1m30.5s\n{"embeddings": [{"values": [0.1]}]}',
    b'Wed, 21 Oct 2026 07:28:00 GMT\n{"error": {"message": "x", "details": [{"retryDelay": "3s"}]}}',
    b'2001:db8::1\n{"results": [{"index": 0, "relevance_score": 0.5}, {"index": 1, "relevance_score": 0.25}]}',
    b'AAZMLwt6RAAH\n[{"index": 0, "score": 0.5}, {"index": 1, "score": 0.25}]',
    b'env=prod\ncode="7"\n',
]
_WORDS: Final = (
    *("summary", "title", "segments", "first", "last", "surprise", "learnings", "turns", "facts", "episodes", "terms"),
    *(
        "ratings",
        "memory",
        "rating",
        "rules",
        "evidence",
        "confidence",
        "text",
        "type",
        "importance",
        "E1",
        "M1",
        "high",
    ),
    *("data", "index", "embedding", "embeddings", "values", "results", "relevance_score", "score", "error", "message"),
    *("retryDelay", "detail", "::ffff:1.2.3.4", "1ms", "9" * 12, "-0", "Infinity", "\n", "="),
)

TARGETS: Final = (
    Target(
        "answers", pure(answers), [json.dumps(one).encode() for one in _ANSWERS], _WORDS, 60_000, 300, max_bytes=1024
    ),
    Target("services", pure(services), _SERVICES, _WORDS, 80_000, 300, max_bytes=1024),
    Target("vectors", pure(vectors), [np.arange(1, 9, dtype=np.float32).tobytes()], (), 80_000, 300, max_bytes=512),
)
