"""Commands for API keys, with which programs access a server: create, list, revoke."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from remembrancer.interfaces.cli import keys_pages
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.times import LENGTHS


def create(
    call: Invocation,
    *,
    name: Annotated[str, "NAME", "The name of the key."],
    right: Annotated[str, "read, write (includes read) or admin (includes all)."] = "read",
    expires: Annotated[timedelta | None, f"The key expires after this time: {LENGTHS}."] = None,
) -> None:
    """Create a key to the workspace.

    Prints its token, with which a program accesses this workspace through `serve`. The token is shown only once: only
    its SHA-256 is kept.

    Example: remembrancer keys create ci --right write --expires 90d
    """
    from remembrancer.interfaces.wire.keys import NewKeyOut

    with call.opened(create=True) as memory:
        made = memory.keys.create(name, right, expires)
    call.answer(NewKeyOut.of(made, now=call.now), keys_pages.made)
    if not call.as_json:
        call.write(made.token)
    call.note("The token is not shown again: put it where the program that uses it keeps its secrets.")


def list_(call: Invocation) -> None:
    """List the keys to the workspace.

    Newest first, each with its right, its expiry and its id, including expired and revoked keys. Tokens are not kept,
    so none is shown.

    Example: remembrancer keys list --json
    """
    from remembrancer.interfaces.wire.keys import KeysOut

    call.tell(lambda memory: KeysOut.of(memory.keys.list(), now=call.now), keys_pages.listed)


def revoke(
    call: Invocation,
    *,
    key_id: Annotated[str, "ID", "A key's id, as `keys list` prints it."],
) -> None:
    """Revoke a key.

    It is refused from its next request on, for good. It stays in the list; revoking it again changes nothing.

    Example: remembrancer keys revoke 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    from remembrancer.interfaces.wire.keys import KeyOut

    call.tell(lambda memory: KeyOut.of(memory.keys.revoke(key_id), now=call.now), keys_pages.told)
