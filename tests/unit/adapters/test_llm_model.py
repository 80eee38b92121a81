"""The language model against a server that speaks the providers' protocols over a real socket."""

from __future__ import annotations

import asyncio
import gc
import logging
import traceback
from collections.abc import Callable, Coroutine, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import replace
from typing import Any, Final, TypeVar, get_args

import pytest
from llm_server import (
    INPUT_TOKENS,
    OUTPUT_TOKENS,
    LlmServer,
    cut_off,
    declines,
    fails,
    hangs,
    hangs_up,
    never_ends,
    says,
    unmeasured,
    writes,
)

from remembrancer.adapters.llm import model as module
from remembrancer.adapters.llm.model import PydanticAiModel
from remembrancer.adapters.llm.service import LlmService, Prices, Provider
from remembrancer.adapters.llm.tries import LONGEST_WAIT, RETRY_WAITS
from remembrancer.errors import ModelUnavailable
from remembrancer.ports.language_model import Answer, JsonObject, ModelUsage, NoAnswer, Task

T = TypeVar("T")

KEY: Final = "s3cret-key"
A_MINUTE: Final = 60.0
SCHEMA: Final[JsonObject] = {
    "type": "object",
    "properties": {"title": {"type": "string"}, "days": {"type": "integer", "minimum": 1}},
    "required": ["title", "days"],
    "additionalProperties": False,
}
GOOD: Final = {"title": "Deploy", "days": 2}

PROVIDERS: Final[tuple[Provider, ...]] = get_args(Provider)
each_provider = pytest.mark.parametrize("provider", PROVIDERS)


@pytest.fixture
def server() -> Iterator[LlmServer]:
    with LlmServer(always=GOOD) as running:
        yield running


def a_task(check: Callable[[JsonObject], str] = lambda _: "", *, material: str = "the deploy failed") -> Task:
    return Task(purpose="title", instructions="Name it.", material=material, schema=SCHEMA, check=check, max_tokens=500)


def a_service(server: LlmServer, provider: Provider = "openai", **changes: Any) -> LlmService:
    model = "gemini-2.5-flash" if provider == "gemini" else "m"
    service = LlmService(provider=provider, model=model, url=server.url(provider), key=KEY, timeout=A_MINUTE)
    return replace(service, **changes)


class Waits(list[float]):
    """Records the waits without waiting."""

    async def __call__(self, seconds: float) -> None:
        self.append(seconds)


async def using(
    service: LlmService, work: Callable[[PydanticAiModel], Coroutine[Any, Any, T]], *, waits: Waits | None = None
) -> T:
    model = PydanticAiModel.open(service, sleep=Waits() if waits is None else waits)
    try:
        return await work(model)
    finally:
        await model.close()


def with_model(
    service: LlmService, work: Callable[[PydanticAiModel], Coroutine[Any, Any, T]], *, waits: Waits | None = None
) -> T:
    return asyncio.run(using(service, work, waits=waits))


def answered(service: LlmService, task: Task | None = None, *, waits: Waits | None = None) -> Answer:
    return with_model(service, lambda model: model.answer(task or a_task()), waits=waits)


def failure(service: LlmService, *, waits: Waits | None = None) -> NoAnswer:
    with pytest.raises(NoAnswer) as failed:
        answered(service, waits=waits)
    return failed.value


def used(requests: int, *, answers: int | None = None) -> ModelUsage:
    """The usage of that many requests, of which `answers` were answered; None: all of them."""
    count = requests if answers is None else answers
    return ModelUsage(
        requests=requests,
        input_tokens=count * INPUT_TOKENS,
        output_tokens=count * OUTPUT_TOKENS,
        cost=None if count else 0.0,
    )


# -- an answer ------------------------------------------------------------------------------------


@each_provider
def test_an_answer_of_the_schema_is_the_answer(server: LlmServer, provider: Provider) -> None:
    assert answered(a_service(server, provider)) == Answer(value=GOOD, usage=used(1))


@each_provider
def test_a_model_is_named_by_provider_and_name(server: LlmServer, provider: Provider) -> None:
    async def name(model: PydanticAiModel) -> str:
        return model.model_id

    assert with_model(a_service(server, provider, model="some-model"), name) == f"{provider}:some-model"


@each_provider
def test_the_key_is_sent_in_the_header_of_the_provider(server: LlmServer, provider: Provider) -> None:
    server.api_key = KEY
    assert answered(a_service(server, provider)).value == GOOD


