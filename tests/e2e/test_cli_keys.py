"""Keys from the command line."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest
from driver import Cli

from remembrancer import Remembrancer

TOKEN = re.compile(r"rem_[A-Za-z0-9_-]{43}")
NOBODY = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"


def created(cli: Cli, *arguments: str) -> Any:
    return cli.done("keys", "create", *arguments, "--json").json


def listed(cli: Cli, *arguments: str) -> list[Any]:
    return cli.done("keys", "list", "--json", *arguments).json["keys"]


def test_a_token_is_printed_once_on_its_own_line_with_a_note(cli: Cli) -> None:
    ran = cli.done("keys", "create", "ci")
    assert TOKEN.fullmatch(ran.out.splitlines()[-1])
    assert ran.err.splitlines() == [
        "The token is not shown again: store it where the program that uses it keeps its secrets."
    ]


def test_a_token_is_reported_whole_however_narrow_the_terminal(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "20")
    assert TOKEN.fullmatch(cli.done("keys", "create", "ci").out.splitlines()[-1])


def test_a_new_key_has_the_requested_properties(cli: Cli) -> None:
    made = created(cli, "ci", "--right", "write", "--expires", "90d", "--workspace", "acme")
    assert made.keys() == {"key", "token"}
    key = made["key"]
    assert (key["name"], key["right"], key["workspace"], key["usable"]) == ("ci", "write", "acme", True)
    assert key["expires_at"][:10] > key["created_at"][:10]
    assert listed(cli, "--workspace", "acme") == [key]


def test_the_token_opens_the_workspace_it_was_made_for(cli: Cli, folder: Path) -> None:
    made = created(cli, "ci", "--workspace", "acme")
    with Remembrancer.open(str(folder / "remembrancer.db"), embedder="none") as rem:
        key = rem.keys.find(made["token"])
    assert key is not None
    assert (str(key.id), key.workspace) == (made["key"]["id"], "acme")


def test_list_shows_each_key_with_its_right_its_validity_and_its_id(cli: Cli) -> None:
    assert cli.done("keys", "list", "--db", made_empty(cli)).out == "This workspace has no keys.\n"
    first, second = created(cli, "ci"), created(cli, "ops", "--right", "admin", "--expires", "2w")
    lines = cli.done("keys", "list").out.splitlines()
    assert [line.strip() for line in lines[1::2]] == [second["key"]["id"][-8:], first["key"]["id"][-8:]]
    assert re.fullmatch(r"admin  expires \d{4}-\d\d-\d\d \d\d:\d\d UTC  ops", lines[0])
    assert lines[2] == "read   does not expire  ci"


def made_empty(cli: Cli) -> str:
    cli.done("remember", "something", "--db", "empty.db")
    return "empty.db"


def test_a_workspace_lists_its_own_keys(cli: Cli) -> None:
    created(cli, "ci", "--workspace", "acme")
    assert listed(cli, "--workspace", "rival") == []


def test_a_revoked_key_stays_in_the_list_and_opens_nothing(cli: Cli, folder: Path) -> None:
    made = created(cli, "ci")
    revoked = cli.done("keys", "revoke", made["key"]["id"], "--json").json
    assert revoked == {**made["key"], "usable": False, "revoked_at": revoked["revoked_at"]}
    assert listed(cli) == [revoked]
    assert re.match(r"read   revoked \d{4}-", cli.done("keys", "list").out)
    with Remembrancer.open(str(folder / "remembrancer.db"), embedder="none") as rem:
        assert rem.keys.find(made["token"]) is None


def test_a_key_revoked_twice_was_revoked_the_first_time(cli: Cli) -> None:
    key = created(cli, "ci")["key"]["id"]
    first = cli.done("keys", "revoke", key, "--json").out
    assert cli.done("keys", "revoke", key, "--json").out == first


def test_nothing_but_create_shows_a_token_or_a_digest(cli: Cli) -> None:
    made = created(cli, "ci")
    shown = [
        cli.done(*command, *form)
        for command in (("keys", "list"), ("keys", "revoke", made["key"]["id"]), ("doctor",), ("stats",))
        for form in ((), ("--json",))
    ]
    assert [ran for ran in shown if TOKEN.search(ran.out + ran.err) or "digest" in ran.out] == []


def test_an_export_has_no_key_in_it(cli: Cli, folder: Path) -> None:
    made = created(cli, "ci")
    cli.done("export", "all.jsonl")
    exported = (folder / "all.jsonl").read_text(encoding="utf-8")
    assert made["key"]["id"] not in exported
    assert json.loads(exported.splitlines()[-1]) == {"record": "end", "rows": 0}


@pytest.mark.parametrize("command", [("create",), ("revoke",)])
def test_a_token_given_for_something_else_is_refused_without_being_shown(cli: Cli, command: tuple[str, ...]) -> None:
    token = created(cli, "ci")["token"]
    ran = cli("keys", *command, token)
    assert (ran.code, len(ran.err.splitlines()), token in ran.out + ran.err) == (2, 1, False)


def test_a_name_stays_text(cli: Cli) -> None:
    name = "[red]ci[/red] :bomb: \u202emirrored"
    made = created(cli, name)
    for arguments in (("keys", "list"), ("keys", "revoke", made["key"]["id"])):
        printed = cli.done(*arguments).out
        assert "[red]ci[/red] :bomb: mirrored" in printed
        assert not [character for character in printed if not character.isprintable() and character != "\n"]
    assert listed(cli)[0]["name"] == name


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("create", "ci", "--right", "own"), "right: 'own'"),
        (("create", "ci", "--expires", "soon"), "expires: 'soon'"),
        (("create", "ci", "--expires", "0d"), "expires_in: "),
        (("create", "a\x1b[31m"), "name: "),
        (("create", " "), "name: ' '"),
        (("revoke", "7"), "key_id: '7'"),
        (("revoke", NOBODY), f"no key {NOBODY}"),
    ],
)
def test_invalid_options_are_refused_in_one_line(cli: Cli, arguments: tuple[str, ...], said: str) -> None:
    created(cli, "ci")
    ran = cli("keys", *arguments)
    assert (ran.code, len(ran.err.splitlines()), ran.out) == (2, 1, "")
    assert ran.err.startswith(f"error: {said}")


def test_create_makes_the_file_and_the_others_do_not(cli: Cli, folder: Path) -> None:
    assert [cli("keys", "list").code, cli("keys", "revoke", NOBODY).code] == [3, 3]
    assert list(folder.iterdir()) == []
    created(cli, "ci")
    assert (folder / "remembrancer.db").exists()
