"""Parsing a file of a vault, and writing it with some learnings changed."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Any, Final, cast
from uuid import UUID, uuid5

from remembrancer.domain.front_matter import BYTE_ORDER_MARK, HeaderBlock, Span, blocks, escaped, normalised, unescaped
from remembrancer.domain.learning import FIELDS, Learning, LearningType, learning_of
from remembrancer.errors import InvalidInput
from remembrancer.policies.vault.headers import Fault, Header, Value, edited, header, rendered
from remembrancer.policies.vault.places import holds_learnings
from remembrancer.policies.vault.typos import is_typo
from remembrancer.values import dataclass

_IDS: Final = UUID("3f6d2a9e-53b1-5c0e-9b7e-6f0a3c1d8e42")
_OWN_FIELD: Final = re.compile(
    rf"^(?:id\s*:\s*[\"']?[0-9a-f]{{8}}-|type\s*:\s*[\"']?(?:{'|'.join(LearningType)})\b|reinforcement_count\s*:)",
    re.MULTILINE,
)
_END_OF_LINE: Final = re.compile(r"\r\n|\n|\r")


@dataclass(frozen=True, slots=True)
class FileProblem:
    """A problem in a file of the vault. `line`: from 1; None: the whole file."""

    path: str
    line: int | None
    message: str

    def __str__(self) -> str:
        return f"{self.path if self.line is None else f'{self.path}:{self.line}'}: {self.message}"


@dataclass(frozen=True, slots=True)
class LearningEntry:
    """A learning and its position in the file. `named` False: its header has no id yet, and a derived one is used."""

    block: HeaderBlock
    body: Span
    header: Header
    learning: Learning
    named: bool


@dataclass(frozen=True, slots=True)
class VaultFile:
    """A parsed file. `prose`: the text of no learning. `findings`: unreadable parts; a file with any is
    never written.
    """

    path: str
    text: str
    entries: tuple[LearningEntry, ...]
    prose: tuple[Span, ...]
    findings: tuple[FileProblem, ...]


@dataclass(frozen=True, slots=True)
class Edit:
    """A change to the entry with this index in the file: its new learning."""

    place: int
    learning: Learning


def parsed(path: str, text: str) -> VaultFile:
    """Parse a file's text. A file without a learning's header is a document, even if it has lines of `---`."""
    found = blocks(text)
    if not (holds_learnings(path) or any(_is_own(text, block) for block in found)):
        return VaultFile(path, text, (), (Span(_first(text), len(text)),), ())
    entries: list[LearningEntry] = []
    findings: list[FileProblem] = []
    headers, strays = _told_apart(text, found)
    findings += [FileProblem(path, block.line, _STRAY) for block in strays]
    seen: dict[str, int] = {}
    for number, block in enumerate(headers):
        end = headers[number + 1].start if number + 1 < len(headers) else len(text)
        entry = _entry(path, text, block, Span(block.body.start, end), seen)
        if isinstance(entry, LearningEntry):
            entries.append(entry)
        else:
            findings.append(entry)
    prose = Span(_first(text), headers[0].start if headers else len(text))
    return VaultFile(path, text, tuple(entries), (prose,), tuple(sorted(findings, key=lambda one: one.line or 0)))


def with_edits(file: VaultFile, edits: Sequence[Edit], appended: Sequence[Learning] = ()) -> str | FileProblem:
    """The file's text with entries changed and new ones appended; everything else stays byte for byte.

    Returns a FileProblem if more would have to change, or if the result would not be parsed as intended.
    """
    text = file.text
    end = next((found.group() for found in _END_OF_LINE.finditer(text)), "\n")
    for edit in sorted(edits, key=lambda one: -one.place):
        entry = file.entries[edit.place]
        changed = _entry_with(entry, text, edit.learning, end)
        if isinstance(changed, Fault):
            return FileProblem(file.path, entry.block.line + changed.line, changed.message)
        text = text[: entry.block.header.start if entry.block.header else 0] + changed + text[entry.body.end :]
    for learning in appended:
        text = _ended(text, end) + new_entry(learning).replace("\n", end)
    return _checked(file, text, edits, appended)


def new_entry(learning: Learning) -> str:
    """A learning as the text of a new entry."""
    values = {name: value for name, value in _values(learning).items() if name in _ALWAYS or value != _SILENT[name]}
    return f"---\n{rendered(values)}---\n{escaped(learning.text)}\n"


_STRAY: Final = (
    "a line of --- is followed by something like a header, which is not that of a learning:"
    r" close it and give it an id, or write \--- if the line belongs to a text"
)
_ALWAYS: Final = ("id", "type", "domain", "importance", "reinforcement_count", "status")


def _first(text: str) -> int:
    return len(BYTE_ORDER_MARK) if text.startswith(BYTE_ORDER_MARK) else 0


def _is_own(text: str, block: HeaderBlock) -> bool:
    """Whether a header is a learning's: it has a valid type, or one with a typo, or a field whose name is `type` with a
    typo.
    """
    if block.header is None:
        return False
    head = text[block.header.start : block.header.end]
    return _OWN_FIELD.search(head) is not None or any(map(_is_mistyped, _WORDS.finditer(head)))


_WORDS: Final = re.compile(r"^(\w+)[ \t]*:[ \t]*[\"']?(\w+)[\"']?[ \t]*(?:#.*)?$", re.MULTILINE)


def _is_mistyped(found: re.Match[str]) -> bool:
    name, value = found.groups()
    if name == "type":
        return any(is_typo(value, kind) for kind in LearningType)
    return (value in set[str](LearningType) and is_typo(name, "type")) or is_typo(name, "reinforcement_count")


def _told_apart(text: str, found: Sequence[HeaderBlock]) -> tuple[list[HeaderBlock], list[HeaderBlock]]:
    """The headers of learnings, and the blocks that are not such headers and belong to the text before them."""
    headers: list[HeaderBlock] = []
    strays: list[HeaderBlock] = []
    for block in found:
        head = None if block.header is None else text[block.header.start : block.header.end]
        known = head is not None and (_FIELD.search(head) or _is_own(text, block))
        (headers if known else strays).append(block)
    return headers, strays


_FIELD: Final = re.compile(
    r"^(?:id|type|domain|importance|reinforcement_count|last_reinforced|status|phase|promoted_from)\s*:", re.MULTILINE
)


def _entry(path: str, text: str, block: HeaderBlock, body: Span, seen: dict[str, int]) -> LearningEntry | FileProblem:
    if block.header is None:
        return FileProblem(path, block.line, _STRAY)
    read = header(text[block.header.start : block.header.end])
    if isinstance(read, Fault):
        return FileProblem(path, block.line + read.line, read.message)
    for name, line in read.lines.items():
        meant = next((known for known in FIELDS if known not in read.lines and is_typo(name, known)), None)
        if name not in FIELDS and meant is not None:
            return FileProblem(path, block.line + line, f"{name}: no field of a learning; expected {meant}")
    body_text = unescaped(text[body.start : body.end])
    values = dict(read.values)
    named = values.get("id") is not None
    if not named:
        # Deterministic, so that parsing an entry twice gives no second memory.
        seen[body_text] = seen.get(body_text, 0) + 1
        values["id"] = uuid5(_IDS, f"{path}\n{seen[body_text]}\n{body_text}")
    try:
        return LearningEntry(block, body, read, learning_of(values, body_text), named)
    except InvalidInput as error:
        return FileProblem(path, block.line + read.lines.get(error.argument, 0), str(error))


def _entry_with(entry: LearningEntry, text: str, learning: Learning, end: str) -> str | Fault:
    """The entry's text, header included, with the new learning."""
    now, then = _values(entry.learning), _values(learning)
    changes = {name: then[name] for name in then if then[name] != now[name]}
    if not entry.named:
        changes["id"] = then["id"]
    head = edited(entry.header, changes) if changes else entry.header.text
    if isinstance(head, Fault):
        return head
    fence = text[entry.block.header.end : entry.body.start] if entry.block.header else ""
    body = text[entry.body.start : entry.body.end]
    if learning.text != entry.learning.text:
        core = body.strip()
        before, after = body[: body.index(core)], body[body.index(core) + len(core) :]
        body = before + escaped(learning.text).replace("\n", end) + after
    return head + fence + body


