"""Claude Code transcripts: ~/.claude/projects/<project>/<session>.jsonl, one record on each line."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path

from remembrancer.domain.event import EventDraft, Severity
from remembrancer.domain.validation import JsonValue
from remembrancer.errors import InvalidInput
from remembrancer.ingest import fields
from remembrancer.ingest.blocks import BlockKind, MessagePart, passages
from remembrancer.ingest.lines import OnBytes, objects
from remembrancer.ingest.problem import Problem, RecordLocation
from remembrancer.ingest.turn import ContentKeys, Turn, bounded, identity, label
from remembrancer.ingest.turn import events as drafted

_NOT_SAID = ("isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage")
"""Flags of records that are neither the person's words nor the agent's answer."""
_HARNESS = ("<local-command-", "<bash-stdout>", "<bash-stderr>", "<task-notification>")
"""Beginnings of user records that the program itself wrote into the conversation."""
_REMINDER = re.compile(r"<system-reminder>")
_REMINDER_CLOSE = "</system-reminder>"
_COMMAND = re.compile(r"<command-name>\s*([^<\s]{1,200})\s*</command-name>")
_ARGUMENTS = re.compile(r"<command-args>([^<]*)</command-args>")
_SHELL = re.compile(r"<bash-input>([^<]*)</bash-input>")


def events(path: Path, on_bytes: OnBytes | None = None) -> Iterator[EventDraft | Problem]:
    """The texts of the person and the agent, and a short form of the agent's actions, in the order of the file."""
    transcript = TranscriptParser(path)
    for line in objects(path, on_bytes):
        if isinstance(line, Problem):
            yield line
            continue
        place, record = line
        try:
            yield from transcript.record(place, record)
        except InvalidInput as error:
            yield place.problem(error)


class TranscriptParser:
    """State carried from line to line: the last time, and the tool of each call without a result yet."""

    def __init__(self, path: Path) -> None:
        self._stem = path.stem
        self._keys = ContentKeys("claude-code")
        self._latest: datetime | None = None
        self._tools: dict[str, str] = {}

    def record(self, place: RecordLocation, record: Mapping[str, object]) -> Iterator[EventDraft | Problem]:
        speaker = fields.as_text("type", record.get("type"))
        if speaker not in ("user", "assistant") or any(record.get(flag) is True for flag in _NOT_SAID):
            return
        message = fields.as_object("message", record.get("message"))
        session = bounded(fields.optional_text(record, "sessionId") or self._stem)
        identifier = fields.optional_text(record, "uuid")
        self._latest = fields.optional_time(record, "timestamp") or self._latest
        for passage in passages(message.get("content")):
            if isinstance(passage, InvalidInput):
                yield place.problem(passage)
                continue
            stem = identifier or self._keys.key(session, speaker, passage.text)
            turn = Turn(
                text=typed(passage.text) if speaker == "user" and passage.kind is BlockKind.SAID else passage.text,
                key=f"{identity('claude-code', stem, session)}/{passage.index}",
                role="tool" if passage.kind is BlockKind.RESULT else speaker,
                type=passage.kind,
                severity=Severity.ERROR if passage.failed else Severity.INFO,
                actor=self._actor(passage),
                occurred_at=self._latest,
                session=session,
                payload=_payload(record),
                refs={"tool_call": passage.call} if passage.call else {},
            )
            yield from drafted(turn, place)

    def _actor(self, passage: MessagePart) -> str | None:
        """The tool that the result belongs to: the result itself names only the call."""
        if passage.kind is BlockKind.CALL and passage.call and passage.tool:
            self._tools[passage.call] = passage.tool
        if passage.kind is not BlockKind.RESULT:
            return None
        return label(passage.tool or self._tools.pop(passage.call or "", None))


def _payload(record: Mapping[str, object]) -> dict[str, JsonValue]:
    payload: dict[str, JsonValue] = {"source": "claude-code"}
    for key, name in (("cwd", "cwd"), ("gitBranch", "git_branch")):
        if (value := fields.optional_text(record, key)) is not None:
            payload[name] = value
    return payload


def typed(text: str) -> str:
    """The words that the person typed, from a user record: without reminders, command output and command markup.

    A slash command is written "/name arguments", a shell line "! command".
    """
    said = _without_reminders(text).strip()
    if said.startswith(_HARNESS):
        return ""
    if said.startswith(("<command-name>", "<command-message>")) and (command := _COMMAND.search(said)):
        arguments = _ARGUMENTS.search(said)
        return f"/{command[1].lstrip('/')} {arguments[1] if arguments else ''}".strip()
    if shell := _SHELL.match(said):
        return f"! {shell[1].strip()}" if shell[1].strip() else ""
    return said


def _without_reminders(text: str) -> str:
    kept: list[str] = []
    start = 0
    while opened := _REMINDER.search(text, start):
        closed = text.find(_REMINDER_CLOSE, opened.end())
        if closed < 0:
            break
        kept.append(text[start : opened.start()])
        start = closed + len(_REMINDER_CLOSE)
    return "".join([*kept, text[start:]])
