"""The LoCoMo data set: long conversations, and questions whose evidence is known turn by turn.

Source: Maharana et al., ACL 2024 (arXiv 2402.17753); the file is `locomo10.json` of github.com/snap-research/locomo. It
is not shipped, because its licence is CC BY-NC 4.0. Known errors of the file are corrected while reading: evidence that
names two turns in one string, ids written as `D30:05` or `D:11:26`, and ids of turns that do not exist.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import zlib
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import IntEnum
from pathlib import Path
from typing import Final, cast

from remembrancer.domain.event import Role
from remembrancer.errors import InvalidInput, unreadable
from remembrancer.evaluation.dataset import (
    ASKED_AFTER,
    TURN_SPACING,
    Conversation,
    Dataset,
    DatasetQuestion,
    DatasetTurn,
    Transcript,
)
from remembrancer.ingest.fields import as_list, as_object

_GZIP_MAGIC: Final = b"\x1f\x8b"
_SESSION: Final = re.compile(r"session_([1-9]\d*)")
_TURN_ID: Final = re.compile(r"D([1-9]\d*):([1-9]\d*)")
_EVIDENCE: Final = re.compile(r"D:?(\d+):(\d+)")
_TIME: Final = "%I:%M %p on %d %B, %Y"


class LocomoCategory(IntEnum):
    """The question's category, with the number that the file uses."""

    MULTI_HOP = 1
    TEMPORAL = 2
    OPEN_DOMAIN = 3
    SINGLE_HOP = 4
    ADVERSARIAL = 5

    @property
    def label(self) -> str:
        return self.name.lower().replace("_", "-")


ORDER: Final = (
    LocomoCategory.SINGLE_HOP,
    LocomoCategory.MULTI_HOP,
    LocomoCategory.TEMPORAL,
    LocomoCategory.OPEN_DOMAIN,
)
"""The categories with an answer, in report order. Adversarial questions ask for what was not said."""


def load(path: Path) -> Dataset:
    """Read `locomo10.json`, plain or gzipped. Raises InvalidInput naming the wrong value and its location."""
    raw = _read(path)
    try:
        document: object = json.loads(raw)
    except (UnicodeDecodeError, json.JSONDecodeError) as error:
        raise InvalidInput("path", str(path), f"a JSON file ({error})") from error
    conversations = tuple(_conversation(f"[{index}]", item) for index, item in enumerate(as_list("the file", document)))
    if not conversations:
        raise InvalidInput("the file", [], "at least one conversation")
    ids = [conversation.transcript.id for conversation in conversations]
    if len(set(ids)) != len(ids):
        raise InvalidInput("sample_id", ids, "a different one for each conversation")
    return Dataset(
        name=path.name,
        sha256=hashlib.sha256(raw).hexdigest(),
        conversations=conversations,
        categories=tuple(category.label for category in ORDER),
        unanswerable=LocomoCategory.ADVERSARIAL.label,
    )


def _read(path: Path) -> bytes:
    try:
        raw = path.read_bytes()
        return gzip.decompress(raw) if raw.startswith(_GZIP_MAGIC) else raw
    except (OSError, EOFError, zlib.error) as error:
        raise unreadable("path", path, "a LoCoMo file", error) from error


def _conversation(where: str, value: object) -> Conversation:
    sample = as_object(where, value)
    fields = as_object(f"{where}.conversation", _required(where, sample, "conversation"))
    speakers = (
        _string(f"{where}.conversation.speaker_a", _required(f"{where}.conversation", fields, "speaker_a")),
        _string(f"{where}.conversation.speaker_b", _required(f"{where}.conversation", fields, "speaker_b")),
    )
    turns = _turns(f"{where}.conversation", fields, speakers)
    transcript = Transcript(id=_string(f"{where}.sample_id", _required(where, sample, "sample_id")), turns=turns)
    asked = as_list(f"{where}.qa", _required(where, sample, "qa"))
    session_of, asked_at = transcript.session_of(), transcript.ends + ASKED_AFTER
    read = [_question(f"{where}.qa[{index}]", item, index, session_of, asked_at) for index, item in enumerate(asked)]
    questions = tuple(question for question in read if question.evidence or not question.answerable)
    return Conversation(transcript=transcript, questions=questions, excluded=len(read) - len(questions))


