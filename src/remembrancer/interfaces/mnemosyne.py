"""A drop-in for Mnemosyne: `remember`, `recall` and `sleep` with its names, shapes and defaults, over a memory.

A program written for Mnemosyne changes its import. The behaviour is that of the preset the memory was opened with;
`open` uses the preset `mnemosyne`.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, date, datetime, time, timedelta
from types import TracebackType
from typing import Any, Final, Self

from remembrancer.domain import validation
from remembrancer.domain.recall import Hit
from remembrancer.domain.scope import Visibility
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.sleep import SleepReport
from remembrancer.errors import InvalidInput
from remembrancer.ports.embedder import Embedder
from remembrancer.sync import Remembrancer

SCOPES: Final = {"global": Visibility.WORKSPACE, "session": Visibility.SESSION}
MAX_CONTENT_CHARS: Final = 500
"""The longest content of a result, as in Mnemosyne."""


class Mnemosyne:
    """A memory with Mnemosyne's interface. Rows belong to `session_id`; those with scope `global`, the default, are
    found from every session.
    """

    def __init__(self, memory: Remembrancer, *, session_id: str = "default") -> None:
        """The bank does not close `memory`."""
        self._memory = memory
        self._session = session_id

    @classmethod
    def open(
        cls, path: str = "mnemosyne.db", *, session_id: str = "default", embedder: str | Embedder | None = None
    ) -> Self:
        """A bank in one file. Raises as `Remembrancer.open` does."""
        return cls(Remembrancer.open(path, preset="mnemosyne", embedder=embedder), session_id=session_id)

    def close(self) -> None:
        self._memory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def remember(
        self,
        content: str,
        source: str = "conversation",
        importance: float = 0.5,
        metadata: Mapping[str, JsonValue] | None = None,
        valid_until: datetime | str | None = None,
        scope: str = "global",
        session_id: str | None = None,
    ) -> str:
        """Keep a text in working memory, and return its id. `scope`: global or session."""
        if scope not in SCOPES:
            raise InvalidInput("scope", scope, "one of " + ", ".join(SCOPES))
        kept = self._of(session_id).remember(
            content,
            source=source,
            importance=importance,
            metadata=metadata,
            valid_until=_moment("valid_until", valid_until),
            visibility=SCOPES[scope],
        )
        return str(kept.id)

    def recall(
        self,
        query: str,
        top_k: int = 5,
        session_id: str | None = None,
        source: str | None = None,
        from_date: date | datetime | str | None = None,
        to_date: date | datetime | str | None = None,
    ) -> list[dict[str, Any]]:
        """The best `top_k` (1 to 200) results, best first. Each is recorded as recalled.

        `session_id`: only rows of that session. `from_date` and `to_date`: days, both inclusive, or exact times.
        """
        memory = self._of(session_id)
        found = memory.recall(
            query,
            limit=top_k,
            session=session_id,
            source=source,
            since=_bound("from_date", from_date),
            until=_bound("to_date", to_date, days=1),
            mark=True,
        )
        return [_result(hit, found.asked_at) for hit in found]

    def sleep(self, dry_run: bool = False) -> SleepReport:
        """Promote what has been in working memory for half of its lifetime, in every session. A dry run only reports
        what would be promoted.
        """
        return self._memory.sleep(dry_run)

    def invalidate(self, memory_id: str, replacement_id: str | None = None) -> None:
        """End a memory's validity now. Raises NotFound for an unknown id, also of the replacement."""
        self._memory.invalidate(memory_id, replacement_id)

    def _of(self, session_id: str | None) -> Remembrancer:
        return self._memory.scoped(session=session_id or self._session)


def _result(hit: Hit, at: datetime) -> dict[str, Any]:
    memory, usage, signals = hit.memory, hit.memory.strength.usage, hit.explanation.signals
    return {
        "id": str(memory.id),
        "content": memory.text[:MAX_CONTENT_CHARS],
        "source": memory.source,
        "timestamp": memory.occurred_to.isoformat(),
        "session_id": memory.scope.session,
        "tier": memory.tier.value,
        "score": hit.score,
        "dense_score": signals.get("similarity"),
        "fts_score": signals.get("lexical"),
        "recency_decay": signals.get("retention"),
        "importance": memory.strength.importance,
        "recall_count": usage.retrieved + 1,
        "last_recalled": at.isoformat(),
        "scope": next((name for name, seen in SCOPES.items() if seen is memory.visibility), memory.visibility.value),
        "metadata": dict(memory.metadata),
        "valid_until": None if memory.valid_until is None else memory.valid_until.isoformat(),
        "superseded_by": None if memory.superseded_by is None else str(memory.superseded_by),
    }


def _bound(argument: str, value: date | datetime | str | None, *, days: int = 0) -> datetime | None:
    """An exact time as it is; for a day its beginning, plus `days` days."""
    day = _day(argument, value)
    if day is None:
        return _moment(argument, value)
    try:
        return datetime.combine(day + timedelta(days=days), time(), tzinfo=UTC)
    except OverflowError:
        raise InvalidInput(argument, value, "a day before 9999-12-31") from None


def _day(argument: str, value: date | datetime | str | None) -> date | None:
    """The day, if the value is one; None for a time and for None."""
    if isinstance(value, str) and len(value) == len("2026-03-04"):
        try:
            return date.fromisoformat(value)
        except ValueError:
            raise InvalidInput(argument, value, "a day such as 2026-03-04, or a time with a UTC offset") from None
    return value if isinstance(value, date) and not isinstance(value, datetime) else None


def _moment(argument: str, value: object) -> datetime | None:
    if isinstance(value, str):
        return validation.parse_moment(argument, value)
    return validation.optional_moment(argument, value)
