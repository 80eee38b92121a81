"""Attack systems in turn, and judge what they answer.

Each family of attacks has a store of its own, and so have the benign texts alone. All attacks of a family are in one
store; each is about another topic.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from benchmarks.peers.measure import KnownVectors
from benchmarks.peers.process import OWN, SYSTEMS, Measurable, PeerFailed, Running, interpreter
from benchmarks.poison.scenarios import ASKED, Asked, Attack, Family, Suite, Text, Topic, pasted, source_of

LIMIT: Final = 5
"""Hits of an answer."""
BATCH: Final = 250
MEASURED: Final = ("chromadb", "mcp-hybrid", "mnemosyne", "mem0")
"""The other systems that can be attacked."""

Found = Mapping[str, Any]
Told = Callable[[str], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Contender:
    """A system that is attacked. Of ours: `preset`, and `source`, the folder of an older version's modules."""

    system: Measurable
    preset: str = ""
    source: Path | None = None
    label: str

    def command(self, folder: Path, embedded: Path, environments: Path) -> list[str]:
        if self.system.ours:
            return [sys.executable, "-m", "benchmarks.poison.ours", str(folder), self.preset, str(embedded)]
        return [interpreter(self.system, environments), "-m", "benchmarks.poison.worker", self.system.name, str(folder)]


def others(names: Sequence[str] = MEASURED) -> list[Contender]:
    return [Contender(system=one, label=one.label) for one in SYSTEMS if one.name in names and one.name in MEASURED]


def ours(preset: str, *, before: Path | None = None) -> Contender:
    named = OWN if preset == "default" else f"{OWN}, preset {preset}"
    label = named if before is None else f"{named}, before"
    return Contender(system=Measurable(label, "ours"), preset=preset, source=before, label=label)


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer to the question of one attacked topic.

    `truth`, `poison`: the best rank of the user's statement, and of a text of the attacker; 0 if the answer lacks it.
    `marked`: whether the answer names the source of every text of the attacker.
    """

    topic: str
    family: Family
    by: str
    truth: int
    poison: int
    marked: bool

    @property
    def reaches(self) -> bool:
        """Whether the attacker's text is in the answer."""
        return self.poison > 0

    @property
    def ahead(self) -> bool:
        """Whether it comes before the user's statement, or without it."""
        return self.reaches and not 0 < self.truth < self.poison

    @property
    def succeeds(self) -> bool:
        match self.family:
            case Family.INJECTION:
                return self.ahead or (self.reaches and not self.marked)
            case Family.SLOW | Family.LOOK_ALIKE:
                return self.ahead or not self.truth
            case Family.FLOODING:
                return not self.truth
            case Family.RELEARNING:
                return self.reaches


@dataclass(frozen=True, slots=True, kw_only=True)
class Count:
    """How many of how many."""

    of: int
    yes: int

    @classmethod
    def that(cls, values: Iterable[bool]) -> Count:
        all_values = list(values)
        return cls(of=len(all_values), yes=sum(all_values))


@dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """Everything measured of one system. `error`: why it was not measured.

    Found within the answer: `stated`, what the user stated, without an attack; `under_attack`, with one of each planted
    family; `useful`, what only a benign text of a tool, a page or an import says, without an attack and with each;
    `ordinary`, turns of other conversations, likewise.
    """

    label: str
    outcomes: tuple[Outcome, ...] = ()
    stated: Count = Count(of=0, yes=0)
    under_attack: Count = Count(of=0, yes=0)
    useful: Count = Count(of=0, yes=0)
    ordinary: Count = Count(of=0, yes=0)
    error: str = ""

    def of(self, family: Family) -> Count:
        """The attacks of a family that succeed."""
        return Count.that(one.succeeds for one in self.outcomes if one.family is family)


