"""The request bodies. The memory validates again; the constraints here name the field in the error."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, cast
from uuid import UUID

from pydantic import BaseModel, ConfigDict, Field, model_validator
from pydantic_core import PydanticCustomError

from remembrancer.domain.api_key import Right
from remembrancer.domain.event import Origin, Priority, Role, Severity
from remembrancer.domain.job import Job
from remembrancer.domain.memory import Tier
from remembrancer.domain.outcome import MAX_CREDITED, MAX_NOTE_CHARS, TaskResult
from remembrancer.domain.recall import Detail, RecallMode
from remembrancer.domain.relation import RelationKind
from remembrancer.domain.retention import MAX_REASON_CHARS
from remembrancer.domain.scope import Reach, Visibility
from remembrancer.domain.strength import Exposure, Feedback
from remembrancer.engine.journal import MAX_REASON_BYTES
from remembrancer.engine.record import MAX_BATCH
from remembrancer.facade import MAX_LISTED
from remembrancer.interfaces.http.given import (
    OF_FIELDS,
    EventText,
    Flag,
    Fraction,
    Hits,
    Json,
    JsonOfScalars,
    Listed,
    Moment,
    Name,
    RecallField,
    RevisionNumber,
    Slug,
    Tags,
    Text,
    Title,
    WholeImportance,
)
from remembrancer.interfaces.wire.recall_fields import FIELDS

BLOCK_CHARS: Final = 4000
MAX_BLOCK_CHARS: Final = 1_000_000
MAX_PRESETS: Final = 20
_ID: Final = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"
_OTHER_ID: Final = "01981c0f-11d2-7aa0-8c3b-5f6e7d8c9b0a"


def _with(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(json_schema_extra={"examples": [example]})


class Body(BaseModel):
    """A request body. Unknown fields are refused."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    @model_validator(mode="before")
    @classmethod
    def _only_known(cls, given: object) -> object:
        """Refuse an unknown field by an error that names the fields: the one of `extra` does not."""
        if isinstance(given, dict):
            fields = cast("dict[str, object]", given)
            for name, value in fields.items():
                if name not in cls.__pydantic_fields__:
                    known = list(cls.__pydantic_fields__)
                    raise PydanticCustomError(
                        "unknown_field", "unknown field", {"name": name, "value": value, "known": known}
                    )
            return fields
        return given

    def given(self) -> dict[str, Any]:
        """The fields that the request contained."""
        return {name: getattr(self, name) for name in self.model_fields_set}


class EventIn(Body):
    """Something that was said or happened."""

    model_config = _with(
        {
            "text": "Deploy of checkout failed: OOM in the payment worker",
            "role": "tool",
            "type": "mission.status_change",
            "severity": "error",
            "session": "monday",
        }
    )

    text: EventText
    role: Role = Field(default=Role.USER, description="Who said it.")
    type: Slug = Field(default="message", description="The type of the event.")
    severity: Severity = Severity.INFO
    priority: Priority = Priority.NORMAL
    actor: Name | None = Field(default=None, description="The name of the person or program that said or did it.")
    occurred_at: Moment | None = Field(default=None, description="When it happened. Default: now.")
    session: Name | None = Field(default=None, description="Its session. Default: that of the query string.")
    payload: Json = Field(default={}, description="Details: at most 64 KiB, 32 levels deep.")
    refs: Json = Field(default={}, description="References, with the same limits as `payload`.")
    key: Name | None = Field(
        default=None, description="Unique in its scope: an event with a known key is not recorded again."
    )


class EventsIn(Body):
    """Events in their order: all are recorded, or none."""

    events: Annotated[list[EventIn], Field(min_length=1, max_length=MAX_BATCH)]


class PriorityIn(Body):
    """A new priority for an event. `reason`: why, which is kept with the change."""

    model_config = _with({"priority": "pin", "reason": "the contract hangs on it"})

    priority: Priority
    reason: Annotated[str, Field(max_length=MAX_REASON_BYTES)] = ""


