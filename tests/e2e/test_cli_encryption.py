"""The commands that encrypt a store, against the functions that they call."""

from __future__ import annotations

import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest
from driver import Cli

from remembrancer import change_encryption, encryption_status

OLD, NEW = "00112233445566778899aabbccddeeff" * 2, "ffeeddccbbaa99887766554433221100" * 2


@pytest.fixture
def stores(cli: Cli, folder: Path) -> tuple[Path, Path]:
    """Two equal stores: one for the commands, one for Python."""
    cli.done("remember", "the canary sang")
    for name in ("old.key", "new.key"):
        (folder / name).write_text(f"{OLD if name == 'old.key' else NEW}\n", encoding="ascii")
    copy = folder / "python.db"
    copy.write_bytes((folder / "remembrancer.db").read_bytes())
    return folder / "remembrancer.db", copy


def test_encrypting_a_store_is_the_same_on_the_command_line_and_in_python(cli: Cli, stores: tuple[Path, Path]) -> None:
    _, copy = stores
    old_file, new_file = ("--encryption-key-file", "old.key"), ("--encryption-key-file", "new.key")
    steps: list[tuple[tuple[str, ...], Callable[[], Any]]] = [
        (("enable", *old_file), lambda: change_encryption(str(copy), old=None, new=OLD)),
        (("rotate", *old_file, "--new-key-file", "new.key"), lambda: change_encryption(str(copy), old=OLD, new=NEW)),
        (("status",), lambda: encryption_status(str(copy))),
        (("disable", *new_file), lambda: change_encryption(str(copy), old=NEW, new=None)),
    ]
    for command, function in steps:
        told, made = cli.done("encryption", *command, "--json").json, function()
        assert {**told, "path": ""} == {**{name: _plain(getattr(made, name)) for name in told}, "path": ""}
    assert "the canary sang" in cli.done("recall", "canary").out


def _plain(value: object) -> object:
    return list(cast("tuple[str, ...]", value)) if isinstance(value, tuple) else value


def test_an_encrypted_store_is_used_by_every_command_that_has_the_key(cli: Cli, stores: tuple[Path, Path]) -> None:
    key = ("--encryption-key-command", "cat old.key")
    cli.done("encryption", "enable", *key)
    assert "the canary sang" in cli.done("recall", "canary", *key).out
    assert "every page is encrypted" in cli.done("doctor", *key).out
    cli.done("backup", "backup.db", *key)
    cli.done("restore", "backup.db", "--db", "restored.db", *key)
    cli.done("migrate", "restored.db", "moved.db", *key)
    assert cli.done("encryption", "status", "--db", "moved.db", "--json").json["cipher"] == "ChaCha20-Poly1305"
    refused = cli("recall", "canary")
    assert "is encrypted, and no key is set" in refused.err


def test_a_new_key_is_a_file_that_only_its_owner_can_read(cli: Cli, folder: Path) -> None:
    assert cli.done("encryption", "new-key", "made.key", "--json").json == {"path": "made.key"}
    made = folder / "made.key"
    assert stat.S_IMODE(made.stat().st_mode) == 0o600
    assert len(bytes.fromhex(made.read_text(encoding="ascii"))) == 32
    again = cli("encryption", "new-key", "made.key")
    assert "a file that does not exist yet" in again.err


@pytest.mark.parametrize("command", ["enable", "disable", "rotate --new-key-file new.key"])
def test_a_command_without_a_key_says_how_to_give_one(cli: Cli, stores: tuple[Path, Path], command: str) -> None:
    refused = cli("encryption", *command.split())
    assert "--encryption-key-file, --encryption-key-command, or REMEMBRANCER_ENCRYPTION_KEY" in refused.err
