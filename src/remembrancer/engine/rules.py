"""Learning rules from events: a model reads the entries of one owner at a time; rules are stored with their evidence.

An event of type `summary.generated`, whose id is derived from the entries, records that they were read. The id of a
rule is derived from owner, pattern and evidence, so a crash causes no duplicates.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from typing import Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.effect import Effect
from remembrancer.domain.event import EventDraft, Priority, Role, Severity, is_less_trusted, least_trusted
from remembrancer.domain.identity import derived_id
from remembrancer.domain.memory import Memory, MemoryDraft, MemoryWrite, Tier
from remembrancer.domain.query import Filter
from remembrancer.domain.relation import Relation, RelationKind
from remembrancer.domain.scope import Reader, Scope
from remembrancer.domain.validation import JsonValue
from remembrancer.engine.ask import ask_for
from remembrancer.engine.context import Context, every_memory
from remembrancer.engine.record import event_of
from remembrancer.errors import Conflict, ModelUnavailable, NotFound
from remembrancer.policies.admission.flagging import with_flag
from remembrancer.policies.admission.formation import memory_of_draft, memory_of_event, own_cue
from remembrancer.policies.consolidation.rules import Owner, Rules, by_owner, formed_by_us, pattern_key, rule_text
from remembrancer.policies.prompts import rules as prompt
from remembrancer.policies.prompts.rules import Rule
from remembrancer.ports.journal import Entry, EventFilter
from remembrancer.values import copied, dataclass

JOB: Final = "rules"
CONSOLIDATED: Final = "memory.consolidated"
"""The kind of a rule's memory."""
GENERATED: Final = "summary.generated"
"""The type of the event that reports a search for rules."""
SOURCE: Final = "rules"
"""The source of rules and of reports."""
LIMIT: Final = 500
PAGE: Final = 500
MAX_ACCOUNTS: Final = 1_000
"""The most reports, newest first, that are searched for entries that could not be read."""
EVIDENCE_WEIGHT: Final = 1.0
ERROR_CHARS: Final = 500

_RUNS: Final = UUID("5d0e9a3f-8c7d-4b1a-b5b4-3a64c0f7e1d2")


class _Outcome(StrEnum):
    """The result of reading some entries, in the words of Crewship's summaries. Each is reported once for the same
    entries.
    """

    DONE = "goal_met"
    UNANSWERED = "failed"
    NO_MODEL = "needs_human"


@dataclass(frozen=True, slots=True, kw_only=True)
class RulesReport:
    """The result of a search for rules. `learned`: new rules. `known`: patterns that were found again. `owners`: how
    many sets of entries were read, with `entries` in total.

    `failed`: sets without a valid answer, to be retried. `left`: sets that wait, were not begun or changed meanwhile,
    and entries beyond the limit. `reason`: why nothing, or not everything, was done.
    """

    learned: tuple[UUID, ...] = ()
    known: int = 0
    owners: int = 0
    entries: int = 0
    failed: int = 0
    left: int = 0
    reason: str = ""


@dataclass(slots=True)
class _Tally:
    learned: list[UUID]
    known: int = 0
    owners: int = 0
    entries: int = 0
    failed: int = 0
    left: int = 0
    reason: str = ""

    def report(self) -> RulesReport:
        return copied(self, RulesReport, learned=tuple(self.learned))