class MemoryIn(Body):
    """A memory to keep. `kind` and `tier` null: the preset's default. With `events`, the memory is their episode."""

    model_config = _with(
        {
            "text": "Checkout needs 2 GiB in production",
            "kind": "decision",
            "importance": 0.9,
            "tags": ["checkout"],
            "topic_key": "checkout-memory",
        }
    )

    text: Text
    title: Title | None = None
    kind: Slug | None = None
    tier: Tier | None = None
    source: Name | None = Field(default=None, description="Where the text comes from.")
    origin: Origin = Field(default=Origin.USER, description="Whose words they are. Trust depends on it.")
    importance: Fraction = 0.5
    priority: WholeImportance = Field(default=5, description="1 to 10.")
    confidence: Fraction = 0.5
    surprise: Fraction = Field(default=0.0, description="How unexpected it was. Surprising memories fade more slowly.")
    tags: Tags = []
    metadata: Json = Field(default={}, description="At most 64 KiB, 32 levels deep.")
    topic_key: Name | None = Field(default=None, description="Replaces the text of this scope's memory on that topic.")
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    occurred_at: Moment | None = Field(default=None, description="When it happened. Default: now.")
    visibility: Visibility = Field(default=Visibility.WORKSPACE, description="Who else may see it.")
    key: Name | None = Field(
        default=None, description="Unique in its scope: a memory with a known key is not stored again."
    )
    events: Annotated[list[UUID], Field(max_length=MAX_BATCH, description="The turns that the episode covers.")] = []


class MemoriesIn(Body):
    """Memories in their order: all are stored, or none. None of them has a `topic_key`."""

    memories: Annotated[list[MemoryIn], Field(min_length=1, max_length=MAX_BATCH)]


class MemoryChangesIn(Body):
    """The changes. Null removes a field, a missing field stays. At least one field besides `expected_revision`."""

    model_config = _with({"text": "Checkout needs 3 GiB in production", "expected_revision": 1})

    expected_revision: RevisionNumber | None = Field(
        default=None, description="Change nothing unless this is the current `revision` (409)."
    )
    text: Text = ""
    title: Title | None = None
    kind: Slug = ""
    source: Name | None = None
    importance: Fraction = 0.5
    priority: WholeImportance = 5
    tags: Tags = []
    metadata: Json = {}
    valid_from: Moment | None = None
    valid_until: Moment | None = None
    visibility: Visibility = Visibility.WORKSPACE
    origin: Origin = Field(
        default=Origin.USER,
        description="The source of the changes. The memory keeps the less trusted of it and its own origin.",
    )


class SupersedeIn(Body):
    """The successor of a memory. `by`: the memory that replaces this one."""

    model_config = _with({"by": _OTHER_ID})

    by: UUID


class InvalidateIn(Body):
    """The end of a memory's validity."""

    model_config = _with({"replacement": _OTHER_ID})

    replacement: UUID | None = Field(default=None, description="The memory that replaces it, if any.")


class FeedbackIn(Body):
    """A rating of a memory that was recalled."""

    model_config = _with({"verdict": "helpful"})

    verdict: Feedback


class RelationIn(Body):
    """Read as a sentence: the source supports, contradicts, … the target."""

    model_config = _with({"source": _ID, "target": _OTHER_ID, "kind": "supports", "weight": 0.8})

    source: UUID
    target: UUID
    kind: RelationKind
    weight: Fraction = 1.0


