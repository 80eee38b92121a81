from __future__ import annotations

import tomllib
from contextlib import suppress
from dataclasses import replace
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.event import Severity
from remembrancer.domain.scope import Level
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.admission import Admission
from remembrancer.policies.admission.encoding import MAX_CHARS, MAX_TURNS, Encoding
from remembrancer.policies.admission.importance import Importance
from remembrancer.policies.forgetting.decay import Curve, Ebbinghaus, Exponential, HalfLife, LinearRamp, PowerLaw
from remembrancer.policies.forgetting.dynamics import Dynamics, Since
from remembrancer.policies.forgetting.reinforcement import Gain, LinearGain, LogarithmicGain, NoGain
from remembrancer.policies.ranking.ranking import COMPARED, MAX_RERANK, MAX_RERANKED, RERANK, Depth, Ranking
from remembrancer.policies.ranking.relevance import RelevanceThreshold
from remembrancer.policies.ranking.scoring import Clamp, Expression, Greatest, Product, Signal, Weighted, signal_names
from remembrancer.policies.ranking.signals import SCALES, STATE_SIGNALS, Scale
from remembrancer.policies.rendering.block import Block
from remembrancer.presets.catalogue import PRESETS
from remembrancer.presets.default import DEFAULT
from remembrancer.presets.spec import Fading, Preset
from remembrancer.presets.text import preset_of, table_of, text_of

fractions = st.floats(min_value=0, max_value=1)
days = st.floats(min_value=0.001, max_value=36_500)
# What a name may be, quotes, backslashes and other alphabets included.
names = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=20).filter(
    lambda name: name == name.strip()
)
slugs = st.from_regex(r"[a-z0-9][a-z0-9_.\-]{0,20}", fullmatch=True)

curves: st.SearchStrategy[Curve] = st.one_of(
    st.builds(LinearRamp, days, fractions),
    st.builds(HalfLife, days, fractions),
    st.builds(Exponential, days),
    st.builds(Ebbinghaus, st.floats(min_value=0.001, max_value=100), st.floats(min_value=0, max_value=100)),
    st.builds(PowerLaw, st.floats(min_value=0.01, max_value=10)),
)
gains: st.SearchStrategy[Gain] = st.one_of(
    st.builds(NoGain), st.builds(LinearGain), st.builds(LogarithmicGain, st.floats(min_value=0.01, max_value=1_000))
)


def expressions(among: list[str]) -> st.SearchStrategy[Expression]:
    def composed(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        several = st.lists(inner, min_size=1, max_size=3).map(tuple)
        halves = st.tuples(inner, fractions).map(lambda term: Weighted(((term[0], term[1]),)))
        return st.one_of(st.builds(Product, several), st.builds(Greatest, several), st.builds(Clamp, inner), halves)

    return st.recursive(st.sampled_from(among).map(Signal), composed, max_leaves=5)


UNITS = [name for name, scale in SCALES.items() if scale is Scale.UNIT and name != RERANK]
scores = expressions(UNITS)
plain_scores = expressions([name for name in UNITS if name not in COMPARED])
strengths = expressions([name for name, signal in STATE_SIGNALS.items() if signal.scale is Scale.UNIT])


def ranking_of(score: Expression, late_interaction: int, **others: Any) -> Ranking:
    """Which compares word by word where its score says so."""
    return Ranking(score=score, late_interaction=late_interaction if COMPARED & signal_names(score) else 0, **others)


rankings = st.builds(
    ranking_of,
    score=scores,
    late_interaction=st.integers(1, MAX_RERANKED),
    rerank=st.integers(0, MAX_RERANK),
    rerank_weight=fractions,
    preference_weight=fractions,
    lexical_only=st.none() | plain_scores,
    first_stage=st.none() | plain_scores,
    depth=st.builds(Depth, least=st.integers(1, 10_000), per_hit=st.integers(1, 100)),
    threshold=st.none()
    | st.builds(
        RelevanceThreshold,
        similarity=st.floats(min_value=0.01, max_value=1),
        coverage=st.floats(min_value=0.01, max_value=1),
    ),
)


@st.composite
def presets(draw: st.DrawFn) -> Preset:
    strength = draw(strengths)
    ranking = draw(rankings)
    if draw(st.booleans()):  # a score that reads the strength
        ranking = replace(ranking, score=Product((Signal("similarity"), strength)), late_interaction=0)
    return replace(
        DEFAULT,
        name=draw(slugs),
        description=draw(names),
        admission=draw(
            st.builds(
                Admission,
                never=st.lists(names, max_size=3).map(tuple),
                from_severity=st.dictionaries(slugs, st.sampled_from(Severity), max_size=3),
                in_states=st.dictionaries(slugs, st.lists(names, max_size=2).map(tuple), max_size=2),
                forced_by=st.none() | names,
            )
        ),
        formation=replace(
            DEFAULT.formation,
            importance=Importance(
                by_type=draw(st.dictionaries(slugs, st.floats(min_value=-1, max_value=1), max_size=3))
            ),
        ),
        ranking=ranking,
        rankings=draw(st.dictionaries(slugs, rankings, max_size=2)),
        dynamics=draw(
            st.builds(
                Dynamics,
                curve=curves,
                since=st.sampled_from(Since),
                gain=gains,
                level_factors=st.dictionaries(st.sampled_from(Level), st.floats(min_value=0.01, max_value=100)),
            )
        ),
        encoding=draw(
            st.builds(
                Encoding,
                heading=st.booleans(),
                turns=st.integers(0, MAX_TURNS),
                chars=st.integers(0, MAX_CHARS),
                token_embeddings=st.booleans(),
            )
        ),
        fading=Fading(strength=strength, below=draw(fractions)),
        renderer=Block(freshness=draw(st.none() | curves)),
    )


@given(presets())
def test_any_preset_reads_as_it_was_printed(preset: Preset) -> None:
    assert preset_of(tomllib.loads(text_of(preset))) == preset


simple = st.none() | st.booleans() | st.integers() | st.floats() | names | st.just([])
anything = st.recursive(simple, lambda inner: st.lists(inner, max_size=2) | st.dictionaries(names, inner, max_size=2))


@given(st.sampled_from(list(PRESETS.values())), st.data())
def test_any_preset_file_is_accepted_or_refused(preset: Preset, data: st.DataObject) -> None:
    table: Any = table_of(preset)
    place = table
    while True:
        key = data.draw(st.sampled_from(sorted(place)))
        if not isinstance(place[key], dict) or not place[key] or data.draw(st.booleans()):
            break
        place = place[key]
    place[key] = data.draw(anything)
    with suppress(InvalidInput):
        assert preset_of(table)
