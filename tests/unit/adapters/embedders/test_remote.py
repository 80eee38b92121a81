"""OpenAI's and Gemini's embedders against a server that speaks their protocols over a real socket, and the rotation of
keys.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pytest
from embedding_server import EmbeddingServer, Fault, answers, hangs

from remembrancer.adapters.embedders.http import HttpEmbedder
from remembrancer.adapters.embedders.rotating import DOCUMENTS_WAIT, QUESTION_WAIT, RotatingEmbedder
from remembrancer.adapters.embedders.services import EmbeddingService, GeminiModel, OpenAiModel, remote_model
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Embedded
from remembrancer.testing.doubles import HashEmbedder

T = TypeVar("T")

SMALL = OpenAiModel(name="a-model", own_address=False)
GEMINI = GeminiModel(name="gemini-embedding-001", asked_dim=64)
A_MINUTE = 60.0


@pytest.fixture
def server() -> Iterator[EmbeddingServer]:
    with EmbeddingServer() as running:
        yield running


def with_embedder(
    server: EmbeddingServer,
    work: Callable[[HttpEmbedder], Coroutine[Any, Any, T]],
    model: EmbeddingService = SMALL,
    *,
    key: str = "",
    timeout: float = A_MINUTE,
) -> T:
    async def run() -> T:
        embedder = HttpEmbedder.open(server.url, model, timeout=timeout, key=key)
        try:
            return await work(embedder)
        finally:
            await embedder.close()

    return asyncio.run(run())


def embedded(server: EmbeddingServer, texts: Sequence[str], model: EmbeddingService = SMALL) -> Embedded:
    return with_embedder(server, lambda embedder: embedder.embed_documents(texts), model)


def failure(server: EmbeddingServer, model: EmbeddingService = SMALL, *, key: str = "") -> str:
    with pytest.raises(ModelUnavailable) as failed:
        with_embedder(server, lambda embedder: embedder.embed_query("text"), model, key=key)
    return str(failed.value)


# -- both protocols -------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [SMALL, GEMINI], ids=["openai", "gemini"])
def test_vectors_come_in_the_order_of_the_texts_and_of_unit_length(
    server: EmbeddingServer, model: EmbeddingService
) -> None:
    texts = [f"text number {number}" for number in range(250)]
    expected = np.array(server.vectors(texts), np.float32) / 3
    assert np.allclose(embedded(server, texts, model).vectors, expected, atol=1e-6)


def test_openai_is_called_as_its_reference_says(server: EmbeddingServer) -> None:
    model = remote_model("openai", "text-embedding-3-small", dim=64)
    with_embedder(server, lambda embedder: embedder.embed_query("what failed?"), model, key="sk-1")
    [asked] = server.asked
    assert (asked.path, asked.headers["Authorization"]) == ("/v1/embeddings", "Bearer sk-1")
    assert asked.body == {
        "model": "text-embedding-3-small",
        "input": ["what failed?"],
        "encoding_format": "float",
        "dimensions": 64,
    }


def test_gemini_is_called_as_its_reference_says(server: EmbeddingServer) -> None:
    async def both(embedder: HttpEmbedder) -> None:
        await embedder.embed_documents(["the deploy failed"])
        await embedder.embed_query("what failed?")

    with_embedder(server, both, GEMINI, key="g-1")
    documents, question = server.asked
    assert documents.path == "/v1/v1beta/models/gemini-embedding-001:batchEmbedContents"
    assert {name.lower(): value for name, value in documents.headers.items()}["x-goog-api-key"] == "g-1"
    assert documents.body["requests"] == [
        {
            "model": "models/gemini-embedding-001",
            "content": {"parts": [{"text": "the deploy failed"}]},
            "taskType": "RETRIEVAL_DOCUMENT",
            "outputDimensionality": 64,
        }
    ]
    assert question.body["requests"][0]["taskType"] == "RETRIEVAL_QUERY"


@pytest.mark.parametrize(
    ("model", "sizes"),
    [(SMALL, [32] * 7 + [26]), (OpenAiModel(name="m"), [128, 122]), (GEMINI, [100, 100, 50])],
    ids=["a server of one's own", "openai", "gemini"],
)
def test_a_call_holds_as_many_texts_as_its_service_takes(
    server: EmbeddingServer, model: EmbeddingService, sizes: list[int]
) -> None:
    embedded(server, ["text"] * 250, model)
    assert [len(call.texts) for call in server.asked] == sizes


@pytest.mark.parametrize(
    ("protocol", "name", "dim", "expected"),
    [
        ("openai", "text-embedding-3-small", None, ("openai/text-embedding-3-small", 1536)),
        ("openai", "text-embedding-3-large", 256, ("openai/text-embedding-3-large@256", 256)),
        ("openai", "BAAI/bge-m3", None, ("openai/BAAI/bge-m3", None)),
        ("gemini", "gemini-embedding-001", None, ("gemini/gemini-embedding-001", 1536)),
        ("gemini", "models/gemini-embedding-001", 768, ("gemini/gemini-embedding-001@768", 768)),
    ],
)
def test_a_model_is_named_with_the_size_it_is_requested(
    protocol: Any, name: str, dim: int | None, expected: tuple[str, int | None]
) -> None:
    model = remote_model(protocol, name, dim=dim)
    assert (model.model_id, model.dim) == expected


@pytest.mark.parametrize("name", ["", "two words", "-m", "x" * 151])
def test_an_invalid_model_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^embedder: 'openai:"):
        remote_model("openai", name)


def test_vectors_of_another_size_than_requested_are_refused(server: EmbeddingServer) -> None:
    said = failure(server, OpenAiModel(name="text-embedding-3-small"))
    assert "answered with 64 dimensions where 1536 are expected" in said


WRONG: dict[str, tuple[EmbeddingService, Fault, str]] = {
    "no data": (SMALL, answers(200, {"object": "list"}), "without embeddings"),
    "an index twice": (
        SMALL,
        answers(200, {"data": [{"index": 0, "embedding": [1.0]}, {"index": 0, "embedding": [2.0]}]}),
        "without embeddings",
    ),
    "too many": (
        SMALL,
        answers(200, {"data": [{"index": 0, "embedding": [1.0]}, {"index": 1, "embedding": [2.0]}]}),
        "2 vectors for 1 texts",
    ),
    "no vector": (SMALL, answers(200, {"data": [{"index": 0, "embedding": "AACAPw=="}]}), "not a vector"),
    "gemini without embeddings": (GEMINI, answers(200, {"embeddings": [1]}), "without embeddings"),
    "gemini without values": (GEMINI, answers(200, {"embeddings": [{}]}), "not a vector"),
    "a refused key": (
        SMALL,
        answers(403, {"error": {"message": "no access"}}),
        "403: no access; is the API key right?",
    ),
    "a rate limit": (
        SMALL,
        answers(429, {"error": {"message": "slow down"}}, {"Retry-After": "20"}),
        "429: slow down; it asks to wait 20 s",
    ),
    "an unknown model": (SMALL, answers(404, {"error": {"message": "The model does not exist"}}), "does not exist"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_that_is_none_is_unavailable(server: EmbeddingServer, wrong: str) -> None:
    model, server.fault, said = WRONG[wrong]
    message = failure(server, model)
    assert message.startswith(f"the embedder at {server.address}, model {model.name}: ")
    assert said in message


def test_a_text_that_is_too_long_is_shortened_alone_and_marked(server: EmbeddingServer) -> None:
    long = "word " * 150
    result = embedded(server, ["one", long, "three"])
    assert result.truncated.tolist() == [False, True, False]
    assert len(server.asked[-2].texts[0]) < len(long) or len(server.asked[-1].texts[0]) < len(long)


def test_a_text_that_gemini_truncates_silently_is_marked(server: EmbeddingServer) -> None:
    assert embedded(server, ["short", "long " * 2_000], GEMINI).truncated.tolist() == [False, True]


@pytest.mark.parametrize("model", [SMALL, GEMINI], ids=["openai", "gemini"])
def test_a_key_is_in_no_message_and_no_log(
    server: EmbeddingServer, model: EmbeddingService, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.keys = ("another",)
    message = failure(server, model, key="sk-s3cret")
    assert "Incorrect API key provided: ***" in message
    assert "s3cret" not in message + caplog.text


# -- rotation -------------------------------------------------------------------------------------


class Time:
    """A clock that moves by sleeping. `slept`: each sleep."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