def _ended(text: str, end: str) -> str:
    """The text, ended by a blank line unless it is empty."""
    if not text.strip(BYTE_ORDER_MARK):
        return text
    if not text.endswith(("\n", "\r")):
        text += end
    return text if text.endswith(end * 2) or text.strip() == "" else text + end


def _checked(file: VaultFile, text: str, edits: Sequence[Edit], appended: Sequence[Learning]) -> str | FileProblem:
    """The text if it is parsed as intended, else the problem."""
    meant = [entry.learning for entry in file.entries]
    for edit in edits:
        meant[edit.place] = edit.learning
    after = parsed(file.path, text)
    read = [entry.learning for entry in after.entries]
    if after.findings or [*map(_comparable, read)] != [*map(_comparable, [*meant, *appended])]:
        return FileProblem(file.path, None, "cannot be changed in place: it would be parsed differently afterwards")
    return text


def _comparable(learning: Learning) -> Learning:
    return replace(learning, text=normalised(learning.text))


def _values(learning: Learning) -> Mapping[str, Value]:
    """The header values of a learning, in the order of FIELDS."""
    return {name: _value(getattr(learning, name)) for name in FIELDS}


def _value(held: Any) -> Value:
    match held:
        case StrEnum():
            return held.value
        case UUID():
            return str(held)
        case tuple():
            return tuple(map(str, cast("tuple[object, ...]", held)))
        case _:
            return held


_SILENT: Final = _values(Learning(id=_IDS, text="-"))
"""Default values, which a header can omit."""
