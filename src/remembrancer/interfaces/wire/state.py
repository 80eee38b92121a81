"""The JSON shapes of counts, checks, indexing, health snapshots and probes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from typing import TYPE_CHECKING, Literal, Self

from pydantic import AwareDatetime, Field

from remembrancer.engine.search_state import SearchMode
from remembrancer.interfaces.wire.shape import Derived, Of, Wire
from remembrancer.policies.health import Band, Metric, advice, band, shares, values, weakest, why_absent

if TYPE_CHECKING:
    from remembrancer.domain.health import HealthSnapshot
    from remembrancer.jobs.indexer import IndexReport
    from remembrancer.ports.inspection import Finding, Stats


class StatsOut(Wire, Of["Stats"]):
    """Counts of the rows that the caller sees. `memories` by status, `vectors` by model, `bytes`: the length of the
    texts of these events and memories.
    """

    events: int
    memories: dict[str, int]
    cues: int
    vectors: dict[str, int]
    truncated: int
    relations: int
    oldest: AwareDatetime | None
    newest: AwareDatetime | None
    bytes: int


class FindingOut(Wire):
    """The result of one check. `warning`: nothing is wrong, but something could work better. `repair`: how to fix or
    improve it; null if there is nothing to do.
    """

    check: str
    ok: bool
    warning: bool
    detail: str
    repair: str | None

    @classmethod
    def of(cls, finding: Finding) -> Self:
        return cls.copied(finding, repair=None if finding.ok and not finding.warning else finding.repair or None)


class DoctorOut(Wire):
    ok: bool
    findings: list[FindingOut]

    @classmethod
    def of(cls, findings: Sequence[Finding]) -> Self:
        return cls(ok=all(finding.ok for finding in findings), findings=[FindingOut.of(each) for each in findings])


class IndexReportOut(Wire, Of["IndexReport"]):
    """The result of indexing. `reused`: of the indexed cues, those that took the vector of an equal text. `reason`: why
    nothing was indexed, or why some of it failed.
    """

    indexed: int
    deferred: int
    reused: int
    reason: str


class MetricOut(Wire):
    """A health metric. `value`: 0 to 100; null without data, and `absent` says why. `weight`: its share of the
    score.
    """

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
    """The health of the memory. `latest` null: no snapshot was taken yet. `history`: newest day first; null if not
    requested.
    """

    crew: str | None
    latest: HealthOut | None
    history: list[HealthOut] | None

    @classmethod
    def of(
        cls, crew: str | None, latest: HealthSnapshot | None, history: Iterable[HealthSnapshot] | None, **more: object
    ) -> Self:
        past = None if history is None else list(history)
        return cls.model_validate({"crew": crew, "latest": latest, "history": past, **more})


class AliveOut(Wire):
    """The answer of the liveness probe. `episodic`: recall searches by words and meaning (`vector`), by words alone
    because the embedder does not answer (`vector-degraded`, with `episodic_error`), or by words alone because there is
    no embedder (`sparse-only`). `degraded`: what cannot be used now, and why.
    """

    status: Literal["ok", "unavailable"]
    version: str = Field(examples=["1.0.0"])
    episodic: SearchMode
    episodic_error: str | None = Field(default=None, examples=["Ollama at http://localhost:11434 does not answer"])
    degraded: dict[str, str] = Field(examples=[{"dense": "no embedder is set"}])


class ReadyOut(Wire):
    """The answer of the readiness probe. `reasons`: why the server should not be sent requests now."""

    status: Literal["ready", "not ready"]
    reasons: list[str] = Field(examples=[["the server is stopping"]])
