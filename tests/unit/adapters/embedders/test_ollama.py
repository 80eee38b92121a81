"""The embedder against a server that speaks Ollama's protocol over a real socket."""

from __future__ import annotations

import asyncio
import gc
import logging
import re
from collections.abc import Callable, Coroutine, Iterator, Sequence
from typing import Any, TypeVar

import httpx
import numpy as np
import pytest
from ollama_server import Answering, Fault, OllamaServer, answers, hangs, hangs_up, never_ends

from remembrancer.adapters.embedders.http import HttpEmbedder
from remembrancer.adapters.embedders.ollama_models import OllamaModel, model_named
from remembrancer.adapters.http_service import HttpService
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Embedded

T = TypeVar("T")

NOMIC = model_named("nomic-embed-text")
A_MINUTE = 60.0


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer() as running:
        yield running


def with_embedder(
    server: OllamaServer,
    work: Callable[[HttpEmbedder], Coroutine[Any, Any, T]],
    model: OllamaModel = NOMIC,
    *,
    url: str | None = None,
    timeout: float = A_MINUTE,
) -> T:
    async def run() -> T:
        embedder = HttpEmbedder.open(url or server.url, model, timeout=timeout)
        try:
            return await work(embedder)
        finally:
            await embedder.close()

    return asyncio.run(run())


def embedded(server: OllamaServer, texts: Sequence[str], model: OllamaModel = NOMIC) -> Embedded:
    return with_embedder(server, lambda embedder: embedder.embed_documents(texts), model)


def failure(server: OllamaServer, *, url: str | None = None, timeout: float = A_MINUTE) -> str:
    with pytest.raises(ModelUnavailable) as failed:
        with_embedder(server, lambda embedder: embedder.embed_query("text"), url=url, timeout=timeout)
    return str(failed.value)


# -- vectors --------------------------------------------------------------------------------------


def test_every_vector_is_float32_of_unit_length(server: OllamaServer) -> None:
    server.fault = answers(200, {"embeddings": [[3.0, 4.0] + [0.0] * 766]})
    vector = with_embedder(server, lambda embedder: embedder.embed_query("text"))
    assert vector.dtype == np.float32
    assert vector[:2].tolist() == pytest.approx([0.6, 0.8])


def test_vectors_come_back_in_the_order_of_the_texts(server: OllamaServer) -> None:
    texts = [f"text number {number}" for number in range(100)]
    expected = np.array(server.vectors(texts), np.float32)
    assert np.allclose(embedded(server, texts).vectors, expected, atol=1e-6)


def test_no_texts_give_no_vectors_and_no_call(server: OllamaServer) -> None:
    nothing = embedded(server, [])
    assert (nothing.vectors.shape, nothing.vectors.dtype, nothing.truncated.shape) == ((0, 768), np.float32, (0,))
    assert server.asked == []


def test_a_call_asks_for_the_model_and_forbids_to_cut(server: OllamaServer) -> None:
    embedded(server, ["text"])
    [asked] = server.asked
    assert (asked.path, asked.body["model"], asked.body["truncate"]) == ("/api/embed", "nomic-embed-text", False)


def test_a_document_and_a_question_get_the_prefix_of_their_task(server: OllamaServer) -> None:
    async def both(embedder: HttpEmbedder) -> None:
        await embedder.embed_documents(["the deploy failed"])
        await embedder.embed_query("what failed?")

    with_embedder(server, both)
    assert server.texts == [["search_document: the deploy failed"], ["search_query: what failed?"]]


def test_a_lone_surrogate_is_read_as_a_question_mark(server: OllamaServer) -> None:
    embedded(server, ["broken \ud83d text"])
    assert server.texts == [["search_document: broken ? text"]]


def test_a_call_holds_at_most_32_texts(server: OllamaServer) -> None:
    embedded(server, ["text"] * 70)
    assert [len(call) for call in server.texts] == [32, 32, 6]


def test_a_call_holds_at_most_8192_characters_unless_one_text_has_more(server: OllamaServer) -> None:
    embedded(server, ["x" * 5000, "y" * 3000, "z" * 500, "w" * 20_000])
    assert [[text[-1] for text in call] for call in server.texts] == [["x", "y"], ["z"], ["w"]]


def test_it_reads_any_script(server: OllamaServer) -> None:
    async def reads(embedder: HttpEmbedder) -> bool:
        return embedder.reads("部署失败")

    assert with_embedder(server, reads)


# -- what is longer than the model reads ----------------------------------------------------------

LONG = "word " * 500


