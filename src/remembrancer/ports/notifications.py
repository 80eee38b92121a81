"""Telling a process that a workspace was written to, by itself or by another process."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Final, Protocol

from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.scope import Scope

POLLING: Final = timedelta(seconds=1)
"""The interval at which a store without notifications is read."""


class Subscription(Protocol):
    """Wakes its subscriber after writes, until it is ended."""

    @property
    def poll_every(self) -> timedelta:
        """The longest time after which the subscriber reads again, even if it was not woken: a notification may be
        lost. It changes when the store gains or loses its notifications; the subscriber is then woken.
        """
        ...

    def end(self) -> None:
        """Wake the subscriber no more. Calling it twice does nothing."""
        ...


class Notifications(Protocol):
    """Subscriptions to the writes of workspaces."""

    def subscribe(self, scope: Scope, wake: Callable[[], None]) -> Subscription:
        """Call `wake` after a transaction of any process wrote to the scope's workspace, as soon as this store learns
        of it, and whenever it may have missed one. A store may also never call it; `poll_every` is then short.

        `wake` is called in a thread of the store. It must neither wait nor call the store.
        """
        ...


@dataclass(frozen=True, slots=True)
class Polled:
    """The Subscription of a store without notifications: it never wakes its subscriber."""

    poll_every: timedelta = POLLING

    def end(self) -> None:
        """There is nothing to end."""
