"""The reranker against a server that speaks the services' protocols over a real socket."""

from __future__ import annotations

import asyncio
import gc
import logging
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
import pytest
from rerank_server import Fault, RerankServer, answers, hangs, hangs_up, never_ends, shared_words

from remembrancer.adapters.rerankers.http import HttpReranker
from remembrancer.adapters.rerankers.services import RerankDialect, RerankService, ScoreScale
from remembrancer.errors import InvalidInput, ModelUnavailable

T = TypeVar("T")

COHERE = RerankService(model="rerank-v3.5")
TEI = RerankService(model="bge-reranker-base", dialect="tei")
A_MINUTE = 60.0
QUESTION = "who restarted the payment worker"
TEXTS = ("lunch was late", "ana restarted the payment worker", "the worker is slow", "")
EXPECTED = [0.0, 0.8, 0.4, 0.0]


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


def with_reranker(
    server: RerankServer,
    work: Callable[[HttpReranker], Coroutine[Any, Any, T]],
    service: RerankService = COHERE,
    *,
    url: str | None = None,
    timeout: float = A_MINUTE,
    api_key: str | None = None,
) -> T:
    async def run() -> T:
        reranker = HttpReranker.open(url or server.url, service, timeout=timeout, api_key=api_key)
        try:
            return await work(reranker)
        finally:
            await reranker.close()

    return asyncio.run(run())


def scores(server: RerankServer, texts: Sequence[str] = TEXTS, service: RerankService = COHERE) -> list[float]:
    return with_reranker(server, lambda reranker: reranker.scores(QUESTION, texts), service).tolist()


def failure(
    server: RerankServer, service: RerankService = COHERE, *, timeout: float = A_MINUTE, api_key: str | None = None
) -> str:
    with pytest.raises(ModelUnavailable) as failed:
        with_reranker(
            server, lambda reranker: reranker.scores(QUESTION, ["text"]), service, timeout=timeout, api_key=api_key
        )
    return str(failed.value)


# -- scores ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("service", [COHERE, TEI], ids=["cohere", "tei"])
def test_scores_come_back_in_the_order_of_the_texts(server: RerankServer, service: RerankService) -> None:
    assert scores(server, service=service) == pytest.approx(EXPECTED)


@pytest.mark.parametrize("service", [COHERE, TEI], ids=["cohere", "tei"])
def test_many_texts_are_several_calls_and_one_answer(server: RerankServer, service: RerankService) -> None:
    texts = [f"{TEXTS[number % 4]} {number}" for number in range(250)]
    found = scores(server, texts, service)
    assert found == pytest.approx([shared_words(QUESTION, text) for text in texts])
    assert len(server.asked) == (3 if service is COHERE else 8)


def test_scores_are_float32(server: RerankServer) -> None:
    assert with_reranker(server, lambda reranker: reranker.scores(QUESTION, TEXTS)).dtype == np.float32


def test_no_texts_give_no_scores_and_no_call(server: RerankServer) -> None:
    found = with_reranker(server, lambda reranker: reranker.scores(QUESTION, []))
    assert (found.shape, found.dtype, server.asked) == ((0,), np.float32, [])


def test_a_call_in_coheres_shape_asks_for_every_text_back(server: RerankServer) -> None:
    scores(server, ["one", "two"])
    [asked] = server.asked
    assert asked.path == "/v2/rerank"
    assert asked.body == {"model": "rerank-v3.5", "query": QUESTION, "documents": ["one", "two"], "top_n": 2}


def test_a_call_in_the_shape_of_text_embeddings_inference_requests_truncation(server: RerankServer) -> None:
    scores(server, ["one", "two"], TEI)
    [asked] = server.asked
    assert asked.body == {"query": QUESTION, "texts": ["one", "two"], "truncate": True, "raw_scores": False}


def test_a_request_holds_at_most_the_configured_number_of_texts(server: RerankServer) -> None:
    scores(server, ["text"] * 5, RerankService(model="m", texts_a_call=2))
    assert [len(asked.body["documents"]) for asked in server.asked] == [2, 2, 1]


@pytest.mark.parametrize("dialect", ["cohere", "tei"])
def test_log_odds_become_probabilities(server: RerankServer, dialect: RerankDialect) -> None:
    server.logits = True
    found = scores(server, service=RerankService(model="m", dialect=dialect, scale="logit"))
    assert found == pytest.approx([(share + 0.01) / 1.02 for share in EXPECTED], abs=1e-3)


def test_cosines_become_fractions(server: RerankServer) -> None:
    server.fault = answers(200, {"results": [{"index": 0, "relevance_score": -0.5}]})
    assert scores(server, ["text"], RerankService(model="m", scale="cosine")) == [0.25]


