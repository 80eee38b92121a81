"""The text of a cue that is embedded, and the context before it."""

from __future__ import annotations

from typing import Final

from remembrancer.domain import validation
from remembrancer.values import dataclass

MAX_TURNS: Final = 10
MAX_CHARS: Final = 2000


@dataclass(frozen=True, slots=True, kw_only=True)
class Encoding:
    """Options of embedding cues. `heading`: include the heading (speaker and time).

    `turns`: embed a turn in the context of this many preceding turns, 0 to 10; `chars`: the last characters of these
    turns that are used, 0 to 2,000. `token_embeddings`: store token embeddings too, for late interaction. These three
    take effect only with an embedder that gives token embeddings, such as the local one.
    """

    heading: bool = False
    turns: int = 0
    chars: int = 400
    token_embeddings: bool = False

    def __post_init__(self) -> None:
        validation.whole("encoding.turns", self.turns, 0, MAX_TURNS)
        validation.whole("encoding.chars", self.chars, 0, MAX_CHARS)

    @property
    def reads_in_context(self) -> bool:
        """Whether the result differs for an embedder that gives token embeddings, which embeds passages in context."""
        return self.token_embeddings or self.turns > 0

    def text(self, heading: str, text: str) -> str:
        """The text to embed for a cue."""
        return f"{heading}: {text}" if self.heading and heading else text
