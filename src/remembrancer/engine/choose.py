"""Choice of hits among candidates: rank them, read their rows, drop repeated texts, diversify."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import field
from itertools import islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

import numpy as np

from remembrancer.domain.event import UNTRUSTED
from remembrancer.policies.ranking.diversity import Mmr, same_words, words_of
from remembrancer.policies.ranking.groups import LOWERED_AS_FLAGGED
from remembrancer.policies.ranking.near_equals import nearly_equal
from remembrancer.policies.ranking.scoring import (
    OUTCOME,
    Expression,
    Product,
    Scored,
    Signal,
    evaluate,
    with_outcomes,
)
from remembrancer.values import dataclass, replace

if TYPE_CHECKING:
    from uuid import UUID

    from numpy.typing import NDArray

    from remembrancer.domain.candidates import Candidates
    from remembrancer.domain.memory import Cue, Memory
    from remembrancer.domain.scope import Reader
    from remembrancer.engine.journal_leg import UnformedEntry
    from remembrancer.policies.ranking.probability import HitProbability
    from remembrancer.policies.ranking.relevance import Acceptance
    from remembrancer.policies.ranking.scoring import FloatColumn
    from remembrancer.ports.changes import ReadView


LOOKED_THROUGH: Final = 300
"""The candidates among which trusted texts are looked for, if untrusted ones repeat themselves."""


@dataclass(frozen=True, slots=True)
class Ranked:
    """Candidates scored by `expression`. `order`: their indexes, best first. `relevant`: those above the relevance
    threshold, judged by `judged_by`; `passed`: those that also have the minimum score and probability.
    `probabilities`: of each candidate, shape (n,); None: the ranking is not calibrated.
    """

    found: Candidates
    table: Mapping[str, FloatColumn]
    expression: Expression
    accepts: Acceptance
    scored: Scored
    scores: FloatColumn
    order: NDArray[np.int64]
    relevant: NDArray[np.bool_]
    passed: NDArray[np.bool_]
    judged_by: Expression
    probabilities: FloatColumn | None = None

    def probability(self, index: int) -> float | None:
        """The probability that the candidate answers."""
        return None if self.probabilities is None else float(self.probabilities[index])

    def best_cue(self, index: int, cues: Sequence[Cue]) -> Cue:
        """The cue by which the search found the candidate."""
        # A memory revised since the search may have fewer cues now.
        return cues[min(int(self.found.cue[index]), len(cues) - 1)]


def ranked_by(
    expression: Expression,
    found: Candidates,
    table: Mapping[str, FloatColumn],
    accepts: Acceptance,
    *,
    factor: FloatColumn | None = None,
    outcome_weight: float = 0.0,
    before: Ranked | None = None,
    calibrated: HitProbability | None = None,
) -> Ranked:
    """Rank candidates by an expression over a table of signals. Equal scores keep the order of the candidates: newest
    first, then by id.

    `factor`: of the score of each candidate, shape (n,); it does not change which candidates are relevant. None: 1 for
    all. `outcome_weight`: that of the ranking. `before`: the previous ranking, which this one refines: equal scores
    keep its order, and `relevant` is taken from it. `calibrated`: gives the probabilities; None: there are none.
    """
    judged_by = expression
    if factor is not None:
        table = {**table, LOWERED_AS_FLAGGED: factor}
        expression = Product((expression, Signal(LOWERED_AS_FLAGGED)))
    scored = with_outcomes(evaluate(expression, table, len(found.ids)), table[OUTCOME], outcome_weight)
    scores = np.where(np.isnan(scored.values), 0.0, scored.values)
    if before is None:
        relevant, order = accepts.relevant(judged_by, table), np.argsort(-scores, kind="stable")
    else:
        judged_by = before.judged_by
        relevant, order = before.relevant, before.order[np.argsort(-scores[before.order], kind="stable")]
    passed = relevant & (scores >= accepts.min_score)
    probabilities: FloatColumn | None = None
    if calibrated is not None:
        probabilities = np.empty(len(scores))
        probabilities[order] = calibrated.of(scores[order])
        passed &= probabilities >= accepts.min_probability
    return Ranked(found, table, expression, accepts, scored, scores, order, relevant, passed, judged_by, probabilities)


@dataclass(frozen=True, slots=True)
class Chosen:
    """A chosen candidate: its index, its memory, all its cues, the best of them, its score, and its probability.

    `raised`: whether its score and probability were raised to those of a hit that it precedes. `replies_to`, `newer`:
    as of a Hit.
    """

    candidate: int
    memory: Memory
    cues: tuple[Cue, ...]
    cue: Cue
    score: float
    probability: float | None = None
    raised: bool = False
    replies_to: UUID | None = None
    newer: UUID | None = None


@dataclass(slots=True)
class Choice:
    """The chosen candidates, best first, and why others were dropped. Candidates are given by their indexes. `message`:
    those with the text of the message.
    """

    chosen: list[Chosen] = field(default_factory=list[Chosen])
    missing: set[int] = field(default_factory=set[int])
    message: set[int] = field(default_factory=set[int])
    repeated: dict[int, int] = field(default_factory=dict[int, int])


def choose(
    view: ReadView,
    reader: Reader,
    ranking: Ranked,
    diversity: Mmr | None,
    limit: int,
    min_score: float,
    entries: Mapping[UUID, UnformedEntry] = MappingProxyType({}),
    message: str | None = None,
    *,
    near_equals: bool = False,
) -> Choice:
    """The best `limit` candidates above the relevance threshold, without repeated texts, reordered for diversity if
    asked. `entries`: the candidates that are not stored as memories. `message`: the text of a message; memories with
    the same text are left out, because it may have been recorded already.

    `near_equals`: of several texts of untrusted origins that say nearly the same, only the best is chosen, unless there
    is room left. Otherwise a tool or a page could fill the answer by repeating itself. What is left is filled with
    trusted texts first, even if they are not relevant enough.
    """
    choice = Choice()
    untrusted, repeating = list[frozenset[str]](), list[Chosen]()
    contenders = ranking.order[ranking.passed[ranking.order]]
    # Rows are read a page at a time: repeats are rare, so the first page usually suffices. But to diversify, all must
    # be read.
    page = limit if diversity is None else max(1, len(contenders))
    wanted = limit if diversity is None else len(contenders)
    said: dict[str, int] = {}
    for start in range(0, len(contenders), page):
        ahead: list[int] = contenders[start : start + page].tolist()
        for chosen in read_candidates(view, reader, ranking, ahead, choice, said, entries, message):
            if len(choice.chosen) == wanted:
                break
            if near_equals and chosen.memory.origin in UNTRUSTED:
                words = words_of(chosen.cue.text)
                if any(nearly_equal(words, other) for other in untrusted):
                    repeating.append(chosen)
                    continue
                untrusted.append(words)
            choice.chosen.append(chosen)
        if len(choice.chosen) == wanted:
            break
    if room := min(wanted - len(choice.chosen), len(repeating)):
        instead = list(_trusted_instead(view, reader, ranking, choice, said, entries, message, room))
        choice.chosen += instead + repeating[: room - len(instead)]
        choice.chosen.sort(key=lambda one: -one.score)
    if diversity is not None:
        # Diversification lowers scores: they may only now fall below the minimum.
        choice.chosen = [one for one in _diverse(choice.chosen, diversity, limit) if one.score >= min_score]
    return choice


def _trusted_instead(
    view: ReadView,
    reader: Reader,
    ranking: Ranked,
    choice: Choice,
    said: dict[str, int],
    entries: Mapping[UUID, UnformedEntry],
    message: str | None,
    room: int,
) -> Iterator[Chosen]:
    """Up to `room` trusted candidates that are not relevant enough, best first, with words of the question: where a
    tool or a page repeats itself, it makes these words common, so that they count little.
    """
    enough = ~ranking.relevant & (ranking.scores >= ranking.accepts.min_score) & (ranking.found.coverage > 0)
    waiting = ranking.order[enough[ranking.order]][:LOOKED_THROUGH].tolist()
    trusted = (
        one
        for one in read_candidates(view, reader, ranking, waiting, choice, said, entries, message)
        if one.memory.origin not in UNTRUSTED
    )
    yield from islice(trusted, room)


def read_candidates(
    view: ReadView,
    reader: Reader,
    ranking: Ranked,
    page: Sequence[int],
    choice: Choice,
    said: dict[str, int],
    entries: Mapping[UUID, UnformedEntry],
    message: str | None = None,
) -> Iterator[Chosen]:
    """The chosen candidates of a page, in order, without texts that were chosen before."""
    ids = ranking.found.ids
    own = None if message is None else message.split()
    stored = [ids[index] for index in page if ids[index] not in entries]
    rows = dict(view.get(reader, stored))
    cues = dict(view.cues(reader, stored))
    for one in (ids[index] for index in page if ids[index] in entries):
        rows[one] = entries[one].memory
        cues[one] = (entries[one].cue(),)
    for index in page:
        memory = rows.get(ids[index])
        several = cues.get(ids[index])
        if memory is None or several is None:
            choice.missing.add(index)
            continue
        if message is not None and memory.text.split() == own:
            choice.message.add(index)
            continue
        cue = ranking.best_cue(index, several)
        first = said.setdefault(text_key(cue, memory), index)
        if first == index:
            yield Chosen(index, memory, several, cue, float(ranking.scores[index]), ranking.probability(index))
        else:
            choice.repeated[index] = first


def text_key(cue: Cue, memory: Memory) -> str:
    """A key that is equal for memories that say the same, found by this cue; of a long turn only the passage counts."""
    return same_words(cue.heading, memory.title, memory.text if cue.start is None else cue.text)


def _diverse(chosen: Sequence[Chosen], diversity: Mmr, limit: int) -> list[Chosen]:
    words = [words_of(f"{one.memory.title or ''} {one.memory.text}") for one in chosen]
    picks = diversity.picks([one.score for one in chosen], words, limit)
    return [replace(chosen[place], score=score) for place, score in picks]
