"""Each format's fixture, read whole, and properties of files of any format."""

from __future__ import annotations

import json
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from remembrancer.domain.event import EventDraft, Role, Severity
from remembrancer.errors import InvalidInput
from remembrancer.ingest import Format, Problem, detect, read

FIXTURES = Path(__file__).resolve().parents[2] / "fixtures" / "ingest"
FILES = {
    "events.jsonl": Format.JSONL,
    "chatgpt.json": Format.CHATGPT,
    "claude.json": Format.CLAUDE,
    "claude-code.jsonl": Format.CLAUDE_CODE,
    "chat.md": Format.MARKDOWN,
}

pytestmark = pytest.mark.filterwarnings("error")


def drafts(path: Path, source: Format | None = None) -> list[EventDraft]:
    found = list(read(path, format=source))
    assert [item for item in found if isinstance(item, Problem)] == []
    return [item for item in found if isinstance(item, EventDraft)]


def zipped(tmp_path: Path, **members: Path) -> Path:
    archive = tmp_path / "export.zip"
    with zipfile.ZipFile(archive, "w", zipfile.ZIP_DEFLATED) as file:
        file.writestr("user.json", "{}")
        for name, source in members.items():
            file.write(source, f"export/{name}.json")
    return archive


@pytest.mark.parametrize(("name", "expected"), FILES.items())
def test_the_format_of_a_file_is_detected_by_its_content(name: str, expected: Format) -> None:
    assert detect(FIXTURES / name) is expected


@pytest.mark.parametrize("name", FILES)
def test_every_draft_has_a_key_of_its_own(name: str) -> None:
    keys = [draft.key for draft in drafts(FIXTURES / name)]
    assert None not in keys
    assert len(set(keys)) == len(keys) > 0


@pytest.mark.parametrize("name", FILES)
def test_reading_a_file_again_gives_the_same_drafts(name: str) -> None:
    assert drafts(FIXTURES / name) == drafts(FIXTURES / name)


@pytest.mark.parametrize("name", FILES)
def test_progress_ends_at_the_size_of_the_file(name: str) -> None:
    done: list[int] = []
    list(read(FIXTURES / name, on_bytes=done.append))
    assert done[-1] == (FIXTURES / name).stat().st_size
    assert done == sorted(done)


def test_the_fields_of_a_json_line_become_those_of_the_draft() -> None:
    assert drafts(FIXTURES / "events.jsonl")[2] == EventDraft(
        text="disk at 91 %",
        type="monitor.disk",
        role="system",
        severity=Severity.WARN,
        priority="high",  # type: ignore[arg-type]  a value is taken for its member
        occurred_at=datetime(2026, 3, 2, 8, 16, tzinfo=UTC),
        session="ops-7",
        payload={"host": "db-1", "used": 0.91},
        refs={"ticket": "OPS-12"},
        key="disk-0302",
    )


def test_seconds_and_milliseconds_and_offsets_are_one_time_line() -> None:
    assert [draft.occurred_at for draft in drafts(FIXTURES / "events.jsonl")] == [
        datetime(2026, 3, 2, 8, 14, tzinfo=UTC),
        datetime(2026, 3, 2, 8, 15, tzinfo=UTC),
        datetime(2026, 3, 2, 8, 16, tzinfo=UTC),
    ]


def test_the_branch_of_a_chatgpt_conversation_that_the_person_saw_is_kept() -> None:
    assert [(draft.role, draft.type, draft.text) for draft in drafts(FIXTURES / "chatgpt.json")] == [
        (Role.USER, "message", "[image]\n\nWhich tram is this?\n\n[file: tram.jpg]"),
        (Role.ASSISTANT, "tool.call", "web: search('tram 28')"),
        (Role.TOOL, "tool.result", "Tram 28, Graça to Estrela"),
        (Role.ASSISTANT, "message", "That is tram 28."),
    ]


