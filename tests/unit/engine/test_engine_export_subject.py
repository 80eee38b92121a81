"""Exporting what belongs to one subject, over each store, and the receipt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, TypeVar

import pytest
from contexts import STORES, a_context, over

from remembrancer.domain.erasure import ErasureSelection
from remembrancer.domain.event import EventDraft
from remembrancer.domain.memory import MemoryDraft
from remembrancer.engine.context import Caller, Context
from remembrancer.engine.exchange import SubjectExport, export_subject, import_file
from remembrancer.engine.record import observe, remember
from remembrancer.engine.segment import segment
from remembrancer.errors import InvalidInput
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.segmentation import Segmentation
from remembrancer.ports.journal import EventFilter
from remembrancer.ports.store import Store
from remembrancer.presets.default import DEFAULT
from remembrancer.testing.doubles import NOW, READER, SCOPE

T = TypeVar("T")
CALLER: Final = Caller(scope=SCOPE, role="LEAD")
OF_ANA: Final = ErasureSelection(actor="Ana")


@pytest.fixture(params=STORES)
def make(request: pytest.FixtureRequest) -> Callable[[], Store]:
    return STORES[request.param]


def talked(make: Callable[[], Store], steps: Callable[[Context], Awaitable[T]]) -> T:
    """The result of the steps after Ana and Bo have talked, and their talk became an episode."""

    async def run(store: Store) -> T:
        preset = replace(DEFAULT, segmentation=Segmentation(segmenter=DualChannel(), least=2))
        ctx = a_context(store, preset)
        said = await observe(
            ctx,
            SCOPE,
            [
                EventDraft(text="My cat is called Wombat", actor="Ana", occurred_at=NOW),
                EventDraft(text="Mine is a dog", actor="Bo", occurred_at=NOW),
            ],
        )
        await segment(ctx, SCOPE, ended=[SCOPE])
        fact = MemoryDraft(text="Ana has a cat", kind="fact")
        await remember(ctx, SCOPE, fact, [said[0].event.id])
        return await steps(ctx)

    return over(make, run)


def rows_of(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_subject_s_rows_are_exported_and_nobody_else_s(make: Callable[[], Store], tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    talked(make, lambda ctx: export_subject(ctx, CALLER, OF_ANA, file))
    texts = {row["text"] for row in rows_of(file) if row["record"] in {"event", "memory"}}
    assert texts == {"My cat is called Wombat", "Ana has a cat"}
    assert "dog" not in file.read_text(encoding="utf-8")


def test_memories_that_also_say_what_others_said_are_withheld(make: Callable[[], Store], tmp_path: Path) -> None:
    async def steps(ctx: Context) -> tuple[SubjectExport, set[str]]:
        receipt = await export_subject(ctx, CALLER, OF_ANA, tmp_path / "ana.jsonl")
        found = await ctx.store.get(READER, receipt.withheld)
        return receipt, {memory.kind for memory in found.values()}

    receipt, kinds = talked(make, steps)
    assert (len(receipt.withheld), kinds) == (1, {"episode"})


def test_the_receipt_describes_the_file(make: Callable[[], Store], tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    receipt = talked(make, lambda ctx: export_subject(ctx, CALLER, OF_ANA, file))
    data = file.read_bytes()
    assert (receipt.by, receipt.at, receipt.asked, receipt.path) == ("LEAD ana", NOW, OF_ANA, file)
    assert (receipt.bytes, receipt.sha256) == (len(data), hashlib.sha256(data).hexdigest())
    assert (receipt.counts["event"], receipt.counts["memory"]) == (1, 2)


def test_the_file_can_be_imported(make: Callable[[], Store], tmp_path: Path) -> None:
    file = tmp_path / "ana.jsonl"
    talked(make, lambda ctx: export_subject(ctx, CALLER, OF_ANA, file))

    async def steps(store: Store) -> list[str]:
        await import_file(a_context(store, DEFAULT), SCOPE, file, dry_run=False)
        return [event.text for event in await store.events(READER, EventFilter(), limit=9)]

    assert over(make, steps) == ["My cat is called Wombat"]


def test_a_subject_without_rows_is_an_error_and_leaves_no_file(make: Callable[[], Store], tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="actor Nobody"):
        talked(make, lambda ctx: export_subject(ctx, CALLER, ErasureSelection(actor="Nobody"), tmp_path / "x"))
    assert list(tmp_path.iterdir()) == []


def test_exporting_writes_nothing_to_the_store(make: Callable[[], Store], tmp_path: Path) -> None:
    async def steps(ctx: Context) -> bool:
        before = [row async for row in ctx.store.export(SCOPE)]
        await export_subject(ctx, CALLER, OF_ANA, tmp_path / "ana.jsonl")
        return before == [row async for row in ctx.store.export(SCOPE)]

    assert talked(make, steps)
