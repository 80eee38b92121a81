"""The columns of each record, and other parts of rows that several modules read or write."""

from __future__ import annotations

from typing import Final, Literal

from remembrancer.adapters.relational.columns import (
    DAY,
    ID,
    NAME,
    OBJECT,
    SCOPE_PART,
    TAGS,
    TIME,
    Column,
    Columns,
    columns,
    inside,
    one_of,
    scope_of,
)
from remembrancer.domain.event import Event, Origin, Priority, Role, Severity
from remembrancer.domain.health import HealthSnapshot, Metrics
from remembrancer.domain.journal import PriorityChange
from remembrancer.domain.memory import Cue, Memory, Revision, Status, Tier
from remembrancer.domain.outcome import Credit, CreditBasis, TaskResult
from remembrancer.domain.past import PastState
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.review import Rating, Review
from remembrancer.domain.scope import Visibility
from remembrancer.domain.strength import Exposed, Exposure, Strength, Usage
from remembrancer.ports.memories import Audited

EventTable = Literal["events", "archive"]
"""The tables of events: the journal and the archive. Their columns are the same except the last."""
TABLES: Final[tuple[EventTable, ...]] = ("events", "archive")
INDEXED: Final = ("cues", *TABLES)
"""The tables with a full-text index."""


SCOPE: Final = (Column("workspace"), *columns("project crew agent session", SCOPE_PART))

EVENTS: Final = Columns[Event](
    "e",
    Event,
    (
        Column("id", ID),
        *inside("scope", SCOPE),
        Column("seq"),
        *columns("occurred_at recorded_at", TIME),
        Column("type"),
        Column("severity", one_of(Severity)),
        Column("priority", one_of(Priority)),
        Column("actor"),
        Column("role", one_of(Role)),
        Column("text"),
        *columns("payload refs", OBJECT),
        Column("key"),
        Column("origin", one_of(Origin)),
    ),
    {"scope": scope_of},
)

_USAGE: Final = (
    *columns("retrieved shown used helped unhelpful harmed worked failed"),
    *columns("last_retrieved_at last_shown_at last_used_at", TIME),
)
_STRENGTH: Final = (
    *columns("importance importance_floor priority confidence surprise stability difficulty"),
    Column("last_reviewed_at", TIME),
    *inside("usage", _USAGE),
)
STRENGTH: Final = Columns[Strength]("m", Strength, _STRENGTH, {"usage": Usage})
"""The columns of a memory's strength."""

MEMORIES: Final = Columns[Memory](
    "m",
    Memory,
    (
        Column("id", ID),
        *inside("scope", SCOPE),
        Column("visibility", one_of(Visibility)),
        Column("tier", one_of(Tier)),
        *columns("kind title text source"),
        Column("origin", one_of(Origin)),
        Column("actor"),
        Column("role", one_of(Role)),
        *columns("occurred_from occurred_to recorded_at valid_from valid_until", TIME),
        Column("superseded_by", ID),
        *columns("superseded_at retired_at consolidated_at", TIME),
        *columns("topic_key key revision"),
        Column("tags", TAGS),
        Column("metadata", OBJECT),
        Column("status", one_of(Status)),
        *inside("strength", _STRENGTH),
    ),
    {"scope": scope_of, "strength": Strength, "strength.usage": Usage},
)

CHANGES: Final = Columns[PriorityChange](
    "p",
    PriorityChange,
    (
        Column("event", ID, "event_id"),
        Column("at", TIME),
        *columns("previous priority", one_of(Priority)),
        Column("changed_by", path="by"),
        Column("reason"),
    ),
)

MEMORY_ID: Final = Column("m.id", ID, "memory_id")

WHOLE_TURN: Final = -1
"""`start` of a cue with the same text as its event. Its own `text` is empty, so that the text is not stored again."""
CUE_TEXT: Final = f"CASE WHEN c.start = {WHOLE_TURN} THEN e.text ELSE c.text END"
"""The text of cue `c` with event `e`."""
CUES: Final = Columns[Cue](
    "c",
    Cue,
    (
        MEMORY_ID,
        *columns("ordinal heading"),
        Column(CUE_TEXT, path="text"),
        Column(f"nullif(c.start, {WHOLE_TURN})", path="start"),
        Column("e.id", ID, "event_id"),
    ),
)
"""Read with `LEFT JOIN events e ON e.n = c.event`."""
REVISIONS: Final = Columns[Revision](
    "r",
    Revision,
    (
        MEMORY_ID,
        *columns("number title text"),
        Column("replaced_at", TIME),
        Column("kind"),
        Column("tier", one_of(Tier)),
        Column("source"),
        Column("origin", one_of(Origin)),
        Column("visibility", one_of(Visibility)),
        Column("session", NAME),
        *columns("occurred_from occurred_to valid_from", TIME),
        Column("tags", TAGS),
        Column("metadata", OBJECT),
        Column("actor"),
        Column("role", one_of(Role)),
    ),
)
PAST_STATES: Final = Columns[PastState](
    "s",
    PastState,
    (
        MEMORY_ID,
        *columns("until valid_until", TIME),
        Column("superseded_by", ID),
        *columns("superseded_at retired_at", TIME),
        Column("status", one_of(Status)),
        *inside("strength", _STRENGTH),
    ),
    {"strength": Strength, "strength.usage": Usage},
)
RELATIONS: Final = Columns[Relation](
    "r",
    Relation,
    (
        Column("s.id", ID, "source"),
        Column("t.id", ID, "target"),
        Column("kind", one_of(RelationKind)),
        Column("weight"),
        Column("created_at", TIME),
    ),
)
EXPOSURES: Final = Columns[Exposed](
    "x",
    Exposed,
    (
        MEMORY_ID,
        Column("kind", one_of(Exposure), "exposure"),
        Column("at", TIME),
        *columns("similarity query"),
        *columns("session project crew agent", NAME),
    ),
)
REVIEWS: Final = Columns[Review](
    "r",
    Review,
    (
        MEMORY_ID,
        Column("at", TIME),
        Column("rating", one_of(Rating)),
        *columns("evidence_until previous", TIME),
        *columns("stability_before stability difficulty_before difficulty"),
        Column("rated_by", path="by"),
    ),
)
CREDITS: Final = Columns[Credit](
    "c",
    Credit,
    (
        MEMORY_ID,
        Column("outcome", ID, "outcome_id"),
        Column("at", TIME),
        Column("result", one_of(TaskResult)),
        Column("basis", one_of(CreditBasis)),
        Column("share"),
        *inside("scope", SCOPE),
        Column("recall", ID, "recall_id"),
        *columns("task note worked_before worked failed_before failed"),
        *columns("confidence_before confidence stability_before stability"),
    ),
    {"scope": scope_of},
)
AUDIT: Final = Columns[Audited]("a", Audited, (MEMORY_ID, Column("at", TIME), *columns("action reason")))
SNAPSHOTS: Final = Columns[HealthSnapshot](
    "h",
    HealthSnapshot,
    (
        Column("crew", NAME),
        Column("day", DAY),
        Column("taken_at", TIME),
        *inside("metrics", columns("freshness coverage coherence efficiency reachability")),
        Column("score"),
    ),
    {"metrics": Metrics},
)

LEVEL: Final = (
    "CASE WHEN m.session <> '' THEN 4 WHEN m.agent <> '' THEN 3 WHEN m.crew <> '' THEN 2 WHEN m.project <> '' THEN 1"
    " ELSE 0 END"
)
"""`domain.scope.level_of` for table `m`."""
