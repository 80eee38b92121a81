from __future__ import annotations

import time

import pytest
from golden_tables import cells, every_row, table

from remembrancer.policies.consolidation.near_duplicates import claim_of, same_claim


@every_row(table("same_claim"), cells)
def test_changed_claims_are_recognised_as_different(row: dict[str, str]) -> None:
    assert claim_of(row["one"]).difference(claim_of(row["other"])) == row["difference"]


@every_row(table("same_claim"), cells)
def test_the_order_of_two_texts_does_not_matter(row: dict[str, str]) -> None:
    assert same_claim(row["one"], row["other"]) is same_claim(row["other"], row["one"]) is (not row["difference"])


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Checkout needs 2 GiB", "The checkout needs 2 GiB"),
        ("Always run migrations before deploying", "Run the migrations before you deploy"),
        ("The staging database runs on PostgreSQL", "PostgreSQL is the database of staging"),
        ("User prefers dark mode", "user prefers a dark mode"),
        ("Deploy on Friday at 5 pm", "deploy on Fri. at 5pm"),
        ("The port is 8080.", "the port is 8080"),
    ],
)
def test_the_same_in_other_words_is_the_same_claim(one: str, other: str) -> None:
    assert same_claim(one, other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("It runs in production", "It runs in staging"),
        ("Keep the cache on", "Keep the cache off"),
        ("Ana was born in June", "Ana was born in July"),
        ("Backups run before the deploy", "Backups run after the deploy"),
        ("It works with Redis", "It works without Redis"),
        ("gpt-5-mini writes titles", "gpt-5 writes titles"),
        ("Only Ana may deploy", "Ana may deploy"),
        ("The invoice is $5", "The invoice is €5"),
        ("Use --fast for it", "Use --slow for it"),
        ("Sprint forty ends", "Sprint fifty ends"),
        ("a depends on C++ here", "a depends on C here"),
        ("We met yesterday", "We met today"),
        ("A half of it is done", "A third of it is done"),
    ],
)
def test_one_other_word_that_counts_makes_another_claim(one: str, other: str) -> None:
    assert not same_claim(one, other)


@pytest.mark.parametrize("text", ["not " * 16_000, "Ana " * 16_000, "1 " * 30_000, "May " * 16_000, '"' * 60_000])
def test_a_text_of_the_greatest_length_is_read_in_a_moment(text: str) -> None:
    start = time.process_time()
    claim_of(text)
    assert time.process_time() - start < 3