async def learn_rules(
    ctx: Context,
    scope: Scope,
    *,
    since: datetime | None = None,
    limit: int = LIMIT,
    force: bool = False,
    crew: str | None = None,
) -> RulesReport:
    """Look for rules in the newest `limit` entries of the workspace since `since`. None: the preset's lookback,
    extended if the job has not run for longer or earlier entries could not be read.

    `force`: also read fewer entries than the preset requires, entries that were read before, and deferred ones. Without
    it, the same entries are read once. `crew`: only entries that belong to it.
    """
    policy, now = ctx.preset.rules, ctx.clock()
    validation.whole("limit", limit, 1, 10_000)
    start = validation.optional_moment("since", since)
    if policy is None:
        return RulesReport(reason=f"preset {ctx.preset.name} does not learn rules")
    deferred = {one.item: one for one in await ctx.store.deferrals(scope, JOB)}
    since = start or await _unread_since(ctx, scope, policy, now, deferred)
    entries, older = await _entries(ctx, scope, since, now, limit, crew)
    tally = _Tally([], left=older)
    owners = by_owner(entries)
    ready = {owner: own for owner, own in owners.items() if _suffice(ctx, policy, own, force=force)}
    if start is None and crew is None and not older:  # too few entries are left, so there is nothing to retry
        await ctx.store.settle(scope, JOB, sorted(set(deferred).difference(map(_item, ready))))
    if not ready:
        most = max((len(own) for own in owners.values()), default=0)
        tally.reason = f"too few entries: {most} of one owner, {policy.entries} are needed, or a permanent one"
        return tally.report()
    # Owners that failed before come last: the model may refuse one and end the run.
    order = sorted(ready, key=lambda owner: deferred[_item(owner)].attempts if _item(owner) in deferred else 0)
    for place, owner in enumerate(order):
        if _item(owner) in deferred and deferred[_item(owner)].retry_at > now and not force:
            tally.left += 1
            continue
        try:
            for own in policy.batches(ready[owner]):
                await _look(ctx, scope, policy, owner, own, tally, force=force)
        except ModelUnavailable as error:
            await _defer(ctx, scope, owner, ready[owner], str(error), tally)
            tally.left += len(order) - place - 1
            break
    if not (tally.reason or tally.owners or tally.left):
        tally.reason = "there are no new entries since the last run"
    return tally.report()


async def _look(
    ctx: Context, scope: Scope, policy: Rules, owner: Owner, own: Sequence[Memory], tally: _Tally, *, force: bool
) -> None:
    """Look for rules in the entries of one owner. Raises ModelUnavailable."""
    if ctx.llm is None:
        tally.reason = ctx.without_llm
        text = f"No rules were looked for in {len(own)} entries: {ctx.without_llm}."
        await _tell(ctx, owner, own, _Outcome.NO_MODEL, text, [])
        return
    if not force and await _was_told(ctx, owner, own, _Outcome.DONE):
        return
    given = await ask_for(
        ctx,
        scope,
        lambda answer: prompt.read(answer, len(own), policy.evidence, policy.at_most),
        purpose="rules",
        instructions=prompt.instructions(policy.evidence, policy.at_most),
        material=prompt.material(own, policy.entry_chars),
        schema=prompt.schema(policy.evidence, policy.at_most),
        max_tokens=prompt.MAX_TOKENS,
    )
    if isinstance(given, str):
        await _defer(ctx, scope, owner, own, given, tally)
        return
    learned, known, left = await _keep(ctx, scope, policy, owner, own, given)
    tally.learned += learned
    tally.known += known
    tally.owners += 1
    tally.entries += len(own)
    if left:  # the next run reads them again
        tally.left += left
        return
    await ctx.store.settle(scope, JOB, [_item(owner)])
    text = f"Rules were looked for in {len(own)} entries: {len(learned)} learned, {known} known before."
    await _tell(ctx, owner, own, _Outcome.DONE, text, learned, again=force)


