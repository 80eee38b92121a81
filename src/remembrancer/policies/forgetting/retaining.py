"""The age at which telemetry is moved from the journal to the archive."""

from __future__ import annotations

from datetime import timedelta

from remembrancer.domain import validation
from remembrancer.domain.event import Priority
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Retention:
    """Events of these `types` (`network.*` matches every type with that prefix) older than `after_days` are archived
    and shortened, unless their priority is in `keep`.
    """

    types: tuple[str, ...]
    keep: tuple[Priority, ...] = (Priority.PERMANENT,)
    after_days: float = 30.0

    def __post_init__(self) -> None:
        if not self.types:
            raise InvalidInput("retention.types", "()", "at least one type of event")
        for each in self.types:
            validation.slug("retention.types", each.removesuffix(".*"))
        validation.number("retention.after_days", self.after_days, 0.01, 36_500)

    @property
    def after(self) -> timedelta:
        return timedelta(days=self.after_days)
