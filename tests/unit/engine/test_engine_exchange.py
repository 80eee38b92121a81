from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Generator
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from remembrancer import AsyncRemembrancer, Conflict, InvalidInput, Remembrancer, Settings, StoreUnavailable
from remembrancer.testing.doubles import NOW, FixedClock, HashEmbedder


@contextmanager
def another(**given: Any) -> Generator[Remembrancer]:
    """An empty memory."""
    settings = Settings(db=":memory:", workspace="other", background_index=False)
    with Remembrancer.open(settings=settings, embedder=HashEmbedder(), clock=FixedClock(), **given) as rem:
        yield rem


@pytest.fixture
def full(rem: Remembrancer, clock: FixedClock) -> Remembrancer:
    """A memory with rows of every kind: events with and without memories, revisions, vectors, a retired one."""
    ana = rem.scoped(project="shop", crew="platform", agent="ana", session="monday")
    ana.observe_many(
        [
            {"text": "  Deploy of checkout failed\n", "severity": "error", "payload": {"exit": 137}, "key": "k-1"},
            {"text": "結帳服務 🚀 \u202e bidi \u2028 line", "actor": "Bob", "session": "tuesday"},
            {"text": "chunk", "type": "exec.output_chunk"},
        ]
    )
    memory = ana.remember("2 GiB", title="Checkout", topic_key="checkout-memory", tags=["a"], metadata={"n": [1, 2.5]})
    clock.advance(timedelta(hours=1))
    ana.remember("4 GiB", topic_key="checkout-memory", valid_until=NOW + timedelta(days=9))
    ana.feedback(memory.id, "helpful")
    ana.mark([memory.id], "used")
    rem.forget(ana.remember("A rumour").id)
    rem.jobs.index_now()
    return rem


@pytest.fixture
def exported(full: Remembrancer, tmp_path: Path) -> Path:
    full.export(tmp_path / "first.jsonl")
    return tmp_path / "first.jsonl"


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def rewritten(path: Path, change: Callable[[list[str]], list[str]]) -> Path:
    """A copy of an export with other lines."""
    other = path.with_name("changed.jsonl")
    kept = path.read_text(encoding="utf-8").split("\n")[:-1]
    other.write_text("".join(line + "\n" for line in change(kept)), encoding="utf-8")
    return other


def refused(path: Path, said: str, error: type[Exception] = InvalidInput) -> None:
    """Check that the import is refused with these words, and that nothing is written."""
    with another() as rem:
        with pytest.raises(error, match=said):
            rem.import_(path, dry_run=False)
        assert (rem.health.stats().events, rem.health.stats().memories) == (0, {})


def test_an_imported_workspace_is_exported_byte_for_byte(exported: Path, tmp_path: Path) -> None:
    second = tmp_path / "second.jsonl"
    with another() as rem:
        rem.import_(exported, dry_run=False)
        rem.export(second)
    assert second.read_bytes() == exported.read_bytes()


def test_the_same_rows_are_exported_to_the_same_bytes(full: Remembrancer, exported: Path, tmp_path: Path) -> None:
    full.export(tmp_path / "again.jsonl")
    assert (tmp_path / "again.jsonl").read_bytes() == exported.read_bytes()


def test_imported_memories_are_recalled_as_before(full: Remembrancer, exported: Path) -> None:
    with another() as rem:
        rem.import_(exported, dry_run=False)
        answer = rem.recall("deploy of checkout")
    assert answer.degraded == {}
    assert [hit.id for hit in answer] == [hit.id for hit in full.recall("deploy of checkout")]


def test_an_export_names_no_workspace(exported: Path) -> None:
    assert "acme" not in exported.read_text(encoding="utf-8")


def test_an_export_begins_with_its_format_and_ends_with_its_count(exported: Path) -> None:
    rows = lines(exported)
    assert rows[0] == {"record": "remembrancer-export", "version": 5}
    assert rows[-1] == {"record": "end", "rows": len(rows) - 2}
    assert {row["record"] for row in rows[1:-1]} == {
        "event",
        "memory",
        "cue",
        "vector",
        "revision",
        "state",
        "exposure",
    }


