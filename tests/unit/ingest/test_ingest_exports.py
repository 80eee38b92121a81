"""ChatGPT and Claude exports: branches, hidden messages, odd parts, and records of the wrong shape."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from remembrancer.domain.event import EventDraft
from remembrancer.ingest import Format, Problem, read

Json = dict[str, object]


def node(text: object, parent: str | None, *, role: str = "user", **message: object) -> Json:
    content = {"content_type": "text", "parts": [text]} if isinstance(text, str) else text
    return {"parent": parent, "message": {"author": {"role": role}, "content": content, **message}}


def found_in(tmp_path: Path, source: Format, conversations: object) -> list[EventDraft | Problem]:
    path = tmp_path / "conversations.json"
    path.write_text(json.dumps(conversations))
    return list(read(path, format=source))


def chatgpt(tmp_path: Path, mapping: object, **conversation: object) -> list[EventDraft | Problem]:
    return found_in(tmp_path, Format.CHATGPT, [{"id": "c", "mapping": mapping, **conversation}])


def claude(tmp_path: Path, *messages: object, **conversation: object) -> list[EventDraft | Problem]:
    return found_in(tmp_path, Format.CLAUDE, [{"uuid": "c", "chat_messages": messages, **conversation}])


def texts(found: list[EventDraft | Problem]) -> list[str]:
    return [item.text for item in found if isinstance(item, EventDraft)]


def problems(found: list[EventDraft | Problem]) -> list[str]:
    return [f"{item.record}: {item.message}" for item in found if isinstance(item, Problem)]


def test_a_cycle_of_messages_ends_with_a_problem(tmp_path: Path) -> None:
    found = chatgpt(tmp_path, {"a": node("one", "b"), "b": node("two", "a")}, current_node="b")
    assert (texts(found), problems(found)) == (
        ["one", "two"],
        ["conversation 1: the messages form a cycle at 'b'; what came before is left out"],
    )


def test_a_missing_parent_is_a_problem_and_the_rest_is_kept(tmp_path: Path) -> None:
    found = chatgpt(tmp_path, {"a": node("one", "gone")}, current_node="a")
    assert texts(found) == ["one"]
    assert "'gone' is not in the file" in problems(found)[0]


def test_without_a_current_node_the_last_unanswered_message_ends_the_branch(tmp_path: Path) -> None:
    mapping = {"a": node("ask", None), "b": node("first answer", "a"), "c": node("second answer", "a")}
    assert texts(chatgpt(tmp_path, mapping)) == ["ask", "second answer"]


def test_a_conversation_not_to_be_remembered_is_left_out(tmp_path: Path) -> None:
    found = chatgpt(tmp_path, {"a": node("secret", None)}, is_do_not_remember=True)
    assert texts(found) == []
    assert "not to be remembered" in problems(found)[0]


def test_hidden_messages_and_reasoning_and_instructions_are_left_out(tmp_path: Path) -> None:
    mapping = {
        "a": node("hidden", None, metadata={"is_visually_hidden_from_conversation": True}),
        "b": node({"content_type": "user_editable_context", "user_profile": "x"}, "a"),
        "c": node({"content_type": "reasoning_recap", "content": "thought for 3 s"}, "b", role="assistant"),
        "d": node("seen", "c"),
    }
    assert texts(chatgpt(tmp_path, mapping, current_node="d")) == ["seen"]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"content_type": "code", "text": "x = 1"}, "x = 1"),
        ({"content_type": "tether_browsing_display", "result": "a page"}, "a page"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_transcription", "text": "hello"},
          {"content_type": "real_time_user_audio_video_asset_pointer"}]}, "hello"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "audio_asset_pointer"}]}, "[audio]"),
        ({"content_type": "multimodal_text", "parts": [{"content_type": "video_container"}, None, ""]}, "[video]"),
        ({"content_type": "multimodal_text", "parts": ["a", {"content_type": "new"}, "b"]}, "a\n\nb"),
    ],
)  # fmt: skip
def test_every_kind_of_content_gives_its_text(tmp_path: Path, content: Json, text: str) -> None:
    assert texts(chatgpt(tmp_path, {"a": node(content, None)})) == [text]


def test_content_without_text_is_nothing(tmp_path: Path) -> None:
    assert "nothing in this file" in problems(chatgpt(tmp_path, {"a": node({"content_type": "odd"}, None)}))[0]


def test_a_tool_failure_is_an_error(tmp_path: Path) -> None:
    failed = node({"content_type": "system_error", "name": "E", "text": "timed out"}, None, role="tool")
    (found,) = chatgpt(tmp_path, {"a": failed})
    assert isinstance(found, EventDraft)
    assert (found.type, found.severity) == ("tool.result", "error")


def test_a_long_tool_result_is_clipped_and_marked(tmp_path: Path) -> None:
    (text,) = texts(chatgpt(tmp_path, {"a": node("x" * 5_000, None, role="tool")}))
    assert text == "x" * 4_000 + "\n[… 1,000 more characters]"


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        ({"author": 7}, "author"),
        ({"author": {"role": "king"}}, "author.role: 'king'"),
        ({"author": {"role": "user"}, "create_time": []}, "create_time: 'a list'"),
        ({"author": {"role": "user"}, "content": {"parts": [7]}}, "part: 7"),
        ({"author": {"role": "user"}, "metadata": {"attachments": [7]}}, "attachment: 7"),
        ([], "message: 'a list'"),
    ],
)
def test_a_message_of_the_wrong_shape_is_a_problem_with_its_place(tmp_path: Path, message: object, reason: str) -> None:
    (problem,) = problems(chatgpt(tmp_path, {"a": {"message": message}}))
    assert problem.startswith(f"conversation 1, message 1: {reason}")


@pytest.mark.parametrize("conversation", [7, {}, {"mapping": []}, {"mapping": {"a": {}}, "create_time": "x"}])
def test_a_conversation_of_the_wrong_shape_is_a_problem_and_the_next_one_is_read(
    tmp_path: Path, conversation: object
) -> None:
    found = found_in(tmp_path, Format.CHATGPT, [conversation, {"mapping": {"a": node("hello", None)}}])
    assert problems(found)[0].startswith("conversation 1: ")
    assert texts(found) == ["hello"]


def test_one_conversation_by_itself_is_an_export(tmp_path: Path) -> None:
    assert texts(found_in(tmp_path, Format.CHATGPT, {"mapping": {"a": node("hello", None)}})) == ["hello"]


def test_conversations_whose_ids_are_not_unique_keep_all_their_messages(tmp_path: Path) -> None:
    conversations = [{"id": name, "mapping": {"a": node("hello", None, id="1")}} for name in ("x", "y")]
    found = found_in(tmp_path, Format.CHATGPT, conversations)
    assert len({item.key for item in found if isinstance(item, EventDraft)}) == 2


def said(text: str, **more: object) -> Json:
    return {"sender": "human", "text": text, **more}


def test_a_claude_conversation_that_names_no_parents_is_one_branch(tmp_path: Path) -> None:
    assert texts(claude(tmp_path, said("one", uuid="1"), said("two", uuid="2"))) == ["one", "two"]


def test_the_current_leaf_of_a_claude_conversation_ends_its_branch(tmp_path: Path) -> None:
    messages = [
        said("ask", uuid="1", parent_message_uuid="00000000-0000-4000-8000-000000000000"),
        said("kept", uuid="2", parent_message_uuid="1"),
        said("left", uuid="3", parent_message_uuid="1"),
    ]
    assert texts(claude(tmp_path, *messages, current_leaf_message_uuid="2")) == ["ask", "kept"]


def test_a_second_beginning_is_a_branch_too(tmp_path: Path) -> None:
    start = "00000000-0000-4000-8000-000000000000"
    messages = [
        said("typo", uuid="1", parent_message_uuid=start),
        said("ask", uuid="2", parent_message_uuid=start),
    ]
    found = claude(tmp_path, *messages)
    assert (texts(found), problems(found)) == (["ask"], [])


def test_a_cycle_in_a_claude_conversation_ends_with_a_problem(tmp_path: Path) -> None:
    parents = {"1": "0", "2": "3", "3": "2", "4": "3"}
    messages = [said(name, uuid=name, parent_message_uuid=parent) for name, parent in parents.items()]
    assert "cycle" in problems(claude(tmp_path, *messages))[0]


def test_an_unknown_block_is_a_problem_and_the_rest_of_the_message_is_kept(tmp_path: Path) -> None:
    content = [{"type": "hologram"}, 7, {"type": "text", "text": "a"}, {"type": "text", "text": "b"}]
    found = claude(tmp_path, said("", content=content))
    assert texts(found) == ["a\n\nb"]
    assert [problem.partition(" is ")[0] for problem in problems(found)] == [
        "conversation 1, message 1: content[0].type: 'hologram'",
        "conversation 1, message 1: content[1]: 7",
    ]


@pytest.mark.parametrize(
    ("given", "text"),
    [
        ({"command": "ls"}, "T: ls"),
        ({"old": 1, "new": [2]}, 'T: {"old": 1, "new": [2]}'),
        ("ls", "T: ls"),
        (None, "T: null"),
        ({"command": "x" * 2_500}, "T: " + "x" * 2_000 + "\n[… 500 more characters]"),
    ],
)
def test_a_tool_call_is_described_in_short(tmp_path: Path, given: object, text: str) -> None:
    content = [{"type": "tool_use", "name": "T", "input": given}]
    assert texts(claude(tmp_path, {"sender": "assistant", "content": content})) == [text]


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ("plain", "plain"),
        ([{"type": "text", "text": "a"}, {"type": "image"}], "a\n\n[image]"),
        ([{"type": "knowledge", "title": "Trams", "url": "https://t"}], "Trams https://t"),
    ],
)
def test_a_tool_result_gives_its_text(tmp_path: Path, content: object, text: str) -> None:
    block = {"type": "tool_result", "content": content}
    assert texts(claude(tmp_path, {"sender": "assistant", "content": [block]})) == [text]


def test_a_result_without_content_is_nothing(tmp_path: Path) -> None:
    found = claude(tmp_path, {"sender": "assistant", "content": [{"type": "tool_result"}]})
    assert "nothing in this file" in problems(found)[0]


def test_images_and_documents_are_noted(tmp_path: Path) -> None:
    content = [{"type": "image"}, {"type": "document", "title": "Lease"}, {"type": "document"}]
    assert texts(claude(tmp_path, said("", content=content))) == ["[image]\n\n[file: Lease]\n\n[file]"]


def test_a_note_on_files_follows_the_text_and_not_the_tool_calls(tmp_path: Path) -> None:
    content = [{"type": "text", "text": "see"}, {"type": "tool_result", "content": "done"}]
    found = claude(tmp_path, said("", content=content, files=[{"file_name": "a.png"}]))
    assert texts(found) == ["see\n\n[file: a.png]", "done"]


@pytest.mark.parametrize(
    ("message", "reason"),
    [
        (7, "message: 7"),
        ({}, "sender: None"),
        ({"sender": "king"}, "sender: 'king'"),
        (said("a", created_at="x"), "created_at: 'x'"),
        (said("a", content="x"), "content: 'x'"),
        (said("a", attachments=[7]), "attachments: 7"),
    ],
)
def test_a_claude_message_of_the_wrong_shape_is_a_problem_with_its_place(
    tmp_path: Path, message: object, reason: str
) -> None:
    found = claude(tmp_path, said("fine"), message)
    assert problems(found)[0].startswith(f"conversation 1, message 2: {reason}")
    assert texts(found) == ["fine"]


def test_an_empty_conversation_is_no_problem_if_another_is_not_empty(tmp_path: Path) -> None:
    chatgpt_export: list[Json] = [{"mapping": {}}, {"mapping": {"a": node("hello", None)}}]
    claude_export: list[Json] = [{"chat_messages": []}, {"chat_messages": [said("hello")]}]
    assert problems(found_in(tmp_path, Format.CHATGPT, chatgpt_export)) == []
    assert problems(found_in(tmp_path, Format.CLAUDE, claude_export)) == []
