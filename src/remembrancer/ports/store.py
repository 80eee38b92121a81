"""The record of truth: events, memories, cues, vectors, and the search over them.

Every method takes a scope or a reader: no row outside its workspace can be read, written, counted or let into a
score. (`key_of` and `has_keys` take neither: a key is what says which workspace its holder may reach.) Every writing
method is one transaction: its whole effect, or none of it. Reading methods write nothing.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Collection, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, timedelta
from typing import TYPE_CHECKING, Any, Final, Protocol, TypeVar
from uuid import UUID

from remembrancer.domain.api_key import ApiKey
from remembrancer.domain.candidates import Candidates, States
from remembrancer.domain.effect import Effect
from remembrancer.domain.erasure import Choice, Erasure, Removal, Removed, Traces
from remembrancer.domain.event import Event, Priority, Role, Severity
from remembrancer.domain.health import HealthSnapshot
from remembrancer.domain.job import Deferral, Run
from remembrancer.domain.journal import Place, PriorityChange, Stretch
from remembrancer.domain.listing import MemoryPlace
from remembrancer.domain.memory import Cue, Memory, MemoryWrite, Revision, Status
from remembrancer.domain.query import Filter, LexicalQuery
from remembrancer.domain.relation import Relation
from remembrancer.domain.reply import Claim, ClaimOutcome, Reply
from remembrancer.domain.review import Evidence, Review
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.spending import ModelCall, Spent
from remembrancer.domain.stream import Tail
from remembrancer.domain.strength import Adjustment, Exposed, Exposure, Strength
from remembrancer.domain.validation import JsonValue
from remembrancer.ports.one_thread import Beside

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vector = NDArray[np.float32]
    """Shape (dim,), of unit length."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An event to append, and the memory formed from it where it was admitted. The store gives `event.seq`.

    `tokens`: those of the event's `searchable_text`; None: the store has it analysed, with all that a cue would need.
    """

    event: Event
    memory: MemoryWrite | None = None
    tokens: tuple[str, ...] | None = None


@dataclass(frozen=True, slots=True)
class Appended:
    """An event as recorded. `created` is False when its key had been recorded before: then nothing was written."""

    event: Event
    created: bool


CONTEXT_GAP: Final = timedelta(hours=1)
"""Turns of one stream that lie farther apart are not each other's context."""
NEXT_BUT_ONE: Final = 0.75
"""What a word is worth that stands only two turns away, beside 1 for the turn next to it."""
MAX_SAID_CHARS: Final = 2000
"""Of a turn that another is read after, no more than its last so many characters are of use."""
BRIEF_TERMS: Final = 40
"""A turn of more terms is a text of its own: what it says is no context for the turns around it."""

MAX_ERROR_CHARS: Final = 500
"""Of the error that a piece of work failed with, no more than its first so many characters are kept."""


@dataclass(frozen=True, slots=True)
class Said:
    """Who said what; "" where nobody is named."""

    speaker: str
    text: str


@dataclass(frozen=True, slots=True)
class PendingCue:
    """A cue that has no vector of a model yet. `ref` names it within the store that gave it.

    `speaker`: who says it, where it is a turn of someone with a name. `before`: the turns before it, the last one last.
    """

    ref: int
    memory_id: UUID
    text: str
    heading: str = ""
    speaker: str = ""
    before: tuple[Said, ...] = ()