class RecallIn(Body):
    """A question. With `render`, the answer includes prompt blocks of at most `max_chars` characters each."""

    model_config = _with(
        {"query": "why did checkout run out of memory?", "limit": 5, "tags": ["checkout"], "render": True}
    )

    query: Text
    mode: RecallMode = Field(
        default=RecallMode.QUESTION,
        description="message: `query` is a turn of a conversation; find the few memories that matter to it.",
    )
    limit: Hits | None = Field(default=None, description="The maximum number of hits; null: the preset's default.")
    kinds: list[Slug] | None = Field(default=None, description="Only these kinds.")
    tiers: list[Tier] | None = Field(default=None, description="Only these tiers.")
    tags: Tags = Field(default=[], description="Only with all of these tags.")
    source: Name | None = Field(default=None, description="Only from this source.")
    session: Name | None = Field(default=None, description="Only what belongs to this session.")
    metadata: JsonOfScalars | None = Field(default=None, description="Only with each of these values in the metadata.")
    visibilities: list[Visibility] | None = Field(default=None, description="Only with one of these visibilities.")
    reach: Reach | None = Field(
        default=None, description="The part of the scope to search; null: all that the role may see."
    )
    since: Moment | None = Field(default=None, description="Only what happened at or after this time.")
    until: Moment | None = Field(default=None, description="Only what happened before this time.")
    as_of: Moment | None = Field(default=None, description="Only what was known and valid at this time; null: now.")
    ranking: Name | None = Field(default=None, description="One of the preset's rankings; null: its default.")
    walk_depth: Annotated[int, Field(strict=True, ge=0, le=1)] | None = Field(
        default=None, description="1: also memories with a `similar` edge from a hit; null: as set for the agent."
    )
    floor: Fraction | Literal["off"] | None = Field(
        default=None,
        description="No hit below this probability, in place of the preset's threshold; off: none.",
    )
    min_score: Fraction = Field(default=0.0, description="No hit below this score, besides the threshold.")
    explain: Flag = Field(
        default=False, description="Also give the parts of each hit's score, the matched words and the reason."
    )
    mark: Flag | None = Field(
        default=None,
        description="Count the hits as retrieved; null: where the preset says so and the key may write.",
    )
    keep: Flag = Field(
        default=False,
        description="Store the answer, so that `/v1/recalls/{recall_id}` gives it again. Needs a write key.",
    )
    fields: Annotated[list[RecallField], Field(min_length=1, max_length=len(FIELDS))] | None = Field(
        default=None, description=OF_FIELDS
    )
    render: Flag = False
    max_chars: Annotated[int, Field(strict=True, ge=1, le=MAX_BLOCK_CHARS)] = BLOCK_CHARS
    detail: Detail = Field(default=Detail.AUTO, description="How much of the transcripts the block includes.")

    def arguments(self) -> dict[str, Any]:
        """The keyword arguments of `recall`."""
        apart = {"query", "mark", "fields", "render", "max_chars", "detail"}
        return {name: value for name, value in self.given().items() if name not in apart}


class ExposuresIn(Body):
    """Memories that were retrieved, shown in a prompt or used in an answer. `query`: the question they answered."""

    model_config = _with({"memories": [_ID], "exposure": "shown", "query": "why did checkout run out of memory?"})

    memories: Annotated[list[UUID], Field(min_length=1, max_length=MAX_LISTED)]
    exposure: Exposure
    query: Annotated[str, Field(max_length=65_536)] = ""


class OutcomeIn(Body):
    """The result of a task, and the memories that it used: named, cited by id in its final text, or else those in the
    blocks of kept recalls.
    """

    model_config = _with({"result": "success", "memories": [_ID], "task": "raise the memory limit of checkout"})

    result: TaskResult
    memories: Annotated[list[UUID], Field(max_length=MAX_CREDITED)] = []
    text: Annotated[str, Field(max_length=1_048_576)] = ""
    recalls: Annotated[list[UUID], Field(max_length=MAX_CREDITED)] = []
    task: Annotated[str, Field(max_length=MAX_NOTE_CHARS)] = ""
    note: Annotated[str, Field(max_length=MAX_NOTE_CHARS)] = ""
    key: Name | None = None


class CompareIn(Body):
    """A question to ask under several presets. `presets`: names of shipped presets or of the one in use; null: all of
    them.
    """

    model_config = _with({"query": "why did checkout run out of memory?", "limit": 5})

    query: Text
    presets: Annotated[list[Name], Field(min_length=1, max_length=MAX_PRESETS)] | None = None
    limit: Hits = 5
    as_of: Moment | None = None