def rotating(
    server: EmbeddingServer,
    work: Callable[[RotatingEmbedder], Coroutine[Any, Any, T]],
    *,
    keys: Sequence[str] = ("first", "second"),
    round_robin: bool = False,
    time: Time | None = None,
    timeout: float = A_MINUTE,
) -> T:
    async def run() -> T:
        time_ = time or Time()
        embedder = RotatingEmbedder(
            [HttpEmbedder.open(server.url, SMALL, timeout=timeout, key=key) for key in keys],
            round_robin=round_robin,
            sleep=time_.sleep,
            clock=time_,
            uniform=lambda _, most: most,
        )
        try:
            return await work(embedder)
        finally:
            await embedder.close()

    return asyncio.run(run())


async def thrice(embedder: RotatingEmbedder) -> None:
    for _ in range(3):
        await embedder.embed_query("text")


LIMITED = answers(429, {"error": {"message": "slow down"}}, {"Retry-After": "30"})
DOWN = answers(503, {"error": {"message": "overloaded"}})


def test_the_first_key_is_used_as_long_as_it_answers(server: EmbeddingServer) -> None:
    rotating(server, thrice)
    assert server.used == ["first"] * 3


def test_round_robin_takes_one_key_after_the_other(server: EmbeddingServer) -> None:
    rotating(server, thrice, keys=("a", "b"), round_robin=True)
    assert server.used == ["a", "b", "a"]


