"""Claude Code transcripts: the speaker of each record."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remembrancer.domain.event import EventDraft
from remembrancer.ingest import Format, Problem, read
from remembrancer.ingest.claude_code import typed


def transcript(tmp_path: Path, *records: dict[str, object]) -> list[EventDraft | Problem]:
    path = tmp_path / "0f.jsonl"
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records))
    return list(read(path, format=Format.CLAUDE_CODE))


def user(content: object, **more: object) -> dict[str, object]:
    return {"type": "user", "message": {"role": "user", "content": content}, **more}


@pytest.mark.parametrize(
    ("record", "said"),
    [
        ("hello", "hello"),
        ("<system-reminder>do x</system-reminder>\nhello", "hello"),
        ("a <system-reminder> is a tag", "a <system-reminder> is a tag"),
        ("<command-message>init</command-message>\n<command-name>/init</command-name>", "/init"),
        ("<command-name>/model</command-name><command-args>opus</command-args>", "/model opus"),
        ("<command-name></command-name>", "<command-name></command-name>"),
        ("<bash-input>ls -l</bash-input>", "! ls -l"),
        ("<bash-input> </bash-input>", ""),
        ("<bash-stdout>total 0</bash-stdout>", ""),
        ("<local-command-stdout>ok</local-command-stdout>", ""),
        ("<task-notification>done</task-notification>", ""),
    ],
)
def test_a_user_record_is_reduced_to_the_typed_text(record: str, said: str) -> None:
    assert typed(record) == said


@pytest.mark.parametrize(
    "flag", ["isMeta", "isSidechain", "isCompactSummary", "isVisibleInTranscriptOnly", "isApiErrorMessage"]
)
def test_a_record_without_a_speaker_is_left_out(tmp_path: Path, flag: str) -> None:
    (found,) = transcript(tmp_path, user("not said", **{flag: True}))
    assert "nothing in this file" in str(found)


def test_a_record_without_a_session_belongs_to_the_file(tmp_path: Path) -> None:
    (found,) = transcript(tmp_path, user("hello"))
    assert isinstance(found, EventDraft)
    assert (found.session, found.occurred_at) == ("0f", None)


def test_a_record_without_a_time_has_that_of_the_one_before(tmp_path: Path) -> None:
    found = transcript(tmp_path, user("a", timestamp="2026-03-02T09:00:00Z"), user("b"))
    times = [item.occurred_at for item in found if isinstance(item, EventDraft)]
    assert times[0] == times[1] is not None


def test_a_resumed_session_does_not_repeat_its_copied_records(tmp_path: Path) -> None:
    uuid = "8b000000-0000-4000-8000-0000000000a1"
    found = transcript(tmp_path, user("a", uuid=uuid, sessionId="1"), user("a", uuid=uuid, sessionId="2"))
    assert len({item.key for item in found if isinstance(item, EventDraft)}) == 1


@pytest.mark.parametrize(
    ("record", "reason"),
    [
        ({"message": {}}, "type: None"),
        ({"type": "user"}, "message: None"),
        (user(7), "content: 7"),
        (user("a", timestamp="yesterday"), "timestamp: 'yesterday'"),
        (user("a", sessionId=7), "sessionId: 7"),
        (user([{"type": "hologram"}]), "content[0].type: 'hologram'"),
    ],
)
def test_a_record_of_the_wrong_shape_is_a_problem_with_its_line(
    tmp_path: Path, record: dict[str, object], reason: str
) -> None:
    found = transcript(tmp_path, user("fine"), record)
    assert isinstance(found[1], Problem)
    assert (found[1].line, found[1].message[: len(reason)]) == (2, reason)


def test_a_line_that_is_not_json_is_a_problem_and_the_next_is_read(tmp_path: Path) -> None:
    path = tmp_path / "0f.jsonl"
    path.write_text(f"half a li\n{json.dumps(user('hello'))}\n")
    first, second = read(path, format=Format.CLAUDE_CODE)
    assert str(first).startswith(f"{path}:1: not a JSON object")
    assert isinstance(second, EventDraft)