def test_an_export_has_the_whole_workspace_for_every_caller(full: Remembrancer, exported: Path, tmp_path: Path) -> None:
    full.scoped(agent="bob").export(tmp_path / "bobs.jsonl")
    assert (tmp_path / "bobs.jsonl").read_bytes() == exported.read_bytes()


def test_an_empty_workspace_is_exported_too(wordy: Remembrancer, tmp_path: Path) -> None:
    assert wordy.export(tmp_path / "none.jsonl") == 0
    with another() as rem:
        assert rem.import_(tmp_path / "none.jsonl", dry_run=False).rows == 0


def test_the_next_event_of_an_imported_stream_has_the_next_place(exported: Path) -> None:
    with another(project="shop", crew="platform", agent="ana", session="monday") as rem:
        rem.import_(exported, dry_run=False)
        assert rem.observe("next").seq == 3


def test_more_rows_than_a_page_holds_are_exported_and_imported(wordy: Remembrancer, tmp_path: Path) -> None:
    first, second = tmp_path / "first.jsonl", tmp_path / "second.jsonl"
    wordy.observe_many({"text": f"line {n}", "type": "exec.output_chunk"} for n in range(2_000))
    wordy.observe_many({"text": f"note {n}"} for n in range(1_001))
    assert wordy.export(first) == 2_000 + 3 * 1_001
    with another() as rem:
        assert rem.import_(first, dry_run=False).new == 2_000 + 3 * 1_001
        rem.export(second)
    assert second.read_bytes() == first.read_bytes()


def test_importing_twice_adds_nothing(exported: Path) -> None:
    with another() as rem:
        first = rem.import_(exported, dry_run=False)
        before = rem.health.stats()
        second = rem.import_(exported, dry_run=False)
        assert (first.rows, first.new, second.rows, second.new) == (first.rows, first.rows, first.rows, 0)
        assert rem.health.stats() == before


def test_importing_existing_rows_adds_nothing(full: Remembrancer, exported: Path) -> None:
    assert full.import_(exported, dry_run=False).new == 0


def test_a_dry_run_reports_the_new_rows_and_adds_nothing(exported: Path) -> None:
    with another() as rem:
        told = rem.import_(exported)
        assert (told.new, told.rows, told.dry_run) == (len(lines(exported)) - 2, len(lines(exported)) - 2, True)
        assert (rem.health.stats().events, rem.health.stats().memories) == (0, {})
        assert rem.import_(exported, dry_run=False).new == told.new


def test_progress_is_reported(full: Remembrancer, tmp_path: Path) -> None:
    wrote: list[int] = []
    read: list[int] = []
    count = full.export(tmp_path / "a.jsonl", on_rows=wrote.append)
    with another() as rem:
        rem.import_(tmp_path / "a.jsonl", on_rows=read.append)
    assert (wrote, read) == (list(range(1, count + 1)), list(range(1, count + 1)))


# ── a file that is not an export ─────────────────────────────────────────────────────────────────────────────────────


def test_a_file_cut_at_any_line_is_refused(exported: Path) -> None:
    for kept in range(1, len(lines(exported))):
        refused(rewritten(exported, lambda all_, kept=kept: all_[:kept]), r"changed\.jsonl: .*this one was cut")


def test_a_file_cut_within_a_line_is_refused_by_the_line(exported: Path) -> None:
    cut = exported.with_name("changed.jsonl")
    cut.write_bytes(exported.read_bytes()[:-5])
    refused(cut, rf"changed\.jsonl:{len(lines(exported))}: .*one JSON object per line")


def test_an_empty_file_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty.jsonl").touch()
    refused(tmp_path / "empty.jsonl", r"empty\.jsonl:1: ")