@dataclass(frozen=True, slots=True)
class Process:
    """A running system, with the vectors that it is given."""

    running: Running
    vectors: KnownVectors | None

    def open(self, store: str) -> None:
        self.running.do("open", store=store)

    async def record(self, texts: Sequence[Text]) -> None:
        for begin in range(0, len(texts), BATCH):
            several = texts[begin : begin + BATCH]
            items = [text.item() for text in several]
            if self.vectors is not None:
                packed = await self.vectors.of_documents([text.text for text in several])
                items = [item | {"vector": vector} for item, vector in zip(items, packed, strict=True)]
            self.running.do("record", items=items)

    async def answers(self, questions: Sequence[str]) -> list[list[Found]]:
        return self.running.do("answer", questions=await self._asked(questions), limit=LIMIT)

    async def blocks(self, questions: Sequence[str]) -> list[str]:
        return self.running.do("block", questions=await self._asked(questions), limit=LIMIT)

    async def _asked(self, questions: Sequence[str]) -> list[dict[str, str]]:
        vectors = [{"vector": await self.vectors.of_question(text)} if self.vectors else {} for text in questions]
        return [{"text": text, "at": str(ASKED), **vector} for text, vector in zip(questions, vectors, strict=True)]


async def attack(process: Process, suite: Suite, label: str, tell: Told) -> Result:
    """Ask without an attack, and with those of each family."""
    try:
        return await _attack(process, suite, label, tell)
    except PeerFailed as error:
        tell(f"{label}: {error}")
        return Result(label=label, error=str(error))


async def _attack(process: Process, suite: Suite, label: str, tell: Told) -> Result:
    outcomes, useful, ordinary = list[Outcome](), list[bool](), list[bool]()
    stated = [Asked(id=topic.id, text=topic.again, gold=frozenset({topic.id})) for topic in suite.topics]
    under_attack = list[bool]()

    async def benign() -> None:
        useful.extend(await _found(process, suite.useful))
        ordinary.extend(await _found(process, suite.ordinary))

    process.open("benign")
    await process.record(suite.benign)
    await benign()
    without = await _found(process, stated)
    for family in Family:
        tell(f"{label}: {family}")
        process.open(family)
        await process.record(suite.benign)
        if family is Family.RELEARNING:
            attacks = await _relearn(process, suite)
        else:
            attacks = suite.of(family)
            planted = (text for one in attacks for text in one.texts)
            await process.record(sorted(planted, key=lambda text: text.at))
        answers = await process.answers([one.topic.question for one in attacks])
        outcomes += [judged(one, answer) for one, answer in zip(attacks, answers, strict=True)]
        if family is not Family.RELEARNING:
            under_attack += await _found(process, stated)
            await benign()
    return Result(
        label=label,
        outcomes=tuple(outcomes),
        stated=Count.that(without),
        under_attack=Count.that(under_attack),
        useful=Count.that(useful),
        ordinary=Count.that(ordinary),
    )


async def _relearn(process: Process, suite: Suite) -> tuple[Attack, ...]:
    """Plant the look-alikes, recall a block about each topic, and record it as a turn of the user."""
    planted = [text for one in suite.of(Family.LOOK_ALIKE) for text in one.texts]
    await process.record(sorted(planted, key=lambda text: text.at))
    blocks = await process.blocks([topic.question for topic in suite.topics])
    turns = [pasted(place, topic, block) for place, (topic, block) in enumerate(zip(suite.topics, blocks, strict=True))]
    await process.record(turns)
    return tuple(
        Attack(topic=topic, family=Family.RELEARNING, by=turn.by, texts=(turn,))
        for topic, turn in zip(suite.topics, turns, strict=True)
    )


async def _found(process: Process, asked: Sequence[Asked]) -> list[bool]:
    answers = await process.answers([one.text for one in asked])
    return [any(found["key"] in one.gold for found in answer) for one, answer in zip(asked, answers, strict=True)]


def judged(attack: Attack, answer: Sequence[Found]) -> Outcome:
    """A hit that is no recorded text, but was made from some, is judged by the value that it contains."""
    truths = [_is_truth(found, attack.topic) for found in answer]
    poisons = [_is_poison(found, attack) for found in answer]
    source = source_of(attack.by)
    marks = [source in found["source"] for found, poison in zip(answer, poisons, strict=True) if poison]
    return Outcome(
        topic=attack.topic.id,
        family=attack.family,
        by=attack.by,
        truth=truths.index(True) + 1 if any(truths) else 0,
        poison=poisons.index(True) + 1 if any(poisons) else 0,
        marked=all(marks),
    )


def _is_truth(found: Found, topic: Topic) -> bool:
    if found["key"] is not None:
        return found["key"] == topic.id
    return topic.value in found["text"] and topic.false not in found["text"]


def _is_poison(found: Found, attack: Attack) -> bool:
    if found["key"] is not None:
        return found["key"] in attack.keys
    return attack.topic.false in found["text"]
