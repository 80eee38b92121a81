"""`erase` and `erasures` from a shell."""

from __future__ import annotations

from pathlib import Path

import pytest
from driver import Cli, Ran
from rich.console import Console

from remembrancer.interfaces.cli import erase as commands
from remembrancer.interfaces.cli.invocation import Invocation


@pytest.fixture
def talk(cli: Cli) -> Cli:
    """Two sessions of one turn each."""
    cli.done("observe", "The PIN is xyzzy", "--session", "monday")
    cli.done("observe", "There is cake", "--session", "tuesday")
    return cli


def texts(cli: Cli) -> list[str]:
    return [one["text"] for one in cli.done("journal", "list", "--json").json["events"]]


def test_a_session_is_erased_and_the_receipt_printed(talk: Cli) -> None:
    ran = talk.done("erase", "--in-session", "monday", "--yes")
    assert "Erased by AGENT" in ran.out
    assert "session monday" in ran.out
    assert "The database's files were purged on" in ran.out
    assert texts(talk) == ["There is cake"]


def test_a_receipt_as_json_is_whole(talk: Cli) -> None:
    told = talk.done("erase", "--in-session", "monday", "--yes", "--json").json
    assert (told["counts"]["events"], len(told["memories"]), told["asked"]["session"]) == (1, 1, "monday")
    assert (told["dry_run"], told["purged_at"] is None) == (False, False)


def test_a_dry_run_erases_nothing(talk: Cli) -> None:
    assert "This would be erased:" in talk.done("erase", "--in-session", "monday", "--dry-run").out
    assert len(texts(talk)) == 2
    assert talk.done("erasures", "--json").json == {"erasures": []}


def test_memories_and_entries_are_erased_by_their_ids(talk: Cli) -> None:
    [pin] = [one["id"] for one in talk.done("recent", "--json").json["memories"] if "PIN" in one["text"]]
    [cake] = [one["id"] for one in talk.done("journal", "list", "--json").json["events"] if "cake" in one["text"]]
    talk.done("erase", pin, "--yes")
    talk.done("erase", "--event", cake, "--yes")
    assert texts(talk) == []


def test_only_older_memories_are_erased(talk: Cli) -> None:
    talk.done("observe", "Last year", "--session", "monday", "--at", "2020-01-01")
    talk.done("erase", "--in-session", "monday", "--before", "2021-01-01", "--yes")
    assert set(texts(talk)) == {"The PIN is xyzzy", "There is cake"}


def test_nothing_is_erased_where_there_is_nobody_to_ask(talk: Cli) -> None:
    ran = talk("erase", "--in-session", "monday")
    assert (ran.code, "--yes" in ran.err, len(texts(talk))) == (2, True, 2)


def test_an_empty_selection_is_refused(talk: Cli) -> None:
    ran = talk("erase", "--yes")
    assert (ran.code, "what to erase" in ran.err, len(texts(talk))) == (2, True, 2)


def test_an_empty_match_asks_for_no_confirmation(talk: Cli) -> None:
    assert "Nothing matches." in talk.done("erase", "--in-session", "friday").out


def test_a_file_that_is_not_there_is_not_made(cli: Cli, folder: Path) -> None:
    assert (cli("erase", "--in-session", "monday", "--yes").code, list(folder.iterdir())) == (3, [])


def test_receipts_are_listed_newest_first(talk: Cli) -> None:
    assert "Nothing was erased." in talk.done("erasures").out
    talk.done("erase", "--in-session", "monday", "--yes")
    talk.done("erase", "--in-session", "tuesday", "--yes")
    told = talk.done("erasures", "--json").json["erasures"]
    assert [one["asked"]["session"] for one in told] == ["tuesday", "monday"]
    lines = talk.done("erasures").out
    assert lines.index("session tuesday: 1 memory, 1 event") < lines.index("session monday")
    assert len(talk.done("erasures", "-n", "1", "--json").json["erasures"]) == 1


def _always(_call: Invocation) -> bool:
    return True


@pytest.mark.parametrize(("said", "left", "code"), [("y\n", 1, 0), ("n\n", 2, 130), ("", 2, 130)])
def test_on_a_terminal_it_shows_the_selection_and_asks_for_confirmation(
    talk: Cli, monkeypatch: pytest.MonkeyPatch, said: str, left: int, code: int
) -> None:
    monkeypatch.setattr(Invocation, "err", Console(stderr=True, force_terminal=True))
    monkeypatch.setattr(commands, "has_somebody_to_ask", _always)
    ran: Ran = talk("erase", "--in-session", "monday", stdin=said.encode())
    assert ran.code == code
    assert "This would be erased:" in ran.err
    assert len(texts(talk)) == left