@pytest.mark.parametrize(
    "fault",
    [LIMITED, DOWN, answers(500, b""), answers(529, b""), answers(401, b""), answers(403, b""), answers(408, b"")],
    ids=["limited", "503", "500", "529", "401", "403", "408"],
)
def test_the_next_key_is_asked_while_a_limited_or_failing_one_rests(server: EmbeddingServer, fault: Fault) -> None:
    server.faults = {"first": fault}
    time = Time()
    rotating(server, thrice, time=time)
    assert (server.used, time.slept) == (["first", "second", "second", "second"], [])


def test_the_first_key_is_asked_again_when_it_has_rested(server: EmbeddingServer) -> None:
    time = Time()

    async def steps(embedder: RotatingEmbedder) -> None:
        server.faults = {"first": LIMITED}
        await embedder.embed_query("text")
        server.faults = {}
        time.now = 32.9  # 30 s, and up to a tenth more
        await embedder.embed_query("text")
        time.now = 33.0
        await embedder.embed_query("text")

    rotating(server, steps, time=time)
    assert server.used == ["first", "second", "second", "first"]


def test_documents_wait_as_long_as_the_service_asks_for(server: EmbeddingServer) -> None:
    time = Time()
    server.once = [LIMITED]
    rotating(server, lambda embedder: embedder.embed_documents(["text"]), keys=("only",), time=time)
    assert (server.used, time.slept) == (["only", "only"], [33.0])


def test_each_failure_in_a_row_doubles_the_wait(server: EmbeddingServer) -> None:
    time = Time()
    server.once = [DOWN] * 3
    rotating(server, lambda embedder: embedder.embed_documents(["text"]), keys=("only",), time=time)
    assert time.slept == [1.0, 2.0, 4.0]


