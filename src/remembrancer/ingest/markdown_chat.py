"""Conversations in plain markdown: a speaker, a colon or heading, and what was said.

A file has one style, that of its first turn: bold names, headings of one level, or plain names. Only that style starts
further turns, so that "Note:" inside an answer does not become a speaker.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import field
from datetime import UTC, date, datetime, time
from pathlib import Path

from remembrancer.domain.event import EventDraft
from remembrancer.errors import InvalidInput
from remembrancer.ingest.lines import OnBytes, lines
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.turn import ContentKeys, Turn, bounded, label
from remembrancer.ingest.turn import events as drafted
from remembrancer.values import dataclass

MAX_SPEAKER_CHARS = 40
MAX_SPEAKER_WORDS = 3

_ROLES = {
    **dict.fromkeys(("user", "human", "me", "you", "i"), "user"),
    **dict.fromkeys(("assistant", "ai", "bot", "agent", "model", "claude", "chatgpt", "gpt", "gemini"), "assistant"),
    "system": "system",
    "tool": "tool",
}
_NAMELESS = frozenset({"user", "human", "me", "you", "i", "assistant", "ai", "bot", "agent", "model", "system", "tool"})
"""Words for a role rather than a name."""
_NOT_SPEAKERS = frozenset(
    {"note", "notes", "nb", "ps", "todo", "fixme", "warning", "caution", "important", "tip", "hint"}
    | {"example", "examples", "summary", "update", "edit", "result", "results", "output", "input", "error"}
    | {"question", "answer", "source", "sources", "usage", "date", "title", "http", "https"}
)
"""Words that often precede a colon without being a speaker."""

_BOLD = re.compile(
    r"\*\*(?P<name>[^*]{1,100}?)(?P<inside>:)?\*\*"
    r"(?:[ \t]{0,4}[(\[](?P<when>[^)\]]{1,40})[)\]])?(?P<outside>:)?(?:[ \t]+(?P<text>.*))?$"
)
_HEADING = re.compile(r"(?P<marks>#{1,6})[ \t]+(?P<name>[^#].{0,150})$")
_PLAIN = re.compile(
    r"(?:\[(?P<before>[^\]]{1,40})\][ \t]{0,4})?(?P<name>[^\W\d_][^:*#\[\]()<>|`\"]{0,59}?)"
    r"(?:[ \t]{0,4}[(\[](?P<when>[^)\]]{1,40})[)\]])?:(?:[ \t]+(?P<text>.*))?$"
)
_NAME_THEN_TIME = re.compile(
    r"(?P<name>.{1,100}?)[ \t]{0,4}(?:[(\[](?P<paren>[^)\]]{1,40})[)\]]|[ ,—–·|-]+(?P<bare>\d[^()]*))$"
)
_TIME_LIKE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}|\d{1,2}:\d{2}")
_DAY = re.compile(r"#{1,6}[ \t]+(?P<moment>\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}\S*)?)(?![\w:])")
_FENCE = re.compile(r" {0,3}(?P<marks>`{3,}|~{3,})(?P<info>.*)$")


@dataclass(frozen=True, slots=True)
class _Header:
    style: str
    """The style of the turn: "bold", "plain", or the heading's marks."""
    name: str
    when: str | None
    text: str


@dataclass(slots=True)
class _Said:
    """A turn while it is being read."""

    place: RecordLocation
    name: str
    role: str
    when: datetime | None
    lines: list[str] = field(default_factory=list[str])
    wanted: bool = True


def starts_turn(line: str) -> bool:
    """Whether a turn of any style begins on this line."""
    return _header(line.rstrip()) is not None


def events(path: Path, on_bytes: OnBytes | None = None) -> Iterator[EventDraft | Problem]:
    """The turns of the file. A file with date headings is one session for each date, any other one session."""
    chat = _Chat(path)
    for line in lines(path, on_bytes):
        if isinstance(line, Problem):
            yield line
        else:
            yield from chat.line(RecordLocation(path, line[0]), line[1])
    yield from chat.end()


