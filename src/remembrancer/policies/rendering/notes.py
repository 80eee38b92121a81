"""A file of notes as a prompt block."""

from __future__ import annotations

from itertools import accumulate
from typing import Final

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.policies.rendering.frame import TAG, UNTRUSTED, Frame
from remembrancer.policies.rendering.safe import one_line, safe

LINES_LEFT_OUT: Final = "[lines left out: {}]\n"


def untrusted_block(text: str, *, source: str, max_chars: int = 4000) -> str:
    """Notes that agents write, for example AGENT.md or CREW.md, as a prompt block that is marked as untrusted.

    The block has the tag and the preamble of recalled memories, and at most `max_chars` characters. `source`: the name
    that is shown above the notes. Lines that do not fit at the end are left out, and the last line counts them. Empty
    for blank notes. Raises InvalidInput for a blank `source`, and for a `max_chars` without room for any of the notes.

    >>> untrusted_block("Deploy on Mondays.", source="AGENT.md").splitlines()[2:]
    ['## AGENT.md', 'Deploy on Mondays.', '</recalled-memory>']
    """
    heading = f"## {one_line(validation.text('source', source))}\n"
    lines = [f"{line}\n" for line in safe(text).splitlines()]
    frame = Frame(TAG, UNTRUSTED)
    room = frame.room(max_chars) - len(heading)
    if sum(map(len, lines)) > room:
        room -= len(LINES_LEFT_OUT.format(len(lines)))
        kept = sum(end <= room for end in accumulate(map(len, lines)))
        if not kept:
            raise InvalidInput(
                "max_chars", max_chars, f"at least {max_chars - room + len(lines[0])}, for the first line"
            )
        lines[kept:] = [LINES_LEFT_OUT.format(len(lines) - kept)]
    return frame.around(heading + "".join(lines) if lines else "")
