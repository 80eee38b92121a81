"""The JSON shapes of a recall: its hits, their explanations, and why a memory is not among them."""

from __future__ import annotations

from datetime import timedelta
from typing import TYPE_CHECKING, Any, Self
from uuid import UUID

from pydantic import AwareDatetime

from remembrancer.domain.names import NameMatch
from remembrancer.domain.query import QuestionKind
from remembrancer.domain.recall import Stage
from remembrancer.interfaces.wire.memories import CueOut, CurveOut, MemoryOut
from remembrancer.interfaces.wire.shape import AgeOut, Derived, Of, Wire

if TYPE_CHECKING:
    from remembrancer.domain.names import NamedSpeaker
    from remembrancer.domain.recall import Explanation, HeldBack, Hit, Part, Recall, Shortfall
    from remembrancer.engine.inspect import WhyNot


class PartOut(Wire):
    """One node of a score expression: its value (null if absent) and its contribution to the value of its parent.

    `multiplied`: its parts are factors. Factors do not add up; their contribution is their value.
    """

    label: str
    value: float | None
    contribution: float
    multiplied: bool
    parts: list[PartOut]

    @classmethod
    def of(cls, part: Part) -> Self:
        # Written out field by field: an explained hit has a dozen parts or more, and this takes half the time of
        # `copied`.
        return cls(
            label=part.label,
            value=part.value,
            contribution=part.contribution,
            multiplied=part.is_product,
            parts=[PartOut.of(inner) for inner in part.parts],
        )


class ExplanationOut(Derived):
    """The parts of a hit's score.

    `reason`: what it is mostly made of, in words; empty if not requested. `groups`: what each group of signals adds to
    it (meaning, words, who and when, conversation, the memory itself); they sum to the score. `parts`: the score as a
    tree. `ranks`: the rank in each search that found the hit. `matched`: the words of the query that occur in it, as
    they are written in it.
    """

    reason: str
    groups: dict[str, float]
    parts: PartOut
    signals: dict[str, float | None]
    ranks: dict[str, int]
    matched: list[str]

    @classmethod
    def of(cls, explanation: Explanation) -> Self:
        from remembrancer.policies.ranking.groups import by_group  # noqa: PLC0415 - numpy, which no shape needs

        return cls.copied(explanation, parts=PartOut.of(explanation.score), groups=by_group(explanation.score))


class HitOut(Wire, Of["Hit"]):
    """A hit. `turns`: the turns of its transcript, if it has one. `via`: the hit whose `similar` edge led to this one,
    if one did. `journal_only`: an entry of the journal (`cue.event_id`) that formed no memory; its `memory` is not
    stored. `replies_to`: the hit that only asks for what this one says, and that this one precedes. `newer`: a better
    hit that says the same later with another value, so that this one may be out of date. `probability`: the fraction
    of hits with this score and rank that answered, on other data; null if the ranking is not calibrated for the
    embedder. `explanation`: null if not requested.
    """

    rank: int
    score: float
    age: AgeOut
    memory: MemoryOut
    cue: CueOut
    turns: list[CueOut]
    via: UUID | None
    journal_only: bool
    replies_to: UUID | None
    newer: UUID | None
    probability: float | None
    explanation: ExplanationOut | None


class NamedSpeakerOut(Wire, Of["NamedSpeaker"]):
    """A name in the question and the `speaker` that it was read as: an actor, or the role of turns without one.

    `match`: `spelled`, also with other capitals or accents; `form`, another spelling or a short form; `learned`,
    because the memory `said_in` says so.
    """

    name: str
    speaker: str
    match: NameMatch
    said_in: UUID | None


class HeldBackOut(Wire, Of["HeldBack"]):
    """A memory that is not among the hits because it is below the threshold. `probability`: as of a hit."""

    memory_id: UUID
    score: float
    probability: float | None


