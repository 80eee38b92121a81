"""The JSON shapes of health snapshots."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import TYPE_CHECKING, Self

from pydantic import AwareDatetime

from remembrancer.interfaces.wire.shape import Derived, Wire
from remembrancer.policies.health import Band, Metric, advice, band, shares, values, weakest, why_absent

if TYPE_CHECKING:
    from remembrancer.domain.health import HealthSnapshot


class MetricOut(Wire):
    """`value`: 0 to 100; null without data, and `absent` says why. `weight`: its share of the score."""

    value: float | None
    band: Band | None
    weight: float
    absent: str


class HealthOut(Derived):
    """The snapshot of one day; `crew` null: of the whole workspace. `score` and `band` null: there was no data.

    `advice`: how to improve the weakest metric; empty if that is green.
    """

    crew: str | None
    day: date
    taken_at: AwareDatetime
    score: float | None
    band: Band | None
    metrics: dict[Metric, MetricOut]
    weakest: Metric | None
    advice: str

    @classmethod
    def of(cls, snapshot: HealthSnapshot) -> Self:
        weights = shares(snapshot.metrics)
        return cls.copied(
            snapshot,
            band=band(snapshot.score),
            metrics={
                metric: MetricOut(
                    value=value,
                    band=band(value),
                    weight=weights[metric],
                    absent=why_absent(snapshot.metrics, metric),
                )
                for metric, value in values(snapshot.metrics).items()
            },
            weakest=weakest(snapshot.metrics),
            advice=advice(snapshot.metrics),
        )


class MemoryHealthOut(Wire):
    """`latest` null: no snapshot was taken yet. `history`: newest day first; null if not requested."""

    crew: str | None
    latest: HealthOut | None
    history: list[HealthOut] | None

    @classmethod
    def of(
        cls, crew: str | None, latest: HealthSnapshot | None, history: Iterable[HealthSnapshot] | None, **more: object
    ) -> Self:
        past = None if history is None else list(history)
        return cls.model_validate({"crew": crew, "latest": latest, "history": past, **more})
