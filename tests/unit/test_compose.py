from __future__ import annotations

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from importlib import util
from pathlib import Path
from typing import TypeVar
from uuid import UUID

import pytest

from remembrancer import compose
from remembrancer.compose import LOCAL_PACKAGES, choose_embedder
from remembrancer.config import Settings
from remembrancer.engine.context import Context
from remembrancer.errors import InvalidInput, ModelUnavailable, StoreUnavailable
from remembrancer.policies.lexical import analyse, tokens_and_terms
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import FixedClock, HashEmbedder

T = TypeVar("T")


def in_context(
    settings: Settings,
    look: Callable[[Context], T],
    *,
    clock: FixedClock | None = None,
    embedder: HashEmbedder | None = None,
) -> T:
    ctx = compose.context(settings, clock=clock, embedder=embedder)
    try:
        return look(ctx)
    finally:
        asyncio.run(ctx.store.close())


def test_the_clock_given_is_the_one_used() -> None:
    clock = FixedClock()
    settings = Settings(db=":memory:", embedder="none")
    assert in_context(settings, lambda ctx: ctx.clock is clock, clock=clock)


def test_the_clock_of_its_own_is_aware_and_in_utc() -> None:
    now = in_context(Settings(db=":memory:", embedder="none"), lambda ctx: ctx.clock())
    assert now.tzinfo is UTC


def test_ids_come_in_the_order_of_their_times() -> None:
    start = datetime(2026, 3, 4, tzinfo=UTC)

    def made(ctx: Context) -> list[UUID]:
        return [ctx.new_id(start + timedelta(milliseconds=step)) for step in range(100)]

    ids = in_context(Settings(db=":memory:", embedder="none"), made)
    assert ids == sorted(ids)


def test_ids_of_one_moment_differ() -> None:
    start = datetime(2026, 3, 4, tzinfo=UTC)
    settings = Settings(db=":memory:", embedder="none")
    ids = in_context(settings, lambda ctx: {ctx.new_id(start) for _ in range(1000)})
    assert len(ids) == 1000


def test_the_preset_named_is_the_one_used() -> None:
    assert in_context(Settings(db=":memory:", embedder="none"), lambda ctx: ctx.preset) is DEFAULT


def test_an_embedder_given_takes_the_place_of_the_one_named() -> None:
    embedder = HashEmbedder()
    settings = Settings(db=":memory:", embedder="nonsense")
    assert in_context(settings, lambda ctx: ctx.embedder is embedder, embedder=embedder)


def test_an_unknown_preset_is_refused_before_a_file_is_made(tmp_path: Path) -> None:
    file = tmp_path / "a.db"
    with pytest.raises(InvalidInput, match=r"^preset: "):
        compose.context(Settings(db=str(file), embedder="none", preset="nonsense"))
    assert not file.exists()


def test_an_unknown_embedder_is_refused_with_those_there_are() -> None:
    with pytest.raises(InvalidInput, match=r"^embedder: 'gpt' .*auto, none or local"):
        choose_embedder(Settings(embedder="gpt"))


@pytest.mark.parametrize("url", ["postgresql://localhost/a", "mysql://a", "sqlite:///a.db"])
def test_a_backend_that_there_is_not_is_refused_by_its_scheme(url: str) -> None:
    with pytest.raises(InvalidInput, match=rf"^db: .*no backend for {url.partition(':')[0]}://"):
        compose.context(Settings(db=url, embedder="none"))


def test_a_store_that_is_not_there_and_may_not_be_made_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable):
        compose.context(Settings(db=str(tmp_path / "a.db"), embedder="none"), create=False)


def test_no_embedder_as_asked_for_is_said_in_words() -> None:
    choice = choose_embedder(Settings(embedder="none"))
    assert (choice.embedder, choice.absent) == (None, "no embedder: lexical recall only, as asked for")


def without_the_local_packages(name: str, package: str | None = None) -> object:
    return None if name in LOCAL_PACKAGES else util.find_spec(name, package)


def test_a_local_embedder_whose_parts_are_missing_is_unavailable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "find_spec", without_the_local_packages)
    with pytest.raises(ModelUnavailable, match=r"pip install 'remembrancer\[local\]'"):
        choose_embedder(Settings(embedder="local"))


def test_where_the_local_embedders_parts_are_missing_auto_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compose, "find_spec", without_the_local_packages)
    choice = choose_embedder(Settings(embedder="auto"))
    assert choice.embedder is None
    assert choice.absent.startswith("no embedder: lexical recall only (the local embedder needs onnx")


def test_a_local_embedder_whose_weights_are_missing_is_unavailable(tmp_path: Path) -> None:
    with pytest.raises(ModelUnavailable, match=r"there is no model\.safetensors in "):
        choose_embedder(Settings(embedder="local", weights=str(tmp_path / "none")))


def test_weights_to_be_downloaded_need_not_be_there_yet() -> None:
    assert choose_embedder(Settings(embedder="local", weights="hub")).embedder is not None


def test_where_the_weights_are_missing_auto_says_so(tmp_path: Path) -> None:
    choice = choose_embedder(Settings(embedder="auto", weights=str(tmp_path / "none")))
    assert choice.embedder is None
    assert choice.absent.startswith("no embedder: lexical recall only (")


def test_texts_are_analysed_as_questions_are() -> None:
    analysis = analyse("The payment-worker crashed")
    assert tokens_and_terms("The payment-worker crashed") == (analysis.tokens, analysis.terms)
