"""Ask the same questions of two stores, and compare the answers: hits, scores and each of their parts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast

from remembrancer import engine
from remembrancer.domain.query import filter_of
from remembrancer.domain.scope import Reader
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.domain.validation import JsonValue
    from remembrancer.engine.context import Context
    from remembrancer.ports.transfer import AskedBefore

GivenAnswer = Mapping[str, "JsonValue"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedAnswers:
    """The number of questions asked of both stores, the number of those with hits, and the first question whose answers
    differ, with the difference; "" if none does.
    """

    asked: int
    answered: int
    difference: str


async def answers(
    ctx: Context, questions: Sequence[AskedBefore], *, on_asked: Callable[[int], None] | None = None
) -> list[GivenAnswer]:
    """The answer to each question, and to a kept one also the kept answer. The clock of `ctx` must not move."""
    found: list[GivenAnswer] = []
    for number, asked in enumerate(questions, start=1):
        reader = Reader(asked.scope)
        question = engine.recall.Question(text=asked.query, where=filter_of({}, ctx.clock()))
        answer = engine.replay.answer_of(await engine.recall.recall(ctx, reader, question))
        if asked.recall_id is not None:
            answer["kept"] = engine.replay.answer_of(await engine.replay.replay(ctx, reader, asked.recall_id))
        found.append(answer)
        if on_asked is not None:
            on_asked(number)
    return found


def compared(
    questions: Sequence[AskedBefore], here: Sequence[GivenAnswer], there: Sequence[GivenAnswer]
) -> ComparedAnswers:
    """The answers of two stores to the same questions."""
    pairs = zip(questions, here, there, strict=True)
    differences = (
        f"{asked.query!r} in workspace {asked.scope.workspace!r}: {_difference(mine, theirs)}"
        for asked, mine, theirs in pairs
        if mine != theirs
    )
    return ComparedAnswers(
        asked=len(questions), answered=sum(bool(one["hits"]) for one in here), difference=next(differences, "")
    )


def _difference(mine: GivenAnswer, theirs: GivenAnswer) -> str:
    ours, others = cast("list[dict[str, Any]]", mine["hits"]), cast("list[dict[str, Any]]", theirs["hits"])
    for rank, (hit, other) in enumerate(zip(ours, others, strict=False), start=1):
        if hit != other:
            return f"hit {rank} has the score {hit['score']!r}, and {other['score']!r} in the target"
    if len(ours) != len(others):
        return f"{len(ours)} hits, and {len(others)} in the target"
    return f"another {', '.join(name for name in mine if mine[name] != theirs.get(name))}"
