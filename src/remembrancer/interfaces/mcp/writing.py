"""The tools that write: remember, observe, feedback, forget. Their docstrings are read by models."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from mcp.server.mcpserver import Context
from mcp_types import CallToolResult

from remembrancer.domain import validation
from remembrancer.domain.api_key import Right
from remembrancer.domain.memory import Status
from remembrancer.domain.strength import Exposure, Feedback
from remembrancer.interfaces.cli.times import optional_time
from remembrancer.interfaces.mcp import parameters as given
from remembrancer.interfaces.mcp.tool import MemoryOf, answer
from remembrancer.interfaces.wire.mcp import ChangedOut, EntryOut
from remembrancer.interfaces.wire.memories import FeedbackOut
from remembrancer.values import dataclass


@dataclass(frozen=True, slots=True)
class WriteTools:
    """`counts_use`: a memory that was rated helpful is also recorded as used."""

    memory_of: MemoryOf
    clock: Callable[[], datetime]
    counts_use: bool

    async def remember(
        self,
        context: Context,
        text: given.MemoryText,
        title: given.MemoryTitle = None,
        kind: given.Kind = None,
        tags: given.TagList = None,
        importance: given.ImportanceFraction = 0.5,
        topic_key: given.TopicKey = None,
        origin: given.Whose = "assistant",
        occurred_at: given.OccurredAt = None,
        valid_until: given.ValidUntil = None,
        key: given.Key = None,
    ) -> Annotated[CallToolResult, ChangedOut]:
        """Keep something for later conversations: a decision, a preference, a fact about people or systems, a lesson
        learned. Call it when the user asks you to remember, or when something is settled that will matter again. Not
        for what was merely said (observe), secrets, or what can be read again from files and tools. Returns the id.
        """
        now = self.clock()
        memory = await self.memory_of(context, Right.WRITE)
        kept = await memory.remember(
            text,
            title=title,
            kind=kind,
            tags=tags or (),
            importance=importance,
            topic_key=topic_key,
            origin=origin,
            occurred_at=optional_time("occurred_at", occurred_at, now=now),
            valid_until=optional_time("valid_until", valid_until, now=now),
            key=key,
        )
        anew = (
            f" It is revision {kept.revision} of its topic; what it said before is kept." if kept.revision > 1 else ""
        )
        return answer(f"Remembered as {kept.id} ({kept.kind}, {kept.tier.value}).{anew}", ChangedOut.of(kept))

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
        """Record in the journal what was said or happened, as it was: a turn of the conversation, a result of a tool, a
        deploy that failed. Episodes and lessons are formed from it later, and it is recalled word by word. Call it for
        each turn worth finding again; for a conclusion of your own use remember. Returns the entry's id.
        """
        memory = await self.memory_of(context, Right.WRITE)
        event = await memory.observe(
            text,
            role=role,
            type=type,
            severity=severity,
            actor=actor,
            occurred_at=optional_time("occurred_at", occurred_at, now=self.clock()),
            session=session,
            key=key,
        )
        return answer(f"Recorded as event {event.id}, number {event.seq} of its session.", EntryOut.of(event))

    async def feedback(
        self, context: Context, memory_id: given.MemoryIdText, said: given.Verdict
    ) -> Annotated[CallToolResult, FeedbackOut]:
        """Rate a recalled memory as helpful, unhelpful or harmful. Call it once you know: it changes the memory's rank
        in later answers, and one that is rated unhelpful or harmful too often is retired. Returns its confidence after
        that.
        """
        memory = await self.memory_of(context, Right.WRITE)
        chosen = validation.identifier("memory_id", memory_id)
        if self.counts_use and said == Feedback.HELPFUL:
            await memory.mark([chosen], Exposure.USED)
        strength = await memory.feedback(chosen, said)
        status = (await memory.get(chosen)).status
        retired = "" if status is Status.ACTIVE else f" It is {status.value} now, and not recalled any more."
        text = f"Counted as {said}: its confidence is {strength.confidence:.2f}.{retired}"
        return answer(text, FeedbackOut.of(chosen, strength, status))

    async def forget(self, context: Context, memory_id: given.MemoryIdText) -> Annotated[CallToolResult, ChangedOut]:
        """Retire a memory, so that it is no longer recalled. Call it when the user asks for it, or a memory is wrong
        and nothing replaces it; to correct one, remember the new text with the same topic_key. The memory is kept, and
        a person can restore it; this tool does not erase for good.
        """
        memory = await self.memory_of(context, Right.WRITE)
        retired = await memory.forget(memory_id)
        text = f"Retired {retired.id}: it is kept, not recalled, and `remembrancer forget --undo` brings it back."
        return answer(text, ChangedOut.of(retired))