@dataclass(frozen=True, slots=True)
class CueVector:
    """A cue's vector: float32, unit length, shape (dim,).

    `words`: the signs of its token embeddings, packed by `policies.ranking.late_interaction`, uint8 (pieces, bytes).
    """

    ref: int
    vector: NDArray[np.float32]
    truncated: bool
    words: NDArray[np.uint8] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchRequest:
    """One question to the indexes. Each leg may be absent.

    `vector` (unit, float32), or what gives it once the words have been looked up, goes with its `model`. Each leg
    brings up to `depth` memories, cues folded to memories by maximum.

    `surroundings`: what stands around each turn counts too, and is a leg of its own. The turns around one are those
    before and after it in its stream (its scope, session and all), in the order of `seq`, each within `CONTEXT_GAP` of
    the next. What the reader may not see, what the filter leaves out, and turns of more than `BRIEF_TERMS` terms add
    nothing. `speakers`, `roles`: whose turns are to be told apart, by name or by role. Where a role is asked
    about, what no event tells (notes, facts) may be of anyone, and counts as said by one of those.

    `any_at`: the newest `depth` that happened in one of these [start, end), aware, come too, whatever they say.
    """

    where: Filter
    depth: int
    lexical: LexicalQuery | None = None
    vector: Vector | Callable[[], Vector | None] | None = None
    model: str | None = None
    surroundings: bool = False
    speakers: frozenset[str] = frozenset()
    roles: frozenset[Role] = frozenset()
    any_at: tuple[tuple[datetime, datetime], ...] = ()

    def given_vector(self) -> Vector | None:
        """The vector; where something gives it, once it has."""
        return self.vector() if callable(self.vector) else self.vector


@dataclass(frozen=True, slots=True)
class Stats:
    """Counts of what the reader may see, and the size of the store in bytes (0 where it has no size)."""

    events: int
    memories: Mapping[str, int]
    """By status."""
    cues: int
    vectors: Mapping[str, int]
    """By model."""
    truncated: int
    relations: int
    oldest: datetime | None
    newest: datetime | None
    bytes: int


@dataclass(frozen=True, slots=True)
class Finding:
    """Something `doctor` looked at. `ok` False is a fault; `repair` says what mends it."""

    check: str
    ok: bool
    detail: str
    repair: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class EventFilter:
    """Which events count: None means any. `since` and `until` select occurred_at in [since, until).

    `crews`, `agents`: any of them, where `crew` and `agent` are exactly that one.
    `recorded_after`: those recorded later than that. `without_types`: none of these. `words`: of each of these sets one
    stands among the tokens of the event's `searchable_text`, as `language.lexical.every_word` asks for them.
    `archived`: also what has been moved into the archive, cut as it is there.
    """

    ids: frozenset[UUID] | None = None
    project: str | None = None
    crew: str | None = None
    agent: str | None = None
    session: str | None = None
    crews: frozenset[str] | None = None
    agents: frozenset[str] | None = None
    types: frozenset[str] | None = None
    without_types: frozenset[str] = frozenset()
    severities: frozenset[Severity] | None = None
    priorities: frozenset[Priority] | None = None
    roles: frozenset[Role] | None = None
    actor: str | None = None
    words: tuple[frozenset[str], ...] = ()
    recorded_after: datetime | None = None
    since: datetime | None = None
    until: datetime | None = None
    archived: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Aged:
    """Which events are old enough for the archive: of these types (`network.*` is all that begins so), not of these
    priorities, that happened before `before`. Those that a memory was formed from stay in the journal all the same.
    """

    types: frozenset[str]
    keep: frozenset[Priority]
    before: datetime


@dataclass(frozen=True, slots=True)
class Audited:
    """Something done to a memory that its own row does not tell. `action` is a word such as "retired"."""

    memory_id: UUID
    action: str
    reason: str
    at: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Vitals:
    """`occurred`: when each memory happened (the end of its span), by id order. `ids` in the same order.

    `with_vector`: how many have a vector of the model for each of their cues. `related`: how many of those with a
    vector have at least one edge. `shown`: the similarities of the exposures of kind SHOWN since the time asked for.
    """

    ids: tuple[UUID, ...]
    occurred: tuple[datetime, ...]
    with_vector: int
    related: int
    shown: tuple[float, ...]


T = TypeVar("T")

ExportRow = dict[str, JsonValue]
"""One row of an export: a JSON object whose "record" key names what it is."""


