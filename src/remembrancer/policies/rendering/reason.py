"""The explanation of a hit in words."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Final

from remembrancer.domain.memory import Cue, CueFlag, Memory
from remembrancer.domain.query import QuestionKind
from remembrancer.domain.recall import Explanation
from remembrancer.language.english.dates import spoken_date
from remembrancer.language.reading import Reading
from remembrancer.policies.ranking.groups import by_group, by_signal, group_of, titled
from remembrancer.policies.ranking.signals import SignalGroup
from remembrancer.values import dataclass

MOST_CLAUSES: Final = 4
MOST_WORDS: Final = 4
LEAST_SHARE: Final = 0.05
"""Groups and signals that add less than this share of the score are not named; the first group always is."""
CLOSE: Final = 0.3
"""The least cosine that is called close in meaning; less is called related."""
NEAR: Final = 0.5
"""The least nearness to the requested time that is named."""
MORE: Final = 0.1
"""A conversation is named if its value is greater than that of the turn itself by this."""

_ANSWERS: Final = {CueFlag.TIME: "a time", CueFlag.NUMBER: "a number", CueFlag.NAME: "a name"}
_STATES: Final = frozenset({"importance", "importance_floor", "confidence", "retention"})


def reason(explanation: Explanation, memory: Memory, cue: Cue, reading: Reading) -> str:
    """The strongest parts of a score in English, on one line: at most four clauses, strongest first.

    `explanation` with `matched`; `cue`: the best cue of the memory; `reading`: the question as it was read.
    """
    sums = by_group(explanation.score)
    strongest = sorted(sums, key=lambda group: -sums[group])
    least = LEAST_SHARE * explanation.score.contribution
    hit = _Hit(explanation, memory, cue, reading, by_signal(explanation.score), least)
    clauses = [_CLAUSES[group](hit) for group in strongest if group is strongest[0] or sums[group] >= least]
    return "; ".join([clause for clause in clauses if clause][:MOST_CLAUSES] or strongest[:1])


@dataclass(frozen=True, slots=True)
class _Hit:
    """A hit to be explained. `added`: what each signal adds to its score; `least`: the least that is named."""

    explanation: Explanation
    memory: Memory
    cue: Cue
    reading: Reading
    added: Mapping[str, float]
    least: float

    def value(self, signal: str) -> float:
        """The value of a signal; 0 if absent."""
        return self.explanation.signals.get(signal) or 0.0

    def strongest(self, group: SignalGroup) -> list[str]:
        """The signals of a group that may be named, strongest first."""
        named = [label for label, added in self.added.items() if group_of(label) is group and added >= self.least]
        return sorted(named, key=lambda label: -self.added[label])


def _meaning(hit: _Hit) -> str:
    if hit.strongest(SignalGroup.MEANING)[:1] == ["rerank"]:
        return "judged relevant by the reranker"
    return "close in meaning" if hit.value("similarity") >= CLOSE else "related in meaning"


def _words(hit: _Hit) -> str:
    text, matched = hit.cue.text.casefold(), hit.explanation.matched
    there = [word for word in matched if word.casefold() in text]
    if there:
        return f"the word{'' if len(there) == 1 else 's'} {_listed(there)}"
    return f"{_listed(matched)} in its heading" if matched else "words of the question"


def _listed(words: Sequence[str]) -> str:
    """Words in quotes: 'a', 'b' and 'c'; of many the first ones and the number of the others."""
    named = [f"'{word}'" for word in words]
    if len(named) > MOST_WORDS:
        named[MOST_WORDS - 1 :] = [f"{len(named) - MOST_WORDS + 1} more"]
    return " and ".join(filter(None, (", ".join(named[:-1]), named[-1])))


def _who_and_when(hit: _Hit) -> str:
    said = hit.cue.event_id is not None
    by = _speaker(hit) if said and hit.added.get("speaker") else ""
    when = _when(hit.memory.occurred_from, hit.memory.occurred_to) if hit.value("time") >= NEAR else ""
    if when and hit.value("time") < 1:
        when += ", near the time asked about"
    if when and not said:
        return when.replace("on ", "from ", 1) if when.startswith("on ") else when
    return " ".join(filter(None, ("said" if by or when else "", by, when)))


def _speaker(hit: _Hit) -> str:
    """The speaker, of those that the question asks for."""
    asked = sorted(hit.reading.speakers) or [f"the {role}" for role in sorted(hit.reading.roles)]
    known = [name for name in asked if name == hit.memory.actor] or [name for name in asked if name in hit.cue.heading]
    return f"by {' or '.join(known or asked)}"


def _when(first: datetime, last: datetime) -> str:
    start, end = spoken_date(first), spoken_date(last)
    return f"on {end}" if start == end else f"from {start} to {end}"


def _conversation(hit: _Hit) -> str:
    for signal in hit.strongest(SignalGroup.CONVERSATION):
        if signal == "nearby":
            return "next to turns with other words of the question"
        if signal == "session" and hit.value("session") >= hit.value("lexical") + MORE:
            return "in a conversation with words of the question"
        if signal == "session_words" and hit.value("session_words") >= hit.value("late_interaction") + MORE:
            return "in a conversation of similar meaning"
    return ""


def _memory(hit: _Hit) -> str:
    for signal in hit.strongest(SignalGroup.MEMORY):
        value = hit.value(signal)
        if signal == "answer_kind":
            if hit.reading.kind is QuestionKind.LIST:
                return "has a name, as the things of a list often do"
            return f"has {_ANSWERS[hit.reading.answer_type]}, which the question asks for"
        if signal == "priority":
            return f"priority {value * 10:.0f} of 10"
        if signal in _STATES:
            return f"{titled(signal)} {value:.2f}"
        if signal == "reinforcement" and value > 1:
            return "reinforced by use"
    return ""


_CLAUSES: Final = {
    SignalGroup.MEANING: _meaning,
    SignalGroup.WORDS: _words,
    SignalGroup.WHO_AND_WHEN: _who_and_when,
    SignalGroup.CONVERSATION: _conversation,
    SignalGroup.MEMORY: _memory,
}
