"""A memory with vectors of a loopback Ollama, and its behaviour when that becomes unavailable."""

from __future__ import annotations

import logging
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import Cli
from ollama_server import Answering, OllamaServer, hangs

from remembrancer import Remembrancer, Settings
from remembrancer.testing.doubles import FailingEmbedder, FixedClock

OLLAMA = "ollama:nomic-embed-text"


@pytest.fixture
def server() -> Iterator[OllamaServer]:
    with OllamaServer(meanings={"automobile": "car"}) as running:
        yield running


@pytest.fixture
def rem(server: OllamaServer, tmp_path: Path) -> Iterator[Remembrancer]:
    settings = Settings(db=str(tmp_path / "a.db"), ollama_url=server.url, embedder=OLLAMA, background_index=False)
    with Remembrancer.open(settings=settings, clock=FixedClock()) as opened:
        yield opened


def test_a_text_embedded_by_ollama_is_found_by_its_meaning(rem: Remembrancer) -> None:
    memory = rem.remember("the car broke down")
    rem.remember("the party was fun")
    rem.jobs.index_now()
    answer = rem.recall("automobile")
    assert ([hit.id for hit in answer], answer.degraded) == ([memory.id], {})
    assert rem.health.stats().vectors == {"ollama/nomic-embed-text": 2}


def test_a_text_longer_than_the_model_reads_is_counted(rem: Remembrancer) -> None:
    rem.remember("word " * 400)
    rem.jobs.index_now()
    assert rem.health.stats().truncated == 1


def test_recall_is_lexical_and_says_so_when_ollama_goes_down(rem: Remembrancer, server: OllamaServer) -> None:
    memory = rem.remember("the car broke down")
    rem.jobs.index_now()
    server.stop()
    answer = rem.recall("car")
    assert [hit.id for hit in answer] == [memory.id]
    assert answer.degraded["dense"].startswith(f"the embedder does not answer: Ollama at {server.address}, ")


def test_memories_that_wait_for_ollama_are_indexed_when_it_is_available_again(
    rem: Remembrancer, server: OllamaServer
) -> None:
    server.models = ()
    rem.remember("the car broke down")
    report = rem.jobs.index_now()
    assert (report.indexed, report.deferred, report.down) == (0, 0, True)
    server.models = ("nomic-embed-text",)
    assert rem.jobs.index_now().indexed == 1


def test_one_text_ollama_cannot_take_does_not_keep_the_others(rem: Remembrancer, server: OllamaServer) -> None:
    def choke(call: Answering) -> None:
        if any("poison" in text for text in server.texts[-1]):
            call.say(500, {"error": "embedding contains NaN or Inf values"})
        else:
            call.embed()

    server.fault = choke
    rem.remember("the car broke down")
    rem.remember("poison")
    report = rem.jobs.index_now()
    assert (report.indexed, report.deferred) == (1, 1)


def test_the_doctor_reports_vector_while_ollama_answers(rem: Remembrancer) -> None:
    finding = rem.health.doctor()[-1]
    assert (finding.ok, finding.detail) == (True, "vector: ollama/nomic-embed-text, 768 dimensions")


def test_the_doctor_reports_vector_degraded_when_it_does_not(rem: Remembrancer, server: OllamaServer) -> None:
    server.stop()
    finding = rem.health.doctor()[-1]
    assert not finding.ok
    assert finding.detail.startswith(f"vector-degraded: Ollama at {server.address}, model nomic-embed-text: cannot be")


def test_the_doctor_reports_a_size_that_was_unknown(server: OllamaServer) -> None:
    server.models = ("some-model",)
    settings = Settings(db=":memory:", ollama_url=server.url, embedder="ollama:some-model", background_index=False)
    with Remembrancer.open(settings=settings) as rem:
        assert rem.health.doctor()[-1].detail == "vector: ollama/some-model, 768 dimensions"


def test_the_settings_timeout_is_the_time_an_answer_has(server: OllamaServer) -> None:
    server.fault = hangs
    settings = Settings(db=":memory:", ollama_url=server.url, embedder_timeout=0.05, background_index=False)
    with Remembrancer.open(settings=settings) as rem:
        assert "did not answer within 0.05 s" in rem.recall("car").degraded["dense"]


