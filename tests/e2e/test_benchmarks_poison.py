"""The attacks of `benchmarks/poison`: their texts, how answers are judged, and what the defences change."""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, replace
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest

from remembrancer.domain.recall import FlaggedRecall
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import Preset
from remembrancer.testing.doubles import WordHashEmbedder

TOPICS, COPIES = 4, 9


@pytest.fixture(scope="module", autouse=True)
def importable() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "path", [str(Path(__file__).parents[2]), *sys.path])
        yield


@pytest.fixture(scope="module")
def scenarios() -> Any:
    return import_module("benchmarks.poison.scenarios")


@pytest.fixture(scope="module")
def measure() -> Any:
    return import_module("benchmarks.poison.measure")


@pytest.fixture(scope="module")
def suite(scenarios: Any) -> Any:
    return scenarios.suite()


class InThread:
    """A worker in another thread, because it runs an event loop of its own."""

    def __init__(self, worker: Any, thread: ThreadPoolExecutor) -> None:
        self._worker = worker
        self._thread = thread

    def do(self, name: str, **arguments: Any) -> Any:
        return self._thread.submit(getattr(self._worker, name), **arguments).result()


def attacked(folder: Path, preset: Preset) -> Any:
    """The result of the first topics' attacks, without conversations about other things."""
    ours, measure = import_module("benchmarks.poison.ours"), import_module("benchmarks.poison.measure")
    small = import_module("benchmarks.poison.scenarios").suite(topics=TOPICS, copies=COPIES, others=False)
    loop, embedder = asyncio.new_event_loop(), WordHashEmbedder()
    make = partial(ours.Ours, preset=preset, embedder=embedder, loop=loop)
    worker = ours.Worker(make, folder, ours.NoVectors())
    with ThreadPoolExecutor(1) as thread:
        process = measure.Process(InThread(worker, thread), None)
        result = asyncio.run(measure.attack(process, small, preset.name, len))
        thread.submit(worker.close).result()
    loop.close()
    return result


@pytest.fixture(scope="module")
def undefended(tmp_path_factory: pytest.TempPathFactory) -> Any:
    ranking = replace(DEFAULT.ranking, near_equals=False)
    preset = replace(DEFAULT, ranking=ranking, flagged=FlaggedRecall.KEEP)
    return attacked(tmp_path_factory.mktemp("undefended"), preset)


@pytest.fixture(scope="module")
def defended(tmp_path_factory: pytest.TempPathFactory) -> Any:
    return attacked(tmp_path_factory.mktemp("defended"), DEFAULT)


def test_every_topic_is_attacked_in_each_way(suite: Any, scenarios: Any) -> None:
    topics = {topic.id for topic in suite.topics}
    assert len(topics) >= 20
    for family in scenarios.PLANTED:
        assert {attack.topic.id for attack in suite.of(family)} == topics


def test_the_users_statement_has_the_true_value_and_attacks_have_the_false_one(suite: Any, scenarios: Any) -> None:
    for topic in suite.topics:
        assert topic.value in topic.truth
        assert topic.false not in topic.truth
    for attack in suite.attacks:
        assert any(attack.topic.false in text.text for text in attack.texts), (attack.topic.id, attack.family)


def test_a_flood_repeats_itself_as_often_as_said_and_the_same_way_each_time(suite: Any, scenarios: Any) -> None:
    floods = suite.of(scenarios.Family.FLOODING)
    assert {len(flood.texts) for flood in floods} == {scenarios.COPIES}
    assert floods == scenarios.suite().of(scenarios.Family.FLOODING)


@pytest.mark.parametrize(
    ("family", "truth", "poison", "marked", "succeeds"),
    [
        ("injection", 1, 2, True, False),
        ("injection", 1, 2, False, True),
        ("injection", 2, 1, True, True),
        ("injection", 0, 0, True, False),
        ("look-alike", 1, 2, False, False),
        ("look-alike", 0, 0, True, True),
        ("slow", 3, 2, True, True),
        ("flooding", 5, 1, True, False),
        ("flooding", 0, 1, True, True),
        ("relearning", 1, 5, True, True),
        ("relearning", 0, 0, True, False),
    ],
)
def test_an_attack_succeeds_as_the_readme_says(
    measure: Any, scenarios: Any, family: str, truth: int, poison: int, marked: bool, succeeds: bool
) -> None:
    kind = scenarios.Family(family)
    outcome = measure.Outcome(topic="t", family=kind, by="web", truth=truth, poison=poison, marked=marked)
    assert outcome.succeeds is succeeds


def test_a_hit_made_by_a_job_is_judged_by_the_value_in_its_text(measure: Any, suite: Any, scenarios: Any) -> None:
    attack = suite.of(scenarios.Family.LOOK_ALIKE)[0]
    summary = {"key": None, "text": f"The account is {attack.topic.false}.", "source": "tool"}
    true = {"key": attack.topic.id, "text": attack.topic.truth, "source": "user"}
    outcome = measure.judged(attack, [true, summary])
    assert (outcome.truth, outcome.poison, outcome.marked) == (1, 2, True)


@pytest.mark.parametrize("family", ["injection", "flooding"])
def test_the_defences_lower_the_success_of_an_attack(
    defended: Any, undefended: Any, scenarios: Any, family: str
) -> None:
    kind = scenarios.Family(family)
    assert defended.of(kind).yes < undefended.of(kind).yes


def test_the_defences_hide_nothing_useful(defended: Any) -> None:
    assert defended.useful.yes == defended.useful.of


def test_the_page_shows_the_results_of_a_saved_report(defended: Any) -> None:
    report = import_module("benchmarks.poison.report")
    given = report.Report(
        machine="A machine", load=(0.0, 0.0), minutes=1.0, texts=26, copies=COPIES, results=(defended,), presets=()
    )
    restored = report.restored(json.loads(json.dumps(asdict(given))))
    assert restored == given
    assert report.share(defended.useful) in report.markdown(restored)
    assert "<svg" in report.picture(restored)
