"""Variants of the `default` preset for benchmarks/quality.py: with a part left out, and simple
rankings as baselines.
"""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from dataclasses import dataclass, replace
from typing import Final

from remembrancer.policies.admission.encoding import Encoding
from remembrancer.policies.ranking.ranking import COMPARED, CONTEXT_SIGNALS, Ranking
from remembrancer.policies.ranking.relevance import RelevanceThreshold
from remembrancer.policies.ranking.scoring import Expression, Rrf, Signal, Weighted, signal_names
from remembrancer.presets.default import DEFAULT, STATE
from remembrancer.presets.spec import Preset

STATES: Final = frozenset(name for expression, _ in STATE for name in signal_names(expression))
"""Signals of a memory's state, independent of the question. They are left out together, because each alone has little
effect.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """One way to rank. `label`: the name of its row; its preset's name is unique. `embedder`: whether it uses one."""

    label: str
    preset: Preset
    embedder: bool = True

    @property
    def name(self) -> str:
        return self.preset.name


FULL: Final = Variant(label="full default", preset=replace(DEFAULT, name="full"))
NO_CONTEXT: Final[Encoding] = replace(DEFAULT.encoding, turns=0)


def left_out() -> tuple[Variant, ...]:
    """The full preset without one signal each, with all other weights unchanged, in the order of its score."""
    score = _terms(DEFAULT.ranking.score)
    single = [name for name, _ in score if name not in STATES]
    return (
        *(_without(f"without {name}", f"without-{name}", {name}) for name in single),
        _without("without importance, confidence, retention", "without-states", STATES),
    )


def left_out_together() -> tuple[Variant, ...]:
    """Several signals left out at once, and parts that are not signals."""
    ranking = DEFAULT.ranking
    assert ranking.first_stage is not None, "the default preset has weights for embedders without token embeddings"
    first_stage = replace(
        ranking, score=ranking.first_stage, first_stage=None, late_interaction=0, threshold=_first_stage_threshold()
    )
    return (
        _without("without late interaction", "without-late-interaction", COMPARED),
        Variant(label="without late interaction, weights of `first_stage`", preset=_ranked("first_stage", first_stage)),
        _without("without context features", "without-context-features", CONTEXT_SIGNALS),
        _without("without context features and late interaction", "without-both", CONTEXT_SIGNALS | COMPARED),
        Variant(
            label="without near-equals put together",
            preset=_ranked("without-near-equals", replace(ranking, near_equals=False)),
        ),
        Variant(label="without the threshold", preset=_ranked("without-threshold", replace(ranking, threshold=None))),
        Variant(
            label="without context at encoding",
            preset=replace(DEFAULT, name="without-context", encoding=NO_CONTEXT),
        ),
        Variant(label="lexical-only (no embedder)", preset=replace(DEFAULT, name="lexical-only"), embedder=False),
    )


def single_searches() -> tuple[Variant, ...]:
    """One search only, without a relevance threshold. A combined ranking should beat the better one."""
    return (
        Variant(label="cosine similarity only", preset=_ranked("similarity", Ranking(score=Signal("similarity")))),
        Variant(label="BM25 only", preset=_ranked("bm25", Ranking(score=Signal("lexical"))), embedder=False),
    )


def simple() -> tuple[Variant, ...]:
    """The single searches, and their usual combination."""
    both = Rrf((Signal("dense_leg"), Signal("lexical_leg")))
    alone = Ranking(score=Signal("similarity"))
    return (
        *single_searches(),
        Variant(
            label="cosine similarity only, without context at encoding",
            preset=replace(DEFAULT, name="similarity-without-context", ranking=alone, encoding=NO_CONTEXT),
        ),
        Variant(label="RRF of cosine similarity and BM25", preset=_ranked("rrf", Ranking(score=both))),
    )


def _without(label: str, name: str, signals: AbstractSet[str]) -> Variant:
    ranking = DEFAULT.ranking
    assert ranking.first_stage is not None
    assert ranking.lexical_only is not None
    late_interaction = 0 if set(signals) >= COMPARED else ranking.late_interaction
    less = replace(
        ranking,
        score=_less(ranking.score, signals),
        first_stage=_less(ranking.first_stage, signals) if late_interaction else None,
        lexical_only=_less(ranking.lexical_only, signals),
        late_interaction=late_interaction,
        threshold=ranking.threshold if late_interaction else _first_stage_threshold(),
    )
    return Variant(label=label, preset=_ranked(name, less))


def _first_stage_threshold() -> RelevanceThreshold:
    """The threshold for a ranking without late interaction: it applies to the score what the full preset applies to
    `first_stage`.
    """
    threshold = DEFAULT.ranking.threshold
    assert threshold is not None
    return replace(threshold, evidence=threshold.evidence_first_stage, evidence_first_stage=0.0)


def _less(expression: Expression, signals: AbstractSet[str]) -> Weighted:
    """The weighted sum without some signals, which equals setting their weights to 0."""
    return Weighted(tuple((Signal(name), weight) for name, weight in _terms(expression) if name not in signals))


def _terms(expression: Expression) -> list[tuple[str, float]]:
    """The signals of a weighted sum, with their weights."""
    assert isinstance(expression, Weighted), "the default preset scores by a weighted sum"
    terms: list[tuple[str, float]] = []
    for term, weight in expression.terms:
        assert isinstance(term, Signal), "the terms of the default preset's sum are signals"
        terms.append((term.name, weight))
    return terms


def _ranked(name: str, ranking: Ranking) -> Preset:
    return replace(DEFAULT, name=name, ranking=ranking)