def test_a_text_that_fits_is_not_truncated(server: OllamaServer) -> None:
    assert embedded(server, ["word " * 90]).truncated.tolist() == [False]


def test_a_text_that_does_not_fit_is_cut_by_ollama_and_marked(server: OllamaServer) -> None:
    assert embedded(server, [LONG]).truncated.tolist() == [True]
    assert [call.body["truncate"] for call in server.asked] == [False, True]


def test_only_the_long_texts_of_a_call_are_marked(server: OllamaServer) -> None:
    texts = ["one", LONG, "three", "four", LONG]
    result = embedded(server, texts)
    assert result.truncated.tolist() == [False, True, False, False, True]
    assert np.allclose(result.vectors, np.array(server.vectors(texts), np.float32), atol=1e-6)


def test_where_ollama_does_not_cut_the_beginning_is_embedded_all_the_same(server: OllamaServer) -> None:
    server.truncates = False
    assert embedded(server, [LONG]).truncated.tolist() == [True]
    beginning = server.texts[-1][0]
    assert LONG.startswith(beginning.removeprefix("search_document: "))
    assert 75 <= len(beginning.split()) <= 100


def test_a_question_that_does_not_fit_is_cut(server: OllamaServer) -> None:
    assert with_embedder(server, lambda embedder: embedder.embed_query(LONG)).shape == (768,)


@pytest.mark.parametrize(
    "refusal",
    [
        "input length exceeds maximum context length",
        "the input length exceeds the context length",
        '{"error":{"message":"request (2622 tokens) exceeds the available context size (512 tokens)"}}',
        "input (2622 tokens) is too large to process. increase the physical batch size (current batch size: 512)",
    ],
)
def test_every_refusal_of_a_long_text_is_known(server: OllamaServer, refusal: str) -> None:
    def refuse_unless_it_may_cut(call: Answering) -> None:
        if call.asked.body["truncate"]:
            call.embed()
        else:
            call.say(400, {"error": refusal})

    server.fault = refuse_unless_it_may_cut
    assert embedded(server, ["text"]).truncated.tolist() == [True]


def test_a_text_that_is_refused_however_short_is_a_failure(server: OllamaServer) -> None:
    server.fault = answers(400, {"error": "the input length exceeds the context length"})
    assert "too long" in failure(server)


# -- models ---------------------------------------------------------------------------------------


def test_the_model_id_names_the_model() -> None:
    assert model_named("nomic-embed-text").model_id == "ollama/nomic-embed-text"


def test_the_tag_latest_is_the_model_without_a_tag() -> None:
    assert model_named("nomic-embed-text:latest") == model_named("nomic-embed-text")


def test_a_tag_of_a_known_model_is_known() -> None:
    model = model_named("nomic-embed-text:v1.5")
    assert (model.model_id, model.dim, model.query_prefix) == ("ollama/nomic-embed-text:v1.5", 768, "search_query: ")


def test_an_unknown_model_gets_no_prefix() -> None:
    assert model_named("hf.co/owner/some-model:Q4_K_M") == OllamaModel(name="hf.co/owner/some-model:Q4_K_M")


@pytest.mark.parametrize("name", ["", " ", "two words", "-model", "a\nb", "x" * 151])
def test_an_invalid_model_name_is_refused(name: str) -> None:
    with pytest.raises(InvalidInput, match=r"^embedder: 'ollama:"):
        model_named(name)


def test_the_size_of_an_unknown_models_vectors_is_known_once_it_has_answered(server: OllamaServer) -> None:
    server.models = ("some-model",)

    async def sizes(embedder: HttpEmbedder) -> tuple[int | None, int | None]:
        before = embedder.dim
        await embedder.embed_query("text")
        return before, embedder.dim

    assert with_embedder(server, sizes, model_named("some-model")) == (None, 768)


def test_an_unknown_model_may_not_change_its_size(server: OllamaServer) -> None:
    server.models = ("some-model",)

    async def twice(embedder: HttpEmbedder) -> None:
        await embedder.embed_query("text")
        server.fault = answers(200, {"embeddings": [[1.0, 2.0]]})
        await embedder.embed_query("text")

    with pytest.raises(ModelUnavailable, match="2 dimensions where 768 are expected"):
        with_embedder(server, twice, model_named("some-model"))


# -- failures -------------------------------------------------------------------------------------


def test_a_missing_model_is_unavailable_with_advice(server: OllamaServer) -> None:
    server.models = ()
    assert failure(server) == (
        f"Ollama at {server.address}, model nomic-embed-text: does not have the model: ollama pull nomic-embed-text"
    )


