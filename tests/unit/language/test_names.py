from __future__ import annotations

import json
from importlib.resources import files
from typing import Final

import pytest

from remembrancer.language.names import names_in


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("We asked Marta Lindqvist in Lisbon", ("Marta Lindqvist", "Lisbon")),
        ("The invoice is Pexley's, not Ana’s", ("Pexley", "Ana")),
        ("Nothing stands here", ()),
        ("It is on Monday, in March", ()),
        ("she SHOUTED at everybody", ()),
        ("I think I'm late", ()),
        ("see src/app/main.py and slot_holds", ("src/app/main.py", "slot_holds")),
        ("code PX_3071 of #204 to ana@example.org", ("PX_3071", "#204", "ana@example.org")),
        ("a SlotHoldMissing again", ("SlotHoldMissing",)),
        ("14A Larkfield Road is the address", ("Larkfield Road",)),
        ("it was Юрій from Kraków", ("Юрій", "Kraków")),
        ("we saw Ana. Bo came", ("Ana",)),
        ("we saw Ana, then Ana again", ("Ana",)),
        ("支付失败了", ()),
        ("", ()),
    ],
)
def test_a_text_mentions_names(text: str, found: tuple[str, ...]) -> None:
    assert names_in([text]) == [found]


def test_a_capital_at_the_beginning_is_judged_by_the_other_texts() -> None:
    assert names_in(["Pexley is late", "I asked Pexley", "Invoice is late"]) == [("Pexley",), ("Pexley",), ()]


def test_a_word_that_is_mostly_written_small_is_no_name() -> None:
    small = ["the box is full"] * 3
    assert names_in([*small, "on Box 3"])[-1] == ()


WRONG: Final = {"PRs", "Mothering", "Martas", "Park", "Sie", "Fühler", "Verdampfer", "Abstand"}
"""What is found in the demo's history and is no name: pieces of names, plurals, German nouns."""


def test_nine_in_ten_of_the_names_in_the_demos_history_are_names() -> None:
    history = (files("remembrancer") / "demo" / "history.jsonl").read_text(encoding="utf-8")
    turns = [row for row in map(json.loads, history.splitlines()) if row.get("role") in ("user", "assistant")]
    texts = [turn["text"] for turn in turns]
    found = {name for names in names_in(texts) for name in names}
    assert found >= WRONG
    assert (len(found), len(found - WRONG) / len(found) > 0.9) == (113, True)
