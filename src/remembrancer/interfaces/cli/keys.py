"""Commands for API keys, with which programs access a server: create, list, revoke."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated

from rich.text import Text

from remembrancer.domain.api_key import BINDINGS
from remembrancer.interfaces.cli.drawing import Renderables, RowReference, Shorter, indented
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.times import LENGTHS
from remembrancer.interfaces.text import minute, one_line
from remembrancer.interfaces.wire.keys import KeyOut, KeysOut, NewKeyOut


def create(
    call: Invocation,
    *,
    name: Annotated[str, "NAME", "The name of the key."],
    right: Annotated[str, "read, write (includes read) or admin (includes all)."] = "read",
    expires: Annotated[timedelta | None, f"The key expires after this time: {LENGTHS}."] = None,
    for_project: Annotated[str | None, "Bind the key to this project."] = None,
    for_crew: Annotated[str | None, "Bind the key to this crew."] = None,
    for_agent: Annotated[str | None, "Bind the key to this agent."] = None,
    for_session: Annotated[str | None, "Bind the key to this session."] = None,
    for_role: Annotated[str | None, "Bind the key to this role."] = None,
) -> None:
    """Create a key for the workspace.

    Prints its token, which a program uses to access this workspace through `serve`. The token is shown only once,
    because only its SHA-256 is stored. A bound key acts only as this project, crew, agent, session or role; its holder
    chooses the other parts in each request.

    Example: remembrancer keys create ci --right write --expires 90d
    """
    with call.opened(create=True) as memory:
        made = memory.keys.create(
            name,
            right,
            expires,
            project=for_project,
            crew=for_crew,
            agent=for_agent,
            session=for_session,
            role=for_role,
        )
    call.answer(
        NewKeyOut.of(made, now=call.now), lambda new: _described(new.key)
    )  # the token is printed unwrapped, below
    if not call.as_json:
        call.write(made.token)
    call.note("The token is not shown again: store it where the program that uses it keeps its secrets.")


def list_(call: Invocation) -> None:
    """List the keys of the workspace.

    Newest first, each with its right, its expiry and its id, including expired and revoked keys. Tokens are not stored,
    so none are shown.

    Example: remembrancer keys list --json
    """
    call.run(lambda memory: KeysOut.of(memory.keys.list(), now=call.now), _listed)


def revoke(call: Invocation, *, key_id: Annotated[str, "ID", "A key's id, as `keys list` prints it."]) -> None:
    """Revoke a key.

    From its next request on, the key is refused, for good. It stays in the list; revoking it again changes nothing.

    Example: remembrancer keys revoke 01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f
    """
    call.run(lambda memory: KeyOut.of(memory.keys.revoke(key_id), now=call.now), _described)


def _listed(found: KeysOut) -> Renderables:
    if not found.keys:
        yield Text("This workspace has no keys.", style="dim")
    for key in found.keys:
        yield from _described(key)


def _described(key: KeyOut) -> Renderables:
    """A key: its right, whether it is valid, its name and its id."""
    lead = Text(f"{key.right:<5}  ", style="bold" if key.usable else "dim")
    lead.append(f"{_validity(key)}  ", style="" if key.usable else "yellow")
    yield Shorter(key.name, lead=lead)
    bound = ", ".join(f"{part} {one_line(value)}" for part in BINDINGS if (value := getattr(key, part)) is not None)
    yield indented(RowReference(key.id, f"bound to {bound}" if bound else ""), 2)


def _validity(key: KeyOut) -> str:
    if key.revoked_at is not None:
        return f"revoked {minute(key.revoked_at)} UTC"
    if key.expires_at is None:
        return "does not expire"
    return f"{'expires' if key.usable else 'expired'} {minute(key.expires_at)} UTC"
