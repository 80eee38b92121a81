"""The schedule of a simulated life: sessions, and the events, questions and notes in them.

Six agents of three crews have three sessions each per working day, and one is on call at weekends. A session has two to
four topics, which recur on later days. The same seed gives the same life.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Final

from benchmarks.life_talk import (
    AGAIN,
    EXPIRING,
    NOTES,
    OPENINGS,
    PEOPLE,
    QUESTIONS,
    SHIFTS,
    STATE_NOTE,
    TOPICS,
    Act,
    Talk,
    Topic,
)
from remembrancer import EventDraft
from remembrancer.domain.event import Priority, Severity
from remembrancer.domain.scope import Visibility

START: Final = datetime(2026, 3, 2, tzinfo=UTC)
"""A Monday."""
DAYS: Final = 14
AGENTS: Final = (
    ("platform", "checkout", "coder"),
    ("platform", "checkout", "operator"),
    ("shop", "catalogue", "writer"),
    ("shop", "catalogue", "support"),
    ("research", "survey", "analyst"),
    ("research", "survey", "librarian"),
)
"""Crew, project and name of each agent."""
ON_CALL: Final = AGENTS[1]
HOURS: Final = (9.0, 11.25, 14.5)
EVENTS_A_SESSION: Final = 100
"""Approximate events per session; with fewer events in total there are fewer sessions."""


@dataclass(frozen=True, slots=True)
class Session:
    """One session of an agent with a person. `closed`: the session is ended explicitly; others simply stop."""

    name: str
    crew: str
    project: str
    agent: str
    person: str
    begins: datetime
    events: int
    closed: bool


@dataclass(frozen=True, slots=True)
class Exchange:
    """Events recorded in one call: what was said and done within two minutes."""

    drafts: tuple[EventDraft, ...]


@dataclass(frozen=True, slots=True)
class Note:
    """A written memory. `about`: decision, preference, error or workflow. `holds`: how long it is valid; None: until
    replaced.
    """

    text: str
    about: str
    importance: float
    topic_key: str | None = None
    holds: timedelta | None = None
    visibility: Visibility = Visibility.WORKSPACE


@dataclass(frozen=True, slots=True)
class Question:
    """A question to the memory. A memory that contains the topic's name counts as a good answer."""

    text: str
    topic: str


@dataclass(frozen=True, slots=True)
class End:
    """The session is ended explicitly."""


Step = Exchange | Note | Question | End


@dataclass(frozen=True, slots=True)
class Action:
    """Something that happens at a time in a session."""

    at: datetime
    session: Session
    step: Step


@dataclass(frozen=True, slots=True)
class Life:
    """All actions in order of time. `patterns`: number of sentence patterns used; `texts`: number of distinct texts."""

    actions: tuple[Action, ...]
    patterns: int
    texts: int


def make_life(events: int, *, days: int = DAYS, seed: int = 7) -> Life:
    """A life with exactly `events` events."""
    chance = random.Random(seed)
    talk = Talk(chance)
    writer = _Writer(talk)
    actions = [action for session in _sessions(events, days, chance) for action in writer.session_actions(session)]
    actions.sort(key=lambda action: (action.at, action.session.name))
    texts = {draft.text for one in actions if isinstance(one.step, Exchange) for draft in one.step.drafts}
    return Life(tuple(actions), len(talk.used), len(texts))