@each_provider
def test_without_a_key_none_is_sent(server: LlmServer, provider: Provider) -> None:
    answered(a_service(server, provider, key=""))
    names = {name.lower() for name in server.asked[0].headers}
    assert names & {"authorization", "x-api-key", "x-goog-api-key"} == set()


def test_environment_variables_of_the_providers_packages_are_ignored(
    server: LlmServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, "org-elsewhere")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1")
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    answered(a_service(server))
    assert "org-elsewhere" not in server.asked[0].headers.values()


def test_a_user_and_password_of_the_address_are_sent_where_there_is_no_key(server: LlmServer) -> None:
    answered(a_service(server, url=f"http://ana:s3cret@{server.address}/v1", key=""))
    assert server.asked[0].headers["Authorization"] == "Basic YW5hOnMzY3JldA=="


@each_provider
def test_instructions_and_material_are_both_sent(server: LlmServer, provider: Provider) -> None:
    answered(a_service(server, provider))
    assert "Name it." in server.asked[0].said
    assert "the deploy failed" in server.asked[0].said


@pytest.mark.parametrize(
    ("provider", "path"),
    [
        ("openai", "/v1/chat/completions"),
        ("anthropic", "/v1/messages"),
        ("gemini", "/v1beta/models/gemini-2.5-flash:generateContent"),
        ("ollama", "/v1/chat/completions"),
    ],
)
def test_each_protocol_is_spoken_at_its_own_path(server: LlmServer, provider: Provider, path: str) -> None:
    answered(a_service(server, provider))
    assert server.asked[0].path == path


def test_the_answer_is_limited_to_the_tokens_of_the_task_in_each_protocols_word(server: LlmServer) -> None:
    for provider in get_args(Provider):
        answered(a_service(server, provider))
    openai, anthropic, gemini, ollama = [asked.body for asked in server.asked]
    assert (openai["max_completion_tokens"], anthropic["max_tokens"], ollama["max_tokens"]) == (500, 500, 500)
    assert gemini["generationConfig"]["maxOutputTokens"] == 500


def test_ollama_is_given_the_schema_to_write_by(server: LlmServer) -> None:
    answered(a_service(server, "ollama"))
    asked = server.asked[0].body
    assert asked["response_format"]["json_schema"]["schema"]["required"] == ["title", "days"]
    assert "tools" not in asked


@pytest.mark.parametrize("provider", ["openai", "anthropic", "gemini"])
def test_others_are_given_the_schema_as_a_tool_that_must_be_called(server: LlmServer, provider: Provider) -> None:
    answered(a_service(server, provider))
    assert server.asked[0].tool
    assert '"minimum": 1' in server.asked[0].said


def test_a_text_with_half_a_character_is_sent_all_the_same(server: LlmServer) -> None:
    answered(a_service(server), a_task(material="caf\ud83d"))
    assert "caf?" in server.asked[0].said


def test_many_tasks_at_a_time_each_get_their_own_usage(server: LlmServer) -> None:
    async def many(model: PydanticAiModel) -> Sequence[Answer]:
        return await asyncio.gather(*(model.answer(a_task()) for _ in range(5)))

    assert [answer.usage.requests for answer in with_model(a_service(server), many)] == [1] * 5


# -- answers that will not do ---------------------------------------------------------------------


@each_provider
def test_a_wrong_shape_is_reported_and_asked_again(server: LlmServer, provider: Provider) -> None:
    server.answers = [{"title": "Deploy", "days": 0}]
    assert answered(a_service(server, provider)) == Answer(value=GOOD, usage=used(2))
    assert "$.days does not meet" in server.asked[1].said


@each_provider
def test_an_answer_that_fails_the_check_is_reported_and_asked_again(server: LlmServer, provider: Provider) -> None:
    server.answers = [{"title": "", "days": 1}]
    task = a_task(lambda value: "" if value["title"] else "the title says nothing")
    assert answered(a_service(server, provider), task) == Answer(value=GOOD, usage=used(2))
    assert "the title says nothing" in server.asked[1].said


@each_provider
def test_an_answer_that_never_passes_the_check_is_none_after_three(server: LlmServer, provider: Provider) -> None:
    answer = answered(a_service(server, provider), a_task(lambda _: "too dull"))
    assert answer == Answer(value=None, usage=used(3), problem="too dull")
    assert len(server.asked) == 3


@each_provider
def test_words_instead_of_an_object_are_asked_again(server: LlmServer, provider: Provider) -> None:
    server.answers = [writes("It is about a deploy.")]
    assert answered(a_service(server, provider)) == Answer(value=GOOD, usage=used(2))