def test_a_score_that_rounding_put_beyond_one_is_one(server: RerankServer) -> None:
    server.fault = answers(200, {"results": [{"index": 0, "relevance_score": 1.0000002}]})
    assert scores(server, ["text"]) == [1.0]


def test_whole_numbers_are_scores(server: RerankServer) -> None:
    server.fault = answers(200, {"results": [{"index": 1, "relevance_score": 1}, {"index": 0, "relevance_score": 0}]})
    assert scores(server, ["one", "two"]) == [0.0, 1.0]


def test_a_lone_surrogate_is_read_as_a_question_mark(server: RerankServer) -> None:
    scores(server, ["broken \ud83d text"])
    assert server.asked[0].body["documents"] == ["broken ? text"]


def test_the_model_id_names_the_model() -> None:
    assert COHERE.model_id == "rerank/rerank-v3.5"


# -- arguments ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("argument", "made"),
    [
        ("model", lambda: RerankService(model=" ")),
        ("dialect", lambda: RerankService(model="m", dialect="grpc")),  # pyright: ignore[reportArgumentType]
        ("scale", lambda: RerankService(model="m", scale="percent")),  # pyright: ignore[reportArgumentType]
        ("texts_a_call", lambda: RerankService(model="m", texts_a_call=0)),
        ("timeout", lambda: HttpReranker.open("http://localhost", COHERE, timeout=0)),
        ("api_key", lambda: HttpReranker.open("http://localhost", COHERE, timeout=1, api_key="two words")),
    ],
)
def test_an_argument_out_of_range_is_refused(argument: str, made: Callable[[], object]) -> None:
    with pytest.raises(InvalidInput, match=rf"^{argument}: "):
        made()


@pytest.mark.parametrize("url", ["ftp://host/rerank", "rerank", "http://", "http://a:b:c", "http://host:port/"])
def test_an_address_that_is_none_is_unavailable(url: str) -> None:
    with pytest.raises(ModelUnavailable, match="the reranker's address is not an http"):
        HttpReranker.open(url, COHERE, timeout=1)


def test_a_password_in_an_address_that_is_none_is_not_shown() -> None:
    with pytest.raises(ModelUnavailable) as failed:
        HttpReranker.open("http://ana:s3cret/x@host", COHERE, timeout=1)
    assert "s3cret" not in str(failed.value)
    assert failed.value.__cause__ is None


# -- the key --------------------------------------------------------------------------------------

KEY = "sk-verysecret"


def test_the_key_is_sent_as_a_bearer_token(server: RerankServer) -> None:
    server.api_key = KEY
    found = with_reranker(server, lambda reranker: reranker.scores(QUESTION, TEXTS), api_key=f"{KEY}\n")
    assert found.tolist() == pytest.approx(EXPECTED)


def test_without_a_key_none_is_sent(server: RerankServer) -> None:
    scores(server)
    assert "Authorization" not in server.asked[0].headers


def test_the_addresss_user_and_password_are_sent(server: RerankServer) -> None:
    url = f"http://ana:s3cret@{server.address}/rerank"
    with_reranker(server, lambda reranker: reranker.scores(QUESTION, TEXTS), url=url)
    assert server.asked[0].headers["Authorization"] == "Basic YW5hOnMzY3JldA=="


def test_a_refused_key_is_unavailable_with_advice(server: RerankServer) -> None:
    server.api_key = "another"
    assert failure(server, api_key=KEY).endswith("answered 401: invalid api token: Bearer ***; is the API key right?")


