"""API keys on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.text import Text

from remembrancer.interfaces.cli.drawing import Renderables, Shorter
from remembrancer.interfaces.text import minute

if TYPE_CHECKING:
    from remembrancer.interfaces.wire.keys import KeyOut, KeysOut, NewKeyOut


def listed(found: KeysOut) -> Renderables:
    if not found.keys:
        yield Text("There is no key to this workspace.", style="dim")
    for key in found.keys:
        yield from told(key)


def made(new: NewKeyOut) -> Renderables:
    """A new key without its token, which the command prints separately so that it is not wrapped."""
    yield from told(new.key)


def told(key: KeyOut) -> Renderables:
    """The right of a key, whether it is valid, its name and its id."""
    lead = Text(f"{key.right:<5}  ", style="bold" if key.usable else "dim")
    lead.append(f"{_standing(key)}  ", style="" if key.usable else "yellow")
    yield Shorter(key.name, lead=lead)
    yield Text(f"  {key.id}", style="dim")


def _standing(key: KeyOut) -> str:
    if key.revoked_at is not None:
        return f"revoked {minute(key.revoked_at)} UTC"
    if key.expires_at is None:
        return "does not expire"
    return f"{'expires' if key.usable else 'expired'} {minute(key.expires_at)} UTC"
