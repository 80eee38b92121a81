"""Calibration of an embedder: its cosines on the scale of the model that the presets' numbers were chosen for."""

from __future__ import annotations

from math import isfinite
from typing import TYPE_CHECKING, Final, Self

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True, kw_only=True)
class CosineScale:
    """The mean cosine of questions and texts that do not belong together, and of questions and their answers.

    `tokens_unrelated`, `tokens_related`: the same of MaxSim over token embeddings. If the second is not greater, the
    model's token embeddings show nothing, and late interaction is constant.
    """

    unrelated: float
    related: float
    tokens_unrelated: float = 0.0
    tokens_related: float = 0.0

    def __post_init__(self) -> None:
        values = (self.unrelated, self.related, self.tokens_unrelated, self.tokens_related)
        if not all(isfinite(value) and -1 <= value <= 1 for value in values) or self.related <= self.unrelated:
            raise InvalidInput(
                "calibration", values, "cosines from -1 to 1, where `related` is greater than `unrelated`"
            )

    @classmethod
    def of(cls, means: Sequence[float]) -> Self:
        """The scale of two means, or of four, in the order of the fields."""
        unrelated, related, *tokens = means
        words = tokens or (0.0, 0.0)
        return cls(unrelated=unrelated, related=related, tokens_unrelated=words[0], tokens_related=words[1])

    def similarities(self, cosines: NDArray[np.float32]) -> NDArray[np.float32]:
        """Cosines on the scale of `REFERENCE`, at most 1; NaN stays NaN.

        The mean cosine of unrelated texts becomes the reference's, and that of questions and answers too; the others
        follow in a straight line.
        """
        slope = (REFERENCE.related - REFERENCE.unrelated) / (self.related - self.unrelated)
        return (REFERENCE.unrelated + slope * (cosines - self.unrelated)).clip(-1, 1).astype(cosines.dtype)

    def token_similarities(self, cosines: NDArray[np.float64]) -> NDArray[np.float64]:
        """The greatest cosines of tokens, on the scale of `REFERENCE`."""
        spread = self.tokens_related - self.tokens_unrelated
        slope = (REFERENCE.tokens_related - REFERENCE.tokens_unrelated) / spread if spread > 0 else 0.0
        return REFERENCE.tokens_unrelated + slope * (cosines - self.tokens_unrelated)


REFERENCE: Final = CosineScale(unrelated=0.056, related=0.380, tokens_unrelated=0.136, tokens_related=0.390)
"""all-MiniLM-L6-v2 in int8, by `engine.calibrate`: the presets' thresholds and weights were chosen with it."""