@pytest.mark.parametrize(
    "header", ['{"record":"remembrancer-export","version":6}', '{"record":"other","version":1}', "{}"]
)
def test_a_wrong_header_is_refused_by_its_line(exported: Path, header: str) -> None:
    refused(
        rewritten(exported, lambda all_: [header, *all_[1:]]),
        r"changed\.jsonl:1: .*the header of a remembrancer-export file of version 1",
    )


@pytest.mark.parametrize("line", ["not json", "", "[1]", "null", '{"a":', "[" * 100_000, '{"n":' + "9" * 5000 + "}"])
def test_a_line_that_is_no_row_is_refused_by_its_number(exported: Path, line: str) -> None:
    refused(
        rewritten(exported, lambda all_: [*all_[:3], line, *all_[3:]]), r"changed\.jsonl:4: .*one JSON object per line"
    )


def changed_row(record: str, fields: dict[str, Any]) -> Callable[[list[str]], list[str]]:
    """The first row of that kind with other fields."""

    def change(all_: list[str]) -> list[str]:
        at = next(n for n, line in enumerate(all_) if json.loads(line)["record"] == record)
        return [*all_[:at], json.dumps(json.loads(all_[at]) | fields), *all_[at + 1 :]]

    return change


@pytest.mark.parametrize(
    ("record", "fields", "said"),
    [
        ("event", {"colour": "red"}, r"changed\.jsonl:2: event\.colour: 'red' .*no such field"),
        ("event", {"record": "dream"}, r"changed\.jsonl:2: record: 'dream' .*one of event, archived"),
        ("event", {"text": " "}, r"changed\.jsonl:2: event\.text: "),
        ("event", {"id": "12"}, r"changed\.jsonl:2: event\.id: "),
        ("event", {"severity": "fatal"}, r"changed\.jsonl:2: event\.severity: 'fatal' "),
        ("event", {"occurred_at": "2026-03-04T09:00:00"}, r"changed\.jsonl:2: event\.occurred_at: .*UTC offset"),
        ("memory", {"importance": 2}, r"changed\.jsonl:\d+: memory\.importance: 2 "),
        ("memory", {"retrieved": 2**31}, r"changed\.jsonl:\d+: memory\.retrieved: 2147483648 "),
        ("memory", {"stability": 1e39}, r"changed\.jsonl:\d+: memory\.stability: 1e\+39 "),
        ("memory", {"stability": 1e-50}, r"changed\.jsonl:\d+: memory\.stability: 1e-50 "),
        ("memory", {"workspace": "acme"}, r"changed\.jsonl:\d+: memory\.workspace: 'acme' .*no such field"),
        ("memory", {"event_ids": ["00000000-0000-7000-8000-000000000001"]}, r"changed\.jsonl:\d+: memory\.event_ids: "),
        ("cue", {"memory_id": "00000000-0000-7000-8000-000000000001"}, r"changed\.jsonl:\d+: cue\.memory_id: "),
        ("vector", {"vector": "AAAA"}, r"changed\.jsonl:\d+: vector\.vector: "),
        ("vector", {"ordinal": 7}, r"changed\.jsonl:\d+: vector\.ordinal: 7 "),
        ("revision", {"number": 0}, r"changed\.jsonl:\d+: revision\.number: 0 "),
        ("end", {"rows": 1}, r"changed\.jsonl:\d+: .*a count of \d+ rows"),
    ],
)
def test_a_row_that_cannot_be_is_refused_by_its_line_and_field(
    exported: Path, record: str, fields: dict[str, Any], said: str
) -> None:
    refused(rewritten(exported, changed_row(record, fields)), said)


def test_a_row_that_is_missing_is_a_wrong_count(exported: Path) -> None:
    refused(rewritten(exported, lambda all_: [*all_[:-2], all_[-1]]), r"changed\.jsonl:\d+: .*a count of \d+ rows")