def test_a_chatgpt_message_without_a_time_keeps_its_place() -> None:
    times = [draft.occurred_at for draft in drafts(FIXTURES / "chatgpt.json")]
    assert times[2] == times[1]


def test_a_chatgpt_message_is_keyed_by_its_id_in_the_session_of_its_conversation() -> None:
    last = drafts(FIXTURES / "chatgpt.json")[-1]
    assert (last.key, last.session) == (
        "chatgpt:6f1c2b34-0000-4a00-8000-0000000000a7",
        "6f1c2b34-0000-4a00-8000-00000000c001",
    )


def test_a_claude_conversation_is_its_last_branch_without_thinking() -> None:
    assert [(draft.role, draft.type, draft.text) for draft in drafts(FIXTURES / "claude.json")] == [
        (Role.USER, "message", "When can I leave?\n\n[file: lease.txt]\n\n[file: plan.png]"),
        (Role.USER, "message.attachment", "[file: lease.txt]\n\nNotice period: 3 months."),
        (Role.ASSISTANT, "tool.call", "web_search: notice period Lisbon"),
        (Role.TOOL, "tool.result", "120 days"),
        (Role.ASSISTANT, "message", "With three months' notice."),
        (Role.USER, "message", "A long paste."),
    ]


def test_a_transcript_keeps_texts_and_tool_calls_and_no_recalled_memory() -> None:
    assert [(d.role, d.type, d.severity, d.actor, d.text) for d in drafts(FIXTURES / "claude-code.jsonl")] == [
        (Role.USER, "message", "info", None, "Why do the tests fail?"),
        (Role.ASSISTANT, "message", "info", None, "Let me run them."),
        (Role.ASSISTANT, "tool.call", "info", None, "Bash: pytest -q"),
        (Role.TOOL, "tool.result", "error", "Bash", "1 failed"),
    ]


def test_a_transcript_has_the_working_folder() -> None:
    first = drafts(FIXTURES / "claude-code.jsonl")[0]
    assert first.payload == {"source": "claude-code", "cwd": "/srv/app", "git_branch": "main"}


def test_a_markdown_chat_gives_its_turns_with_their_times_and_days() -> None:
    assert [(d.session, d.actor, d.occurred_at, d.text) for d in drafts(FIXTURES / "chat.md")] == [
        (
            "chat/2026-03-02",
            "Ana",
            datetime(2026, 3, 2, 9, 14, tzinfo=UTC),
            "The oven is broken.\nIt smells of gas.",
        ),
        (
            "chat/2026-03-02",
            "Ben",
            datetime(2026, 3, 2, 9, 20, tzinfo=UTC),
            "Switch it off:\n\n```\n**Ana**: this line is inside a code block\n```",
        ),
        ("chat/2026-03-03", "Ana", datetime(2026, 3, 3, tzinfo=UTC), "Repaired."),
    ]


@pytest.mark.parametrize(("name", "expected"), [("chatgpt.json", Format.CHATGPT), ("claude.json", Format.CLAUDE)])
def test_a_zip_reads_like_the_export_in_it(tmp_path: Path, name: str, expected: Format) -> None:
    archive = zipped(tmp_path, conversations=FIXTURES / name)
    assert (detect(archive), drafts(archive)) == (expected, drafts(FIXTURES / name))


def test_the_parts_of_a_divided_export_are_read_in_order(tmp_path: Path) -> None:
    parts = {"conversations-001": FIXTURES / "chatgpt.json", "conversations-000": tmp_path / "first.json"}
    parts["conversations-000"].write_text(json.dumps([{"mapping": 7}]))
    first = next(read(zipped(tmp_path, **parts), format=Format.CHATGPT))
    assert isinstance(first, Problem)
    assert first.record == "export/conversations-000.json, conversation 1"


def test_a_zip_without_conversations_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"conversations\.json"):
        detect(zipped(tmp_path))


