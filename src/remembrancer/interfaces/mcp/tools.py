"""The tools. Their docstrings are the descriptions that models read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any, get_args

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from remembrancer.domain.age import spoken_age
from remembrancer.domain.api_key import Right
from remembrancer.domain.event import Origin
from remembrancer.domain.identity import short_id
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.names import NameMatch
from remembrancer.domain.outcome import TaskResult
from remembrancer.domain.recall import Recall, Rendered
from remembrancer.domain.strength import Exposure, Feedback
from remembrancer.engine.search_state import SearchMode
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.cli.times import parse_time
from remembrancer.interfaces.mcp import parameters as given
from remembrancer.interfaces.mcp.blocks import FRAME, Listing, listing, memory_line, minute
from remembrancer.interfaces.mcp.tool import MemoryOf, answer, as_json
from remembrancer.interfaces.text import below_threshold, flagged_held_back, read_as
from remembrancer.interfaces.wire.mcp import (
    ChangedOut,
    DocumentOut,
    EntryOut,
    FoundOut,
    ListedOut,
    MemoryStateOut,
    RecalledOut,
)
from remembrancer.interfaces.wire.memories import FeedbackOut
from remembrancer.policies.rendering.safe import one_line
from remembrancer.values import dataclass

NOTHING = "No memory answers this."


@dataclass(frozen=True, slots=True)
class Tools:
    """The tools of one server. `counts_use`: memories that `recall` finds are recorded as retrieved, those it shows as
    shown, and those rated helpful as used. `recall` then writes.
    """

    memory_of: MemoryOf
    clock: Callable[[], datetime]
    counts_use: bool

    async def recall(
        self,
        context: Context,
        query: given.Query,
        *,
        mode: given.Mode = "question",
        limit: given.RecallLimit = None,
        kinds: given.OnlyKinds = None,
        tags: given.OnlyTags = None,
        since: given.SinceTime = None,
        until: given.UntilTime = None,
        session: given.OnlySession = None,
        floor: given.LeastScore = None,
        explain: given.Explain = False,
        fields: given.HitFields = None,
        max_chars: given.MaxChars = given.BLOCK_CHARS,
    ) -> Annotated[CallToolResult, RecalledOut]:
        """Find what is remembered about something: decisions, facts, what was said or happened. Call it before you
        answer or act on what may have come up earlier. Returns the best matches with their ids, or none if nothing
        answers. Not for browsing (use recent or timeline), nor for what is in this conversation.
        """
        memory = await self.memory_of(context, Right.WRITE if self.counts_use else Right.READ)
        found = await memory.recall(
            query,
            mode=mode,
            limit=limit,
            kinds=kinds,
            tags=tags or (),
            session=session,
            floor=floor,
            explain=explain,
            mark=self.counts_use,
            **self._times(since=since, until=until),
        )
        block = found.block(max_chars=max_chars, ids=True)
        if self.counts_use:
            await memory.mark(block.hits, Exposure.SHOWN, query=found.query)
        wanted = get_args(given.HitField) if fields is None else fields
        return answer(recalled_text(found, block, max_chars), RecalledOut.of(found, block, wanted))

    async def recent(
        self,
        context: Context,
        limit: given.ListLimit = 10,
        days: given.Days = None,
        preferences: given.OnlyPreferences = False,
        max_chars: given.MaxChars = given.BLOCK_CHARS,
    ) -> Annotated[CallToolResult, ListedOut]:
        """List the newest memories, newest first. Call it at the start of a conversation, or when asked what is new."""
        memory = await self.memory_of(context, Right.READ)
        found = await (memory.preferences(limit) if preferences else memory.recent(limit=limit, days=days))
        now, titles = self.clock(), await memory.journal.titles({one.scope for one in found})
        lines = [memory_line(one, spoken_age(now - one.occurred_to), titles.get(one.scope, "")) for one in found]
        listed = listing(lines, max_chars)
        return answer(_listed_text(listed), ListedOut.of(found))

    async def timeline(
        self,
        context: Context,
        since: given.SinceTime = None,
        until: given.UntilTime = None,
        kinds: given.OnlyKinds = None,
        session: given.OnlySession = None,
        limit: given.ListLimit = 20,
        max_chars: given.MaxChars = given.BLOCK_CHARS,
    ) -> Annotated[CallToolResult, ListedOut]:
        """List what happened in a period, oldest first. Call it to see what a day or a session was about, or in which
        order things happened; kinds=["episode"]: only episodes.
        """
        memory = await self.memory_of(context, Right.READ)
        times = self._times(since=since, until=until)
        found = await memory.timeline(**times, limit=limit, kinds=kinds, session=session)
        titles = await memory.journal.titles({one.scope for one in found})
        lines = [memory_line(one, minute(one.occurred_from), titles.get(one.scope, "")) for one in found]
        listed = listing(lines, max_chars)
        return answer(_listed_text(listed), ListedOut.of(found))

    async def memory_health(
        self, context: Context, days: given.HealthDays = 0
    ) -> Annotated[CallToolResult, MemoryStateOut]:
        """Report the memory's health, how to improve it, and how much is kept. Call it when asked about
        the memory itself, or when recall finds less than it should.
        """
        memory = await self.memory_of(context, Right.READ)
        crew = memory.scope.crew
        state = MemoryStateOut.of(
            crew,
            await memory.health.latest(crew),
            await memory.health.history(crew, limit=days) if days else None,
            stats=await memory.health.stats(),
            search=(await memory.health.search_state()).mode,
            as_of=self.clock(),
        )
        return answer(_state_text(state), state)

    async def remember(
        self,
        context: Context,
        text: given.MemoryText,
        title: given.MemoryTitle = None,
        kind: given.Kind = None,
        tags: given.TagList = None,
        importance: given.ImportanceFraction = None,
        topic_key: given.TopicKey = None,
        origin: given.Whose = "assistant",
        occurred_at: given.OccurredAt = None,
        valid_until: given.ValidUntil = None,
        key: given.Key = None,
    ) -> Annotated[CallToolResult, ChangedOut]:
        """Store a decision, preference, fact or lesson for later conversations. Call it when the user asks you to
        remember, or when something is settled that will matter again. Not for what was merely said (use observe),
        secrets, or what can be read again from files and tools. Returns the id.
        """
        memory = await self.memory_of(context, Right.WRITE)
        kept = await memory.remember(
            text,
            title=title,
            kind=kind,
            tags=tags,
            importance=importance,
            topic_key=topic_key,
            origin=origin,
            key=key,
            **self._times(occurred_at=occurred_at, valid_until=valid_until),
        )
        anew = f" It is revision {kept.revision} of its topic; the previous text is kept." if kept.revision > 1 else ""
        if topic_key is not None and kept.topic_key != topic_key:
            anew += " A memory of this topic that is trusted more stays current."
        return answer(f"Remembered as {short_id(kept.id)} ({kept.kind}, {kept.tier.value}).{anew}", ChangedOut.of(kept))

    async def observe(
        self,
        context: Context,
        text: given.SaidText,
        role: given.SpeakerRole = "user",
        type: given.EventType = "message",  # noqa: A002  the field's own name
        severity: given.SeverityName = "info",
        actor: given.Actor = None,
        occurred_at: given.OccurredAt = None,
        session: given.Session = None,
        key: given.Key = None,
    ) -> Annotated[CallToolResult, EntryOut]:
        """Record what was said or happened, as it was: a turn, a tool's result, a deploy that failed. Call it for each
        turn worth finding again, word for word; for a conclusion of your own, use remember. Returns the id.
        """
        memory = await self.memory_of(context, Right.WRITE)
        event = await memory.observe(
            text,
            role=role,
            type=type,
            severity=severity,
            actor=actor,
            session=session,
            key=key,
            **self._times(occurred_at=occurred_at),
        )
        return answer(f"Recorded as event {short_id(event.id)}, number {event.seq} of its session.", EntryOut.of(event))

    async def feedback(
        self, context: Context, memory_id: given.MemoryIds, verdict: given.Verdict
    ) -> Annotated[CallToolResult, FeedbackOut]:
        """Rate a recalled memory, or report how a task that used memories ended. Call it as soon as you know. It
        changes their rank; one rated unhelpful or harmful too often is retired.
        """
        memory = await self.memory_of(context, Right.WRITE)
        if verdict in set(TaskResult):
            told = await memory.outcome(verdict, memories=memory_id.replace(",", " ").split())
            changed = [await memory.get(one.memory_id) for one in told.credits]
            parts = (f"{short_id(one.id)} is at confidence {one.strength.confidence:.2f}" for one in changed)
            return answer(
                f"Counted as {verdict}: {', '.join(parts)}.",
                FeedbackOut.of(changed[0].id, changed[0].strength, changed[0].status),
            )
        chosen = (await memory.get(memory_id)).id
        if self.counts_use and verdict == Feedback.HELPFUL:
            await memory.mark([chosen], Exposure.USED)
        strength = await memory.feedback(chosen, verdict)
        status = (await memory.get(chosen)).status
        retired = "" if status is Status.ACTIVE else f" It is now {status.value}, and no longer recalled."
        text = f"Counted as {verdict}: its confidence is {strength.confidence:.2f}.{retired}"
        return answer(text, FeedbackOut.of(chosen, strength, status))

    async def update(
        self,
        context: Context,
        memory_id: given.MemoryIdText,
        text: given.NewText = None,
        title: given.MemoryTitle = None,
        kind: given.Kind = None,
        tags: given.TagList = None,
        importance: given.ImportanceFraction = None,
        valid_until: given.ValidUntil = None,
    ) -> Annotated[CallToolResult, ChangedOut]:
        """Correct a memory: the given fields change, the others stay. Call it when one is wrong or incomplete. The
        previous text is kept as a revision.
        """
        memory = await self.memory_of(context, Right.WRITE)
        told: dict[str, Any] = {"text": text, "title": title, "kind": kind, "tags": tags, "importance": importance}
        told |= self._times(valid_until=valid_until)
        changes: Any = {name: value for name, value in told.items() if value is not None}
        if not changes:
            raise InvalidInput("arguments", None, "at least one of " + ", ".join(told))
        if text is not None or title is not None:
            changes["origin"] = Origin.ASSISTANT  # a model's words are trusted no more than it, also in a user's memory
        edited = await memory.update(memory_id, **changes)
        return answer(f"Updated {short_id(edited.id)}: it has revision {edited.revision}.", ChangedOut.of(edited))

    async def search(self, context: Context, query: given.Query) -> Annotated[CallToolResult, FoundOut]:
        """The memories that answer a question, as ids and titles for fetch. Call it only if you cannot call recall."""
        memory = await self.memory_of(context, Right.WRITE if self.counts_use else Right.READ)
        return as_json(FoundOut.of(await memory.recall(query, mark=self.counts_use)))

    async def fetch(self, context: Context, id: given.MemoryIdText) -> Annotated[CallToolResult, DocumentOut]:  # noqa: A002  the name that clients give
        """The whole text of a memory. Call it for what search, recall or recent gave in short."""
        memory = await self.memory_of(context, Right.READ)
        return as_json(DocumentOut.of(await memory.get(id)))

    async def forget(self, context: Context, memory_id: given.MemoryIdText) -> Annotated[CallToolResult, ChangedOut]:
        """Retire a memory, so that it is no longer recalled. Call it when the user asks for it, or a memory is wrong
        and nothing replaces it (use update to correct one). A person can restore it.
        """
        memory = await self.memory_of(context, Right.WRITE)
        retired = await memory.forget(memory_id)
        known_by = short_id(retired.id)
        text = f"Retired {known_by}: it is kept, not recalled, and `remembrancer forget --undo` brings it back."
        return answer(text, ChangedOut.of(retired))

    def _times(self, **given: str | None) -> dict[str, Any]:
        """Times given as text, by the names of their arguments. Raises InvalidInput."""
        now = self.clock()
        return {name: None if text is None else parse_time(name, text, now=now) for name, text in given.items()}


def recalled_text(recall: Recall, block: Rendered, max_chars: int) -> str:
    """The answer that a model reads: the blocks as the preset renders them, with an id in the line of each memory."""
    parts = [recall.render_pinned(max_chars=max_chars, ids=True), block.text]
    # A reason quotes memories, so it stands in a block too.
    reasons = [f"- {short_id(hit.id)}: {one_line(hit.explanation.reason)}\n" for hit in block.hits]
    if any(hit.explanation.reason for hit in block.hits):
        parts.append(f"Why they were found:\n{FRAME.around(''.join(reasons))}")
    left = len(recall.hits) - len(block.hits)
    if left:
        parts.append(f"{left} of {len(recall.hits)} do not fit in {max_chars:,} characters.")
    if not recall.hits:
        parts.append(NOTHING)
    learned = [f"- {read_as(one)}\n" for one in recall.trace.names if one.match is NameMatch.LEARNED]
    if learned:
        parts.append(f"Names in the question:\n{FRAME.around(''.join(learned))}")
    if recall.below_threshold:
        parts.append(f'{below_threshold(recall)}; recall them with floor="off".')
    if recall.flagged_held_back:
        parts.append(f"{flagged_held_back(recall)}; a person can review them.")
    parts += [f"Degraded: {one_line(part)}: {one_line(reason)}." for part, reason in recall.degraded.items()]
    return "\n\n".join(part for part in parts if part)


def _listed_text(listed: Listing[Memory]) -> str:
    if not listed.of:
        return "There are no memories for these arguments."
    return "\n\n".join(part for part in (listed.text, listed.left_out) if part)


def _state_text(state: MemoryStateOut) -> str:
    latest = state.latest
    if latest is None:
        lines = ["There is no health snapshot yet: `remembrancer worker` or `maintain` takes one a day."]
    elif latest.score is None or latest.band is None:
        lines = [f"Health on {latest.day}: no data."]
    else:
        lines = [f"Health on {latest.day}: {latest.score:.0f} of 100, {latest.band.value}. {latest.advice}".rstrip()]
        lines += [
            f"- {name.value}: " + (f"{one.value:.0f}" if one.value is not None else f"no data ({one.absent})")
            for name, one in latest.metrics.items()
        ]
    kept = ", ".join(f"{count:,} {status}" for status, count in sorted(state.stats.memories.items())) or "none"
    lines.append(f"Memories: {kept}. Events in the journal: {state.stats.events:,}.")
    by = {
        SearchMode.VECTOR: "by words and meaning",
        SearchMode.VECTOR_DEGRADED: "by words only: the embedder does not answer",
        SearchMode.SPARSE_ONLY: "by words only: there is no embedder",
    }
    lines.append(f"Recall searches {by[state.search]}.")
    return "\n".join(lines)
