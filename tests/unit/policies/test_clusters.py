from __future__ import annotations

import time
from fractions import Fraction

import pytest
from golden_tables import cells, every_row, table

from remembrancer.errors import InvalidInput
from remembrancer.policies.consolidation.clusters import Clusters, central, clusters_of


@every_row(table("clusters"), cells)
def test_clusters_are_as_worked_out_from_every_pair(row: dict[str, str]) -> None:
    rule = Clusters(threshold=float(Fraction(row["threshold"])), least=int(row["least"]), most=int(row["most"]))
    texts = row["texts"].split(" | ") if row["texts"] else []
    assert " ".join("+".join(map(str, group)) for group in clusters_of(texts, rule)) == row["expected"]


def test_dissimilar_memories_are_never_in_one_cluster() -> None:
    texts = ["the deploy failed"] * 4
    assert clusters_of(texts, Clusters(least=2), apart=["a", "b", "a", "b"]) == ((0, 2), (1, 3))


def test_the_most_central_text_is_the_one_most_like_the_others() -> None:
    assert central(["alpha bravo", "alpha bravo charlie", "charlie delta"]) == 1


def test_of_equally_central_texts_the_longest_counts() -> None:
    assert central(["deploy failed", "the deploy has failed", "deploy failed!"]) == 1


@pytest.mark.parametrize(
    "text",
    [
        "job {n} of the nightly import ended well",
        "the import of file_{n}.csv into the warehouse ended well",
        "the word of this line is w{n}x and nothing else is new in it",
        "alpha{n} bravo{n} charlie{n} delta{n} of the same kind",
        "Person{l} joined the team of the platform",
        "a note about {l} with the same words as all the others here",
    ],
)
def test_thousands_of_texts_of_one_pattern_are_clustered_in_seconds(text: str) -> None:
    letters = str.maketrans("0123456789", "abcdefghij")
    texts = [text.format(n=n, l=str(n).translate(letters)) for n in range(4_000)]
    start = time.process_time()
    clusters_of(texts, Clusters())
    assert time.process_time() - start < 15


@pytest.mark.parametrize(
    ("choices", "argument"),
    [
        ({"threshold": 0.0}, "clusters.threshold"),
        ({"least": 1}, "clusters.least"),
        ({"least": 9, "most": 8}, "clusters.most"),
        ({"summary_chars": 3}, "clusters.summary_chars"),
    ],
)
def test_clusters_out_of_range_are_refused(choices: dict[str, float], argument: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        Clusters(**choices)  # type: ignore[arg-type]
    assert caught.value.argument == argument
