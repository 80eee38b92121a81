"""Standard input that the program can end, so that a stop signal has the same effect as a client that disconnects."""

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
"""Seconds to wait for the thread. If messages arrive faster than they are read, it takes longer; the thread then ends
with the process.
"""


class EndableInput:
    """While entered, file descriptor 0 gives what arrives on stdin, until stdin ends, `end` is called, or stdout is
    closed by its reader.

    A thread that reads stdin cannot be interrupted: the process would hang until the client's next message. This thread
    waits for all three conditions at once and forwards the input.
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
        """End the input as if the client had closed it. It may be called repeatedly."""
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