def test_two_exports_in_one_file_are_refused(exported: Path) -> None:
    refused(
        rewritten(exported, lambda all_: all_ * 2), rf"changed\.jsonl:{len(lines(exported)) + 1}: .*after the count"
    )


def test_a_key_that_another_event_has_is_a_conflict_that_names_its_line(exported: Path) -> None:
    at = next(number for number, row in enumerate(lines(exported), start=1) if row.get("key") == "k-1")
    with another(project="shop", crew="platform", agent="ana") as rem:
        rem.observe("Something else", key="k-1")
        with pytest.raises(Conflict, match=rf"first\.jsonl:{at}: .*k-1"):
            rem.import_(exported, dry_run=False)
        assert rem.health.stats().events == 1


def test_a_file_that_is_not_there_is_refused_by_name(tmp_path: Path) -> None:
    refused(tmp_path / "none.jsonl", r"^path: .*none\.jsonl.*there is no file at this path")


def test_a_folder_is_refused_by_name(tmp_path: Path) -> None:
    refused(tmp_path, r"^path: .*there is no file at this path")


def test_a_file_that_is_not_utf_8_is_refused(exported: Path) -> None:
    other = exported.with_name("latin.jsonl")
    other.write_bytes(exported.read_bytes().replace("結".encode(), b"\xe9"))
    refused(other, r"^path: .*latin\.jsonl.* an export in UTF-8")


# ── a file that cannot be written ────────────────────────────────────────────────────────────────────────────────────


def test_a_file_that_is_there_already_is_refused_and_left_alone(full: Remembrancer, tmp_path: Path) -> None:
    target = tmp_path / "taken.jsonl"
    target.write_text("mine", encoding="utf-8")
    with pytest.raises(InvalidInput, match=r"^path: .*taken\.jsonl.*does not exist yet"):
        full.export(target)
    assert (target.read_text(encoding="utf-8"), list(tmp_path.iterdir())) == ("mine", [target])


def test_a_folder_that_is_not_there_is_unavailable(full: Remembrancer, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"a\.jsonl: its folder does not exist"):
        full.export(tmp_path / "none" / "a.jsonl")


def test_a_file_in_place_of_a_folder_is_unavailable(full: Remembrancer, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match=r"a\.jsonl: its folder does not exist"):
        full.export(tmp_path / "file" / "a.jsonl")


def test_a_name_too_long_for_a_file_is_unavailable(full: Remembrancer, tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match=r"cannot be written \(File name too long"):
        full.export(tmp_path / ("a" * 300))


class Stopped(Exception):
    """The error raised in the middle of an import."""


def test_nothing_is_left_behind_by_an_export_that_failed(full: Remembrancer, tmp_path: Path) -> None:
    def stop(done: int) -> None:
        if done == 3:
            raise Stopped

    with pytest.raises(Stopped):
        full.export(tmp_path / "a.jsonl", on_rows=stop)
    assert list(tmp_path.iterdir()) == []


def test_nothing_is_kept_of_an_import_that_failed(exported: Path) -> None:
    def stop(done: int) -> None:
        if done == 3:
            raise Stopped

    with another() as rem:
        with pytest.raises(Stopped):
            rem.import_(exported, dry_run=False, on_rows=stop)
        assert (rem.health.stats().events, rem.health.stats().memories) == (0, {})


def test_two_exports_to_one_file_at_once_do_not_mix(tmp_path: Path) -> None:
    target = tmp_path / "a.jsonl"

    async def both() -> None:
        settings = Settings(db=str(tmp_path / "a.db"), background_index=False)
        async with await AsyncRemembrancer.open(settings=settings, embedder="none") as rem:
            await rem.observe_many({"text": f"line {n}", "type": "exec.output_chunk"} for n in range(3_000))
            await asyncio.gather(rem.export(target), rem.export(target))

    asyncio.run(both())
    assert (len(lines(target)), lines(target)[-1]) == (3_002, {"record": "end", "rows": 3_000})
    assert list(tmp_path.glob("*.partial")) == []
