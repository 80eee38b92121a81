from __future__ import annotations

import pytest
from driver import Cli


@pytest.fixture
def memory_id(cli: Cli) -> str:
    return cli.done("remember", "Checkout needs 2 GiB", "--title", "Size", "--tag", "a", "--json").json["id"]


def test_update_changes_only_the_given_fields(cli: Cli, memory_id: str) -> None:
    changed = cli.done("update", memory_id, "--text", "Checkout needs 3 GiB", "--priority", "7", "--json").json
    assert (changed["text"], changed["title"], changed["tags"]) == ("Checkout needs 3 GiB", "Size", ["a"])
    assert (changed["strength"]["priority"], changed["revision"]) == (7, 2)
    shown = cli.done("show", memory_id, "--json").json
    assert [revision["text"] for revision in shown["revisions"]] == ["Checkout needs 2 GiB"]


def test_update_takes_every_option(cli: Cli, memory_id: str) -> None:
    changed = cli.done(
        *("update", memory_id, "--title", "Memory", "--kind", "fact", "--source", "runbook", "--importance", "0.75"),
        *("--tag", "b", "--tag", "c", "--metadata", '{"host": "db-1"}', "--valid-from", "2026-03-01"),
        *("--valid-until", "2030-01-01", "--visibility", "own", "--revision", "1", "--no-index", "--json"),
    ).json
    assert (changed["title"], changed["kind"], changed["source"]) == ("Memory", "fact", "runbook")
    assert (changed["tags"], changed["metadata"], changed["visibility"]) == (["b", "c"], {"host": "db-1"}, "own")
    assert (changed["valid_from"], changed["valid_until"]) == ("2026-03-01T00:00:00Z", "2030-01-01T00:00:00Z")
    assert changed["strength"]["importance"] == 0.75


def test_clear_takes_away(cli: Cli, memory_id: str) -> None:
    changed = cli.done("update", memory_id, "--clear", "title", "--clear", "tags", "--json").json
    assert (changed["title"], changed["tags"]) == (None, [])


def test_an_older_revision_changes_nothing(cli: Cli, memory_id: str) -> None:
    cli.done("update", memory_id, "--text", "Checkout needs 3 GiB")
    refused = cli("update", memory_id, "--text", "Checkout needs 4 GiB", "--revision", "1")
    assert (refused.code, "is at revision 2, not 1" in refused.err) == (2, True)
    assert cli.done("show", memory_id, "--json").json["memory"]["text"] == "Checkout needs 3 GiB"


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ((), "changes"),
        (("--clear", "text"), "--clear"),
        (("--clear", "title", "--title", "Size"), "--clear"),
        (("--metadata", "{"), "metadata"),
        (("--importance", "2"), "importance"),
    ],
)
def test_invalid_values_are_refused_by_argument(cli: Cli, memory_id: str, options: tuple[str, ...], told: str) -> None:
    refused = cli("update", memory_id, *options)
    assert (refused.code, told in refused.err) == (2, True)
