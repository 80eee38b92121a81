"""The JSON shapes of a change of embedder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

from pydantic import AwareDatetime

from remembrancer.domain.vector_space import SpaceRole
from remembrancer.interfaces.wire.shape import Derived, Of, Wire

if TYPE_CHECKING:
    from pathlib import Path

    from remembrancer.engine.calibrate import MeasuredScale
    from remembrancer.engine.spaces import Dropped, EmbedderStatus, SpaceState, Switched


class VectorSpaceOut(Derived):
    """The vectors of one model, and their role since a time. `here`: this process has an embedder of the model.

    `vectors`: how many of the `cues` have one. `rate`: vectors made per second by a change, over the last minute.
    `seconds_left`: until all cues have one at this rate; null: not known, or nothing is left.
    """

    model: str
    role: SpaceRole
    since: AwareDatetime
    here: bool
    vectors: int
    cues: int
    bytes: int
    rate: float
    seconds_left: float | None

    @classmethod
    def of(cls, space: SpaceState) -> Self:
        left = space.time_left
        return cls.copied(space, seconds_left=None if left is None else left.total_seconds())


class EmbedderOut(Wire, Of["EmbedderStatus"]):
    """The vectors of a workspace. `answers`: the model whose vectors answer, null before the first vector. `embedder`,
    `before`: the models of this process, null if it has none. `spaces`: the vectors of each model. `advice`: the next
    step; empty if there is nothing to do.
    """

    answers: str | None
    embedder: str | None
    before: str | None
    spaces: list[VectorSpaceOut]
    advice: str


class SwitchedOut(Wire, Of["Switched"]):
    """A change of the model that answers: to `answers`. `kept`: the model that answered before, null if there was none.
    `missing`: the cues that have no vector of the new one, and are found by words.
    """

    answers: str
    kept: str | None
    missing: int


class DroppedOut(Wire, Of["Dropped"]):
    """The deleted vectors of a model, and their bytes."""

    model: str
    vectors: int
    bytes: int


class SeparationOut(Wire):
    """The mean cosines of questions with other texts (`unrelated`) and with their answers (`related`). `spreads`: how
    far these are apart, in standard deviations of the first. `first`: the share of questions whose answer is nearest.
    """

    unrelated: float
    related: float
    spreads: float
    first: float


class CalibratedOut(Wire):
    """The calibration of a model. `tokens`: by its token embeddings, null without them. `setting`: the value of
    `embedder_calibration`. `kept`: the file in which it is kept, null if the setting is needed.
    """

    model: str
    vectors: SeparationOut
    tokens: SeparationOut | None
    setting: str
    kept: str | None

    @classmethod
    def of(cls, model: str, measured: MeasuredScale, kept: Path | None) -> Self:
        found = measured.calibration
        vectors = SeparationOut(
            unrelated=found.unrelated, related=found.related, spreads=measured.spreads, first=measured.first
        )
        tokens = None
        numbers = [found.unrelated, found.related]
        if measured.tokens_first is not None and measured.tokens_spreads is not None:
            numbers += [found.tokens_unrelated, found.tokens_related]
            tokens = SeparationOut(
                unrelated=found.tokens_unrelated,
                related=found.tokens_related,
                spreads=measured.tokens_spreads,
                first=measured.tokens_first,
            )
        setting = ",".join(f"{number:.4f}" for number in numbers)
        return cls(
            model=model, vectors=vectors, tokens=tokens, setting=setting, kept=None if kept is None else str(kept)
        )