def test_half_of_a_wait_is_random(server: EmbeddingServer) -> None:
    asked: list[tuple[float, float]] = []
    time = Time()

    def uniform(least: float, most: float) -> float:
        asked.append((least, most))
        return most / 2

    async def run() -> None:
        inner = HttpEmbedder.open(server.url, SMALL, timeout=A_MINUTE)
        embedder = RotatingEmbedder([inner], sleep=time.sleep, clock=time, uniform=uniform)
        await embedder.embed_documents(["text"])
        await embedder.close()

    server.once = [DOWN]
    asyncio.run(run())
    assert (asked, time.slept) == ([(0, 0.5)], [0.75])


def said_by(
    server: EmbeddingServer, work: Callable[[RotatingEmbedder], Coroutine[Any, Any, object]], time: Time
) -> str:
    with pytest.raises(ModelUnavailable) as failed:
        rotating(server, work, time=time)
    return str(failed.value)


def test_a_question_does_not_wait_for_a_limit_to_pass(server: EmbeddingServer) -> None:
    server.fault, time = LIMITED, Time()
    said = said_by(server, lambda embedder: embedder.embed_query("text"), time)
    assert said.endswith(
        "429: slow down; it asks to wait 30 s; none of 2 API keys gave an answer; not asked again for 33 s"
    )
    assert (server.used, sum(time.slept) <= QUESTION_WAIT) == (["first", "second"], True)


def test_keys_that_rest_are_not_asked(server: EmbeddingServer) -> None:
    async def twice(embedder: RotatingEmbedder) -> None:
        for _ in range(2):
            with pytest.raises(ModelUnavailable, match="not asked again for"):
                await embedder.embed_query("text")

    server.fault = LIMITED
    rotating(server, twice)
    assert server.used == ["first", "second"]


def test_documents_give_up_after_a_minute_of_waiting(server: EmbeddingServer) -> None:
    server.fault, time = DOWN, Time()
    said_by(server, lambda embedder: embedder.embed_documents(["text"]), time)
    assert (len(server.used), sum(time.slept) <= DOCUMENTS_WAIT) == (8, True)


@pytest.mark.parametrize("status", [400, 404, 422])
def test_an_error_that_every_key_would_get_is_raised_at_once(server: EmbeddingServer, status: int) -> None:
    server.fault, time = answers(status, {"error": {"message": "bad input"}}), Time()
    assert said_by(server, lambda embedder: embedder.embed_query("text"), time).endswith(f"{status}: bad input")
    assert server.used == ["first"]


def test_a_server_that_does_not_answer_in_time_is_an_outage(server: EmbeddingServer) -> None:
    server.faults = {"first": hangs}
    rotating(server, lambda embedder: embedder.embed_query("text"), timeout=0.05)
    assert server.used == ["first", "second"]


def test_a_server_that_is_not_there_is_an_outage(server: EmbeddingServer) -> None:
    server.stop()
    assert "cannot be reached" in said_by(server, lambda embedder: embedder.embed_query("text"), Time())


def test_no_key_is_in_the_message_of_a_rotation(server: EmbeddingServer) -> None:
    server.keys = ("another",)
    said = said_by(server, lambda embedder: embedder.embed_query("text"), Time())
    assert "first" not in said
    assert "second" not in said


def test_embedders_of_different_models_do_not_rotate() -> None:
    with pytest.raises(InvalidInput, match=r"^embedders: \['hash-2', 'hash-3'\]"):
        RotatingEmbedder([HashEmbedder(2), HashEmbedder(3)])


def test_closing_it_closes_the_embedder_of_each_key(server: EmbeddingServer) -> None:
    async def run() -> None:
        each = [HttpEmbedder.open(server.url, SMALL, timeout=A_MINUTE, key=key) for key in ("a", "b")]
        await RotatingEmbedder(each).close()
        for embedder in each:
            with pytest.raises(ModelUnavailable, match="closed"):
                await embedder.embed_query("text")

    asyncio.run(run())
