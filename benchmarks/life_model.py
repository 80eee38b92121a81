"""A stand-in for a language model that answers by simple rules: no network, no weights, no cost.

It implements the LanguageModel port, so that jobs that call a model can run and be counted; its texts say nothing about
the quality of a real model. It is unavailable during given periods, to simulate outages.
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final, cast

from remembrancer.domain.validation import JsonValue
from remembrancer.engine.context import Clock
from remembrancer.errors import ModelUnavailable
from remembrancer.policies.prompts.boundaries import PURPOSE as SEGMENT
from remembrancer.policies.prompts.episode import PURPOSE as TELL
from remembrancer.policies.prompts.facts import PURPOSE as FACTS
from remembrancer.policies.prompts.review import PURPOSE as REVIEW
from remembrancer.ports.language_model import Answer, JsonObject, ModelUsage, Task

Span = tuple[datetime, datetime]

_BLOCK: Final = re.compile(r"<(?P<label>[a-z][a-z0-9-]*)>\n[^\n]*\n(?P<text>.*?)\n</(?P=label)>", re.DOTALL)
_TURN: Final = re.compile(r"\[(?P<number>\d+)\] (?P<at>\S+ \S+)(?: UTC)?, (?P<who>[^:]+): (?P<said>.*)")
_ENTRY: Final = re.compile(r"\[(?P<number>\d+)\] \S+ \S+, (?P<kind>[^:]+): (?P<said>.*)")
_NOTE: Final = re.compile(r"\d+\. (?:\([^)]*\) )?(?P<said>.*)")
_EPISODE: Final = re.compile(r"(?P<label>e\d+) \(")
_KNOWN: Final = re.compile(r"(?P<label>f\d+) \[\w+\] (?P<text>.*)")
_MEMORY: Final = re.compile(r"(?P<label>m\d+): (?P<said>.*)")
_WORD: Final = re.compile(r"[a-z]{5,}")
_SENTENCE: Final = re.compile(r"(?<=[.!?]) ")
_AT_MOST: Final = re.compile(r"At most (\d+) characters")
_SHIFT: Final = re.compile(r"(?:something else|on to the next|different matter|that aside|now for the|leaving that)")
_PREFERS: Final = re.compile(r"\bI prefer (?P<what>.+?)(?: for (?P<about>[^.]+))?\.$")
_DECIDED: Final = re.compile(r"\bwe (?:decided|agreed|settled) (?P<what>.+)\.$")

_CUES: Final[Mapping[str, tuple[str, str, str]]] = {
    "observations": (r"\bI (?:prefer|like|always|do not like)\b", "declarative", "team"),
    "escalation": (r"\bask (?:me|\w+ first)\b", "directive", "team"),
    "intent-alignment": (r"\bas it should be\b|\bwhat I tried first\b", "corrective", "task"),
    "team": (r"\bfor whoever is next\b|\bhanding over\b", "procedural", "team"),
    "session": (r"\bwe (?:decided|settled|agreed)\b", "declarative", "task"),
    "project": (r"\bwe (?:decided|agreed) on\b", "declarative", "task"),
    "global": (r"\b(?:always|never)\b", "directive", "team"),
    "prospective": (r"\bthe risk is\b", "declarative", "task"),
    "in-flight": (r"\bassume that\b", "declarative", "task"),
    "corrective": (r"\broot cause\b|\bwhat helped\b", "corrective", "task"),
}
"""For each extraction scope: patterns of sentences, with the kind and topic of the learning that they express."""


@dataclass(frozen=True, slots=True)
class _Turn:
    number: int
    at: str
    who: str
    said: str


class RuleModel:
    """Answers the tasks of all jobs. `down`: periods in which it is unavailable."""

    def __init__(self, clock: Clock, down: Sequence[Span] = ()) -> None:
        self._clock = clock
        self._down = down

    @property
    def model_id(self) -> str:
        return "stand-in:rules"

    async def answer(self, task: Task) -> Answer:
        """Raises ModelUnavailable while it is down."""
        now = self._clock()
        if any(since <= now < until for since, until in self._down):
            raise ModelUnavailable("the stand-in is out of reach at this time")
        read = len(task.material) // 4
        value = _answer(task)
        problem = task.check(value)
        usage = ModelUsage(requests=1, input_tokens=read, output_tokens=len(str(value)) // 4, cost=0.0)
        return Answer(value=None if problem else value, usage=usage, problem=problem)

    async def close(self) -> None:
        """Does nothing: there are no resources to release."""


def _answer(task: Task) -> JsonObject:
    blocks = {found["label"]: found["text"] for found in _BLOCK.finditer(task.material)}
    purposes: Mapping[str, Callable[[Task, Mapping[str, str]], JsonObject]] = {
        SEGMENT: _segments,
        TELL: _told,
        REVIEW: _ratings,
        FACTS: _facts,
        "sleep": _summary,
        "clusters": _summary,
        "rules": _rules,
    }
    if task.purpose.startswith("extract "):
        return _learnings(task, blocks)
    if task.purpose not in purposes:
        raise AssertionError(f"the stand-in has no rule for a task to {task.purpose}")
    return purposes[task.purpose](task, blocks)


# ── episodes ─────────────────────────────────────────────────────────────────────────────────────────────────────────


def _segments(task: Task, blocks: Mapping[str, str]) -> JsonObject:
    """A segment begins at an explicit topic change, or at a turn that shares no word with the four turns before."""
    turns = _turns(blocks["turns"])
    if "segments" not in cast("JsonObject", task.schema["properties"]):
        return {"begins_something_new": _shifts(turns, len(turns) - 1), "about": _title(turns[-1].said)}
    starts = [place for place in range(len(turns)) if place == 0 or _shifts(turns, place)]
    segments: list[JsonValue] = []
    for start, end in zip(starts, [*starts[1:], len(turns)], strict=True):
        part = turns[start:end]
        surprise = "high" if re.search(r"fail|error|refused|again", part[0].said, re.IGNORECASE) else "low"
        segments.append(
            {
                "first": part[0].number,
                "last": part[-1].number,
                "title": _title(part[0].said),
                "summary": _in_words(part),
                "surprise": surprise,
            }
        )
    return {"segments": segments}


def _shifts(turns: Sequence[_Turn], place: int) -> bool:
    said = turns[place].said
    if _SHIFT.match(said.lower()):
        return True
    before = set[str]().union(*(_words(turn.said) for turn in turns[max(0, place - 4) : place]))
    own = _words(said)
    return len(own) > 2 and place > 3 and not own & before


def _told(_task: Task, blocks: Mapping[str, str]) -> JsonObject:
    turns = _turns(blocks["turns"])
    return {"title": _title(turns[0].said), "summary": _in_words(turns)}


def _in_words(turns: Sequence[_Turn]) -> str:
    """The turn that shares most words with the others, and the last turn, in at most 50 words."""
    counts = Counter(word for turn in turns for word in _words(turn.said))
    central = max(turns, key=lambda turn: sum(counts[word] for word in _words(turn.said)))
    kept = list(dict.fromkeys([central, turns[-1]]))
    told = " ".join(f"{turn.who} said: {turn.said}" for turn in sorted(kept, key=lambda turn: turn.number))
    return " ".join(told.split()[:50]) or "nothing was said"


# ── use ──────────────────────────────────────────────────────────────────────────────────────────────────────────────


def _ratings(_task: Task, blocks: Mapping[str, str]) -> JsonObject:
    """Rate a memory by the share of its words that occur in the conversation after it was shown."""
    later = _words(blocks.get("conversation", ""))
    ratings: list[JsonValue] = []
    for line in blocks["memories"].split("\n"):
        found = _MEMORY.match(line)
        if found is None:
            continue
        words = _words(found["said"])
        share = len(words & later) / max(1, len(words))
        word = "easy" if share > 0.7 else "good" if share > 0.4 else "hard" if share > 0.2 else "again"
        ratings.append({"memory": found["label"], "rating": word})
    return {"ratings": ratings}


# ── facts, rules, learnings ──────────────────────────────────────────────────────────────────────────────────────────


def _facts(task: Task, blocks: Mapping[str, str]) -> JsonObject:
    """Stated preferences and decisions; a known preference about the same thing is updated."""
    known = {
        found["text"]: found["label"]
        for found in map(_KNOWN.match, blocks.get("known-facts", "").split("\n"))
        if found is not None
    }
    at_most = _most(task, "facts")
    said: dict[str, list[str]] = defaultdict(list)
    category: dict[str, str] = {}
    label = ""
    for line in blocks["episodes"].split("\n"):
        episode = _EPISODE.match(line)
        label = episode["label"] if episode is not None else label
        turn = _TURN.fullmatch(line)
        if turn is None:
            continue
        for text, kind in _lasting(turn["who"], turn["said"]):
            said[text].append(label)
            category[text] = kind
    facts: list[JsonValue] = []
    for text, episodes in list(said.items())[:at_most]:
        fact = known.get(text) or next((one for told, one in known.items() if _replaces(text, told)), "")
        action = "reinforce" if text in known else "update" if fact else "new"
        sources: list[JsonValue] = list(dict.fromkeys(episodes))
        facts.append({"action": action, "fact": fact, "category": category[text], "text": text, "episodes": sources})
    return {"facts": facts}


def _lasting(who: str, said: str) -> Iterable[tuple[str, str]]:
    prefers, decided = _PREFERS.search(said), _DECIDED.search(said)
    if prefers is not None:
        about = f" for {prefers['about']}" if prefers["about"] else ""
        yield f"{who} prefers {prefers['what']}{about}.", "preference"
    if decided is not None:
        yield f"{who} and the others decided {decided['what']}.", "goal"


def _replaces(text: str, known: str) -> bool:
    """Whether both are preferences of the same person about the same thing, but differ."""
    one, other = text.split(" prefers "), known.split(" prefers ")
    if len(one) != 2 or len(other) != 2 or one[0] != other[0] or " for " not in one[1] or " for " not in other[1]:
        return False
    return one[1].split(" for ")[1] == other[1].split(" for ")[1] and one[1] != other[1]


def _rules(task: Task, blocks: Mapping[str, str]) -> JsonObject:
    """Entries of one kind that name the same thing form a pattern."""
    schema = cast("JsonObject", cast("JsonObject", task.schema["properties"])["rules"])
    alike: dict[str, list[int]] = defaultdict(list)
    for line in blocks["entries"].split("\n"):
        found = _ENTRY.match(line)
        if found is not None:
            named = sorted(_words(found["said"]) - {"error", "failed", "expected", "found"}, key=lambda w: (-len(w), w))
            if named:
                alike[f"{found['kind']} names {named[0]}"].append(int(found["number"]))
    rules: list[JsonValue] = [
        {
            "when": pattern,
            "do": "look at what helped the last time before anything is changed",
            "confidence": min(0.9, 0.3 + 0.1 * len(entries)),
            "evidence": list[JsonValue](entries),
        }
        for pattern, entries in sorted(alike.items(), key=lambda one: (-len(one[1]), one[0]))
        if len(entries) >= 2
    ]
    return {"rules": rules[: cast("int", schema["maxItems"])]}


def _learnings(task: Task, blocks: Mapping[str, str]) -> JsonObject:
    """Sentences that match the patterns of the scope."""
    pattern, kind, domain = _CUES[task.purpose.removeprefix("extract ")]
    found: dict[str, list[int]] = defaultdict(list)
    for turn in _turns(blocks["turns"]):
        if re.search(pattern, turn.said, re.IGNORECASE):
            found[turn.said].append(turn.number)
    learnings: list[JsonValue] = [
        {
            "text": said,
            "type": kind,
            "domain": domain,
            "importance": 0.6,
            "turns": list[JsonValue](dict.fromkeys(numbers)),
        }
        for said, numbers in found.items()
    ]
    return {"learnings": learnings[: _most(task, "learnings")]}


# ── summaries ────────────────────────────────────────────────────────────────────────────────────────────────────────


def _summary(task: Task, blocks: Mapping[str, str]) -> JsonObject:
    """Sentences of the notes, without repeats, as many as fit; those that share most words with the others
    come first.
    """
    room = int(cast("re.Match[str]", _AT_MOST.search(task.instructions))[1])
    said = [found["said"] for line in blocks["notes"].split("\n") if (found := _NOTE.match(line)) is not None]
    sentences = list(dict.fromkeys(sentence.strip() for note in said for sentence in _SENTENCE.split(note)))
    counts = Counter(word for sentence in sentences for word in _words(sentence))
    ranked = sorted(sentences, key=lambda sentence: -sum(counts[word] for word in _words(sentence)))
    kept: set[str] = set()
    for sentence in ranked:
        if len(sentence) + 1 <= room:
            kept.add(sentence)
            room -= len(sentence) + 1
    told = [sentence for sentence in sentences if sentence in kept]
    return {"title": _title(ranked[0]), "summary": " ".join(told) or ranked[0][:room]}


# ── reading ──────────────────────────────────────────────────────────────────────────────────────────────────────────


def _turns(block: str) -> list[_Turn]:
    found = (_TURN.match(line) for line in block.split("\n"))
    return [_Turn(int(one["number"]), one["at"], one["who"], one["said"]) for one in found if one is not None]


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.lower()))


def _title(said: str) -> str:
    """The first words of the text, without its opening phrase."""
    opened = said.split(": ", 1)[-1]
    return " ".join(opened.split()[:9])[:90] or "untitled"


def _most(task: Task, name: str) -> int:
    schema = cast("JsonObject", cast("JsonObject", task.schema["properties"])[name])
    return cast("int", schema["maxItems"])
