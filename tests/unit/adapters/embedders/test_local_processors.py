"""int8 on processors that sum 8-bit products exactly and on those that saturate; tests/fixtures/processors.py emulates
both, so that each is covered on any machine.
"""

from __future__ import annotations

import asyncio
import base64
import json
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import numpy as np
import pytest
from numpy.typing import NDArray
from processors import Processor, run_on

from remembrancer import Remembrancer
from remembrancer.adapters.embedders.local import LocalEmbedder, bindings, bit_sums, weights
from remembrancer.adapters.embedders.local.model import EXACT, PRECISE
from remembrancer.evaluation.machine import machine_line

pytestmark = pytest.mark.skipif(
    any(find_spec(name) is None for name in ("remembrancer_minilm", "onnxruntime", "tokenizers")),
    reason="extra local not installed",
)

GOLDEN: Final = Path(__file__).parents[3] / "golden" / "minilm_reference.json"
SHORT: Final = slice(5, 15)
"""Pieces of the reference texts that are used: long ones take long to write out."""

LEAST_MEAN: Final = 0.997
"""Cosine to the reference, as test_local_embedder.py asks of int8 for all its texts."""
ROUNDING: Final = 1e-3
"""Two orders of the same sum in float32 can round one input to the next of its 8-bit levels."""
KINDS: Final = {"exact": False, "saturating": True}
SAID: Final = {"exact": EXACT, "saturating": PRECISE}


class Reference(NamedTuple):
    """Short texts, their ids, padded, and their vectors in fp32."""

    texts: list[str]
    ids: NDArray[np.int64]
    vectors: NDArray[np.float32]


@pytest.fixture(scope="module")
def reference() -> Reference:
    told = json.loads(GOLDEN.read_text())
    vectors = np.frombuffer(base64.b64decode(told["vectors"]), "<f4").reshape(-1, 384)
    chosen = [place for place, ids in enumerate(told["token_ids"]) if SHORT.start < len(ids) <= SHORT.stop]
    padded = np.zeros((len(chosen), SHORT.stop), np.int64)
    for row, place in zip(padded, chosen, strict=True):
        row[: len(told["token_ids"][place])] = told["token_ids"][place]
    return Reference([told["texts"][place] for place in chosen], padded, vectors[chosen])


def read(name: str) -> bytes:
    return weights.read_verified(weights.located(None, "int8") / name)


def sums_of_bits() -> bit_sums.BitSums:
    return bit_sums.BitSums(bindings.open_session(read(weights.BIT_SUMS), threads=1))


def embedded(texts: list[str]) -> NDArray[np.float32]:
    async def vectors() -> NDArray[np.float32]:
        embedder = LocalEmbedder.open()
        try:
            return (await embedder.embed_documents(texts)).vectors
        finally:
            await embedder.close()

    return asyncio.run(vectors())


@pytest.mark.parametrize("kind", KINDS)
def test_the_probe_detects_the_kind_of_processor(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(Processor(saturates=KINDS[kind]), monkeypatch)
    sums = sums_of_bits()
    assert sums.products_are_exact() is not KINDS[kind]


def test_a_saturating_processor_adds_pairs_in_16_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(Processor(saturates=True), monkeypatch)
    sums = sums_of_bits()
    rows, columns = np.full((4, 64), 255, np.uint8), np.full((32, 64), 127, np.int8)
    assert set(sums(rows, columns).flat) == {1_048_544}  # as measured on x86-64 without VNNI


def test_sums_of_bits_are_exact_where_products_saturate(monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(Processor(saturates=True), monkeypatch)
    sums = sums_of_bits()
    bits, levels = np.ones((5, 384), np.uint8), np.array([[127] * 384, [-127] * 384], np.int8)
    assert sums(bits, levels).tolist() == [[127 * 384, -127 * 384]] * 5


@pytest.mark.parametrize(("kind", "model"), [("exact", False), ("saturating", True)])
def test_only_a_saturating_processor_gets_precise_kernels(
    kind: str, model: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    processor = run_on(Processor(saturates=KINDS[kind]), monkeypatch)
    asyncio.run(LocalEmbedder.open().close())
    assert processor.precise == [False, model]  # the session that is probed, and the model's


def test_fp32_never_gets_precise_kernels(monkeypatch: pytest.MonkeyPatch) -> None:
    processor = run_on(Processor(saturates=True), monkeypatch)
    embedder = LocalEmbedder.open(precision="fp32")
    asyncio.run(embedder.close())
    assert (processor.precise, embedder.arithmetic) == ([False, False], "")


def test_a_saturating_processor_gives_the_vectors_of_an_exact_one(
    reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_on(Processor(saturates=True), monkeypatch)
    precise = embedded(reference.texts)
    run_on(Processor(saturates=False), monkeypatch)
    assert np.abs(precise - embedded(reference.texts)).max() < ROUNDING


@pytest.mark.parametrize("kind", KINDS)
def test_int8_is_near_the_reference_on_each_kind_of_processor(
    kind: str, reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_on(Processor(saturates=KINDS[kind]), monkeypatch)
    assert np.mean(np.sum(embedded(reference.texts) * reference.vectors, axis=1)) > LEAST_MEAN


def test_without_precise_kernels_a_saturating_processor_would_not_be_near_it(
    reference: Reference, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_on(Processor(saturates=True), monkeypatch)
    session = bindings.open_session(read(weights.GRAPHS["int8"]), threads=1)
    seen = (reference.ids > 0).astype(np.int32)
    (vectors,) = session.run(["vectors"], {"ids": reference.ids, "mask": seen, "pooled": seen})
    assert np.mean(np.sum(vectors * reference.vectors, axis=1)) < LEAST_MEAN


@pytest.mark.parametrize("kind", KINDS)
def test_the_doctor_names_the_processors_way(kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(Processor(saturates=KINDS[kind]), monkeypatch)
    with Remembrancer.open(str(tmp_path / "memory.db"), embedder="local") as rem:
        (finding,) = (one for one in rem.health.doctor() if one.check == "embedder")
    assert (finding.ok, finding.detail) == (True, f"vector: all-MiniLM-L6-v2/int8, 384 dimensions; {SAID[kind]}")


@pytest.mark.parametrize("kind", KINDS)
def test_an_evaluation_names_it_with_the_machine(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    run_on(Processor(saturates=KINDS[kind]), monkeypatch)
    embedder = LocalEmbedder.open()
    asyncio.run(embedder.close())
    assert machine_line(embedder) == f"{machine_line()}; {SAID[kind]}"
