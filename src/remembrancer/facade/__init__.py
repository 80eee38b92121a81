"""The asynchronous public API: AsyncRemembrancer, and a class for each noun (journal, health, jobs, keys and so on)."""

from __future__ import annotations

from remembrancer.facade.memory import AsyncRemembrancer
from remembrancer.facade.view import MAX_LISTED, Identifier, View

__all__ = ["MAX_LISTED", "AsyncRemembrancer", "Identifier", "View"]