async def _keep(
    ctx: Context, scope: Scope, policy: Rules, owner: Owner, own: Sequence[Memory], given: Sequence[Rule]
) -> tuple[list[UUID], int, int]:
    """Write each rule in a commit of its own. Returns the new ones, the number of known ones, and the number that could
    not be written.
    """
    learned: list[UUID] = []
    known = left = 0
    done: set[str] = set()
    for rule in given:
        key, now = pattern_key(rule.when), ctx.clock()
        evidence = [own[place - 1] for place in rule.evidence]
        before = await _before(ctx, scope, owner, key, now)
        recent = [one for one in before if one.recorded_at > now - timedelta(days=policy.again_after_days)]
        write = await _rule(ctx, owner, rule, key, evidence, now)
        # An older rule with the same pattern and evidence is the same rule.
        if key in done or recent or write.memory.id in {one.id for one in before}:
            known += 1
            continue
        done.add(key)
        edges = [
            Relation(write.memory.id, one.id, kind, EVIDENCE_WEIGHT, now)
            for one in evidence
            for kind in (RelationKind.SUPPORTS, RelationKind.DERIVED_FROM)
        ]
        kept = {one.id for one in before if is_less_trusted(write.memory.origin, one.origin)}
        edges += [Relation(write.memory.id, one, RelationKind.CONTRADICTS, 1.0, now) for one in kept]
        effect = Effect(
            expected={one.id: one.revision for one in (*evidence, *before)},
            inserted=(write,),
            superseded=tuple((one.id, write.memory.id) for one in before if one.id not in kept),
            related=tuple(edges),
        )
        try:
            await ctx.store.commit(scope, effect, at=now)
        except (Conflict, NotFound):  # another worker wrote first, or some of the evidence is no longer valid
            left += 1
        else:
            learned.append(write.memory.id)
    return learned, known, left


async def _rule(
    ctx: Context, owner: Owner, rule: Rule, key: str, evidence: Sequence[Memory], now: datetime
) -> MemoryWrite:
    reader = Reader(evidence[0].scope)
    events = [event.id for one in evidence for event in await ctx.store.provenance(reader, one.id)]
    shown_by = " ".join(sorted(str(one.id) for one in evidence))
    identifier = derived_id(_RUNS, f"{_item(owner)} {key} {shown_by}")
    facts: dict[str, JsonValue] = {"pattern": _pattern(key), "evidence": len(evidence)}
    if ctx.llm is not None:
        facts["model"] = ctx.llm.model_id
    draft = MemoryDraft(
        text=rule_text(rule.when, rule.then),
        kind=CONSOLIDATED,
        tier=Tier.SEMANTIC,
        source=SOURCE,
        origin=least_trusted(one.origin for one in evidence),
        importance=ctx.preset.formation.importance.of(CONSOLIDATED, Severity.NOTICE, Priority.NORMAL),
        confidence=rule.confidence,
        metadata=facts,
        visibility=owner.visibility,
    )
    formed = memory_of_draft(draft, scope=owner.scope, identifier=identifier, now=now).memory
    memory = replace(
        with_flag(formed, flagged=formed.flagged or any(one.flagged for one in evidence)),
        occurred_from=min(one.occurred_from for one in evidence),
        occurred_to=max(one.occurred_to for one in evidence),
    )
    return MemoryWrite(memory, (own_cue(memory),), tuple(dict.fromkeys(events)))


async def _before(ctx: Context, scope: Scope, owner: Owner, key: str, now: datetime) -> list[Memory]:
    """The current rules of this owner with the pattern `key`."""
    where = Filter(current_at=now, kinds=frozenset({CONSOLIDATED}), metadata=(("pattern", _pattern(key)),))
    found = await ctx.store.workspace_memories(scope, where, limit=PAGE)
    return [one for one in found if one.scope == owner.scope and one.visibility is owner.visibility]


async def _unread_since(
    ctx: Context, scope: Scope, policy: Rules, now: datetime, deferred: Collection[str]
) -> datetime:
    """The time from which entries are read by default: early enough that no entry is missed after a
    pause or a failure.
    """
    lookback = timedelta(hours=policy.lookback_hours)
    since = now - lookback
    last = (await ctx.store.runs(scope)).get(JOB)
    if last is not None:
        since = min(since, last.started_at)
    if not deferred:
        return since
    where = EventFilter(types=frozenset({GENERATED}), archived=True)
    read: set[str] = set()
    for event in await ctx.store.events(Reader(Scope(workspace=scope.workspace)), where, limit=MAX_ACCOUNTS):
        item, outcome = event.payload.get("owner"), event.payload.get("outcome")
        if not isinstance(item, str) or item not in deferred or item in read:
            continue
        if outcome == _Outcome.DONE:
            read.add(item)
        elif outcome == _Outcome.UNANSWERED:
            since = min(since, event.occurred_at - lookback)
    return since


