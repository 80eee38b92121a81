from __future__ import annotations

from uuid import UUID

import pytest

from remembrancer.domain.learning import Learning
from remembrancer.policies.vault.index import Known, VaultIndex, index_of, index_text
from remembrancer.policies.vault.merging import Base, agreed
from remembrancer.testing.doubles import NOW

ONE, TWO = UUID(int=1), UUID(int=2)
BASE = Base(agreed(Learning(id=ONE, text="Ask first.", tags=("git",))), NOW)
INDEX = VaultIndex({"MEMORY.md": Known(modified=7, size=3, digest="ab", bases={ONE: BASE}, chunks=(TWO,))})


def test_an_index_is_read_as_it_was_written() -> None:
    assert index_of(index_text(INDEX)) == INDEX


def test_an_index_knows_where_each_entry_and_each_chunk_stood() -> None:
    assert INDEX.owners() == {ONE: "MEMORY.md", TWO: "MEMORY.md"}


@pytest.mark.parametrize(
    "text",
    [
        *(None, "", "[]", "{}", "[" * 100_000),
        *('{"version": 2, "files": {}}', '{"version": 1, "files": {"a": {}}}', '{"version": 1}'),
        '{"version": 1, "files": {"a": {"modified": Infinity, "size": 1, "sha256": "", "entries": {}, "chunks": []}}}',
    ],
)
def test_a_foreign_index_file_counts_as_none(text: str | None) -> None:
    assert index_of(text) == VaultIndex()
