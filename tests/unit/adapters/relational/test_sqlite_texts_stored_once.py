"""A cue does not repeat the text of its event (decision 0079): what the file holds, and how older rows are read."""

from __future__ import annotations

import json
from contextlib import closing
from pathlib import Path
from typing import Any, Final

import apsw
import pytest

from remembrancer import Remembrancer
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.domain.recalled import TAG

TURN: Final = "The kestrel nests on the roof."
REPLY: Final = "A kestrel hunts at noon."
RECALLED: Final = f"<{TAG}>\n- [1] The pump leaks.\n</{TAG}>\n{REPLY}"
LONG: Final = "The kestrel nests on the roof, and the pump leaks. " * 100
AS_BEFORE: Final = (
    "UPDATE cues SET start = NULL, text = (SELECT e.text FROM events e WHERE e.n = cues.event) WHERE start = -1"
)
"""Gives cues the form that they had before."""


def a_file(tmp_path: Path, *texts: str) -> Path:
    path = tmp_path / "memory.db"
    with Remembrancer.open(str(path), embedder="none") as rem:
        rem.observe_many([{"text": text, "session": "monday"} for text in texts])
    return path


def rows(path: Path, statement: str) -> list[tuple[Any, ...]]:
    with closing(connect(str(path))) as connection:
        return list(connection.execute(statement))


def told(path: Path) -> tuple[list[tuple[str, str, int | None]], list[dict[str, Any]]]:
    """The cues that a recall finds, and those of an export."""
    exported = path.with_name("exported.jsonl")
    with Remembrancer.open(str(path), embedder="none") as rem:
        found = [(hit.cue.text, hit.cue.heading, hit.cue.start) for hit in rem.recall("where is the kestrel?")]
        rem.export(exported)
    lines = [line for line in exported.read_text(encoding="utf-8").splitlines() if '"heading"' in line]
    exported.unlink()
    return found, [json.loads(line) for line in lines]


@pytest.mark.parametrize(
    ("text", "stored"),
    [
        pytest.param(TURN, [(-1, "")], id="the whole turn"),
        pytest.param(RECALLED, [(None, REPLY)], id="what a recall inserted is left out"),
    ],
)
def test_a_cue_stores_only_a_text_that_its_event_does_not_have(
    tmp_path: Path, text: str, stored: list[tuple[int | None, str]]
) -> None:
    assert rows(a_file(tmp_path, text), "SELECT start, text FROM cues") == stored


def test_the_passages_of_a_long_turn_store_their_own_texts(tmp_path: Path) -> None:
    path = a_file(tmp_path, LONG)
    assert [
        LONG[start : start + len(text)] == text and bool(text)
        for start, text in rows(path, "SELECT start, text FROM cues ORDER BY n")
    ] == [True] * 4


def test_a_cue_that_repeats_its_events_text_as_before_is_read_as_one_that_does_not(tmp_path: Path) -> None:
    path = a_file(tmp_path, TURN, RECALLED, LONG)
    now = told(path)
    assert len(now[1]) == 6
    rows(path, AS_BEFORE)
    assert rows(path, "SELECT count(*) FROM cues WHERE text = ''") == [(0,)]
    assert told(path) == now
    assert {text for text, _, start in now[0] if start is None} == {TURN, REPLY}


def test_no_event_is_deleted_while_a_cue_has_its_text(tmp_path: Path) -> None:
    path = a_file(tmp_path, TURN)
    with closing(connect(str(path))) as connection:
        connection.pragma("foreign_keys", True)
        connection.execute("DELETE FROM memory_events")
        with pytest.raises(apsw.ConstraintError, match="FOREIGN KEY"):
            connection.execute("DELETE FROM events")
