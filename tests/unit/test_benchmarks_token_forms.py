"""The forms of benchmarks/token_forms.py, over a data set of a few turns."""

from __future__ import annotations

import asyncio
from pathlib import Path

import numpy as np
import pytest
from benchmarks.token_forms import EVERY, FORMS, Measured, QuestionsKept, measured, sheets

from remembrancer.evaluation import locomo
from remembrancer.policies.ranking.late_interaction import LONG
from remembrancer.testing.doubles import WordHashEmbedder

TINY = Path(__file__).parents[1] / "fixtures" / "locomo" / "tiny.json"
WORDS = ("The", "heron", ",", "it", "nested", ".")


def tokens_stored(form: str, words: tuple[str, ...]) -> int:
    vectors = np.random.default_rng(1).normal(size=(len(words), 16)).astype(np.float32)
    return len(FORMS[form](vectors, words))


@pytest.mark.parametrize(
    ("form", "stored"),
    [
        (EVERY, 6),
        ("no punctuation", 4),
        ("no punctuation, no grammatical words", 2),
        ("words with a term", 2),
        (f"no punctuation, no grammatical words, above {LONG} tokens", 6),
    ],
)
def test_a_form_stores_the_tokens_that_its_title_says(form: str, stored: int) -> None:
    assert tokens_stored(form, WORDS) == stored


def test_a_form_for_long_texts_shortens_these() -> None:
    form = f"no punctuation, no grammatical words, above {LONG} tokens"
    assert tokens_stored(form, WORDS * LONG) == 2 * LONG


def test_forms_are_compared_with_storing_every_token(tmp_path: Path) -> None:
    async def made() -> dict[str, dict[str, Measured]]:
        embedder = QuestionsKept(WordHashEmbedder(), tmp_path / "kept.pickle")
        wanted = (EVERY, "words with a term")
        return {form: await measured(locomo.load(TINY), embedder, FORMS[form]) for form in wanted}

    every, fewer = sheets(asyncio.run(made()))
    place = every.columns.index("bytes a turn")
    assert [row[0] for row in fewer.rows][-1] == "mean of the sets"
    for (_, before), (_, after) in zip(every.rows, fewer.rows, strict=True):
        assert float(after[place].replace(",", "")) < float(before[place].replace(",", ""))
