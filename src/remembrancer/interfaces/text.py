"""Texts for people, in every interface: texts by others without harmful characters, times, counts and sizes."""

from __future__ import annotations

import re
import unicodedata
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from remembrancer.domain.memory import Memory
    from remembrancer.domain.names import NamedSpeaker
    from remembrancer.domain.recall import Recall
    from remembrancer.interfaces.wire.memories import MemoryOut

# CSI, a terminated OSC, and two-byte sequences. Of any other sequence only the control character is removed.
_ESCAPES: Final = re.compile(r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[@-Z\\^_]")
_JOINERS: Final = frozenset("\u200c\u200d")
_UNSEEN: Final = frozenset({"Cc", "Cf", "Co", "Cs", "Zl", "Zp"})


ERASED_ROWS: Final = {
    "memories": "memories",
    "events": "entries of the journal",
    "archived": "entries of the archive",
    "cues": "indexed passages (cues) and their terms",
    "vectors": "vectors",
    "word_vectors": "token vectors",
    "revisions": "earlier texts",
    "past_states": "earlier states",
    "relations": "relations",
    "exposures": "records of use",
    "reviews": "reviews",
    "credits": "shares in outcomes",
    "audit": "lines of the audit log",
    "priority_changes": "changes of priority",
    "streams": "streams that are empty now",
    "deferrals": "postponed work items",
    "replies": "stored replies to requests",
    "kept_recalls": "kept answers",
    "quotations": "log lines that quoted it",
}
"""The names of the counts of an erasure's receipt."""


def shown(text: str) -> str:
    r"""A text without escape sequences, control characters and other invisible characters.

    Line ends and tabs stay, and so do the joiners in Persian words and emoji.

    >>> shown("\x1b[31mred\x1b[0m\x07")
    'red'
    """
    if (
        text.replace("\n", "").replace("\t", "").isprintable()
    ):  # nearly every text takes this path, which is much faster
        return text
    return "".join(
        character
        for character in _ESCAPES.sub("", text)
        if character in "\n\t" or character in _JOINERS or unicodedata.category(character) not in _UNSEEN
    )


def one_line(text: str) -> str:
    """Like `shown`, on one line: every run of white space becomes one space."""
    return " ".join(shown(text).split())


def speaker(memory: Memory | MemoryOut) -> str:
    """The speaker's name, or else the role; "" if neither is known."""
    return memory.actor or memory.role or ""


def titled(memory: Memory | MemoryOut) -> str:
    """The text of a memory after its title, if it has one."""
    return memory.text if memory.title is None else f"{memory.title}: {memory.text}"


def below_threshold(recall: Recall) -> str:
    """The number of memories below the relevance threshold, and the best one's probability, or else its score."""
    several, best = counted(len(recall.below_threshold), "memory"), recall.below_threshold[0]
    at_best = f"score {best.score:.3f}" if best.probability is None else f"probability {best.probability:.2f}"
    return f"{several} below the relevance threshold, at best {at_best}"


def flagged_held_back(recall: Recall) -> str:
    """The number of memories that are held back because their text tells a language model what to do."""
    return f"{counted(recall.flagged_held_back, 'instruction-like memory')} of tools, the web or imports held back"


def read_as(one: NamedSpeaker) -> str:
    """The speaker that a name in the question was read as: Moss was read as Katharina (memory fdc363d3 says so)."""
    from remembrancer.domain.identity import short_id  # noqa: PLC0415  the help imports this module

    source = "" if one.said_in is None else f" (memory {short_id(one.said_in)} says so)"
    return f"{one_line(one.name)} was read as {one_line(one.speaker)}{source}"


def told(memory: Memory | MemoryOut) -> str:
    """The text of a memory after who spoke and after its title, if there are any."""
    return ": ".join(filter(None, (speaker(memory), titled(memory))))


def day(moment: datetime) -> str:
    """A day in UTC: Wednesday 4 March 2026."""
    moment = moment.astimezone(UTC)
    return f"{moment:%A} {moment.day} {moment:%B %Y}"


def minute(moment: datetime) -> str:
    """A time in UTC: 2026-03-04 09:00."""
    return f"{moment.astimezone(UTC):%Y-%m-%d %H:%M}"


def size(count: int) -> str:
    """A number of bytes in the largest unit that it reaches.

    >>> size(1536)
    '1.5 KiB'
    """
    for unit, length in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= length:
            return f"{count / length:.1f} {unit}"
    return f"{count} bytes"


def counted(count: int, noun: str) -> str:
    """The count with its noun, given in the singular.

    >>> counted(1, "event"), counted(2, "day"), counted(3, "memory")
    ('1 event', '2 days', '3 memories')
    """
    plural = f"{noun[:-1]}ies" if noun.endswith("y") and noun[-2] not in "aeiou" else f"{noun}s"
    return f"{count:,} {noun if count == 1 else plural}"
