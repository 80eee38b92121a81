"""Properties of comparing, compressing and merging any texts."""

from __future__ import annotations

import re

from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.memory import Memory
from remembrancer.language.lexical import analyse
from remembrancer.policies.consolidation.aaak import DICTIONARY, compress, expand
from remembrancer.policies.consolidation.clusters import Clusters, clusters_of
from remembrancer.policies.consolidation.compacting import merges_of
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.consolidation.near_duplicates import same_claim
from remembrancer.policies.consolidation.sleeping import Sleep, sleepers
from remembrancer.policies.ranking.diversity import jaccard, words_of
from remembrancer.testing.doubles import NOW, a_memory

WORDS = st.sampled_from(
    "Ana Ben may May not never 3 5 GiB 2GiB port to from and or instead of the production users user prefers Monday"
    " a.py (database), message. don't <b> 端口 не w/ → | U. real-time standard order android".split()
)
texts = st.lists(WORDS, max_size=12).map(" ".join) | st.text(max_size=60)
CODES = frozenset(DICTIONARY.values())


@given(texts)
def test_a_text_agrees_with_itself_on_its_claims(text: str) -> None:
    assert same_claim(text, text)


@given(texts, texts)
def test_two_texts_claim_the_same_or_not_from_either_side(one: str, other: str) -> None:
    assert same_claim(one, other) is same_claim(other, one)


@given(texts, st.integers(10, 10**6), st.integers(10, 10**6))
def test_texts_with_another_number_never_claim_the_same(text: str, one: int, other: int) -> None:
    assert same_claim(f"{text} ; it is {one} now", f"{text} ; it is {other} now") is (one == other)


@given(texts)
def test_compressing_twice_changes_nothing(text: str) -> None:
    assert compress(compress(text)) == compress(text)


@given(texts)
def test_a_compressed_text_can_be_expanded_again(text: str) -> None:
    normal = " ".join(text.split())
    held = any(re.search(rf"(?<!\S)[(\[]?{re.escape(code)}", normal) for code in CODES)
    assert held or expand(compress(text)) == normal


@given(texts)
def test_a_word_that_is_not_substituted_survives_whole(text: str) -> None:
    phrases = frozenset(word for phrase in DICTIONARY for word in phrase.split())
    kept = [word for word in text.split() if word.isalnum() and word not in phrases | CODES]
    assert [word for word in compress(text).split() if word in kept] == kept


@given(st.lists(texts, max_size=12), st.sampled_from([0.2, 0.5, 0.8]))
def test_every_two_of_a_cluster_are_alike_and_claim_the_same(several: list[str], threshold: float) -> None:
    for group in clusters_of(several, Clusters(threshold=threshold, least=2)):
        for one in group:
            for other in group:
                mine, theirs = (frozenset(analyse(several[place]).terms) for place in (one, other))
                assert jaccard(mine, theirs) >= threshold
                assert same_claim(several[one], several[other])


@given(st.lists(texts, max_size=12))
def test_no_text_is_in_two_clusters(several: list[str]) -> None:
    found = [place for group in clusters_of(several, Clusters(least=2)) for place in group]
    assert len(found) == len(set(found))


def memories(several: list[str]) -> list[Memory]:
    return [a_memory(text or "?", at=NOW) for text in dict.fromkeys(several)]


@given(st.lists(texts, max_size=12))
def test_merged_texts_have_equal_claims_and_nearly_equal_words(several: list[str]) -> None:
    rule = Compaction(tiers=tuple({memory.tier for memory in memories(several)}))
    for merge in merges_of(memories(several), rule):
        for gone in merge.gone:
            assert same_claim(gone.text, merge.kept.text)
            assert jaccard(words_of(gone.text), words_of(merge.kept.text)) > rule.above


@given(st.lists(texts, max_size=12), st.integers(1, 5))
def test_every_row_sleeps_once(several: list[str], most: int) -> None:
    rows = memories(several)
    groups = sleepers(rows, Sleep(most=most))
    assert sorted((row for group in groups for row in group), key=rows.index) == rows
    assert all(1 <= len(group) <= most for group in groups)
