"""The targets of `make fuzz`, briefly: every kept input again, and new ones from a fixed seed; and the fuzzer."""

from __future__ import annotations

import time
from pathlib import Path
from random import Random

import pytest

from fuzz import corpus
from fuzz.coverage import fewest
from fuzz.mutation import mutated
from fuzz.target import Defect, Finding, Target, minimised, pure, run_case
from fuzz.targets import TARGETS
from remembrancer.errors import InvalidInput


def first_finding(target: Target, kept: list[bytes]) -> tuple[bytes, Finding] | None:
    """The first finding among the seeds, the kept inputs, and new ones."""
    random = Random(target.name)
    known = [*target.seeds, *kept]
    with target.opened() as check:
        for place in range(len(known) + target.fresh):
            data = known[place] if place < len(known) else mutated(random.choice(known), random, target.words, known)
            data = data[: target.max_bytes]
            finding = run_case(check, data)
            if finding is not None:
                return data, finding
    return None


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_no_input_causes_an_error_that_is_not_documented(target: Target) -> None:
    found = first_finding(target, corpus.kept(target.name))
    assert found is None, f"{found[1].key}: {found[0]!r}\n{found[1].report}"


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS.keys())
def test_a_seed_is_an_input_that_is_read(target: Target) -> None:
    with target.opened() as check:
        for data in target.seeds:
            check(data)


def test_no_kept_input_is_without_a_target() -> None:
    assert {path.stem for path in corpus.FOLDER.iterdir()} <= TARGETS.keys()


def planted(data: bytes) -> None:
    if b"\xe2\x80\xae" in data and len(data) > 20:
        raise ZeroDivisionError


PLANTED = Target("planted", pure(planted), [b"a text that is read without an error"], fresh=2_000)


def test_a_planted_fault_is_found_and_its_input_shortened() -> None:
    found = first_finding(PLANTED, [])
    assert found is not None
    data, finding = found
    assert finding.key.startswith("ZeroDivisionError at ")
    shortest = minimised(planted, data, finding)
    assert len(shortest) == 21
    assert b"\xe2\x80\xae" in shortest


def test_a_documented_error_is_no_finding() -> None:
    def refuses(_: bytes) -> None:
        raise InvalidInput("text", "x", "another one")

    assert run_case(refuses, b"") is None


def test_a_case_that_takes_too_long_is_a_finding(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = iter((0.0, 2.5))
    monkeypatch.setattr(time, "process_time", lambda: next(clock))
    found = run_case(lambda _: None, b"")
    assert found is not None
    assert found.key == "slow"


def test_an_error_that_a_door_answered_is_a_finding_of_its_own() -> None:
    def answers(_: bytes) -> None:
        raise Defect("500 at /v1/recall", "the report")

    assert run_case(answers, b"") == Finding("500 at /v1/recall", "the report")


def test_the_corpus_keeps_texts_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(corpus, "FOLDER", tmp_path / "corpus")
    corpus.keep("one", [b"\xff\x00", b"text", b"\xff\x00", b""])
    assert corpus.kept("one") == [b"", b"\xff\x00", b"text"]


def test_only_inputs_that_reach_new_lines_are_kept() -> None:
    with TARGETS["times"].opened() as check:
        assert fewest(check, [b"2d", b"3d", b"2026-03-04"], [b"4d"]) == [b"2026-03-04"]