async def _entries(
    ctx: Context, scope: Scope, since: datetime, now: datetime, limit: int, crew: str | None
) -> tuple[Sequence[Memory], int]:
    """The newest current entries since then, oldest first, and the number of older ones left out. Rules and reports do
    not count as entries.
    """
    where = Filter(
        current_at=now,
        # An episode repeats its turns, so it would count as a second piece of evidence.
        without_kinds=frozenset({CONSOLIDATED}) | ctx.preset.hidden_kinds,
        tiers=frozenset({ctx.preset.formation.event_tier}),
        crew=crew,
        since=since,
    )
    newest: deque[Memory] = deque(maxlen=limit)
    count = 0
    async for memory in every_memory(ctx, scope, where):
        if not formed_by_us(memory, SOURCE):
            newest.append(memory)
            count += 1
    return tuple(newest), count - len(newest)


def _suffice(ctx: Context, policy: Rules, own: Sequence[Memory], *, force: bool) -> bool:
    return len(own) >= policy.evidence and (force or policy.suffice(own, ctx.preset.formation.importance))


async def _defer(ctx: Context, scope: Scope, owner: Owner, own: Sequence[Memory], error: str, tally: _Tally) -> None:
    tally.failed += 1
    tally.reason = error
    await ctx.store.defer(scope, JOB, _item(owner), error=error, now=ctx.clock())
    await _tell(ctx, owner, own, _Outcome.UNANSWERED, f"No rules came of {len(own)} entries: {error[:ERROR_CHARS]}", [])


async def _tell(
    ctx: Context,
    owner: Owner,
    own: Sequence[Memory],
    outcome: _Outcome,
    text: str,
    learned: Sequence[UUID],
    *,
    again: bool = False,
) -> None:
    """Report the result in the journal: once for the same entries, or each time with `again`."""
    now = ctx.clock()
    was_told = await _was_told(ctx, owner, own, outcome)
    if was_told and not again:
        return
    identifier = derived_id(
        _run(owner, own), f"{outcome.value} {now.isoformat()} {text}" if was_told else outcome.value
    )
    payload: Mapping[str, JsonValue] = {
        "outcome": outcome.value,
        "entries_considered": len(own),
        "rules": [str(rule) for rule in learned],
        "owner": _item(owner),
    }
    severity = Severity.INFO if outcome is _Outcome.DONE else Severity.WARN
    draft = EventDraft(
        text=text,
        role=Role.SYSTEM,
        type=GENERATED,
        severity=severity,
        payload=payload,
        key=f"{GENERATED}:{identifier}",
    )
    event = event_of(ctx, owner.scope, draft, now, identifier=identifier)
    memory = None
    if ctx.preset.admission.admits(draft):
        formed = memory_of_event(event, ctx.preset.formation)
        memory = replace(formed, memory=replace(formed.memory, source=SOURCE, visibility=owner.visibility))
    with suppress(Conflict):  # another worker has reported the same entries
        await ctx.store.append(owner.scope, [Entry(event, memory)])


async def _was_told(ctx: Context, owner: Owner, own: Sequence[Memory], outcome: _Outcome) -> bool:
    identifier = derived_id(_run(owner, own), outcome.value)
    where = EventFilter(ids=frozenset({identifier}), archived=True)
    return bool(await ctx.store.events(Reader(owner.scope), where, limit=1))


def _run(owner: Owner, own: Sequence[Memory]) -> UUID:
    """An id derived from these entries and their present texts."""
    return derived_id(_RUNS, f"{_item(owner)} " + " ".join(f"{one.id}:{one.revision}" for one in own))


def _pattern(key: str) -> str:
    return str(derived_id(_RUNS, key))


def _item(owner: Owner) -> str:
    """The owner's name among the deferred items."""
    scope = owner.scope
    parts = (scope.workspace, scope.project, scope.crew, scope.agent, scope.session)
    return f"{derived_id(_RUNS, f'{parts!r} {owner.visibility.value}')}"
