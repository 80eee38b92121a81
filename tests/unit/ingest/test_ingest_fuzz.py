"""Whatever is in a file: drafts and problems come out, or InvalidInput, and nothing else."""

from __future__ import annotations

import json
import tempfile
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from remembrancer.domain.event import EventDraft
from remembrancer.errors import InvalidInput
from remembrancer.ingest import Format, Problem, detect, read

NAMES = (
    "text content type role user assistant human tool message mapping parent current_node author "
    "parts id uuid a b c content_type multimodal_text code metadata attachments name file_name "
    "extracted_content chat_messages sender parent_message_uuid current_leaf_message_uuid created_at "
    "create_time timestamp 2026-03-02T09:00:00Z sessionId tool_use tool_result thinking image input "
    "command tool_use_id is_error payload refs key severity occurred_at <recalled-memory> "
    "</recalled-memory> recipient all files session cwd priority actor "
)
WORDS = st.sampled_from(NAMES.split())
SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text() | WORDS
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(WORDS | st.text(), inner, max_size=8),
    max_leaves=30,
)
SMALL = SCALARS | st.lists(SCALARS, max_size=2) | st.dictionaries(WORDS, SCALARS, max_size=2)
MARKDOWN = st.lists(
    st.sampled_from(
        ["Ana: hi", "**Ben**: x", "### Ana", "## 2026-03-02", "## 2026-99-02", "```", "~~~", "---", "", "Ana (99:99):",
         "[09:14] Ana: x", "**A** (0001-01-01T00:00+23:59): x", "# T", "\x00", "User: \u2028 Ana: b"]
    )
    | st.text(),
    max_size=20,
).map("\n".join)  # fmt: skip


def message(value: st.SearchStrategy[object]) -> st.SearchStrategy[object]:
    """Records of roughly the right shape, which reach further in than random ones do."""
    content = st.fixed_dictionaries({}, optional={"content_type": WORDS, "parts": value, "text": value}) | value
    blocks = st.lists(
        st.fixed_dictionaries(
            {"type": st.sampled_from(["text", "tool_use", "tool_result", "image", "thinking"])},
            optional={
                "text": value,
                "input": value,
                "content": value,
                "name": value,
                "id": value,
                "title": value,
            },
        ),
        max_size=4,
    )
    return st.fixed_dictionaries(
        {"sender": st.sampled_from(["human", "assistant"])},
        optional={
            "author": st.fixed_dictionaries({"role": st.sampled_from(["user", "assistant", "tool"])}) | value,
            "content": content | blocks,
            "attachments": st.lists(st.dictionaries(WORDS, value, max_size=3), max_size=2),
            "uuid": st.sampled_from("abc") | value,
            "parent_message_uuid": st.sampled_from("abc") | value,
            "create_time": value,
            "recipient": value,
        },
    )


NODES = st.dictionaries(
    st.sampled_from("abc"),
    st.fixed_dictionaries({"message": message(SMALL), "parent": st.sampled_from("abcd") | SMALL}),
)
CONVERSATIONS = st.lists(
    st.fixed_dictionaries({"mapping": NODES, "chat_messages": st.lists(message(SMALL), max_size=4)}),
    max_size=2,
)
TRANSCRIPT = st.fixed_dictionaries(
    {"type": st.sampled_from(["user", "assistant"]), "message": message(SMALL)},
    optional={"uuid": SMALL, "timestamp": SMALL, "sessionId": SMALL},
)


def holds_only_drafts_and_problems(content: bytes, source: Format) -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file"
        path.write_bytes(content)
        with suppress(InvalidInput):
            detect(path)
        try:
            found = list(read(path, format=source))
        except InvalidInput:
            return
    assert all(isinstance(item, EventDraft | Problem) for item in found)
    assert all(item.key and len(item.key) <= 200 for item in found if isinstance(item, EventDraft))


@pytest.mark.parametrize("source", list(Format))
@given(value=VALUES)
def test_any_json_value_is_read_without_another_error(source: Format, value: object) -> None:
    holds_only_drafts_and_problems(json.dumps(value).encode(), source)


@pytest.mark.parametrize("source", [Format.CHATGPT, Format.CLAUDE])
@given(value=CONVERSATIONS)
def test_any_conversation_is_read_without_another_error(source: Format, value: object) -> None:
    holds_only_drafts_and_problems(json.dumps(value).encode(), source)


@given(records=st.lists(TRANSCRIPT, max_size=4))
def test_any_transcript_is_read_without_another_error(records: list[object]) -> None:
    holds_only_drafts_and_problems("\n".join(map(json.dumps, records)).encode(), Format.CLAUDE_CODE)


@given(text=MARKDOWN)
def test_any_text_is_read_as_markdown_without_another_error(text: str) -> None:
    holds_only_drafts_and_problems(text.encode("utf-8", "surrogatepass"), Format.MARKDOWN)


@pytest.mark.parametrize("source", list(Format))
@given(content=st.binary() | st.binary().map(lambda tail: b"PK\x03\x04" + tail))
def test_any_bytes_are_read_without_another_error(source: Format, content: bytes) -> None:
    holds_only_drafts_and_problems(content, source)


@given(text=MARKDOWN, more=st.integers(0, 3))
def test_appending_a_turn_to_a_markdown_chat_keeps_the_keys_before_it(text: str, more: int) -> None:
    def keys(content: str) -> list[str | None]:
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "a.md"
            path.write_text(content, encoding="utf-8", errors="replace")
            return [item.key for item in read(path) if isinstance(item, EventDraft)]

    start = "Ana: first\n"
    before = keys(f"{start}Ben: last\n")
    after = keys(f"{start}Ben: last\n" + f"Ana: {more}\n{text}")
    assert after[:2] == before