class _Chat:
    """The parser's state: the style, the day, the open code fence and the open turn."""

    def __init__(self, path: Path) -> None:
        self._stem = path.stem
        self._session = bounded(path.stem)
        self._keys = ContentKeys("markdown")
        self._style: str | None = None
        self._roles_only = False
        self._day: date | None = None
        self._latest: datetime | None = None
        self._fence: tuple[str, RecordLocation] | None = None
        self._said: _Said | None = None
        self._front_matter = False
        self._complained = False

    def line(self, place: RecordLocation, text: str) -> Iterator[EventDraft | Problem]:
        if self._in_front_matter(place, text):
            return
        if self._fence is None:
            if day := _DAY.match(text):
                yield from self._new_day(place, day["moment"])
                return
            header = _header(text.rstrip())
            if header is not None and self._accepts(header):
                yield from self._open(place, header)
                return
        self._watch_fence(place, text)
        if self._said is not None:
            self._said.lines.append(text)
        elif text.strip() and not text.startswith("#") and not self._complained:
            self._complained = True
            yield place.problem("text before the first turn is left out")

    def end(self) -> Iterator[EventDraft | Problem]:
        if self._fence is not None:
            yield self._fence[1].problem("the code block opened here is never closed; all after it is one turn")
        yield from self._close()

    def _in_front_matter(self, place: RecordLocation, text: str) -> bool:
        if text.rstrip() == "---" and (place.line == 1 or self._front_matter):
            self._front_matter = place.line == 1
            return True
        return self._front_matter

    def _accepts(self, header: _Header) -> bool:
        """Whether the header starts a turn here, given the style of the first one."""
        known_role = header.name.lower() in _ROLES
        if self._style is None:
            return True
        if header.style != self._style:
            return False
        # Where the first speaker is a role ("User"), a line with another name is part of an answer, unless it has a
        # time.
        return known_role or not self._roles_only or _time_like(header.when)

    def _open(self, place: RecordLocation, header: _Header) -> Iterator[EventDraft | Problem]:
        yield from self._close()
        role = _ROLES.get(header.name.lower())
        if self._style is None:
            self._style = header.style
            self._roles_only = role is not None
        self._said = _Said(place, header.name, role or "user", self._latest)
        try:
            self._said.when = self._moment(header.when) or self._latest
        except InvalidInput as error:
            self._said.wanted = False
            yield place.problem(error)
        self._latest = self._said.when
        self._watch_fence(place, header.text)
        self._said.lines.append(header.text)

    def _close(self) -> Iterator[EventDraft | Problem]:
        said, self._said = self._said, None
        if said is None or not said.wanted:
            return
        text = "\n".join(said.lines).strip("\n").rstrip()
        if not text.strip():
            return
        turn = Turn(
            text=text,
            key=self._keys.key(self._session, said.name, text),
            role=said.role,
            actor=None if said.name.lower() in _NAMELESS else label(said.name),
            occurred_at=said.when,
            session=self._session,
            payload={"source": "markdown"},
        )
        yield from drafted(turn, said.place)

    def _new_day(self, place: RecordLocation, text: str) -> Iterator[EventDraft | Problem]:
        yield from self._close()
        try:
            moment = _parsed(text)
        except InvalidInput as error:
            yield place.problem(error)
            return
        self._latest = moment
        self._day = moment.date()
        self._session = bounded(f"{self._stem}/{self._day.isoformat()}")

    def _moment(self, text: str | None) -> datetime | None:
        """The time in a header; a clock time is on the day of the heading above, if there is one."""
        if text is None:
            return None
        if "-" in text:
            return _parsed(text)
        try:
            clock = time.fromisoformat(text.strip().zfill(5))
        except ValueError:
            raise InvalidInput("time", text, "a time such as 09:14") from None
        if self._day is None:
            return None
        return datetime.combine(self._day, clock if clock.tzinfo else clock.replace(tzinfo=UTC)).astimezone(UTC)

    def _watch_fence(self, place: RecordLocation, text: str) -> None:
        fence = _FENCE.match(text)
        if fence is None:
            return
        marks = fence["marks"]
        if self._fence is None:
            if marks[0] == "~" or "`" not in fence["info"]:
                self._fence = (marks, place)
        elif marks.startswith(self._fence[0]) and not fence["info"].strip():
            self._fence = None


def _parsed(text: str) -> datetime:
    """An ISO 8601 time. Without an offset it is UTC, so that a file is read the same way everywhere."""
    try:
        parsed = datetime.fromisoformat(text.strip().replace(" UTC", "Z"))
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=UTC)).astimezone(UTC)
    except (ValueError, OverflowError):
        raise InvalidInput("time", text, "an ISO 8601 time such as 2026-03-02 09:14") from None


def _header(line: str) -> _Header | None:
    """The beginning of a turn on this line, in any style; the file decides whether it counts."""
    bold = _BOLD.match(line)
    if bold and (bold["inside"] or bold["outside"] or bold["text"] is None):
        return _made("bold", bold["name"], bold["when"], bold["text"])
    # Not the first level, which is the page title.
    heading = _HEADING.match(line)
    if heading and len(heading["marks"]) > 1:
        return _made(heading["marks"], heading["name"].rstrip(" \t#").rstrip(":"), None, None)
    plain = _PLAIN.match(line)
    if plain and (plain["before"] is None or _time_like(plain["before"])):
        return _made("plain", plain["name"], plain["when"] or plain["before"], plain["text"])
    return None


def _made(style: str, name: str, when: str | None, text: str | None) -> _Header | None:
    name = name.strip()
    if when is None and (inner := _NAME_THEN_TIME.match(name)):
        written = inner["paren"] or inner["bare"]
        if _time_like(written):
            name, when = inner["name"].strip(), written
    if when is not None and not _time_like(when):
        name, when = f"{name} ({when})", None
    return _Header(style, name, when, text or "") if _speaker(name) else None


def _speaker(name: str) -> bool:
    """Whether this can be a speaker's name: a role word, or a few words that are not a common label."""
    lower = name.lower()
    if lower in _ROLES:
        return True
    if not name or len(name) > MAX_SPEAKER_CHARS or len(name.split()) > MAX_SPEAKER_WORDS:
        return False
    named = name[0].isalpha() and not name[0].islower() and lower not in _NOT_SPEAKERS
    return named and set(name).isdisjoint(",;!?:=/")


def _time_like(text: str | None) -> bool:
    return text is not None and _TIME_LIKE.match(text.strip()) is not None
