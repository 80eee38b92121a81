"""Contract of subscriptions to the writes of a workspace."""

from __future__ import annotations

import threading
from datetime import timedelta

from remembrancer.ports.store import Store
from remembrancer.testing.contract.base import StoreSuite, remember
from remembrancer.testing.doubles import SCOPE, a_memory


class NotificationsContract(StoreSuite):
    async def test_a_subscriber_learns_how_often_to_read_without_being_woken(self, store: Store) -> None:
        subscription = store.subscribe(SCOPE, threading.Event().set)
        assert timedelta(0) < subscription.poll_every <= timedelta(minutes=1)
        subscription.end()

    async def test_a_subscription_that_ended_wakes_nobody_and_may_end_again(self, store: Store) -> None:
        woken = threading.Event()
        subscription = store.subscribe(SCOPE, woken.set)
        subscription.end()
        subscription.end()
        woken.clear()
        await remember(store, a_memory())
        await store.close()
        assert not woken.is_set()
