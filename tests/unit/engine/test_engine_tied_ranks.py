"""Ranks in an explanation are those used by the score, ties included."""

from __future__ import annotations

from datetime import timedelta

import pytest

from remembrancer import Remembrancer, Settings
from remembrancer.domain.recall import Part
from remembrancer.testing.doubles import FixedClock, HashEmbedder

K = 60


def leaves(part: Part) -> list[Part]:
    return [part] if not part.parts else [leaf for inner in part.parts for leaf in leaves(inner)]


@pytest.mark.parametrize(("preset", "ranking"), [("crewship", "hybrid"), ("plastmem", None)])
@pytest.mark.parametrize("embedder", ["none", HashEmbedder()])
def test_the_explained_rank_of_each_leg_is_the_one_that_was_scored(
    preset: str, ranking: str | None, embedder: HashEmbedder | str
) -> None:
    clock = FixedClock()
    quiet = Settings(db=":memory:", workspace="acme", agent="ana", background_index=False)
    with Remembrancer.open(preset=preset, embedder=embedder, settings=quiet, clock=clock) as rem:
        for day in "Monday", "Tuesday", "Friday":
            rem.remember(f"deploy on {day}")
            clock.advance(timedelta(hours=1))
        rem.remember("deploy deploy deploy")
        rem.jobs.index_now()
        found = rem.recall("deploy", ranking=ranking)
        legs = ("dense", "lexical") if embedder != "none" else ("lexical",)
        assert len(found) == 4
        for hit in found:
            scored = {leaf.label: leaf for leaf in leaves(hit.explanation.score)}
            for leg in legs:
                share = scored[f"{leg}_leg"].contribution
                assert share > 0
                expected = (K + 1) / (K + hit.explanation.ranks[leg]) / _rankings(preset, ranking, embedder)
                assert share == pytest.approx(expected, rel=1e-6)


def _rankings(preset: str, ranking: str | None, embedder: object) -> int:
    """The number of rankings that the score fuses."""
    return 1 if preset == "crewship" and embedder == "none" else 2
