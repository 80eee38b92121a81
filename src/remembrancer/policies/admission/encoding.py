"""What text of a cue is embedded, and in which context."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from remembrancer.domain import validation
from remembrancer.values import dataclass

MAX_TURNS: Final = 10
MAX_CHARS: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """`heading`: embed who and when with the cue's text. `turns`: embed a turn in the context of so many turns before
    it, 0 to 10, of which the last `chars` characters count, 0 to 2,000. `words`: keep token embeddings as well.

    `turns` and `words` take effect with an embedder that reads in context, as the local one does.
    """

    heading: bool = False
    turns: int = 0
    chars: int = 400
    words: bool = False

    def __post_init__(self) -> None:
        validation.whole("encoding.turns", self.turns, 0, MAX_TURNS)
        validation.whole("encoding.chars", self.chars, 0, MAX_CHARS)

    @property
    def reads_in_context(self) -> bool:
        """Whether the result differs for an embedder that reads in context."""
        return self.words or self.turns > 0

    def text(self, heading: str, text: str) -> str:
        """The text of a cue that is embedded."""
        return f"{heading}: {text}" if self.heading and heading else text

    def before(self, speaker: str, said: Sequence[tuple[str, str]]) -> str:
        """The context of a turn of `speaker`: the last of the turns before it, given as (speaker, text).

        >>> Encoding(turns=1).before("Ben", [("Ana", "Hi"), ("Ana", "When do we ship?")])
        'Ana: When do we ship? Ben: '
        """
        if not self.turns or not speaker:
            return ""
        parts: list[str] = []
        room = self.chars
        for other, text in reversed(said[-self.turns :]):
            if room <= 0:
                break
            parts.append(f"{other}: {text[-room:]} ")
            room -= len(parts[-1])
        return "".join([*reversed(parts), f"{speaker}: "])