def test_a_server_that_is_not_there_is_unavailable_by_host_and_port(server: OllamaServer) -> None:
    server.stop()
    message = failure(server)
    assert message.startswith(f"Ollama at {server.address}, model nomic-embed-text: cannot be reached (")
    assert "ollama serve" in message


def test_a_server_that_does_not_answer_in_time_is_unavailable(server: OllamaServer) -> None:
    server.fault = hangs
    assert "did not answer within 0.05 s, which embedder_timeout sets" in failure(server, timeout=0.05)


NAN = b'{"embeddings": [[' + b"NaN, " * 767 + b"1.0]]}"

WRONG: dict[str, tuple[Fault, str]] = {
    "an error of the server": (answers(500, {"error": "llama runner\nhas stopped"}), "500: llama runner has stopped"),
    "an error without words": (answers(503, b""), "answered 503"),
    "an error as an object": (answers(400, {"error": {"code": 7}}), 'answered 400: {"code": 7}'),
    "another program's 404": (answers(404, b"<html>no such page</html>"), "answered 404"),
    "a door that is shut": (answers(401, {"error": "unauthorized"}), "answered 401: unauthorized"),
    "a redirect": (answers(307, b"", {"Location": "http://elsewhere.invalid/"}), "redirects (307)"),
    "a cut connection": (hangs_up, "did not finish its answer (peer closed connection"),
    "no end": (never_ends, "more than 32 MiB"),
    "no JSON": (answers(200, b"<html>"), "without embeddings"),
    "JSON too deep": (answers(200, b"[" * 100_000), "without embeddings"),
    "not UTF-8": (answers(200, b'{"embeddings": "\xff"}'), "without embeddings"),
    "a list": (answers(200, b"[]"), "without embeddings"),
    "nothing": (answers(200, b""), "without embeddings"),
    "embeddings that are none": (answers(200, {"embeddings": "none"}), "without embeddings"),
    "too few": (answers(200, {"embeddings": []}), "0 vectors for 1 texts"),
    "too many": (answers(200, {"embeddings": [[1.0] * 768] * 2}), "2 vectors for 1 texts"),
    "too short": (answers(200, {"embeddings": [[1.0] * 767]}), "767 dimensions where 768 are expected"),
    "no components": (answers(200, {"embeddings": [[]]}), "not a vector"),
    "words": (answers(200, {"embeddings": [["1.0"] * 768]}), "not a vector"),
    "nulls": (answers(200, {"embeddings": [[None] * 768]}), "not a vector"),
    "yes and no": (answers(200, {"embeddings": [[True] * 768]}), "not a vector"),
    "numbers beyond all bounds": (answers(200, b'{"embeddings": [[' + b"1" * 400 + b"]]}"), "not a vector"),
    "a bare number": (answers(200, {"embeddings": [1.0]}), "not a vector"),
    "a vector of vectors": (answers(200, {"embeddings": [[[1.0]] * 768]}), "not a vector"),
    "not a number": (answers(200, NAN), "no direction"),
    "infinite": (answers(200, {"embeddings": [[1e308] * 768]}), "no direction"),
    "zero": (answers(200, {"embeddings": [[0.0] * 768]}), "no direction"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_an_answer_that_is_none_is_unavailable(server: OllamaServer, wrong: str) -> None:
    server.fault, said = WRONG[wrong]
    message = failure(server)
    assert message.startswith(f"Ollama at {server.address}, model nomic-embed-text: ")
    assert said in message


def test_vectors_of_different_lengths_are_unavailable(server: OllamaServer) -> None:
    server.fault = answers(200, {"embeddings": [[1.0] * 768, [1.0] * 767]})
    with pytest.raises(ModelUnavailable, match="different lengths"):
        embedded(server, ["one", "two"])


def test_a_redirect_is_not_followed(server: OllamaServer) -> None:
    with OllamaServer() as elsewhere:
        server.fault = answers(307, b"", {"Location": f"{elsewhere.url}/api/embed"})
        failure(server)
        assert elsewhere.asked == []


def test_a_long_error_message_of_the_server_is_cut(server: OllamaServer) -> None:
    server.fault = answers(500, {"error": "x" * 5000})
    assert failure(server).endswith("answered 500: " + "x" * 200)


def test_after_a_failure_the_next_call_is_answered(server: OllamaServer) -> None:
    async def again(embedder: HttpEmbedder) -> bool:
        server.fault = hangs_up
        with pytest.raises(ModelUnavailable):
            await embedder.embed_query("text")
        server.fault = None
        return (await embedder.embed_query("text")).shape == (768,)

    assert with_embedder(server, again)


def test_a_question_does_not_wait_for_documents(server: OllamaServer) -> None:
    def hangs_over_documents(call: Answering) -> None:
        if call.asked.body["input"][0].startswith("search_document"):
            hangs(call)
        else:
            call.embed()

    async def ask(embedder: HttpEmbedder) -> bool:
        server.fault = hangs_over_documents
        documents = asyncio.create_task(embedder.embed_documents(["text"]))
        await asyncio.to_thread(server.called.wait)
        answered = (await embedder.embed_query("text")).shape == (768,)
        documents.cancel()
        await asyncio.wait([documents])
        return answered

    assert with_embedder(server, ask)


def test_a_cancelled_call_is_cancelled_and_not_unavailable(server: OllamaServer) -> None:
    async def cancel(embedder: HttpEmbedder) -> bool:
        server.fault = hangs
        asking = asyncio.create_task(embedder.embed_query("text"))
        await asyncio.to_thread(server.called.wait)
        asking.cancel()
        await asyncio.wait([asking])
        return asking.cancelled()

    assert with_embedder(server, cancel)


def test_a_closed_embedder_is_unavailable(server: OllamaServer) -> None:
    async def scenario(embedder: HttpEmbedder) -> None:
        await embedder.embed_query("before")
        await embedder.close()
        await embedder.close()
        with pytest.raises(ModelUnavailable, match="closed"):
            await embedder.embed_query("after")

    with_embedder(server, scenario)


def test_closing_in_the_middle_of_a_call_leaves_no_traceback(server: OllamaServer) -> None:
    async def close(embedder: HttpEmbedder) -> None:
        server.fault = hangs
        asking = asyncio.create_task(embedder.embed_query("text"))
        await asyncio.to_thread(server.called.wait)
        await embedder.close()
        with pytest.raises(ModelUnavailable):
            await asyncio.wait_for(asking, A_MINUTE)

    with_embedder(server, close)
    gc.collect()  # an exception nobody took would surface here


def test_it_can_be_used_from_one_event_loop_after_another(server: OllamaServer) -> None:
    embedder = HttpEmbedder.open(server.url, NOMIC, timeout=A_MINUTE)
    shapes = [asyncio.run(embedder.embed_query(text)).shape for text in ("one", "two")]
    asyncio.run(embedder.close())
    assert shapes == [(768,), (768,)]


# -- the address ----------------------------------------------------------------------------------


def test_a_path_of_the_address_precedes_ollamas_own(server: OllamaServer) -> None:
    with_embedder(server, lambda embedder: embedder.embed_query("text"), url=f"{server.url}/models/")
    assert server.asked[0].path == "/models/api/embed"


def test_the_addresss_user_and_password_are_sent(server: OllamaServer) -> None:
    with_embedder(server, lambda embedder: embedder.embed_query("text"), url=f"http://ana:s3cret@{server.address}")
    assert server.asked[0].headers["Authorization"] == "Basic YW5hOnMzY3JldA=="


@pytest.mark.parametrize("fault", [answers(500, b""), hangs_up, answers(404, {"error": "model not found"})])
def test_a_password_is_in_no_message_and_no_log(
    server: OllamaServer, fault: Fault, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.fault = fault
    message = failure(server, url=f"http://ana:s3cret@{server.address}")
    assert f"Ollama at {server.address}," in message
    assert "s3cret" not in message + caplog.text


def test_no_proxy_of_the_environment_is_used(server: OllamaServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")
    assert embedded(server, ["text"]).vectors.shape == (1, 768)


@pytest.mark.parametrize(
    ("url", "shown"),
    [("http://gpu-box", "gpu-box:80"), ("https://gpu-box/x", "gpu-box:443"), ("http://[::1]:11434", "[::1]:11434")],
)
def test_a_message_names_host_and_port(url: str, shown: str) -> None:
    def refuse(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused")

    async def ask() -> None:
        client = httpx.AsyncClient(transport=httpx.MockTransport(refuse))
        http = HttpService(client, httpx.URL(url), who=NOMIC.who, model=NOMIC.name)
        embedder = HttpEmbedder(http, NOMIC, timeout=A_MINUTE)
        try:
            await embedder.embed_query("text")
        finally:
            await embedder.close()

    with pytest.raises(ModelUnavailable, match=re.escape(f"Ollama at {shown}, ")):
        asyncio.run(ask())


def test_an_address_that_cannot_be_called_is_unavailable() -> None:
    with pytest.raises(ModelUnavailable, match="is not an http"):
        HttpEmbedder.open("http://xn--\u2603/", NOMIC, timeout=A_MINUTE)
