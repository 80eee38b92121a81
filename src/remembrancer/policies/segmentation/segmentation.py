"""A preset's settings for forming episodes from streams."""

from __future__ import annotations

from dataclasses import field
from datetime import timedelta
from typing import TYPE_CHECKING, Final

from remembrancer.domain import validation
from remembrancer.policies.segmentation.topic_shift import TopicShift
from remembrancer.values import dataclass

if TYPE_CHECKING:  # loaded only by presets that use them
    from remembrancer.policies.segmentation.dual_channel import DualChannel
    from remembrancer.policies.segmentation.windows import Windows

EPISODE: Final = "episode"
"""The kind of a memory formed from a segment of a stream."""
MAX_IDLE_MINUTES: Final = 60.0 * 24 * 365


@dataclass(frozen=True, slots=True, kw_only=True)
class Segmentation:
    """Options of forming episodes. `segmenter`: decides where they end. `least`: a stream whose tail has fewer events
    is not processed, unless it was silent for `idle_minutes`; then its last segment is complete too.

    `replaces`: an episode has a cue for each of its turns and replaces the turns' own memories, which remain reachable.
    Otherwise search finds the turns, and the episode gives their context.
    """

    segmenter: TopicShift | DualChannel | Windows = field(default_factory=TopicShift)
    replaces: bool = False
    least: int = 5
    idle_minutes: float = 60.0

    def __post_init__(self) -> None:
        validation.whole("segmentation.least", self.least, 1, 10_000)
        validation.number("segmentation.idle_minutes", self.idle_minutes, 0.0, MAX_IDLE_MINUTES)

    @property
    def idle(self) -> timedelta:
        return timedelta(minutes=self.idle_minutes)
