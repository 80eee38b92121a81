"""The calibration of an embedder, with one whose cosines are all high."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from sentence_models import write_folder

from remembrancer import Remembrancer, models
from remembrancer.adapters.embedders.local import LocalEmbedder
from remembrancer.config import Settings, load
from remembrancer.domain.calibration import REFERENCE, CosineScale
from remembrancer.domain.recall import Recall
from remembrancer.engine import calibrate
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.ports.embedder import Embedded, Embedder, calibration, is_uncalibrated
from remembrancer.testing.doubles import FixedClock, HashEmbedder

SHARE = 0.7
"""The cosine of texts that have nothing in common, by `High`."""

TEXTS = (
    "We moved the staging database to Frankfurt",
    "The cat sleeps on the warm radiator",
    "Ilse bought a red bicycle in May",
    "The invoice of the plumber is overdue",
)
QUESTIONS = ("Where is the staging database?", "Who bought a bicycle?", "Jujitsu?")

local = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("remembrancer_minilm", "onnxruntime", "tokenizers")),
    reason="extra local not installed",
)


class Calibrated(HashEmbedder):
    """An embedder that may be calibrated."""

    def __init__(self, calibration: CosineScale | None) -> None:
        super().__init__()
        self._calibration = calibration

    @property
    def calibration(self) -> CosineScale | None:
        return self._calibration


class High(Calibrated):
    """The same with one more component, the same for all texts: a cosine c becomes SHARE + (1 - SHARE) c."""

    @property
    def dim(self) -> int:
        return super().dim + 1

    async def embed_documents(self, texts: Sequence[str]) -> Embedded:
        found = await super().embed_documents(texts)
        return Embedded(np.array([raised(row) for row in found.vectors]).reshape(-1, self.dim), found.truncated)

    def query_now(self, text: str) -> NDArray[np.float32]:
        return raised(super().query_now(text))


def raised(vector: NDArray[np.float32]) -> NDArray[np.float32]:
    return np.append(vector * (1 - SHARE) ** 0.5, SHARE**0.5).astype(np.float32)


def high(cosine: float) -> float:
    return SHARE + (1 - SHARE) * cosine


CALIBRATED = CosineScale(unrelated=high(REFERENCE.unrelated), related=high(REFERENCE.related))


def answers(embedder: HashEmbedder, clock: FixedClock) -> list[Recall]:
    with Remembrancer.open(":memory:", embedder=embedder, clock=clock, settings={"background_index": False}) as rem:
        rem.observe_many({"text": text} for text in TEXTS)
        rem.jobs.index_now()
        return [rem.recall(question) for question in QUESTIONS]


def told(recalls: Sequence[Recall]) -> list[list[tuple[str, float]]]:
    return [[(hit.memory.text, round(hit.score, 2)) for hit in recall] for recall in recalls]


def chosen(settings: Settings) -> Embedder:
    embedder = models.choose_embedder(settings).embedder
    assert embedder is not None
    return embedder


def test_a_calibrated_model_answers_as_the_one_that_the_presets_were_chosen_for(clock: FixedClock) -> None:
    expected = answers(Calibrated(REFERENCE), clock)
    assert [len(recall) for recall in expected] == [2, 1, 0]
    assert told(answers(High(CALIBRATED), clock)) == told(expected)


def test_an_uncalibrated_model_whose_cosines_are_high_is_never_silent(clock: FixedClock) -> None:
    assert [len(recall) > 0 for recall in answers(High(None), clock)] == [True, True, True]


def test_the_scale_of_the_reference_is_its_own() -> None:
    cosines = np.array([-1, REFERENCE.unrelated, 0.5, 1, np.nan], np.float32)
    assert np.allclose(REFERENCE.similarities(cosines), cosines, equal_nan=True)
    assert np.allclose(REFERENCE.token_similarities(cosines.astype(np.float64)), cosines, equal_nan=True)


def test_the_two_means_become_those_of_the_reference() -> None:
    model = CosineScale(unrelated=0.7, related=0.85, tokens_unrelated=0.8, tokens_related=0.9)
    found = model.similarities(np.array([0.7, 0.85], np.float32))
    assert found == pytest.approx([REFERENCE.unrelated, REFERENCE.related], abs=1e-6)
    words = model.token_similarities(np.array([0.8, 0.9]))
    assert words == pytest.approx([REFERENCE.tokens_unrelated, REFERENCE.tokens_related])


def test_token_embeddings_that_show_nothing_are_all_alike() -> None:
    model = CosineScale(unrelated=0.7, related=0.85, tokens_unrelated=0.8, tokens_related=0.8)
    assert model.token_similarities(np.array([0.1, 0.9])).tolist() == [REFERENCE.tokens_unrelated] * 2


@pytest.mark.parametrize(("unrelated", "related"), [(0.5, 0.5), (0.6, 0.5), (0.5, 1.5), (float("nan"), 0.5)])
def test_a_calibration_in_another_order_is_refused(unrelated: float, related: float) -> None:
    with pytest.raises(InvalidInput, match="calibration"):
        CosineScale(unrelated=unrelated, related=related)


@local
def test_the_reference_is_what_is_measured_of_minilm() -> None:
    embedder = chosen(Settings(embedder="local:int8"))
    found = asyncio.run(calibrate.measure(embedder))
    assert found.calibration.similarities(np.array([0.0, 0.5, 1.0])) == pytest.approx([0, 0.5, 1], abs=0.01)
    assert found.calibration.token_similarities(np.array([0.0, 0.5, 1.0])) == pytest.approx([0, 0.5, 1], abs=0.015)
    assert found.first > 0.9
    assert calibration(embedder) is None
    assert not is_uncalibrated(embedder)


@local
def test_a_model_that_tells_nothing_apart_is_refused(tmp_path: Path) -> None:
    embedder = chosen(Settings(embedder=f"folder:{write_folder(tmp_path)}"))
    with pytest.raises(ModelUnavailable, match="does not tell answers from other English texts"):
        asyncio.run(calibrate.measure(embedder))


@local
def test_a_calibration_is_kept_in_the_folder_and_does_not_change_the_id(tmp_path: Path) -> None:
    settings = Settings(embedder=f"folder:{write_folder(tmp_path)}")
    (tmp_path / "remembrancer.json").write_text('{"languages": ["en"]}')
    before = chosen(settings)
    path = models.keep_calibration(settings, CALIBRATED)
    after = chosen(settings)
    assert (is_uncalibrated(before), before.model_id) == (True, after.model_id)
    kept = calibration(after)
    assert kept is not None
    assert kept.related == pytest.approx(CALIBRATED.related, abs=1e-4)
    assert path == tmp_path.resolve() / "remembrancer.json"
    assert json.loads((tmp_path / "remembrancer.json").read_text())["languages"] == ["en"]


@local
@pytest.mark.parametrize("content", ['{"unrelated": 1}', '{"unrelated": 0.5, "related": 0.4}', '"0.1"'])
def test_a_calibration_in_the_folder_that_is_none_names_the_remedy(content: str, tmp_path: Path) -> None:
    (write_folder(tmp_path) / "remembrancer.json").write_text(f'{{"calibration": {{"fp32": {content}}}}}')
    with pytest.raises(ModelUnavailable, match="run `remembrancer embedder calibrate`"):
        chosen(Settings(embedder=f"folder:{tmp_path}"))


def test_a_setting_calibrates_an_embedder_that_has_no_folder() -> None:
    settings = Settings(embedder="ollama:bge-m3", embedder_calibration=(0.4, 0.7))
    assert calibration(chosen(settings)) == CosineScale(unrelated=0.4, related=0.7)


def test_a_setting_is_given_as_numbers() -> None:
    settings = load({"embedder_calibration": "0.4,0.7,0.3,0.5"}, environment={})
    assert settings.embedder_calibration == (0.4, 0.7, 0.3, 0.5)


@pytest.mark.parametrize("value", ["0", "0.4", "0.4,0.7,0.5", "a,b", "0.7,0.4"])
def test_a_setting_that_is_no_calibration_is_refused(value: str) -> None:
    with pytest.raises(InvalidInput, match="embedder_calibration"):
        load({"embedder_calibration": value}, environment={})


def test_the_doctor_says_that_an_embedder_is_not_calibrated(clock: FixedClock) -> None:
    with Remembrancer.open(":memory:", embedder=High(None), clock=clock) as rem:
        [found] = [one for one in rem.health.doctor() if one.check == "calibration"]
    assert (found.ok, found.warning, found.repair) == (True, True, "remembrancer embedder calibrate")


@local
def test_minilm_needs_no_calibration() -> None:
    embedder = LocalEmbedder.open()
    assert embedder.calibration == REFERENCE
    asyncio.run(embedder.close())