@each_provider
def test_words_and_never_an_object_are_no_answer(server: LlmServer, provider: Provider) -> None:
    server.always = writes("It is about a deploy.")
    answer = answered(a_service(server, provider))
    assert answer == Answer(value=None, usage=used(3), problem="the answer contains no JSON object")


@pytest.mark.parametrize("provider", ["openai", "ollama"])
def test_half_an_object_is_asked_again(server: LlmServer, provider: Provider) -> None:
    server.answers = [writes('{"title": "Depl')]
    assert answered(a_service(server, provider)).value == GOOD


def test_the_problem_is_that_of_the_last_answer(server: LlmServer) -> None:
    server.answers = [{"title": "", "days": 1}, {"title": "", "days": 1}]
    server.always = {"title": 3, "days": 1}
    answer = answered(a_service(server), a_task(lambda _: "too dull"))
    assert answer.problem == '$.title does not meet "type": "string"'


def test_wrong_shapes_and_words_together_are_no_more_than_three_answers(server: LlmServer) -> None:
    server.answers = [{"title": "", "days": 0}, writes("no"), {"title": "", "days": 0}]
    assert answered(a_service(server)).value is None
    assert len(server.asked) == 3


@each_provider
@pytest.mark.parametrize("value", [{"title": "Dep"}, GOOD], ids=["half", "whole"])
def test_an_answer_that_was_cut_off_is_none_however_whole_it_looks(
    server: LlmServer, provider: Provider, value: dict[str, Any]
) -> None:
    server.always = cut_off(value)
    answer = answered(a_service(server, provider))
    assert answer == Answer(value=None, usage=used(1), problem="the answer was cut off after 30 tokens")


@each_provider
def test_a_model_that_declines_is_not_asked_again(server: LlmServer, provider: Provider) -> None:
    server.answers = [declines]
    answer = answered(a_service(server, provider))
    assert (answer.value, answer.usage) == (None, used(1))
    assert "refused" in answer.problem


# -- failures that pass ---------------------------------------------------------------------------


@each_provider
def test_too_many_requests_are_retried_after_the_providers_wait(server: LlmServer, provider: Provider) -> None:
    server.answers = [fails(429, "slow down", {"Retry-After": "7"})]
    waits = Waits()
    assert answered(a_service(server, provider), waits=waits) == Answer(value=GOOD, usage=used(2, answers=1))
    assert waits == [7.0]


@each_provider
def test_always_too_many_requests_end_in_a_failure(server: LlmServer, provider: Provider) -> None:
    server.always = fails(429, "slow down", {"Retry-After": "7"})
    waits = Waits()
    error = failure(a_service(server, provider), waits=waits)
    assert "answered 429: slow down, after 4 tries" in str(error)
    assert (waits, error.usage) == ([7.0, 7.0, 7.0], used(4, answers=0))


def test_the_longest_wait_is_waited_for(server: LlmServer) -> None:
    server.answers = [fails(429, headers={"Retry-After": f"{LONGEST_WAIT:.0f}"})]
    waits = Waits()
    answered(a_service(server), waits=waits)
    assert waits == [LONGEST_WAIT]


@pytest.mark.parametrize("later", ["61", "86400", "Wed, 21 Oct 2099 07:28:00 GMT"])
def test_a_longer_wait_is_left_for_another_time(server: LlmServer, later: str) -> None:
    server.answers = [fails(429, "slow down", {"Retry-After": later})]
    waits = Waits()
    assert "answered 429: slow down; it asks to be called again in " in str(failure(a_service(server), waits=waits))
    assert (waits, len(server.asked)) == ([], 1)


@each_provider
@pytest.mark.parametrize("status", [500, 502, 503, 529])
def test_a_failing_server_is_tried_again_after_longer_and_longer_waits(
    server: LlmServer, provider: Provider, status: int
) -> None:
    server.answers = [fails(status), fails(status)]
    waits = Waits()
    assert answered(a_service(server, provider), waits=waits).value == GOOD
    assert waits == [1.0, 2.0]


@each_provider
def test_a_server_that_always_fails_is_given_up(server: LlmServer, provider: Provider) -> None:
    server.always = fails(500, "out of order")
    waits = Waits()
    error = failure(a_service(server, provider), waits=waits)
    assert str(error).startswith(f"the language model {a_service(server, provider).model_id} at {server.address}: ")
    assert str(error).endswith("answered 500: out of order, after 4 tries")
    assert tuple(waits) == RETRY_WAITS


