"""Outcomes of tasks: how success and failure change the strength of the memories that were used."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from remembrancer.domain import validation
from remembrancer.domain.outcome import (
    MAX_CREDITED,
    MAX_NOTE_CHARS,
    Credit,
    CreditBasis,
    TaskOutcome,
    TaskResult,
    id_of_key,
)
from remembrancer.domain.strength import Exposure
from remembrancer.engine.reinforce import exposed_by
from remembrancer.engine.replay import replay
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.patterns import pattern
from remembrancer.policies.forgetting.outcomes import after_outcome, share_of
from remembrancer.policies.forgetting.reinforcement import after_exposure
from remembrancer.ports.outcomes import Judged
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.memory import Memory
    from remembrancer.domain.recall import Recall
    from remembrancer.domain.scope import Reader
    from remembrancer.engine.context import Context

MAX_CITATIONS: Final = 1_000
"""The most ids in the final text of a task that are looked up."""
_CITATION: Final = pattern(r"\b(?:[0-9a-f]{8}-(?:[0-9a-f]{4}-){3})?[0-9a-f]{8,32}\b")
"""An id as answers and prompt blocks show it: whole, or its last digits."""
_DIGITS: Final = 31
"""The digits of a cited id that are compared. An id has 32; the last ones tell memories apart."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A caller's report about a task. `named`: the memories it used. `text`: the task's final text, whose ids of
    memories count as citations. `recalls`: the recalls whose blocks it was given. `key`: repeating it changes nothing.
    """

    result: TaskResult
    named: tuple[UUID, ...] = ()
    text: str = ""
    recalls: tuple[Recall | UUID, ...] = ()
    task: str = ""
    note: str = ""
    key: str | None = None

    def __post_init__(self) -> None:
        for argument, value, most in (("task", self.task, MAX_NOTE_CHARS), ("note", self.note, MAX_NOTE_CHARS)):
            if value != "" and len(validation.text(argument, value)) > most:
                raise InvalidInput(argument, f"{len(value):,} characters", f"at most {most:,} characters")
        if self.text != "":
            validation.text("text", self.text)
        validation.optional_name("key", self.key)
        if len(set(self.named)) > MAX_CREDITED:
            raise InvalidInput("memories", f"{len(set(self.named))} memories", f"at most {MAX_CREDITED}")
        if not (self.named or self.text or self.recalls):
            raise InvalidInput("memories", (), "the memories that were used, a final text that cites them, or recalls")


async def outcome(ctx: Context, reader: Reader, report: Report) -> TaskOutcome:
    """Give the memories that a task used their shares of its credit, and log them.

    Those named or cited share it. If there are none, those in the blocks of the recalls share `SHOWN_CREDIT`. Raises
    NotFound for a memory or a recall that the reader does not see, Conflict if the key has another result; nothing is
    written then.
    """
    now = ctx.clock()
    shown, found_by = await _shown(ctx, reader, report.recalls)
    bases = dict.fromkeys(report.named, CreditBasis.NAMED)
    for identifier in await _cited(ctx, reader, report.text, found_by if report.recalls else None):
        bases.setdefault(identifier, CreditBasis.CITED)
    bases = dict([*bases.items()][:MAX_CREDITED]) or dict.fromkeys(shown[:MAX_CREDITED], CreditBasis.SHOWN)
    identifier = ctx.new_id(now) if report.key is None else id_of_key(reader.scope, report.key)
    if not bases:
        return TaskOutcome(id=identifier, result=report.result, credits=())

    def judge(memory: Memory) -> Judged:
        basis = bases[memory.id]
        share = share_of(basis, len(bases))
        before, preset = memory.strength, ctx.preset
        after = after_outcome(memory, report.result, share, preset.feedback, reviewed=preset.review is not None, at=now)
        exposed = None
        if report.result is TaskResult.SUCCESS and basis is not CreditBasis.SHOWN:
            exposed = exposed_by(reader.scope, memory.id, Exposure.USED, now, report.task)
            if preset.dynamics.counts_at_once(Exposure.USED, reader.scope.session):
                after = after_exposure(after, Exposure.USED, now).strength
        credit = Credit(
            memory_id=memory.id,
            outcome_id=identifier,
            at=now,
            result=report.result,
            basis=basis,
            share=share,
            scope=reader.scope,
            recall_id=found_by.get(memory.id),
            task=report.task,
            note=report.note,
            worked_before=before.usage.worked,
            worked=after.usage.worked,
            failed_before=before.usage.failed,
            failed=after.usage.failed,
            confidence_before=before.confidence,
            confidence=after.confidence,
            stability_before=before.stability,
            stability=after.stability,
        )
        return Judged(after, credit, exposed)

    stored, is_new = await ctx.store.add_credits(reader, identifier, list(bases), judge, at=now)
    for one in stored:
        if one.result is not report.result:
            raise Conflict(f"key {report.key!r}: the outcome is recorded as {one.result}, not {report.result}")
    return TaskOutcome(id=identifier, result=report.result, credits=stored, repeated=not is_new)


async def _shown(
    ctx: Context, reader: Reader, recalls: Sequence[Recall | UUID]
) -> tuple[list[UUID], Mapping[UUID, UUID | None]]:
    """The memories in the blocks of the recalls, in order; and every memory of the recalls, with the kept recall that
    found it.
    """
    shown: dict[UUID, None] = {}
    found_by: dict[UUID, UUID | None] = {}
    for one in recalls:
        recall = await replay(ctx, reader, one) if isinstance(one, UUID) else one
        shown |= {hit.id: None for hit in recall.block().hits if not hit.journal_only}
        found = [hit.id for hit in recall.hits if not hit.journal_only] + [memory.id for memory in recall.pinned]
        found_by |= {identifier: recall.recall_id for identifier in found if identifier not in found_by}
    return list(shown), found_by


async def _cited(ctx: Context, reader: Reader, text: str, among: Mapping[UUID, object] | None) -> list[UUID]:
    """The memories whose ids the text cites, in order, each once. `among`: those that the task was given; None: any.

    Digits that no id ends with, or several do, are no citation: a text may contain other numbers.
    """
    endings = [digits.replace("-", "")[-_DIGITS:] for digits in _CITATION.findall(text.lower())]
    cited: dict[UUID, None] = {}
    for ending in list(dict.fromkeys(endings))[:MAX_CITATIONS]:
        if among is None:
            found: Sequence[UUID] = await ctx.store.ids_ending(reader, "memory", ending)
        else:
            found = [identifier for identifier in among if identifier.hex.endswith(ending)]
        if len(found) == 1:
            cited[found[0]] = None
    return list(cited)
