from __future__ import annotations

from collections.abc import Iterator

import pytest

from remembrancer import Remembrancer, Settings
from remembrancer.testing.doubles import FixedClock, HashEmbedder

QUIET = Settings(db=":memory:", workspace="acme", background_index=False)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def rem(clock: FixedClock) -> Iterator[Remembrancer]:
    """A memory over real SQLite without background indexing."""
    with Remembrancer.open(embedder=HashEmbedder(), settings=QUIET, clock=clock) as opened:
        yield opened


@pytest.fixture
def wordy(clock: FixedClock) -> Iterator[Remembrancer]:
    """A memory without an embedder."""
    with Remembrancer.open(embedder="none", settings=QUIET, clock=clock) as opened:
        yield opened