def test_a_slow_answer_is_given_up_and_tried_again() -> None:
    """Runs all providers at the same time, since each takes as long as the time limit."""

    async def one(server: LlmServer, provider: Provider) -> tuple[ModelUsage, Waits]:
        server.answers = [hangs]
        waits = Waits()
        service = a_service(server, provider, timeout=2.0)
        return (await using(service, lambda model: model.answer(a_task()), waits=waits)).usage, waits

    async def each(servers: ExitStack) -> dict[str, tuple[ModelUsage, Waits]]:
        running = [servers.enter_context(LlmServer(always=GOOD)) for _ in PROVIDERS]
        return dict(zip(PROVIDERS, await asyncio.gather(*map(one, running, PROVIDERS)), strict=True))

    with ExitStack() as servers:
        assert asyncio.run(each(servers)) == dict.fromkeys(PROVIDERS, (used(2, answers=1), [1.0]))


def test_an_answer_that_never_comes_is_a_failure(server: LlmServer) -> None:
    server.always = hangs
    error = failure(a_service(server, timeout=0.05))
    assert str(error).endswith("did not answer within 0.05 s, after 4 tries")


@each_provider
def test_a_connection_cut_half_way_is_tried_again(server: LlmServer, provider: Provider) -> None:
    server.answers = [hangs_up]
    assert answered(a_service(server, provider)) == Answer(value=GOOD, usage=used(2, answers=1))


def test_a_connection_that_is_always_cut_is_a_failure(server: LlmServer) -> None:
    server.always = hangs_up
    assert "did not finish its answer (" in str(failure(a_service(server)))


@each_provider
def test_a_host_that_is_not_there_is_a_failure(server: LlmServer, provider: Provider) -> None:
    service = a_service(server, provider)
    server.stop()
    assert "cannot be reached (" in str(failure(service))


def test_an_answer_without_end_is_not_read_to_it(server: LlmServer) -> None:
    server.answers = [never_ends]
    assert answered(a_service(server)).usage == used(2, answers=1)


def test_the_tries_of_a_task_are_not_counted_again_for_each_answer(server: LlmServer) -> None:
    server.answers = [fails(500), {"title": 1, "days": 1}, fails(500), {"title": 1, "days": 1}, fails(500), fails(500)]
    waits = Waits()
    assert failure(a_service(server), waits=waits).usage == used(6, answers=2)
    assert tuple(waits) == RETRY_WAITS


