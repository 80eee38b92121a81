"""Commands for the encryption of a store's file: status, new-key, enable, rotate, disable."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from pathlib import Path
from typing import Annotated

from rich.text import Text

from remembrancer.compose import change_encryption, encryption_status
from remembrancer.config import KEY_SOURCES, Settings, encryption_secret
from remembrancer.errors import InvalidInput, StoreUnavailable, unwritable
from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.text import counted, one_line, size
from remembrancer.interfaces.wire.files import EncryptionOut, KeyFileOut, RekeyedOut

_NO_KEY = "a key: --encryption-key-file, --encryption-key-command, or REMEMBRANCER_ENCRYPTION_KEY"


def status(call: Invocation) -> None:
    """Say whether the store's file is encrypted.

    Needs no key. Also lists copies beside the file that are not encrypted.

    Example: remembrancer encryption status --db memory.db
    """
    call.answer(EncryptionOut.of(encryption_status(call.settings.db)), _told)


def new_key(call: Invocation, *, file: Annotated[Path, "FILE", "The file to write; it must not exist."]) -> None:
    """Write a new random key to a file that only you can read.

    Whoever has this file can read the store; without it, nobody can. Keep a copy of it away from the store and its
    backups.

    Example: remembrancer encryption new-key ~/memory.key
    """
    try:
        descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise InvalidInput("file", str(file), "a file that does not exist yet") from None
    except OSError as error:
        raise StoreUnavailable(f"{file}: {unwritable(error)}") from error
    with os.fdopen(descriptor, "w", encoding="ascii") as opened:
        opened.write(f"{secrets.token_hex(32)}\n")
        opened.flush()
        os.fsync(opened.fileno())
    wrote = f"Wrote a new key to {one_line(str(file))}. Keep a copy of it away from the store."
    call.answer(KeyFileOut(path=str(file)), lambda _: [Text(wrote)])


def enable(call: Invocation) -> None:
    """Encrypt a store that is not encrypted.

    Stop every process that has it open. The file is written anew with the key of the settings; if that is interrupted,
    the old file is still whole. Backups, exports and other copies stay as they are: delete them.

    Example: remembrancer encryption enable --db memory.db --encryption-key-file ~/memory.key
    """
    _change(call, old=None, new=_secret(call.settings))


def rotate(
    call: Invocation,
    *,
    new_key_file: Annotated[str | None, "FILE", "A file with the new key."] = None,
    new_key_command: Annotated[str | None, "COMMAND", "A command that prints the new key."] = None,
) -> None:
    """Encrypt a store with another key.

    Stop every process that has it open. The present key is the one of the settings. Backups keep the old key: keep it
    as long as you keep them.

    Example: remembrancer encryption rotate --encryption-key-file ~/memory.key --new-key-file ~/new.key
    """
    settings = replace(call.settings, **dict.fromkeys(KEY_SOURCES))
    settings = replace(settings, encryption_key_file=new_key_file, encryption_key_command=new_key_command)
    new = encryption_secret(settings)
    if new is None:
        raise InvalidInput("new-key-file", None, "--new-key-file or --new-key-command")
    _change(call, old=_secret(call.settings), new=new)


def disable(call: Invocation) -> None:
    """Decrypt a store.

    Stop every process that has it open. Afterwards, open it without a key.

    Example: remembrancer encryption disable --db memory.db --encryption-key-file ~/memory.key
    """
    _change(call, old=_secret(call.settings), new=None)


def _secret(settings: Settings) -> str:
    secret = encryption_secret(settings)
    if secret is None:
        raise InvalidInput("encryption-key-file", None, _NO_KEY)
    return secret


def _change(call: Invocation, *, old: str | None, new: str | None) -> None:
    done = RekeyedOut.of(change_encryption(call.settings.db, old=old, new=new))
    call.answer(done, _rekeyed)


def _rekeyed(answer: RekeyedOut) -> Renderables:
    yield Text(f"Wrote {counted(answer.rows, 'row')} ({size(answer.bytes)}) anew, and checked them.")
    yield from _told(answer)


def _told(answer: EncryptionOut) -> Renderables:
    how = f"encrypted ({answer.cipher})" if answer.cipher is not None else "not encrypted"
    yield Text(f"{one_line(answer.path)}: {how}")
    for name in answer.plain_copies:
        yield Text(f"{one_line(name)}, a copy beside it, is not encrypted", style="bold yellow")