def _sessions(events: int, days: int, chance: random.Random) -> list[Session]:
    slots: list[tuple[datetime, tuple[str, str, str], float]] = []
    for day in range(days):
        midnight = START + timedelta(days=day)
        if midnight.weekday() >= 5:
            slots.append((midnight + timedelta(hours=15), ON_CALL, 0.3))
            continue
        for hour in HOURS:
            for agent in AGENTS:
                begins = midnight + timedelta(hours=hour, minutes=chance.uniform(0, 40))
                slots.append((begins, agent, chance.uniform(0.6, 1.4)))
    wanted = min(len(slots), max(1, round(events / EVENTS_A_SESSION)))
    chosen = [slots[place * len(slots) // wanted] for place in range(wanted)]
    whole = sum(weight for *_, weight in chosen)
    sizes = [max(1, int(events * weight / whole)) for *_, weight in chosen]
    sizes[-1] += events - sum(sizes)
    return [
        Session(
            name=f"{agent[2]}-{begins:%m%d-%H%M}",
            crew=agent[0],
            project=agent[1],
            agent=agent[2],
            person=PEOPLE[2 * AGENTS.index(agent) + (chance.random() < 0.3)],
            begins=begins,
            events=size,
            closed=chance.random() < 0.8,
        )
        for (begins, agent, _), size in zip(chosen, sizes, strict=True)
    ]


class _Writer:
    """Writes one session after another, and remembers earlier notes in order to repeat them."""

    def __init__(self, talk: Talk) -> None:
        self._talk = talk
        self._chance = talk.chance
        self._noted: dict[str, list[Note]] = {}

    def session_actions(self, session: Session) -> Iterator[Action]:
        chance, at = self._chance, session.begins
        topics = chance.sample(TOPICS[session.crew], chance.randint(2, 4))
        left, turn = session.events, 0
        shifts = sorted(chance.sample(range(1, 20), len(topics) - 1))
        topic = topics[0]
        while left:
            share = 20 * (session.events - left) // session.events
            now_about = topics[sum(share >= shift for shift in shifts)]
            shifted, topic = now_about is not topic, now_about
            drafts = self._exchange(session, topic, at, shifted=shifted, first=turn == 0)[:left]
            left -= len(drafts)
            at += timedelta(seconds=chance.uniform(70, 200))
            yield Action(at, session, Exchange(drafts))
            if turn % 9 == 4:
                yield Action(at + timedelta(seconds=1), session, self._question(topic))
            if turn % 9 == 7:
                yield Action(at + timedelta(seconds=2), session, self._note(session, topic))
            turn += 1
        at += timedelta(minutes=2)
        yield Action(at, session, self._state_note(topic))
        if session.closed:
            yield Action(at + timedelta(minutes=1), session, End())

    def _exchange(
        self, session: Session, topic: Topic, at: datetime, *, shifted: bool, first: bool
    ) -> tuple[EventDraft, ...]:
        chance = self._chance
        opening = chance.choice(SHIFTS) if shifted and chance.random() < 0.5 else None
        if first and chance.random() < 0.5:
            acts: Sequence[Act] = (Act.CHAT, Act.ASK, Act.ANSWER)
        else:
            acts = chance.choice(_EXCHANGES)
        openings = [opening, *[None] * (len(acts) - 1)]
        drafts = [self._draft(session, act, topic, at, begin) for act, begin in zip(acts, openings, strict=True)]
        if chance.random() < 0.12:
            drafts.append(self._telemetry(topic, at))
        return tuple(drafts)

    def _draft(self, session: Session, act: Act, topic: Topic, at: datetime, opening: str | None) -> EventDraft:
        text = self._talk.say(act, topic, opening=opening)
        if act is Act.OUTPUT:
            return EventDraft(text=text, role="tool", type="tool.result", actor="shell", occurred_at=at)
        if act is Act.ERROR:
            kind = self._chance.choice(_ERRORS)
            severity = Severity.ERROR if kind == "tool.result" else Severity.WARN
            return EventDraft(
                text=text,
                role="tool",
                type=kind,
                severity=severity,
                priority=Priority.PERMANENT if self._chance.random() < 0.02 else Priority.NORMAL,
                actor="shell",
                occurred_at=at,
            )
        by_person = act in _OF_PEOPLE
        return EventDraft(
            text=text,
            role="user" if by_person else "assistant",
            actor=session.person if by_person else session.agent,
            occurred_at=at,
        )

    def _telemetry(self, topic: Topic, at: datetime) -> EventDraft:
        kind = self._chance.choice(("exec.output_chunk", "container.metrics", "llm.call", "network.port_opened"))
        text = self._talk.fill("{part_slug} {slug} n={n} m={m} k={k}", topic)
        return EventDraft(text=text, role="tool", type=kind, actor="shell", occurred_at=at)

    def _note(self, session: Session, topic: Topic) -> Note:
        """A new note, a repeated one, one that expires after some days, or one visible to its session only."""
        chance = self._chance
        before = self._noted.setdefault(session.agent, [])
        if before and chance.random() < 0.45:
            note = chance.choice(before)
            text = note.text if chance.random() < 0.3 else f"{note.text.rstrip('.')} {chance.choice(AGAIN)}."
            return Note(text, note.about, note.importance, visibility=note.visibility)
        if chance.random() < 0.15:
            text = self._talk.fill(chance.choice(EXPIRING), topic)
            return Note(text, "decision", 0.4, holds=timedelta(days=chance.uniform(0.5, 4)))
        about = chance.choice(tuple(NOTES))
        visibility = Visibility.OWN if chance.random() < 0.1 else Visibility.WORKSPACE
        text = self._talk.fill(chance.choice(NOTES[about]), topic)
        note = Note(text, about, round(chance.uniform(0.3, 0.9), 2), visibility=visibility)
        before.append(note)
        return note

    def _state_note(self, topic: Topic) -> Note:
        """The state of a topic, written under the same key each time, so that it replaces the one before."""
        key = f"standing of {topic.name}"
        return Note(self._talk.fill(STATE_NOTE, topic), "decision", 0.6, topic_key=key)

    def _question(self, topic: Topic) -> Question:
        return Question(self._talk.fill(self._chance.choice(QUESTIONS), topic), topic.name)


_OF_PEOPLE: Final = frozenset({Act.ASK, Act.REPORT, Act.DECIDE, Act.PREFER, Act.RULE, Act.CHAT})
_EXCHANGES: Final[tuple[tuple[Act, ...], ...]] = (
    (Act.ASK, Act.ANSWER),
    (Act.ASK, Act.ANSWER),
    (Act.ASK, Act.DO, Act.OUTPUT, Act.ANSWER),
    (Act.REPORT, Act.DO, Act.ERROR),
    (Act.REPORT, Act.PLAN),
    (Act.REPORT, Act.DO, Act.OUTPUT, Act.FIXED),
    (Act.PLAN, Act.DECIDE),
    (Act.DO, Act.OUTPUT),
    (Act.DO, Act.ERROR, Act.PLAN),
    (Act.DO, Act.ERROR, Act.OUTPUT, Act.FIXED),
    (Act.DECIDE, Act.DO),
    (Act.PREFER, Act.ANSWER),
    (Act.RULE, Act.DO),
    (Act.CHAT, Act.CHAT),
    (Act.ANSWER, Act.HAND_OVER),
    (Act.FIXED, Act.DECIDE),
)
_ERRORS: Final = (
    *("tool.result",) * 7,
    "peer.escalation",
    "approval.denied",
    "eval.regression_detected",
    "keeper.decision",
)
"""Event types of failures; some of them are types that agent journals use."""

ABOUT_TO_KIND: Final[Mapping[str, tuple[str, ...]]] = {
    "decision": ("decision", "directive"),
    "preference": ("preference", "declarative"),
    "error": ("error", "corrective"),
    "workflow": ("workflow", "procedural"),
}
"""The memory kinds that a note may have, for presets with a fixed list of kinds."""

assert set(OPENINGS) == set(Act), "every act has its openings"