def test_a_zip_that_unpacks_past_the_limit_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remembrancer.ingest.document.MAX_DOCUMENT_BYTES", 100)
    with pytest.raises(InvalidInput, match="at most 100 bytes"):
        list(read(zipped(tmp_path, conversations=FIXTURES / "chatgpt.json")))


def test_a_file_past_the_limit_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("remembrancer.ingest.document.MAX_DOCUMENT_BYTES", 100)
    with pytest.raises(InvalidInput, match="at most 100 bytes"):
        list(read(FIXTURES / "claude.json"))


def test_a_damaged_zip_is_refused(tmp_path: Path) -> None:
    archive = zipped(tmp_path, conversations=FIXTURES / "chatgpt.json")
    data = bytearray(archive.read_bytes())
    data[120:180] = bytes(60)
    archive.write_bytes(data)
    with pytest.raises(InvalidInput, match="zip"):
        list(read(archive, format=Format.CHATGPT))


def test_a_zip_is_not_read_as_lines(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="unpack"):
        read(zipped(tmp_path, conversations=FIXTURES / "chatgpt.json"), format=Format.JSONL)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "not empty"),
        ("{}".encode("utf-16"), "UTF-16"),
        (b"plain words", "jsonl, chatgpt"),
        (b"[]", "one of"),
    ],
)
def test_a_file_of_no_format_is_refused_with_the_allowed_formats(tmp_path: Path, content: bytes, reason: str) -> None:
    (tmp_path / "file").write_bytes(content)
    with pytest.raises(InvalidInput, match=reason):
        detect(tmp_path / "file")


def test_a_missing_file_and_a_directory_are_refused(tmp_path: Path) -> None:
    for path in (tmp_path / "none.jsonl", tmp_path):
        with pytest.raises(InvalidInput, match="there is no file at this path: check it"):
            read(path, format=Format.JSONL)


@pytest.mark.parametrize("source", [None, Format.JSONL, Format.CHATGPT])
def test_an_unreadable_file_is_refused(monkeypatch: pytest.MonkeyPatch, source: Format | None) -> None:
    def refuse(*_: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(InvalidInput, match="no permission to read this one"):
        list(read(FIXTURES / "events.jsonl", format=source))


@pytest.mark.parametrize("content", [b"{", b"\xff\xfa{}", b"[" * 100_000, b"7"])
def test_an_export_that_cannot_be_parsed_is_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "conversations.json").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"conversations\.json"):
        list(read(tmp_path / "conversations.json", format=Format.CLAUDE))


def test_a_file_without_any_event_is_reported(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    path.write_text('{"type": "summary", "summary": "s", "leafUuid": "x"}\n')
    assert [str(item) for item in read(path)] == [f"{path}: there is nothing in this file to keep"]


@pytest.mark.parametrize(
    ("name", "content", "expected"),
    [
        ("a.txt", "[2026-03-02 09:14] Ana: hi\n", Format.MARKDOWN),
        ("a", "Ana: hi\nBen: hello\n", Format.MARKDOWN),
        ("a.jsonl", "not json\n", Format.JSONL),
        ("a", '{"text": "\\"mapping\\": 1"}\n{"text": "b"}\n', Format.JSONL),
        ("a", '{"type": "note", "text": "b"}\n', Format.JSONL),
        ("a", '{\n "title": "t",\n "mapping": {}\n}', Format.CHATGPT),
        ("a", '\ufeff[{"uuid": "u", "chat_messages": []}]', Format.CLAUDE),
    ],
)
def test_the_name_decides_only_where_the_content_does_not(
    tmp_path: Path, name: str, content: str, expected: Format
) -> None:
    (tmp_path / name).write_text(content, encoding="utf-8")
    assert detect(tmp_path / name) is expected


def test_a_file_that_only_ends_like_a_zip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "conversations.zip"
    path.write_bytes(b"no zip" + b"PK\x05\x06" + b"\xff" * 18)
    with pytest.raises(InvalidInput, match="file"):
        list(read(path, format=Format.CLAUDE))
