"""A memory whose best are judged by a real cross-encoder graph, or by a rerank service on loopback."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
from driver import Cli, Ran
from overlap_model import write_model
from rerank_server import RerankServer, answers, hangs

from remembrancer import Remembrancer, Settings

KEY = "s3cret-key"
QUESTION = "kestrel nest"


@pytest.fixture
def server() -> Iterator[RerankServer]:
    with RerankServer() as running:
        yield running


@pytest.fixture
def model(tmp_path: Path) -> str:
    return f"cross-encoder:{write_model(tmp_path / 'overlap')}"


def remembered(cli: Cli, *oldest_first: str) -> None:
    for text in oldest_first:
        cli.done("remember", text)


def recalled(cli: Cli, *options: str) -> Ran:
    return cli.done("recall", QUESTION, "--json", *options)


def texts(ran: Ran) -> list[str]:
    return [hit["memory"]["text"] for hit in ran.json["hits"]]


@pytest.fixture
def called(server: RerankServer, monkeypatch: pytest.MonkeyPatch) -> RerankServer:
    """Set the environment variables that name the server and its options."""
    server.api_key = KEY
    monkeypatch.setenv("REMEMBRANCER_RERANKER", server.url)
    monkeypatch.setenv("REMEMBRANCER_RERANKER_MODEL", "rerank-v3.5")
    monkeypatch.setenv("REMEMBRANCER_RERANKER_KEY", KEY)
    return server


# -- a cross-encoder of one's own folder ----------------------------------------------------------


def test_a_cross_encoder_changes_the_order(cli: Cli, model: str) -> None:
    # The ranking reads stems and puts the newer first of two that say the same; the model knows whole words only.
    remembered(cli, "kestrel nest", "kestrels nesting")
    assert texts(recalled(cli)) == ["kestrels nesting", "kestrel nest"]
    assert texts(recalled(cli, "--reranker", model)) == ["kestrel nest", "kestrels nesting"]


def test_an_explained_hit_has_the_judgement_among_the_parts_of_its_score(cli: Cli, model: str) -> None:
    remembered(cli, "kestrel nest")
    [hit] = recalled(cli, "--reranker", model, "--explain").json["hits"]
    # Two shared words less the graph's own 1: the sigmoid of 1.
    assert hit["explanation"]["signals"]["rerank"] == pytest.approx(0.7310586)
    assert "rerank" in cli.done("recall", QUESTION, "--reranker", model, "--explain").out


def test_without_a_reranker_none_is_asked(cli: Cli) -> None:
    remembered(cli, "kestrel nest")
    ran = recalled(cli)
    assert (ran.json["hits"][0]["explanation"]["signals"]["rerank"], "rerank" in ran.err) == (None, False)


def test_a_preset_that_gives_it_nothing_does_not_load_it(cli: Cli, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "broken")
    (folder / "model.onnx").write_text("no graph")
    remembered(cli, "kestrel nest")
    assert "rerank" not in recalled(cli, "--preset", "engram", "--reranker", f"cross-encoder:{folder}").json["degraded"]


def test_the_doctor_names_a_cross_encoder_that_answers(cli: Cli, model: str) -> None:
    remembered(cli, "kestrel nest")
    assert "cross-encoder/overlap" in cli.done("doctor", "--reranker", model).out


def test_the_doctor_does_not_speak_of_a_reranker_that_was_not_configured(cli: Cli) -> None:
    remembered(cli, "kestrel nest")
    assert "rerank" not in cli.done("doctor").out


def test_a_broken_model_leaves_the_answer_and_is_a_finding(cli: Cli, tmp_path: Path) -> None:
    folder = write_model(tmp_path / "broken")
    (folder / "model.onnx").write_text("no graph")
    remembered(cli, "kestrel nest")
    ran = recalled(cli, "--reranker", f"cross-encoder:{folder}")
    assert texts(ran) == ["kestrel nest"]
    assert ran.json["degraded"]["rerank"].startswith("the reranker does not answer: ")
    assert cli("doctor", "--reranker", f"cross-encoder:{folder}").code == 1


def test_a_folder_without_a_model_is_an_error(cli: Cli, tmp_path: Path) -> None:
    ran = cli("recall", QUESTION, "--reranker", f"cross-encoder:{tmp_path / 'none'}")
    assert (ran.code, "there is no model.onnx in " in ran.err) == (3, True)


# -- a service ------------------------------------------------------------------------------------


def test_a_service_changes_the_order(cli: Cli, called: RerankServer) -> None:
    remembered(cli, "kestrel nest", "kestrels nesting")
    assert texts(recalled(cli, "--reranker", "none")) == ["kestrels nesting", "kestrel nest"]
    assert texts(recalled(cli)) == ["kestrel nest", "kestrels nesting"]
    [asked] = called.asked
    assert (asked.body["model"], asked.body["query"], len(asked.body["documents"])) == ("rerank-v3.5", QUESTION, 2)


def test_a_service_of_the_other_dialect_is_spoken_to_in_it(
    cli: Cli, called: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMEMBRANCER_RERANKER_DIALECT", "tei")
    monkeypatch.setenv("REMEMBRANCER_RERANKER_SCALE", "logit")
    remembered(cli, "kestrel nest")
    assert recalled(cli).json["degraded"].keys() == {"dense"}
    assert called.asked[0].body["raw_scores"] is True


def test_a_service_that_is_gone_leaves_the_answer_and_is_a_finding(cli: Cli, called: RerankServer) -> None:
    remembered(cli, "kestrel nest")
    called.stop()
    ran = recalled(cli)
    assert texts(ran) == ["kestrel nest"]
    assert ran.json["degraded"]["rerank"].startswith(
        f"the reranker does not answer: the reranker at {called.address}, model rerank-"
    )
    doctor = cli("doctor")
    assert (doctor.code, called.address in doctor.out) == (1, True)


def test_the_settings_timeout_is_the_time_it_has(
    cli: Cli, called: RerankServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REMEMBRANCER_RERANKER_TIMEOUT", "0.05")
    called.fault = hangs
    remembered(cli, "kestrel nest")
    assert "did not answer within 0.05 s" in recalled(cli).json["degraded"]["rerank"]


def test_a_key_is_sent_and_appears_nowhere(cli: Cli, called: RerankServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    remembered(cli, "kestrel nest")
    right = recalled(cli)
    assert called.asked[0].headers["Authorization"] == f"Bearer {KEY}"
    called.fault = answers(401, {"message": f"invalid api token {KEY}"})
    refused, doctor = recalled(cli), cli("doctor")
    assert "is the API key right?" in refused.json["degraded"]["rerank"]
    said = "".join(ran.out + ran.err for ran in (right, refused, doctor))
    assert KEY not in said + caplog.text


def test_a_service_without_a_model_is_refused_by_the_setting_s_name(cli: Cli, server: RerankServer) -> None:
    ran = cli("recall", QUESTION, "--reranker", server.url)
    assert ran.code == 2
    assert ran.err.startswith("error: reranker_model: None ")


def test_an_invalid_reranker_is_refused_with_the_name_of_the_option(cli: Cli) -> None:
    ran = cli("recall", QUESTION, "--reranker", "auto")
    assert ran.code == 2
    assert ran.err.startswith("error: reranker: 'auto' ")


def test_a_service_serves_a_memory_that_stays_open(server: RerankServer) -> None:
    settings = Settings(
        db=":memory:", embedder="none", background_index=False, reranker=server.url, reranker_model="rerank-v3.5"
    )
    with Remembrancer.open(settings=settings) as rem:
        rem.remember("kestrel nest")
        judged = [rem.recall(QUESTION)[0].explanation.signals["rerank"] for _ in range(2)]
        assert rem.health.doctor()[-1].detail == "rerank/rerank-v3.5"
    assert judged == [1.0, 1.0]