class Store(Protocol):
    async def in_one_thread(self, work: Callable[[Beside | None], Coroutine[Any, Any, T]]) -> T:
        """Run work that awaits nothing but this store's reading methods and what waits for nothing either.

        A store may run it whole in a thread of its own, where each read is done there and then, all see one state, and
        a second thread is there for arithmetic; None where there is none.
        """
        ...

    async def append(self, scope: Scope, entries: Sequence[Entry]) -> tuple[Appended, ...]:
        """Append events, in order, each with its memory. All or nothing.

        An entry whose key is already recorded in its scope (session apart) is left as it was when the text is the
        same, and is a Conflict when it differs; so is an id, or a memory's key or topic, that is taken. An archived
        event holds its key, its id and its place; of its text, what is left is compared. `seq` has no gaps. Raises
        InvalidInput for a scope of another workspace, NotFound for an event that a cue names and is not there.
        """
        ...

    async def insert(self, scope: Scope, write: MemoryWrite) -> tuple[Memory, bool]:
        """Add a memory; returns it and True. With a key already there: the memory as it is and False.

        Raises Conflict when that key holds another text (a memory revised since is known by its key alone), or an
        active memory of this scope has the topic key.
        """
        ...

    async def revise(self, scope: Scope, write: MemoryWrite, *, expected_revision: int, at: datetime) -> Memory:
        """Replace what a memory says, keep what it said as a revision. Conflict unless it is at `expected_revision`
        and nothing supersedes it.

        It is at `expected_revision` + 1 then. Status, usage, confidence and reviews stay as they are stored,
        `write.event_ids` are added to the provenance, the cues are replaced and their vectors go.
        """
        ...

    async def by_topic(self, scope: Scope, topic_key: str) -> Memory | None:
        """The active memory of exactly this scope (session apart) with that topic key.

        One that is superseded has let go of it.
        """
        ...

    async def adjust(
        self,
        reader: Reader,
        ids: Sequence[UUID],
        change: Callable[[Strength], Adjustment],
        *,
        at: datetime,
        exposed: Sequence[Exposed] = (),
    ) -> Mapping[UUID, Strength]:
        """Apply a pure change to the strength of each memory, once each, and return the new ones.

        A memory whose adjustment says so is retired with it, and the audit says why. `exposed` is appended to the log
        of exposures. NotFound if one of `ids`, or of the memories in `exposed`, is missing. Nothing is written then,
        nor when `change` raises.
        """
        ...

    async def supersede(self, reader: Reader, old: UUID, new: UUID | None, *, at: datetime) -> Memory:
        """End the validity of `old` at `at`, in favour of `new` where given: a `supersedes` edge says so. Returns
        `old`.

        NotFound for either that the reader cannot see; nothing is written then. Conflict when `new` is not active or
        holds no longer at `at`, or when `old` is superseded by
        another already, or when `new` is `old` or comes, by the chain of supersession, to be replaced by it. What has
        ended already stays as it is.
        """
        ...

    async def relate(self, reader: Reader, relations: Sequence[Relation]) -> int:
        """Add edges; one that is there (same ends, same kind) takes the new weight. Returns how many were new.

        NotFound for an end the reader cannot see; nothing is written then.
        """
        ...

    async def set_status(self, reader: Reader, memory_id: UUID, status: Status, *, at: datetime) -> Memory:
        """Retire a memory or make it active again; what has that status already stays as it is.

        NotFound where the reader cannot see it. Conflict when its topic has another active memory by now.
        """
        ...

    async def commit(self, scope: Scope, effect: Effect, *, at: datetime) -> None:
        """Write an effect, whole. It reaches every memory of the workspace, whatever its visibility.

        Raises Conflict when something is no longer as the effect expects it, or a memory it inserts is there already
        (by id, key or topic), or has a review of that time; NotFound for a memory or an event it names that is not
        there; InvalidInput for a scope of another workspace, for a revised memory that is not expected, for a cursor
        that would go back or past the end of its stream. Nothing is written then.
        """
        ...

    async def tails(
        self, scope: Scope, *, at_least: int, silent_since: datetime, limit: int, after: Scope | None = None
    ) -> tuple[Tail, ...]:
        """Streams of the workspace with so many events in no episode yet, or with any where the last was recorded
        at or before `silent_since`; in the order of their scopes, those after `after`.
        """
        ...

    async def tail(self, stream: Scope) -> Tail | None:
        """The tail of exactly this stream (session and all); None where all of it is in episodes."""
        ...

    async def stream_events(self, stream: Scope, *, after: int, limit: int) -> tuple[Event, ...]:
        """Events of exactly this stream behind place `after`, in its order."""
        ...

    async def workspace_memories(
        self, scope: Scope, where: Filter, *, limit: int, after: Memory | None = None, unconsolidated: bool = False
    ) -> tuple[Memory, ...]:
        """For sweeps: memories of the whole workspace that the filter keeps, whatever their visibility, by when they
        happened (the end of the span) and id, oldest first, those after `after`.

        `unconsolidated`: only those that no facts were drawn from. Whoever condenses them must not let a memory be seen
        by more than its own visibility allows.
        """
        ...

    async def unreviewed(self, scope: Scope, exposure: Exposure, *, limit: int) -> tuple[Evidence, ...]:
        """Active memories that nothing supersedes, with exposures of that kind after the last that a review of theirs
        has answered, by the time of the first of those, then id.
        """
        ...

    async def exposed_in(self, scope: Scope, session: str, exposure: Exposure) -> tuple[UUID, ...]:
        """The memories of the workspace with exposures of that kind for a session of that name, by id."""
        ...

    async def reviews(self, reader: Reader, memory_id: UUID) -> tuple[Review, ...]:
        """The reviews of a memory, oldest first; none of one the reader cannot see."""
        ...

    async def archive(self, scope: Scope, aged: Aged, *, at: datetime, limit: int) -> int:
        """Move up to `limit` events from the journal into the archive, the oldest first, cut as
        `domain.event.archived` does. Returns how many: fewer than `limit` when none is left. What is archived supports
        no memory from then on, and an import that has it whole brings it back.
        """
        ...

    async def put_run(self, scope: Scope, run: Run) -> None:
        """Keep how a job's run went, in the place of its run before."""
        ...

    async def runs(self, scope: Scope) -> Mapping[str, Run]:
        """The last run of each job, by its name."""
        ...

    async def defer(self, scope: Scope, job: str, item: str, *, error: str, now: datetime) -> Deferral:
        """Note that a piece of work failed: it waits 30 s, each time it fails again twice as long, at most a day.

        Of the error, the first `MAX_ERROR_CHARS` are kept.
        """
        ...

    async def settle(self, scope: Scope, job: str, items: Sequence[str]) -> None:
        """These pieces of work no longer wait; those that did not are no error."""
        ...

    async def deferrals(self, scope: Scope, job: str | None = None) -> tuple[Deferral, ...]:
        """What waits, of a job or of all, by `retry_at`, job and item."""
        ...

    async def log_call(self, scope: Scope, call: ModelCall) -> None:
        """Into the ledger of what models were asked."""
        ...

    async def spending(self, scope: Scope, *, since: datetime | None = None) -> tuple[Spent, ...]:
        """The sums of the ledger since a time, by purpose, then model."""
        ...

    async def put_key(self, scope: Scope, key: ApiKey) -> None:
        """Keep a new key to the workspace. Keys and claims are of this store alone: in no export, counted nowhere.

        Conflict when its id is taken in the workspace, or its digest in any. InvalidInput for a key to another
        workspace.
        """
        ...

    async def keys(self, scope: Scope) -> tuple[ApiKey, ...]:
        """The keys to the workspace, whoever made them, newest first, ties by id, the last first: also those that have
        expired or are revoked.
        """
        ...

    async def revoke_key(self, scope: Scope, key_id: UUID, *, at: datetime) -> ApiKey:
        """Let a key open nothing any more. One that is revoked already stays as it was then. NotFound."""
        ...

    async def key_of(self, digest: bytes) -> ApiKey | None:
        """The key with that digest, usable or not, of whichever workspace: it is by the key that its holder comes to
        have one. Every other call of theirs takes the workspace that stands in it.
        """
        ...

    async def has_keys(self, *, at: datetime) -> bool:
        """Whether any key to any workspace is usable at that time."""
        ...

    async def claim(self, scope: Scope, claim: Claim, *, forget_before: datetime) -> ClaimOutcome:
        """Claim a key for a request, if it is new; else say what became of the request that has it.

        First the claims of the workspace from before `forget_before` are forgotten, with their replies. Of several at
        once, in whichever processes, exactly one is told `Claimed`. Conflict when the request that has the key has
        another fingerprint; nothing is written then.
        """
        ...

    async def answer(self, scope: Scope, claim: Claim, reply: Reply) -> None:
        """Keep what a claimed request was answered; of a body of more than `MAX_REPLY_BYTES` only that it was.

        The first answer stays. A claim that is no longer there, or whose key another one has since, has no use for it:
        nothing is written then.
        """
        ...

    async def release(self, scope: Scope, claim: Claim) -> None:
        """Take back a claim whose request did nothing, so that the key is new again. One that is answered stays, and so
        does that of another request, or of the same one made at another time.
        """
        ...

    async def get(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, Memory]:
        """The memories the reader may see, whatever their status; others are left out."""
        ...

    async def cues(self, reader: Reader, ids: Sequence[UUID]) -> Mapping[UUID, tuple[Cue, ...]]:
        """The cues of each memory the reader may see, by ordinal."""
        ...

    async def revisions(self, reader: Reader, memory_id: UUID) -> tuple[Revision, ...]:
        """What the memory said before, oldest first."""
        ...

    async def relations(self, reader: Reader, ids: Sequence[UUID]) -> tuple[Relation, ...]:
        """Edges from and to any of the memories, whose both ends the reader may see, oldest first, then by ends."""
        ...

    async def hubs(self, reader: Reader, where: Filter, *, limit: int) -> Mapping[UUID, int]:
        """The memories that the filter keeps with the most edges to others that it keeps, and how many those are: the
        most first, ties by id; none without an edge.
        """
        ...

    async def audit(self, reader: Reader, memory_id: UUID) -> tuple[Audited, ...]:
        """What was done to the memory by a policy or a person, oldest first, then by action and reason."""
        ...

    async def provenance(self, reader: Reader, memory_id: UUID) -> tuple[Event, ...]:
        """The events the memory was formed from, in order, as far as the reader may see them."""
        ...

    async def memories(
        self,
        reader: Reader,
        where: Filter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: MemoryPlace | None = None,
    ) -> tuple[Memory, ...]:
        """Current memories by when they happened (the end of the span), ties by id.

        `after`: those that come behind a place in that order. Pages asked for so neither repeat nor skip what has
        stood where it is since the first was read, whatever is remembered or forgotten meanwhile.
        """
        ...

    async def events(
        self,
        reader: Reader,
        where: EventFilter,
        *,
        limit: int,
        oldest_first: bool = False,
        after: Place | None = None,
    ) -> tuple[Event, ...]:
        """Events by when they happened, ties by stream position, then id; newest first is the exact reverse.

        `after`: those that come behind a place in that order. Pages asked for so neither repeat nor skip what was there
        when the first was read, whatever is recorded meanwhile.
        """
        ...

    async def recorded(self, reader: Reader, where: EventFilter, *, after: int | None = None, limit: int) -> Stretch:
        """Events of the journal in the order they were recorded, behind a position; the last `limit` where it is None.

        Positions count up in each workspace, in the order in which writes are done: once one has been read, nothing
        comes to stand before it, whichever process wrote it. None is given again. Fewer than `limit` entries are all
        there are; the stretch then ends at the last position of the workspace. What has been archived is not among
        them. InvalidInput for a position that was never given here: it is of another store, or of a lost state of this
        one.
        """
        ...

    async def set_priority(
        self,
        reader: Reader,
        event_id: UUID,
        priority: Priority,
        *,
        by: str,
        reason: str,
        at: datetime,
        change: Callable[[Memory, Sequence[Event], Sequence[Event]], Strength],
    ) -> PriorityChange:
        """Give an event another priority, log it, and give every memory formed from it the strength that follows.

        `change` is pure: a memory, all the events it was formed from as they were, and as they are now. Whatever the
        memory's visibility and status. The priority that it has already is no change, and is not logged. NotFound for
        an event the reader cannot see, Conflict for one in the archive: its time to stay is over.
        """
        ...

    async def priority_changes(self, reader: Reader, event_id: UUID) -> tuple[PriorityChange, ...]:
        """Each change of an event's priority, oldest first, archived or not; none of one the reader cannot see."""
        ...

    async def count_events(self, reader: Reader, where: EventFilter) -> int:
        """How many events the reader may see and the filter keeps."""
        ...

    async def events_by_day(self, reader: Reader, where: EventFilter) -> Mapping[date, int]:
        """The same by the day, in UTC, that they happened on: those days that have any, the earliest first."""
        ...

    async def states(self, reader: Reader, where: Filter) -> tuple[tuple[UUID, ...], States]:
        """All current memories that the reader may see and the filter keeps, by id, and the state of each."""
        ...

    async def search(self, reader: Reader, request: SearchRequest) -> Candidates:
        """The union of what each leg brings, with both legs' scores for every candidate.

        An empty lexical query counts as not asked. Raises InvalidInput for a vector without a model,
        EmbedderMismatch for one of another dimension.
        """
        ...

    async def participants(self, reader: Reader, where: Filter, *, model: str | None) -> frozenset[str]:
        """Who speaks, as user or assistant, in the turns that a search would look through: the actors' names.

        `model` is the one that the search is about to ask for; it changes nothing but which index is read.
        """
        ...

    async def pending(
        self, scope: Scope, model: str, *, limit: int, now: datetime, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        """Cues of the workspace without a vector of `model`, whose last failure (if any) has been waited out.

        `words`: also those that have one, but none of their words.

        `before`: how many turns of user or assistant before a turn come with it, as far as they belong to it
        (`CONTEXT_GAP`), whether or not they were admitted as memories.
        """
        ...

    async def pending_of(
        self, scope: Scope, model: str, memory_id: UUID, *, before: int = 0, words: bool = False
    ) -> tuple[PendingCue, ...]:
        """Likewise the cues of one memory, by ordinal, whether or not a failure of theirs has been waited out."""
        ...

    async def put_vectors(
        self,
        scope: Scope,
        model: str,
        vectors: Sequence[CueVector],
        *,
        at: datetime,
        relations: Sequence[Relation] = (),
    ) -> int:
        """Store vectors, and edges with them; a cue that has gone, or already has one, is left alone. But where words
        come to a cue without, they and their vector take the place of its vector.

        An edge that is there, or whose end has gone, is left alone. Returns how many vectors were new. Raises
        EmbedderMismatch when a vector's dimension differs from the others or from those that `model` has here.
        """
        ...

    async def defer_vectors(self, scope: Scope, model: str, refs: Sequence[int], *, error: str, now: datetime) -> None:
        """Note that these cues failed, so that the next try waits (doubling from 30 s, at most a day)."""
        ...

    async def vectors(self, reader: Reader, model: str, ids: Sequence[UUID]) -> Mapping[UUID, NDArray[np.float32]]:
        """The vector of each memory's first cue that has one, shape (dim,); memories without any are left out."""
        ...

    async def words(self, reader: Reader, model: str, refs: Sequence[int]) -> Mapping[int, NDArray[np.uint8]]:
        """The words of cues, by `Candidates.ref`, as `CueVector.words` has them.

        Left out: cues of memories that the reader may not see, that have gone, or without vectors of their words.
        """
        ...

    async def vitals(self, reader: Reader, where: Filter, *, model: str | None, shown_since: datetime) -> Vitals:
        """What the health of the memories that the filter keeps is worked out from."""
        ...

    async def put_snapshot(self, scope: Scope, snapshot: HealthSnapshot) -> None:
        """Keep a day's health; one of that workspace, crew and day takes the new values."""
        ...

    async def snapshots(self, scope: Scope, crew: str | None, *, limit: int) -> tuple[HealthSnapshot, ...]:
        """The health of the workspace (crew None) or of one crew, newest day first."""
        ...

    async def crews(self, scope: Scope) -> tuple[str, ...]:
        """The crews of the workspace that have memories, by name."""
        ...

    async def lying_in(self, scope: Scope, choice: Choice) -> tuple[frozenset[UUID], frozenset[UUID]]:
        """The memories and the events of the workspace that a choice names or that lie in the parts of a scope that it
        names, by id; whatever their status and visibility, events of the archive too.

        Of memories, `Choice.before` looks at the end of their span. NotFound for an id that the workspace does not
        have.
        """
        ...

    async def traces(self, scope: Scope, *, memories: Collection[UUID], events: Collection[UUID]) -> Traces:
        """What these hang together with, whatever its status and visibility; what is not there is left out."""
        ...

    async def erase(self, scope: Scope, removal: Removal, receipt: Erasure) -> Removed:
        """Let go of memories and events for good, with all that belongs to them, and keep a receipt; all or nothing.

        With a memory go its cues, vectors, revisions, edges, exposures, reviews and audit; with an event its changes of
        priority; with a session that nothing is left of, its exposures; with a stream that is left empty, its cursor,
        and the note of any other. Lines of logs (queries, audit, errors) that quote what goes say `ERASED` from then
        on, and every answer to an idempotency key is let go of, its key stays. Places and positions are not given
        again while anything of their stream is left. What was superseded by something that goes is over since then,
        and lets go of its topic.

        The receipt is kept with the counts and the `repeated` of what is returned, and not `purged_at`. Raises
        Conflict when something is no longer there, is no longer at its revision, or when a memory that stays was
        formed or derived from something that goes; nothing is written then. In a dry run of the receipt nothing is
        written either.
        """
        ...

    async def purge(self, scope: Scope, *, at: datetime) -> str:
        """Rid the store's files of what the erasures of this workspace left in them. Returns "" when they hold none of
        it, else why they may: then another call goes on. Does nothing where nothing is left to do.
        """
        ...

    async def copies(self, scope: Scope) -> tuple[str, ...]:
        """The names of files beside the store's own that are copies of it from before; they are not erased from."""
        ...

    async def erasures(self, scope: Scope, *, limit: int) -> tuple[Erasure, ...]:
        """The receipts of the workspace, newest first."""
        ...

    async def stats(self, reader: Reader) -> Stats: ...

    async def check(self, scope: Scope, model: str | None) -> tuple[Finding, ...]:
        """Look for damage and drift: the file, the schema, the full-text rows, the vectors of `model`."""
        ...

    def export(self, scope: Scope) -> AsyncIterator[ExportRow]:
        """Every row of the workspace, in an order that depends on the rows alone."""
        ...

    async def import_rows(self, scope: Scope, rows: Iterable[ExportRow], *, dry_run: bool = False) -> int:
        """Write rows of an export into this workspace, in one transaction. Rows already there are left alone.

        `rows` is read once, while the transaction is open. Returns how many were new; a dry run then undoes them.
        Raises InvalidInput or Conflict for a row that cannot be; nothing is written then.
        """
        ...

    async def close(self) -> None:
        """Finish what is under way. Twice is harmless; any other call raises StoreUnavailable afterwards."""
        ...
