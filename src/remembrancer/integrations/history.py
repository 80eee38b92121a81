"""The messages of a framework's session, kept as events of the journal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any, Final, cast

from remembrancer import NotFound, Remembrancer
from remembrancer.policies.admission.formation import memory_id_of

if TYPE_CHECKING:
    from remembrancer.domain.event import Event

MESSAGE: Final = "message"
PAGE: Final = 1_000


class History:
    """The messages of one session, which the framework `name` added. They are turns as all others: recalled, and formed
    into episodes and facts.

    The journal only grows: `clear` and `remove` record that messages are no longer in the history. A cleared message is
    still recalled, a removed one is not. `memory.erase` removes both for good. Messages that were archived are left
    out. What a message has besides its text is at most 64 KiB of JSON.
    """

    def __init__(self, memory: Remembrancer, session: str, name: str) -> None:
        self.memory = memory.scoped(session=session)
        self.session = session
        self._name = name
        self._without_text, self._cleared, self._removed = f"{name}.message", f"{name}.cleared", f"{name}.removed"

    def events(self) -> list[Event]:
        """The messages, oldest first."""
        events = self._recorded([MESSAGE, self._without_text, self._cleared, self._removed])
        since = max((event.seq for event in events if event.type == self._cleared), default=0)
        removed = {str(event.payload["event"]) for event in events if event.type == self._removed}
        return [
            event
            for event in events
            if event.seq > since and self._name in event.payload and str(event.id) not in removed
        ]

    def times_cleared(self) -> int:
        return len(self._recorded([self._cleared]))

    def kept(self, event: Event) -> Any:
        """The part of a message besides its text: the `kept` that it was added with."""
        return cast("Any", event.payload[self._name])

    def add(self, messages: Iterable[dict[str, Any]]) -> None:
        """Record messages, all or none. Each: the arguments of `observe`, and as `kept` what it has besides its text.

        A message whose text is blank is no turn: its text is replaced by `instead`.
        """
        self.memory.observe_many([self._draft(**message) for message in messages])

    def clear(self) -> None:
        self.memory.journal.log(self._cleared, "The history was cleared.")

    def remove(self, event: Event) -> None:
        """Take a message out of the history, and out of what is recalled."""
        payload = {"event": str(event.id)}
        self.memory.journal.log(
            self._removed, "A message was removed.", payload=payload, key=f"{self._removed}:{event.id}"
        )
        with suppress(NotFound):  # a message without text is no memory
            self.memory.forget(memory_id_of(event.id))

    def _draft(self, *, text: str, instead: str, kept: Any, **others: Any) -> dict[str, Any]:
        spoken = bool(text.strip())
        return {
            **others,
            "text": text if spoken else instead,
            "type": MESSAGE if spoken else self._without_text,
            "payload": {self._name: kept},
        }

    def _recorded(self, types: Sequence[str]) -> list[Event]:
        """The events of this session in the order of recording."""
        found: list[Event] = []
        after: str | None = None
        while True:
            page = self.memory.journal.page(session=self.session, types=types, after=after, limit=PAGE)
            found += [event for event in page.events if event.scope == self.memory.scope]
            after = page.next
            if after is None:
                return sorted(found, key=lambda event: event.seq)
