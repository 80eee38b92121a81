from __future__ import annotations

import json

from driver import Cli


def test_a_kept_answer_is_printed_again_after_its_memory_changed(cli: Cli) -> None:
    told = json.loads(cli.done("remember", "Jackets can be returned within 14 days", "--json").out)
    answer = json.loads(cli.done("recall", "how long can a jacket be returned?", "--keep", "--render", "--json").out)
    cli.done("update", told["id"], "--text", "Jackets can be returned within 30 days")
    again = json.loads(cli.done("replay", answer["recall_id"], "--render", "--json").out)
    assert "14 days" in again["rendered"]
    assert [again[name] for name in ("hits", "rendered", "query")] == [
        answer[name] for name in ("hits", "rendered", "query")
    ]


def test_the_id_of_a_kept_answer_is_printed(cli: Cli) -> None:
    cli.done("remember", "Jackets can be returned within 14 days")
    kept = cli.done("recall", "jackets", "--keep").err
    assert "14 days" in cli.done("replay", kept.split()[-1]).out


def test_an_unknown_answer_is_an_error(cli: Cli) -> None:
    assert cli("replay", "00000000-0000-0000-0000-000000000001").code != 0
