"""Stdin that can be ended from within, so that being told to stop is the same as the client's going away."""

from __future__ import annotations

import os
import select
import threading
from types import TracebackType
from typing import Final, Self

_STDIN: Final = 0
_STDOUT: Final = 1
_AT_ONCE: Final = 65_536
_PATIENCE: Final = 1.0
"""Seconds for the thread to end. A flood of messages that nobody reads keeps it longer: it dies with the process."""


class EndableInput:
    """Between `with` and its end, file descriptor 0 gives what was on stdin, until that ends or `end` is called, or
    nobody reads stdout any more.

    A thread that waits for stdin itself cannot be told to stop waiting: the process would hang until the client's next
    message. This thread waits for all three at once, and hands on what comes.
    """

    def __enter__(self) -> Self:
        self._client = os.dup(_STDIN)
        self._answers = os.dup(_STDOUT)
        reading, self._handed_on = os.pipe()
        os.dup2(reading, _STDIN)
        os.close(reading)
        self._told, self._telling = os.pipe()
        self._thread = threading.Thread(target=self._hand_on, name="remembrancer-stdin", daemon=True)
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()
        self._thread.join(_PATIENCE)
        os.dup2(self._client, _STDIN)

    def end(self) -> None:
        """As if the client had closed it. Twice is harmless."""
        os.write(self._telling, b".")

    def _hand_on(self) -> None:
        waiting = select.poll()
        waiting.register(self._client, select.POLLIN)
        waiting.register(self._told, select.POLLIN)
        waiting.register(self._answers, 0)  # nothing but that its other end was closed
        try:
            while {place for place, _ in waiting.poll()} == {self._client}:
                chunk = os.read(self._client, _AT_ONCE)
                if not chunk:
                    return
                while chunk:
                    chunk = chunk[os.write(self._handed_on, chunk) :]
        except OSError:  # the client's end broke: no more will come
            return
        finally:
            os.close(self._handed_on)