def test_a_whole_task_has_its_time_too(server: LlmServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LONGEST_WAIT", 0.0)
    server.always = fails(429, headers={"Retry-After": "0"})

    async def for_ever(_: float) -> None:
        await asyncio.Event().wait()

    async def run() -> None:
        model = PydanticAiModel.open(a_service(server, timeout=0.25), sleep=for_ever)
        try:
            await model.answer(a_task())
        finally:
            await model.close()

    with pytest.raises(NoAnswer, match=r"did not answer within 1 s") as failed:
        asyncio.run(run())
    assert failed.value.usage.requests == 1


# -- failures that stay ---------------------------------------------------------------------------


@each_provider
def test_a_refused_key_is_not_retried_and_not_shown(
    server: LlmServer, provider: Provider, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    server.api_key = "another"
    error = failure(a_service(server, provider))
    assert "answered 401: Incorrect API key provided: ***; is the API key right?" in str(error)
    assert len(server.asked) == 1
    assert KEY not in f"{error!r} {''.join(traceback.format_exception(error))} {caplog.text}"


def test_a_key_at_the_end_of_a_reported_message_is_removed(server: LlmServer) -> None:
    server.always = fails(400, "x" * (200 - len(KEY) // 2) + KEY)
    assert KEY[:4] not in str(failure(a_service(server)))


def test_a_key_is_not_logged_on_success(server: LlmServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    for provider in get_args(Provider):
        answered(a_service(server, provider))
    assert caplog.text
    assert KEY not in caplog.text


def test_geminis_own_way_to_refuse_a_key_is_understood(server: LlmServer) -> None:
    info = {"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "API_KEY_INVALID"}
    said = {"code": 400, "message": "API key not valid.", "status": "INVALID_ARGUMENT", "details": [info]}
    server.always = says(400, {"error": said})
    assert "answered 400: API key not valid." in str(failure(a_service(server, "gemini")))
    assert len(server.asked) == 1


def test_an_account_without_credit_is_not_asked_again(server: LlmServer) -> None:
    said = {"message": "You exceeded your current quota", "type": "insufficient_quota", "code": "insufficient_quota"}
    server.always = says(429, {"error": said})
    assert "answered 429: You exceeded your current quota" in str(failure(a_service(server)))
    assert len(server.asked) == 1


@each_provider
@pytest.mark.parametrize("status", [400, 404])
def test_a_request_that_is_refused_is_not_sent_again(server: LlmServer, provider: Provider, status: int) -> None:
    server.always = fails(status, "no such model")
    assert f"answered {status}: no such model" in str(failure(a_service(server, provider)))
    assert len(server.asked) == 1


@each_provider
@pytest.mark.parametrize("body", [b"<html>a proxy</html>", b'{"id": '])
def test_an_answer_that_violates_the_protocol_is_a_failure(server: LlmServer, provider: Provider, body: bytes) -> None:
    server.always = says(200, body)
    assert "answered against its protocol (" in str(failure(a_service(server, provider)))


@pytest.mark.parametrize("provider", ["openai", "anthropic", "ollama"])
@pytest.mark.parametrize("body", [{"ok": True}, [1, 2]])
def test_json_of_another_shape_is_a_failure(server: LlmServer, provider: Provider, body: object) -> None:
    server.always = says(200, body)
    assert "answered against its protocol (" in str(failure(a_service(server, provider)))


@each_provider
def test_a_redirect_is_not_followed(server: LlmServer, provider: Provider) -> None:
    with LlmServer(always=GOOD) as elsewhere:
        server.always = says(307, b"", {"Location": elsewhere.url(provider)})
        failure(a_service(server, provider))
        assert elsewhere.asked == []


def test_a_failure_has_the_usage_before_it(server: LlmServer) -> None:
    server.answers = [{"title": 1, "days": 1}]
    server.always = fails(401)
    assert failure(a_service(server)).usage == used(2, answers=1)


def test_a_failure_is_one_line(server: LlmServer) -> None:
    server.always = says(200, {"ok": True})
    assert "\n" not in str(failure(a_service(server)))


@pytest.mark.parametrize("url", ["ftp://gpu-box", "gpu-box:8000", "http://", "http://[::1"])
def test_an_address_that_cannot_be_called_is_unavailable(url: str) -> None:
    with pytest.raises(ModelUnavailable, match="is not an http"):
        PydanticAiModel.open(LlmService(provider="openai", model="m", url=url))


# -- what it costs --------------------------------------------------------------------------------


def test_the_settings_prices_are_counted_over_all_answers(server: LlmServer) -> None:
    server.answers = [{"title": 1, "days": 1}, fails(500)]
    usage = answered(a_service(server, prices=Prices(input=1, output=10))).usage
    assert usage.cost == pytest.approx(2 * (INPUT_TOKENS * 1 + OUTPUT_TOKENS * 10) / 1e6)


def test_an_answer_without_usage_has_no_price(server: LlmServer) -> None:
    server.always = unmeasured(GOOD)
    answer = answered(a_service(server, "ollama", prices=Prices(input=1, output=10)))
    assert (answer.value, answer.usage.cost) == (GOOD, None)


def test_at_an_address_of_ones_own_the_price_is_not_known(server: LlmServer) -> None:
    assert answered(a_service(server, model="gpt-4o-mini")).usage.cost is None


# -- opening and closing --------------------------------------------------------------------------


def test_closing_twice_does_nothing(server: LlmServer) -> None:
    async def close(model: PydanticAiModel) -> None:
        await model.answer(a_task())
        await model.close()

    with_model(a_service(server), close)


def test_a_closed_model_is_unavailable(server: LlmServer) -> None:
    async def ask_late(model: PydanticAiModel) -> None:
        await model.close()
        await model.answer(a_task())

    with pytest.raises(ModelUnavailable, match="this language model is closed"):
        with_model(a_service(server), ask_late)
    assert server.asked == []


@each_provider
def test_no_connection_is_left_behind(server: LlmServer, provider: Provider) -> None:
    server.answers = [hangs_up, fails(500)]
    answered(a_service(server, provider))
    gc.collect()  # a socket left open would be a ResourceWarning, which fails the test


def test_a_task_that_is_cancelled_stops_asking(server: LlmServer) -> None:
    server.always = hangs

    async def give_up(model: PydanticAiModel) -> None:
        asking = asyncio.create_task(model.answer(a_task()))
        await asyncio.to_thread(server.called.wait)
        asking.cancel()
        with pytest.raises(asyncio.CancelledError):
            await asking

    with_model(a_service(server), give_up)
    assert len(server.asked) == 1
