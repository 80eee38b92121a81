"""Memories to try the originals' defects on: real SQLite in memory, meaning without a model, time at a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

from remembrancer import Remembrancer, Settings
from remembrancer.ports.embedder import Embedder
from remembrancer.presets.catalogue import PRESETS
from remembrancer.testing.doubles import FixedClock, HashEmbedder

Opener = Callable[..., Remembrancer]


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def open_memory(clock: FixedClock) -> Iterator[Opener]:
    """Opens memories without background indexing; they are closed after the test."""
    with ExitStack() as stack:

        def opened(
            preset: str, *, embedder: Embedder | str | None = None, db: str = ":memory:", workspace: str = "acme"
        ) -> Remembrancer:
            quiet = Settings(db=db, workspace=workspace, crew="platform", agent="ana", background_index=False)
            return stack.enter_context(
                Remembrancer.open(preset=preset, embedder=embedder or HashEmbedder(), settings=quiet, clock=clock)
            )

        yield opened


@pytest.fixture(params=list(PRESETS))
def preset(request: pytest.FixtureRequest) -> str:
    return request.param


@pytest.fixture
def rem(open_memory: Opener, preset: str) -> Remembrancer:
    """A memory under each preset in turn."""
    return open_memory(preset)


@pytest.fixture
def wordy(open_memory: Opener, preset: str) -> Remembrancer:
    """A memory under each preset in turn, without an embedder."""
    return open_memory(preset, embedder="none")