class SleepIn(Body):
    """A request to consolidate working memory."""

    dry_run: Flag = Field(default=False, description="Only report what would be done.")


class ConsolidateIn(Body):
    """A request to consolidate memories now."""

    model_config = _with({"since": "2026-03-01T00:00:00Z", "limit": 50})

    since: Moment | None = Field(default=None, description="Derive rules from events since then.")
    limit: Listed = Field(default=50, description="The maximum number of items of each kind.")


class MaintainIn(Body):
    """A request to run background jobs."""

    model_config = _with({"only": ["index", "health"], "force": True})

    only: list[Job] | None = Field(default=None, description="Only these jobs; null: all of the preset's jobs.")
    force: Flag = Field(default=False, description="Also run jobs that are not due.")


class IntentIn(Body):
    """The intent of a project, which names its stage."""

    model_config = _with({"intent": "# Intent\n\n## Stage\n\ndesign\n"})

    intent: Text = Field(description="The content of the project's INTENT.md.")


class PromotionIn(Body):
    """A memory to share more widely."""

    model_config = _with({"memory_id": _ID, "to": "workspace"})

    memory_id: UUID
    to: Annotated[str, Field(pattern="^(project|workspace)$", description="The wider scope to copy it to.")] = (
        "workspace"
    )


class SelectionIn(Body):
    """The parts that selected rows have: parts of their scope, the `actor` who said them, their `kind` (of events: the
    type), and their `origin`.
    """

    project: Name | None = None
    crew: Name | None = None
    agent: Name | None = None
    session: Name | None = None
    actor: Name | None = None
    kind: Name | None = None
    origin: Origin | None = None


class ErasureIn(SelectionIn):
    """A selection of rows to erase: memories by `ids`, entries of the journal by `events`, or the rows that have all of
    the other parts given, optionally only what happened `before` a time.
    """

    model_config = _with({"ids": [_ID], "dry_run": True})

    ids: Annotated[list[UUID], Field(min_length=1, max_length=MAX_LISTED)] | None = None
    events: Annotated[list[UUID], Field(min_length=1, max_length=MAX_LISTED)] | None = None
    before: Moment | None = None
    dry_run: Flag = Field(default=False, description="Only report what would be erased.")


class SubjectIn(SelectionIn):
    """The rows to export: those that have every part given, of these only what happened `before` a time."""

    before: Moment | None = Field(default=None, description="Of the matching rows, only those before this time.")


class RuleIn(SelectionIn):
    """A retention rule: rows with all of the parts given are erased `after` so many seconds. At least one part is
    needed.
    """

    model_config = _with({"kind": "message", "origin": "web", "after": 2_592_000})

    after: Annotated[float, Field(strict=True, ge=3_600, le=36_500 * 86_400, allow_inf_nan=False)]


class HoldIn(SelectionIn):
    """A legal hold: rows with all of the parts given are not erased until it is released. At least one part is needed.

    `reason`: why it is placed, such as the number of a case.
    """

    model_config = _with({"session": "support-4711", "reason": "case 12/2026"})

    reason: Annotated[str, Field(min_length=1, max_length=MAX_REASON_CHARS)]


class KeyIn(Body):
    """A key to create. `expires_in`: seconds, up to a hundred years; null: it does not expire.

    A key with a `project`, `crew`, `agent`, `session` or `role` is bound: requests with it act as these and as no
    other.
    """

    model_config = _with({"name": "ci", "right": "write", "expires_in": 7_776_000, "agent": "coder"})

    name: Name
    right: Right = Right.READ
    expires_in: Annotated[float, Field(strict=True, gt=0, le=36_500 * 86_400, allow_inf_nan=False)] | None = None
    project: Name | None = None
    crew: Name | None = None
    agent: Name | None = None
    session: Name | None = None
    role: Name | None = None