@pytest.mark.parametrize("fault", [None, answers(500, {"message": f"bad key {KEY}"}), hangs_up])
def test_the_key_is_in_no_message_and_no_log(
    server: RerankServer, fault: Fault | None, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.api_key, server.fault = "another", fault
    message = failure(server, api_key=KEY)
    assert f"the reranker at {server.address}," in message
    assert KEY not in message + caplog.text


# -- what asks to wait ----------------------------------------------------------------------------

AT_ONCE: Fault = answers(429, {"message": "slow down"}, {"Retry-After": "0"})
IN_AN_HOUR: Fault = answers(429, {"message": "slow down"}, {"Retry-After": "3600"})


@pytest.mark.parametrize("status", [429, 503])
def test_a_service_that_asks_to_be_called_again_at_once_is(server: RerankServer, status: int) -> None:
    server.faults = [answers(status, b"", {"Retry-After": "0"})] * 2
    assert scores(server) == pytest.approx(EXPECTED)
    assert len(server.asked) == 3


def test_a_service_is_called_three_times_at_most(server: RerankServer) -> None:
    server.fault = AT_ONCE
    assert failure(server).endswith("answered 429: slow down; it asks to wait 0 s")
    assert len(server.asked) == 3


def test_a_wait_beyond_the_time_there_is_is_not_begun(server: RerankServer) -> None:
    server.fault = IN_AN_HOUR
    assert failure(server).endswith("answered 429: slow down; it asks to wait 3,600 s")
    assert len(server.asked) == 1


@pytest.mark.parametrize("later", ["Wed, 21 Oct 2099 07:28:00 GMT", "-1", "soon", "²"])
def test_a_wait_that_is_too_long_or_unclear_is_not_begun(server: RerankServer, later: str) -> None:
    server.fault = answers(429, b"", {"Retry-After": later.encode().decode("latin-1")})
    failure(server)
    assert len(server.asked) == 1


def test_a_fault_without_retry_after_is_not_tried_again(server: RerankServer) -> None:
    server.fault = answers(429, {"error": "Model is overloaded", "error_type": "overloaded"})
    assert failure(server).endswith("answered 429: Model is overloaded")
    assert len(server.asked) == 1


# -- failures -------------------------------------------------------------------------------------


def result(index: object, score: object) -> Fault:
    return answers(200, {"results": [{"index": index, "relevance_score": score}]})


WRONG: dict[str, tuple[Fault, str]] = {
    "an error of the server": (answers(500, {"error": "worker\nhas stopped"}), "answered 500: worker has stopped"),
    "an error in another's words": (answers(422, {"detail": [{"msg": "too long"}]}), 'answered 422: [{"msg": "too lo'),
    "an error in an object": (answers(400, {"error": {"message": "no such model"}}), "answered 400: no such model"),
    "an error without words": (answers(502, b""), "answered 502"),
    "a page": (answers(404, b"<html>no such page</html>"), "answered 404"),
    "a redirect": (answers(307, b"", {"Location": "http://elsewhere.invalid/"}), "redirects (307)"),
    "a cut connection": (hangs_up, "did not finish its answer (peer closed connection"),
    "no end": (never_ends, "more than 32 MiB"),
    "no JSON": (answers(200, b"<html>"), "not JSON"),
    "half of it": (answers(200, b'{"results": [{"index": 0, "relev'), "not JSON"),
    "JSON too deep": (answers(200, b"[" * 100_000), "not JSON"),
    "not UTF-8": (answers(200, b'{"results": "\xff"}'), "not JSON"),
    "nothing": (answers(200, b""), "not JSON"),
    "a list where an object belongs": (answers(200, [{"index": 0, "relevance_score": 0.5}]), "without results"),
    "no results": (answers(200, {"data": []}), "without results"),
    "results that are none": (answers(200, {"results": "none"}), "without results"),
    "too few": (answers(200, {"results": []}), "0 scores for 1 texts"),
    "too many": (answers(200, {"results": [{"index": 0, "relevance_score": 0.5}] * 2}), "2 scores for 1 texts"),
    "bare numbers": (answers(200, {"results": [0.5]}), "not a score"),
    "no index": (answers(200, {"results": [{"relevance_score": 0.5}]}), "the index None for 1 texts"),
    "an index beyond the texts": (result(1, 0.5), "the index 1 for 1 texts"),
    "an index before the texts": (result(-1, 0.5), "the index -1 for 1 texts"),
    "an index in words": (result("0", 0.5), "the index '0' for 1 texts"),
    "an index that is yes": (result(False, 0.5), "the index False for 1 texts"),
    "an index with a fraction": (result(0.0, 0.5), "the index 0.0 for 1 texts"),
    "no score": (answers(200, {"results": [{"index": 0, "score": 0.5}]}), "the relevance_score None"),
    "a score in words": (result(0, "0.5"), "the relevance_score '0.5'"),
    "a score that is yes": (result(0, True), "the relevance_score True"),
    "not a number": (answers(200, b'{"results": [{"index": 0, "relevance_score": NaN}]}'), "the relevance_score nan"),
    "infinite": (answers(200, b'{"results": [{"index": 0, "relevance_score": 1e999}]}'), "the relevance_score inf"),
    "beyond all bounds": (
        answers(200, b'{"results": [{"index": 0, "relevance_score": 1' + b"0" * 400 + b"}]}"),
        "_score 1000",
    ),
    "more than certain": (result(0, 7.5), "the score 7.5, which is no probability (in [0, 1])"),
    "less than none": (result(0, -0.25), "the score -0.25, which is no probability (in [0, 1])"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_that_is_none_is_unavailable(server: RerankServer, wrong: str) -> None:
    server.fault, said = WRONG[wrong]
    message = failure(server)
    assert message.startswith(f"the reranker at {server.address}, model rerank-v3.5: ")
    assert said in message


WRONG_IN_TEI: dict[str, tuple[object, str]] = {
    "an object": ({"results": [{"index": 0, "relevance_score": 0.5}]}, "without a list"),
    "no score": ([{"index": 0, "relevance_score": 0.5}], "the score None"),
    "too many": ([{"index": 0, "score": 0.5}] * 2, "2 scores for 1 texts"),
}


@pytest.mark.parametrize("wrong", WRONG_IN_TEI)
def test_an_answer_that_is_none_in_the_other_shape_is_unavailable(server: RerankServer, wrong: str) -> None:
    body, said = WRONG_IN_TEI[wrong]
    server.fault = answers(200, body)
    assert said in failure(server, TEI)


def test_an_index_that_comes_twice_is_unavailable(server: RerankServer) -> None:
    server.fault = answers(200, {"results": [{"index": 0, "relevance_score": 0.5}] * 2})
    with pytest.raises(ModelUnavailable, match="twice for the index 0"):
        scores(server, ["one", "two"])


@pytest.mark.parametrize(("scale", "score"), [("cosine", -1.5), ("cosine", 1.5)])
def test_a_score_outside_its_scale_is_unavailable(server: RerankServer, scale: ScoreScale, score: float) -> None:
    server.fault = result(0, score)
    assert "no cosine (in [-1, 1])" in failure(server, RerankService(model="m", scale=scale))


def test_one_bad_call_of_several_gives_no_score_at_all(server: RerankServer) -> None:
    server.faults = [result(0, 0.5), answers(500, b"")]
    with pytest.raises(ModelUnavailable, match="answered 500"):
        scores(server, ["one", "two"], RerankService(model="m", texts_a_call=1))


def test_a_server_that_is_not_there_is_unavailable_by_host_and_port(server: RerankServer) -> None:
    server.stop()
    assert failure(server).startswith(f"the reranker at {server.address}, model rerank-v3.5: cannot be reached (")


def test_a_server_that_does_not_answer_in_time_is_unavailable(server: RerankServer) -> None:
    server.fault = hangs
    assert failure(server, timeout=0.05).endswith("did not answer within 0.05 s, which reranker_timeout sets")


def test_a_redirect_is_not_followed(server: RerankServer) -> None:
    with RerankServer() as elsewhere:
        server.fault = answers(307, b"", {"Location": elsewhere.url})
        failure(server, api_key=KEY)
        assert elsewhere.asked == []


def test_a_long_error_message_of_the_server_is_cut(server: RerankServer) -> None:
    server.fault = answers(500, {"error": "x" * 5000})
    assert failure(server).endswith("answered 500: " + "x" * 200)


def test_no_proxy_of_the_environment_is_used(server: RerankServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert scores(server) == pytest.approx(EXPECTED)


def test_after_a_failure_the_next_call_is_answered(server: RerankServer) -> None:
    async def again(reranker: HttpReranker) -> list[float]:
        server.faults = [hangs_up]
        with pytest.raises(ModelUnavailable):
            await reranker.scores(QUESTION, TEXTS)
        return (await reranker.scores(QUESTION, TEXTS)).tolist()

    assert with_reranker(server, again) == pytest.approx(EXPECTED)


def test_a_cancelled_call_is_cancelled_and_not_unavailable(server: RerankServer) -> None:
    async def cancel(reranker: HttpReranker) -> bool:
        server.fault = hangs
        asking = asyncio.create_task(reranker.scores(QUESTION, TEXTS))
        await asyncio.to_thread(server.called.wait)
        asking.cancel()
        await asyncio.wait([asking])
        return asking.cancelled()

    assert with_reranker(server, cancel)


def test_a_closed_reranker_is_unavailable(server: RerankServer) -> None:
    async def scenario(reranker: HttpReranker) -> None:
        await reranker.scores(QUESTION, TEXTS)
        await reranker.close()
        await reranker.close()
        with pytest.raises(ModelUnavailable, match="closed"):
            await reranker.scores(QUESTION, TEXTS)

    with_reranker(server, scenario)


def test_closing_in_the_middle_of_a_call_leaves_no_traceback(server: RerankServer) -> None:
    async def close(reranker: HttpReranker) -> None:
        server.fault = hangs
        asking = asyncio.create_task(reranker.scores(QUESTION, TEXTS))
        await asyncio.to_thread(server.called.wait)
        await reranker.close()
        with pytest.raises(ModelUnavailable):
            await asyncio.wait_for(asking, A_MINUTE)

    with_reranker(server, close)
    gc.collect()  # an exception nobody took would surface here


def test_it_can_be_used_from_one_event_loop_after_another(server: RerankServer) -> None:
    reranker = HttpReranker.open(server.url, COHERE, timeout=A_MINUTE)
    found = [asyncio.run(reranker.scores(QUESTION, TEXTS)).tolist() for _ in range(2)]
    asyncio.run(reranker.close())
    assert found[0] == found[1] == pytest.approx(EXPECTED)
