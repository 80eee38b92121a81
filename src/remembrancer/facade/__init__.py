"""The memory as a program uses it, awaited: AsyncRemembrancer, and a class for each noun beside it."""

from __future__ import annotations

from remembrancer.facade.memory import AsyncRemembrancer
from remembrancer.facade.view import MAX_LISTED, Identifier, View

__all__ = ["MAX_LISTED", "AsyncRemembrancer", "Identifier", "View"]