def test_the_client_of_ollama_is_loaded_with_the_first_text() -> None:
    opening = f"import sys; from remembrancer import Remembrancer; Remembrancer.open(':memory:', embedder='{OLLAMA}')"
    code = f"{opening}.close(); print('httpx' in sys.modules)"
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert ran.stdout == "False\n"


# -- the command line -----------------------------------------------------------------------------


def test_doctor_ends_with_0_while_ollama_answers_and_1_when_it_does_not(
    cli: Cli, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPER_OLLAMA_URL", server.url)
    cli.done("remember", "the car broke down", "--embedder", "auto")
    assert "vector: ollama/nomic-embed-text" in cli.done("doctor", "--embedder", OLLAMA).out
    server.stop()
    degraded = cli("doctor", "--embedder", OLLAMA)
    assert (degraded.code, "vector-degraded: " in degraded.out) == (1, True)


def test_doctor_ends_with_0_without_an_embedder(cli: Cli) -> None:
    cli.done("remember", "the car broke down")
    said = " ".join(cli.done("doctor").out.split())
    assert (
        "! embedder sparse-only: no embedder: lexical recall only, as asked for to improve it: set `embedder`" in said
    )
    [finding] = [one for one in cli.done("doctor", "--json").json["findings"] if one["check"] == "embedder"]
    assert (finding["ok"], finding["warning"]) == (True, True)


def test_a_recall_without_an_embedder_reports_it_once(cli: Cli) -> None:
    cli.done("remember", "the car broke down")
    # In a process of its own: in this one pytest takes what is logged.
    program = (sys.executable, "-m", "remembrancer")
    ran = subprocess.run([*program, "recall", "car"], capture_output=True, text=True, check=True)
    assert ran.stderr == "degraded: dense: no embedder: lexical recall only, as asked for\n"


def test_a_namespace_is_a_workspace(cli: Cli) -> None:
    assert cli.done("remember", "car", "--namespace", "acme", "--json").json["scope"]["workspace"] == "acme"


def test_the_environment_may_name_the_workspace_as_engram_does(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ENGRAM_NAMESPACE", "acme")
    assert cli.done("remember", "car", "--json").json["scope"]["workspace"] == "acme"


def test_recall_does_not_cross_namespaces(cli: Cli) -> None:
    cli.done("remember", "the car broke down", "--namespace", "acme")
    found = [
        len(cli.done("recall", "car", "--reach", "workspace", "--namespace", name, "--json").json["hits"])
        for name in ("acme", "other")
    ]
    assert found == [1, 0]


# -- the warning ----------------------------------------------------------------------------------


def warnings_of(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "remembrancer"]


def test_opening_without_an_embedder_is_warned_of_once(caplog: pytest.LogCaptureFixture) -> None:
    with Remembrancer.open(":memory:", embedder="none") as rem:
        rem.scoped(agent="ana").recall("car")
    assert warnings_of(caplog) == ["sparse-only: no embedder: lexical recall only, as asked for"]


def test_opening_with_an_embedder_is_not_warned_of(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG, logger="remembrancer")
    with Remembrancer.open(":memory:", embedder=FailingEmbedder()):
        pass
    assert warnings_of(caplog) == []


def cannot_read(call: Answering) -> None:
    if any("poison" in text for text in call.asked.body["input"]):
        call.say(400, {"error": "cannot read that"})
    else:
        call.embed()


def test_jobs_shows_a_text_that_could_not_be_embedded_with_its_reason(
    cli: Cli, server: OllamaServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KEEPER_OLLAMA_URL", server.url)
    server.fault = cannot_read
    arguments = ("--embedder", OLLAMA)
    told = cli.done("remember", "a poison", "--json", *arguments).json
    cli("maintain", "--only", "index", *arguments)
    shown = " ".join(cli.done("jobs", *arguments).out.split())
    assert "index: 1 piece of work put off" in shown
    assert f"{told['id'][-8:]}: failed once, tried again from" in shown
    assert "“a poison”" in shown
    assert "cannot read that" in shown
