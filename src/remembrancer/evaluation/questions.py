"""The user's own data set: a JSON-lines file of turns (the corpus) and one of questions.

A turn has `id` and `text`, and optionally `conversation`, `session`, `actor`, `role` and `occurred_at`. A question has
`question` and `gold` (turn ids), and optionally `id`, `category`, `conversation` and `asked_at`. An empty `gold` means
that no turn answers the question.
"""

from __future__ import annotations

import hashlib
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from remembrancer.domain import validation
from remembrancer.domain.event import Role
from remembrancer.errors import InvalidInput
from remembrancer.evaluation.dataset import (
    ASKED_AFTER,
    MAX_AT_ONCE,
    TURN_SPACING,
    Conversation,
    Dataset,
    DatasetQuestion,
    DatasetTurn,
    Transcript,
)
from remembrancer.evaluation.lines import errors_at, records, require_known_keys
from remembrancer.ingest import fields

TURN_KEYS: Final = ("id", "text", "conversation", "session", "actor", "role", "occurred_at")
QUESTION_KEYS: Final = ("question", "gold", "id", "category", "conversation", "asked_at")

CONVERSATION: Final = "main"
"""The conversation of a turn that names none."""
CATEGORY: Final = "uncategorised"
"""The category of a question that names none."""
BEGUN: Final = datetime(2000, 1, 1, tzinfo=UTC)
"""The time of a conversation's first turn when that has none."""

LATEST: Final = datetime(9999, 1, 1, tzinfo=UTC)
"""Turns must be earlier than this, so that questions can be asked after the last turn."""


def load(corpus: Path, questions: Path) -> Dataset:
    """Read both files. Raises InvalidInput naming the file, line, key, value and what is allowed."""
    transcripts = _transcripts(corpus)
    asked = _questions(questions, transcripts)
    answerable = [question for several in asked.values() for question in several if question.answerable]
    return Dataset(
        name=f"{corpus.name} + {questions.name}",
        sha256=hashlib.sha256(corpus.read_bytes() + questions.read_bytes()).hexdigest(),
        conversations=tuple(
            Conversation(transcript=transcript, questions=tuple(asked[transcript.id]))
            for transcript in transcripts.values()
        ),
        categories=tuple(dict.fromkeys(question.category for question in answerable)),
    )


def _transcripts(corpus: Path) -> dict[str, Transcript]:
    """Transcripts by conversation, in order of first appearance; turns in file order."""
    turns: dict[str, dict[str, DatasetTurn]] = defaultdict(dict)
    moments: Counter[tuple[str, datetime]] = Counter()
    for place, record in records("corpus", corpus):
        with errors_at(place):
            require_known_keys("a turn", record, TURN_KEYS)
            conversation = _name(record, "conversation") or CONVERSATION
            before = turns[conversation]
            turn = _turn(record, next(reversed(before.values()), None))
            if turn.id in before:
                raise InvalidInput("id", turn.id, f"an id that no other turn of conversation {conversation!r} has")
            moments[conversation, turn.occurred_at] += 1
            if moments[conversation, turn.occurred_at] > MAX_AT_ONCE:
                raise InvalidInput(
                    "occurred_at", turn.occurred_at.isoformat(), f"at most {MAX_AT_ONCE:,} turns at one moment"
                )
            before[turn.id] = turn
    if not turns:
        raise InvalidInput("corpus", str(corpus), "a file with at least one turn")
    return {name: Transcript(id=name, turns=tuple(several.values())) for name, several in turns.items()}


def _turn(record: Mapping[str, object], before: DatasetTurn | None) -> DatasetTurn:
    said_at = fields.optional_time(record, "occurred_at")
    if said_at is None:
        said_at = BEGUN if before is None else before.occurred_at + TURN_SPACING
    if said_at >= LATEST:
        raise InvalidInput("occurred_at", said_at.isoformat(), f"a time before {LATEST.year}")
    return DatasetTurn(
        id=validation.name("id", record.get("id")),
        text=validation.text("text", record.get("text")),
        occurred_at=said_at,
        session=_name(record, "session"),
        actor=_name(record, "actor"),
        role=validation.choice("role", record.get("role") or Role.USER, Role),
    )


def _questions(path: Path, transcripts: Mapping[str, Transcript]) -> dict[str, list[DatasetQuestion]]:
    """Questions by conversation, in file order."""
    of_turn: dict[str, list[str]] = defaultdict(list)
    for transcript in transcripts.values():
        for turn in transcript.turns:
            of_turn[turn.id].append(transcript.id)
    session_of = {name: transcript.session_of() for name, transcript in transcripts.items()}
    asked: dict[str, list[DatasetQuestion]] = {name: [] for name in transcripts}
    ids: set[tuple[str, str]] = set()
    for place, record in records("questions", path):
        with errors_at(place):
            require_known_keys("a question", record, QUESTION_KEYS)
            transcript = transcripts[_conversation(record, tuple(transcripts))]
            gold = _gold(record, transcript.id, of_turn)
            question = DatasetQuestion(
                id=_name(record, "id") or f"line {place.line}",
                text=validation.text("question", record.get("question")),
                category=_name(record, "category") or CATEGORY,
                asked_at=_asked_at(record, transcript),
                evidence=gold,
                sessions=tuple(dict.fromkeys(session_of[transcript.id][turn_id] for turn_id in gold)),
                answerable=bool(gold),
            )
            if (transcript.id, question.id) in ids:
                raise InvalidInput("id", question.id, "an id that no other question of its conversation has")
            ids.add((transcript.id, question.id))
            asked[transcript.id].append(question)
    if not ids:
        raise InvalidInput("questions", str(path), "a file with at least one question")
    return asked


def _conversation(record: Mapping[str, object], known: Sequence[str]) -> str:
    """The conversation that the question names; may be omitted when the corpus has only one."""
    named = _name(record, "conversation") or (known[0] if len(known) == 1 else None)
    if named is None or named not in known:
        shown = ", ".join(known[:10]) + (f" and {len(known) - 10} more" if len(known) > 10 else "")
        raise InvalidInput("conversation", named, f"one of the corpus: {shown}")
    return named


def _gold(record: Mapping[str, object], conversation: str, of_turn: Mapping[str, Sequence[str]]) -> tuple[str, ...]:
    if "gold" not in record:
        raise InvalidInput("gold", None, "a list of ids of turns, empty where nothing answers")
    gold = tuple(validation.name("gold", item) for item in fields.as_list("gold", record["gold"]))
    for position, turn_id in enumerate(gold):
        held = of_turn.get(turn_id, ())
        if conversation not in held:
            where = f" ({turn_id} is in {', '.join(held[:3])})" if held else ""
            raise InvalidInput("gold", turn_id, f"an id of a turn of conversation {conversation!r}{where}")
        if turn_id in gold[:position]:
            raise InvalidInput("gold", turn_id, "each id once")
    return gold


def _asked_at(record: Mapping[str, object], transcript: Transcript) -> datetime:
    """The time at which the question is asked: not before the last turn, because a system is given all turns first."""
    moment = fields.optional_time(record, "asked_at")
    if moment is None:
        return transcript.ends + ASKED_AFTER
    if moment < transcript.ends:
        last = transcript.ends.isoformat()
        raise InvalidInput("asked_at", moment.isoformat(), f"a time not before the last turn's ({last})")
    return moment


def _name(record: Mapping[str, object], key: str) -> str | None:
    return validation.optional_name(key, record.get(key))