def _turns(where: str, fields: dict[str, object], speakers: tuple[str, str]) -> tuple[DatasetTurn, ...]:
    numbers = sorted(int(match.group(1)) for key in fields if (match := _SESSION.fullmatch(key)))
    turns: list[DatasetTurn] = []
    for number in numbers:
        session = f"session_{number}"
        stamp = f"{session}_date_time"
        start = _session_time(f"{where}.{stamp}", _required(where, fields, stamp))
        for index, item in enumerate(as_list(f"{where}.{session}", fields[session])):
            at = start + index * TURN_SPACING
            turns.append(_turn(f"{where}.{session}[{index}]", item, session, speakers, at))
    if not turns:
        raise InvalidInput(where, sorted(fields), "at least one session_<number> with turns")
    ids = [turn.id for turn in turns]
    for position, turn_id in enumerate(ids):
        if turn_id in ids[:position]:
            raise InvalidInput(f"{where}.dia_id", turn_id, "a different id for each turn")
    return tuple(turns)


def _turn(where: str, value: object, session: str, speakers: tuple[str, str], at: datetime) -> DatasetTurn:
    turn = as_object(where, value)
    turn_id = _string(f"{where}.dia_id", _required(where, turn, "dia_id"))
    if not _TURN_ID.fullmatch(turn_id):
        raise InvalidInput(f"{where}.dia_id", turn_id, "an id such as D3:11")
    speaker = _string(f"{where}.speaker", _required(where, turn, "speaker"))
    if speaker not in speakers:
        raise InvalidInput(f"{where}.speaker", speaker, " or ".join(speakers))
    said = _required(where, turn, "text")
    caption = turn.get("blip_caption", "")
    if not isinstance(said, str) or not isinstance(caption, str):
        raise InvalidInput(where, turn, "text and blip_caption as strings")
    image = f"[shares an image: {caption.strip()}]" if caption.strip() else ""
    text = " ".join(part for part in (said.strip(), image) if part)
    if not text:
        raise InvalidInput(f"{where}.text", said, "a text, or an image with a caption")
    role = Role.USER if speaker == speakers[0] else Role.ASSISTANT
    return DatasetTurn(id=turn_id, session=session, actor=speaker, role=role, text=text, occurred_at=at)


def _question(
    where: str, value: object, index: int, session_of: Mapping[str, str], asked_at: datetime
) -> DatasetQuestion:
    """A question with the evidence ids that exist, possibly none."""
    question = as_object(where, value)
    number = _required(where, question, "category")
    if number not in [*LocomoCategory]:
        raise InvalidInput(f"{where}.category", number, "1, 2, 3, 4 or 5")
    category = LocomoCategory(cast("int", number))
    named = [
        _string(f"{where}.evidence[{position}]", item)
        for position, item in enumerate(as_list(f"{where}.evidence", _required(where, question, "evidence")))
    ]
    evidence = tuple(dict.fromkeys(turn_id for item in named for turn_id in _turn_ids(item) if turn_id in session_of))
    return DatasetQuestion(
        id=f"qa[{index}]",
        text=_string(f"{where}.question", _required(where, question, "question")),
        category=category.label,
        asked_at=asked_at,
        evidence=evidence,
        sessions=tuple(dict.fromkeys(session_of[turn_id] for turn_id in evidence)),
        answerable=category is not LocomoCategory.ADVERSARIAL,
    )


def _turn_ids(evidence: str) -> list[str]:
    """The turn ids in one evidence string, in the form that turns use; reads "D8:6; D9:17", "D30:05" and "D:11:26"."""
    return [f"D{int(session)}:{int(turn)}" for session, turn in _EVIDENCE.findall(evidence)]


def _session_time(where: str, value: object) -> datetime:
    """A session's time ("1:56 pm on 8 May, 2023"), taken as UTC because the file names no time zone."""
    text = _string(where, value)
    try:
        return datetime.strptime(text, _TIME).replace(tzinfo=UTC)
    except ValueError:
        raise InvalidInput(where, value, "a time such as '1:56 pm on 8 May, 2023'") from None


def _required(where: str, holder: dict[str, object], key: str) -> object:
    if key not in holder:
        raise InvalidInput(where, sorted(holder), f"an object with {key}")
    return holder[key]


def _string(where: str, value: object) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(where, value, "a text that is not blank")
    return value.strip()