class RecallOut(Wire):
    """The result of a recall.

    `flagged_held_back`: how many memories with the flag `instruction-like` the preset held back, at most 100.
    `kind`: what the question asks for; null if the preset reads only its terms, and in a replay. `names`: the names of
    speakers in the question, and how each was matched. `pinned`: memories pinned to every answer.
    `below_threshold`: the memories that the answer would also have without its relevance
    threshold (`floor`: off), best first. `degraded`: what could not be used, and why. `legs`: the number of candidates
    from each search. `rendered`, `rendered_pinned`: the prompt blocks of the hits and of the pinned memories, null if
    not requested, empty if there are none. `recall_id`: null if the answer was not kept.
    """

    query: str
    asked_at: AwareDatetime
    hits: list[HitOut]
    pinned: list[MemoryOut]
    below_threshold: list[HeldBackOut]
    flagged_held_back: int = 0
    degraded: dict[str, str]
    timings_ms: dict[str, float]
    kind: QuestionKind | None = None
    names: list[NamedSpeakerOut]
    searched: str
    embedded: str
    terms: list[str]
    legs: dict[str, int]
    rendered: str | None
    rendered_pinned: str | None
    recall_id: UUID | None = None

    @classmethod
    def of(
        cls,
        recall: Recall,
        *,
        rendered: str | None = None,
        rendered_pinned: str | None = None,
        explained: bool = True,
    ) -> Self:
        """`explained`: with the explanations, which take as long to make as a recall."""
        return cls.copied(
            recall,
            hits=recall.hits if explained else [HitOut.copied(hit, explanation=None) for hit in recall.hits],
            **cls.differing(recall, rendered=rendered, rendered_pinned=rendered_pinned),
        )

    @staticmethod
    def differing(recall: Recall, *, rendered: str | None, rendered_pinned: str | None) -> dict[str, Any]:
        """The values of the fields that are no attributes of a Recall."""
        return {
            "timings_ms": {stage: milliseconds(taken) for stage, taken in recall.timings.items()},
            "kind": recall.trace.kind,
            "names": recall.trace.names,
            "searched": recall.trace.searched,
            "embedded": recall.trace.embedded,
            "terms": recall.trace.terms,
            "legs": recall.trace.legs,
            "rendered": rendered,
            "rendered_pinned": rendered_pinned,
        }


class ShortfallOut(Wire, Of["Shortfall"]):
    """The value that a candidate lacked to go further: `measure` is `score`, `relevance` or `probability`."""

    measure: str
    value: float
    needed: float


class WhyNotOut(Wire, Of["WhyNot"]):
    """Why a memory is not among the hits, or its rank. `stage` null: the memory was no candidate. `advice`: what would
    change it. `probability`: as of a hit.
    """

    memory: MemoryOut
    returned: bool
    reason: str
    stage: Stage | None
    score: float | None
    probability: float | None
    rank: int | None
    shortfall: ShortfallOut | None
    advice: str


class DemoRankedOut(Wire):
    """The turns that one system of the demonstration found for a question. `found`: at most ten, best first.
    `gold_ranks`: the rank of each turn that contains the answer; null if it is not among them.
    """

    found: list[str]
    gold_ranks: list[int | None]


class DemoAnswerOut(Wire):
    """The answers to one question of the demonstration. `gold`: the turns that contain the answer; none if no turn
    does. `why`: what makes a hard question hard. `ranked`: by system: memory, grep, and cosine if there is an embedder.
    """

    question: str
    why: str | None
    gold: list[str]
    ranked: dict[str, DemoRankedOut]
    ms: float
    recall: RecallOut


class DemoTotalsOut(Wire):
    """The results of one system. `at_first`, `in_top_3`: the number of `answerable` questions with a gold turn at
    rank 1, and at ranks 1 to 3. `silent`: the number of `unanswerable` questions for which it found no turn.
    """

    system: str
    answerable: int
    at_first: int
    in_top_3: int
    unanswerable: int
    silent: int


class DemoOut(Wire):
    """The result of the demonstration. `embedder` null: recall searched by words only. `curve`: the forgetting curve of
    one memory; null if there is none.
    """

    turns: int
    memories: int
    embedder: str | None
    median_ms: float
    kept: str | None
    totals: list[DemoTotalsOut]
    answers: list[DemoAnswerOut]
    curve: CurveOut | None


def milliseconds(taken: timedelta) -> float:
    return taken / timedelta(milliseconds=1)
