from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from remembrancer.adapters.reference import ReferenceStore
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.adapters.vault.folder import FolderVault
from remembrancer.domain.effect import Effect, StatusChange
from remembrancer.domain.event import EventDraft, Origin
from remembrancer.domain.memory import Memory, MemoryDraft, MemoryWrite, Status
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope, Visibility
from remembrancer.domain.strength import Exposure
from remembrancer.domain.validation import MAX_TAGS
from remembrancer.engine import forget, index, record, reinforce, relate, vault
from remembrancer.engine.context import Context
from remembrancer.engine.recall import Question, recall
from remembrancer.engine.vault import SyncReport
from remembrancer.index.resident import ResidentIndex
from remembrancer.language.cues import analysed
from remembrancer.policies.admission.formation import own_cue
from remembrancer.ports.store import Store
from remembrancer.ports.vault import Content
from remembrancer.presets.teaparty import TEAPARTY
from remembrancer.testing.doubles import FixedClock, HashEmbedder, SequentialIds
from remembrancer.testing.faults import Faults

ONE = UUID("6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11")
TWO = UUID("6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b12")
THREE = UUID("6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b13")
WORKSPACE = Scope(workspace="acme")
OLD = datetime(2026, 2, 1, 12, tzinfo=UTC)
"""Files of the tests are that old, unless they are touched: what was modified just now is read again in any case."""


def entry(identifier: UUID = ONE, text: str = "Run the migrations before the deploy.", fields: str = "") -> str:
    return f"---\nid: {identifier}\ncreated_at: 2026-02-01\n{fields}---\n{text}\n"


@dataclass
class World:
    """A store and a vault in a folder, with a fixed clock."""

    root: Path
    ctx: Context
    clock: FixedClock

    def write(self, path: str, text: str, *, at: datetime = OLD) -> Path:
        target = self.root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8", newline="")
        os.utime(target, (at.timestamp(), at.timestamp()))
        return target

    def read(self, path: str) -> str:
        return (self.root / path).read_bytes().decode("utf-8")

    @property
    def files(self) -> FolderVault:
        return FolderVault(self.root, name="notes")

    def sync(self, scope: Scope = WORKSPACE) -> SyncReport:
        return asyncio.run(vault.sync(self.ctx, scope, self.files))

    def memory(self, identifier: UUID = ONE) -> Memory:
        return asyncio.run(self.ctx.store.get(Reader(WORKSPACE), [identifier]))[identifier]

    def remember(self, text: str, *, scope: Scope = WORKSPACE, **fields: Any) -> Memory:
        draft = MemoryDraft(text=text, kind=fields.pop("kind", "procedural"), **fields)
        return asyncio.run(record.remember(self.ctx, scope, draft))[0]

    def retrieved(self, identifier: UUID = ONE) -> None:
        asyncio.run(reinforce.mark(self.ctx, Reader(WORKSPACE), {identifier: None}, Exposure.RETRIEVED))

    def found(self, text: str) -> list[tuple[UUID, float]]:
        asked = Question(text=text, where=Filter(current_at=self.clock()), limit=10)
        answer = asyncio.run(recall(self.ctx, Reader(WORKSPACE), asked))
        return [(hit.memory.id, hit.score) for hit in answer.hits]

    def current(self) -> dict[UUID, Memory]:
        where = Filter(current_at=self.clock())
        memories = asyncio.run(self.ctx.store.memories(Reader(WORKSPACE), where, limit=1000))
        return {memory.id: memory for memory in memories}


STORES: dict[str, Callable[[], Store]] = {
    "reference": ReferenceStore,
    "sqlite": lambda: RelationalStore(SqliteFile(":memory:"), analyse=analysed),
}


def a_context(store: Store, clock: FixedClock) -> Context:
    ids = SequentialIds()
    return Context(
        store=store,
        index=ResidentIndex(),
        embedder=None,
        without_embedder="none here",
        preset=TEAPARTY,
        clock=clock,
        stopwatch=lambda: 0.0,
        new_id=lambda _: ids(),
    )


@pytest.fixture(params=STORES)
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    clock = FixedClock()
    store = STORES[request.param]()
    root = tmp_path / "notes"
    root.mkdir()
    yield World(root, a_context(store, clock), clock)
    asyncio.run(store.close())


def test_an_entry_is_remembered_with_the_fields_of_its_header(world: World) -> None:
    fields = "type: corrective\ndomain: task\nimportance: 0.8\nreinforcement_count: 3\nlast_reinforced: '2026-03-01'\n"
    world.write("checkout/MEMORY.md", entry(fields=fields))
    report = world.sync()
    memory = world.memory()
    assert (report.added, report.findings) == (1, ())
    assert (memory.kind, memory.text, memory.source) == (
        "corrective",
        "Run the migrations before the deploy.",
        "checkout/MEMORY.md",
    )
    assert memory.scope == Scope(workspace="acme", project="checkout")
    assert (memory.key, memory.metadata["domain"], memory.metadata["vault"]) == (f"learning:{ONE}", "task", "notes")
    assert (memory.strength.importance, memory.strength.usage.retrieved) == (0.8, 3)
    assert memory.strength.usage.last_retrieved_at == datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_an_entry_of_an_institutional_file_has_the_pinned_tag(world: World) -> None:
    world.write("checkout/institutional.md", entry())
    world.sync()
    assert world.memory().tags == ("institutional",)


def test_a_second_sync_does_nothing(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.write("checkout/MEMORY.md", entry(TWO))
    world.write("guide.md", "# Guide\n\nHow we work.\n")
    world.sync()
    before = world.read("MEMORY.md"), world.current()
    report = world.sync()
    done = (report.added, report.changed, report.retired, report.restored, report.written, report.left)
    assert (done, report.read, report.entries, report.chunks) == ((0, 0, 0, 0, 0, ()), 0, 2, 1)
    assert (world.read("MEMORY.md"), world.current()) == before


def test_a_hand_edit_of_the_text_is_imported_and_the_earlier_text_kept(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    world.write("MEMORY.md", entry(text="Run the migrations after the deploy."), at=OLD + timedelta(days=1))
    assert world.sync().changed == 1
    assert world.memory().text == "Run the migrations after the deploy."
    (said,) = asyncio.run(world.ctx.store.revisions(Reader(WORKSPACE), ONE))
    assert said.text == "Run the migrations before the deploy."


def test_an_edit_of_the_same_length_right_after_a_sync_is_seen(world: World) -> None:
    path = world.write("MEMORY.md", entry(text="Ship on Monday."), at=datetime.now(UTC))
    world.sync()
    stat = path.stat()
    path.write_text(entry(text="Ship on Sunday."), encoding="utf-8")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    world.sync()
    assert world.memory().text == "Ship on Sunday."


def test_a_hand_edit_of_importance_count_and_status_is_taken_over(world: World) -> None:
    world.write("MEMORY.md", entry(fields="importance: 0.4\nreinforcement_count: 5\n"))
    world.sync()
    fields = "importance: 0.9\nreinforcement_count: 1\nstatus: retired\n"
    world.write("MEMORY.md", entry(fields=fields), at=OLD + timedelta(days=1))
    report = world.sync()
    memory = world.memory()
    assert (memory.strength.importance, memory.strength.usage.retrieved, memory.status) == (0.9, 1, Status.RETIRED)
    assert (report.changed, report.retired) == (1, 1)


def test_a_deleted_file_takes_its_memories_out_of_recall_with_the_reason(world: World) -> None:
    path = world.write("MEMORY.md", entry())
    world.sync()
    path.unlink()
    assert world.sync().retired == 1
    assert (world.memory().status, world.current()) == (Status.RETIRED, {})
    lines = asyncio.run(world.ctx.store.audit(Reader(WORKSPACE), ONE))
    assert "was deleted from MEMORY.md in the vault" in lines[-1].reason


def test_a_deleted_entry_leaves_its_neighbour(world: World) -> None:
    world.write("MEMORY.md", f"{entry()}\n{entry(TWO)}")
    world.sync()
    world.write("MEMORY.md", entry(TWO), at=OLD + timedelta(days=1))
    world.sync()
    assert set(world.current()) == {TWO}


def test_a_file_that_comes_back_brings_its_memories_back(world: World) -> None:
    path = world.write("MEMORY.md", entry())
    world.sync()
    path.unlink()
    world.sync()
    world.write("MEMORY.md", entry())
    assert world.sync().restored == 1
    assert set(world.current()) == {ONE}


def test_a_renamed_file_keeps_its_memories(world: World) -> None:
    world.write("MEMORY.md", entry(fields="reinforcement_count: 2\n"))
    world.sync()
    recorded = world.memory().recorded_at
    world.clock.advance(timedelta(days=1))
    (world.root / "tasks").mkdir()
    (world.root / "MEMORY.md").rename(world.root / "tasks" / "deploys.md")
    report = world.sync()
    memory = world.memory()
    assert (report.added, report.retired) == (0, 0)
    assert (memory.source, memory.recorded_at, memory.status) == ("tasks/deploys.md", recorded, Status.ACTIVE)


def test_an_entry_moved_to_another_project_is_that_projects(world: World) -> None:
    world.write("checkout/MEMORY.md", entry())
    world.sync()
    (world.root / "billing").mkdir()
    (world.root / "checkout" / "MEMORY.md").rename(world.root / "billing" / "MEMORY.md")
    world.sync()
    assert world.memory().scope == Scope(workspace="acme", project="billing")


def test_retrievals_are_written_back_and_nothing_else_changes(world: World) -> None:
    text = (
        "# Ours\n\n---\nid: 6f1d2c0e-6f0e-4d0b-9a55-0a4b5b2f6b11  # keep\ncreated_at: 2026-02-01\nauthor: ana\n"
        "reinforcement_count:   4 # by use\n---\n\nBefore.\n\n---\n\nAfter.\n\n" + entry(TWO)
    )
    world.write("MEMORY.md", text)
    world.sync()
    world.retrieved()
    assert world.sync().written == 1
    expected = text.replace("reinforcement_count:   4", "reinforcement_count:   5").replace(
        "# by use\n", "# by use\nlast_reinforced: '2026-03-04'\n"
    )
    assert world.read("MEMORY.md") == expected


def test_a_memory_retired_here_is_retired_in_its_file(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    asyncio.run(forget.forget(world.ctx, Reader(WORKSPACE), ONE))
    world.sync()
    assert "status: retired\n" in world.read("MEMORY.md")
    assert world.memory().status is Status.RETIRED


def test_a_memory_compacted_by_an_effect_is_compacted_in_its_file(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    effect = Effect(expected={ONE: 1}, status_changes=(StatusChange(ONE, Status.COMPACTED, "merged"),))
    asyncio.run(world.ctx.store.commit(WORKSPACE, effect, at=world.clock()))
    world.sync()
    assert "status: compacted\n" in world.read("MEMORY.md")


def test_a_superseded_memory_is_written_as_retired_and_stays_so(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    later = world.remember("Migrations run themselves now.")
    asyncio.run(relate.supersede(world.ctx, Reader(WORKSPACE), ONE, later.id))
    world.sync()
    assert "status: retired\n" in world.read("MEMORY.md")
    report = world.sync()
    assert (report.written, report.restored, report.retired) == (0, 0, 0)


def test_a_learning_formed_here_is_written_to_the_file_of_its_place(world: World) -> None:
    memory = world.remember(
        "Ask before force-pushing.\n\n---\nid: not-a-header\n",
        scope=Scope(workspace="acme", project="checkout", crew="j-7"),
        kind="directive",
        title="Force pushes",
        origin=Origin.TOOL,
        tags=("git",),
    )
    report = world.sync()
    path = "checkout/.teaparty/jobs/j-7/MEMORY.md"
    assert (report.written, world.memory(memory.id).source) == (1, path)
    assert world.read(path) == (
        f"---\nid: {memory.id}\ntype: directive\ndomain: team\nimportance: 0.5\nreinforcement_count: 0\n"
        "status: active\ncreated_at: '2026-03-04T09:00:00+00:00'\ntitle: Force pushes\ntags: [git]\norigin: tool\n---\n"
        "Ask before force-pushing.\n\n\\---\nid: not-a-header\n"
    )


def test_a_new_learning_is_appended_to_the_file(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    world.remember("Second thoughts.")
    world.sync()
    assert world.read("MEMORY.md").startswith(entry() + "\n---\nid: ")


def test_a_written_learning_is_not_written_again(world: World) -> None:
    world.remember("Second thoughts.")
    world.sync()
    report = world.sync()
    assert (report.written, report.added, report.changed, report.entries) == (0, 0, 0, 1)


def test_a_new_institutional_learning_is_written_to_the_institutional_file(world: World) -> None:
    world.remember("We never deploy on Fridays.", scope=replace(WORKSPACE, project="checkout"), tags=("institutional",))
    world.sync()
    assert "tags" not in world.read("checkout/institutional.md")


@pytest.mark.parametrize("visibility", [Visibility.OWN, Visibility.CREW, Visibility.SESSION])
def test_memories_with_a_narrow_visibility_are_not_written_to_files(world: World, visibility: Visibility) -> None:
    scope = Scope(workspace="acme", crew="platform", agent="ana", session="monday")
    world.remember("Ana's own.", scope=scope, visibility=visibility)
    world.sync()
    assert list(world.root.glob("*.md")) == []


def test_whose_a_learning_is_survives_in_its_file(world: World) -> None:
    scope = Scope(workspace="acme", project="checkout", agent="ana", session="monday")
    memory = world.remember("Ana asks first.", scope=scope)
    world.sync()
    fresh = World(world.root, a_context(ReferenceStore(), world.clock), world.clock)
    fresh.sync()
    assert fresh.memory(memory.id).scope == scope


def test_notes_that_are_no_learnings_stay_out_of_the_files(world: World) -> None:
    world.remember("A plain note.", kind="note")
    world.sync()
    assert list(world.root.glob("*.md")) == []


def test_a_project_that_cannot_be_a_folder_is_left_with_the_reason(world: World) -> None:
    world.remember("Escaping.", scope=Scope(workspace="acme", project="../outside"))
    (left,) = world.sync().left
    assert "project '../outside'" in left.message
    assert list(world.root.parent.glob("outside*")) == []


def test_a_learning_whose_file_would_have_too_long_a_path_is_left_and_the_rest_is_written(world: World) -> None:
    memory = world.remember("Far away.", scope=Scope(workspace="acme", project="p" * 195))
    world.remember("At hand.", scope=Scope(workspace="acme", project="checkout"))
    report = world.sync()
    (left,) = report.left
    assert (left.path, "path: 'ppp" in left.message) == (str(memory.id), True), left
    assert "At hand." in world.read("checkout/MEMORY.md")
    assert [path.name for path in world.root.iterdir() if path.name.startswith("p")] == []


def test_a_file_with_too_long_a_path_is_one_finding_and_the_others_are_read(world: World) -> None:
    world.write(f"{'p' * 195}/MEMORY.md", entry() + "\n" + entry(TWO))
    world.write("checkout/MEMORY.md", entry(THREE))
    (finding,) = world.sync().findings
    assert (finding.line, "path: 'ppp" in finding.message) == (None, True), finding
    assert set(world.current()) == {THREE}


def test_an_entry_that_cannot_be_a_memory_is_one_finding_and_its_neighbour_is_imported(world: World) -> None:
    tags = f"tags: [{', '.join(f't{number}' for number in range(MAX_TAGS))}]\n"  # and the file's own
    world.write("checkout/institutional.md", entry(fields=tags) + "\n" + entry(TWO))
    (finding,) = world.sync().findings
    assert (finding.line, "65 tags" in finding.message) == (1, True), finding
    assert set(world.current()) == {TWO}


def test_with_a_project_the_folder_is_that_projects_and_others_stay_out(world: World) -> None:
    checkout = replace(WORKSPACE, project="checkout")
    world.write("MEMORY.md", entry())
    world.remember("Of another project.", scope=replace(WORKSPACE, project="billing"))
    mine = world.remember("Of this one.", scope=checkout)
    report = world.sync(checkout)
    assert (world.memory().scope, report.written) == (checkout, 1)
    assert str(mine.id) in world.read("MEMORY.md")


def test_two_vaults_of_a_workspace_leave_each_other_alone(world: World, tmp_path: Path) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    other = World(tmp_path / "other", world.ctx, world.clock)
    other.write("MEMORY.md", entry(TWO))
    asyncio.run(vault.sync(world.ctx, WORKSPACE, FolderVault(other.root)))
    world.sync()
    assert set(world.current()) == {ONE, TWO}
    assert str(TWO) not in world.read("MEMORY.md")


def test_a_learning_derived_from_that_of_a_file_is_written_where_it_belongs(world: World) -> None:
    """A promotion copies the metadata of a task's entry, and does not belong to that task."""
    world.write("checkout/.teaparty/jobs/j-7/tasks/t-2/worktree/MEMORY.md", entry())
    world.sync()
    promoted = world.remember(
        "Everywhere: migrations first.",
        scope=replace(WORKSPACE, project="checkout"),
        metadata={**world.memory().metadata, "promoted_from": str(ONE), "merged_from": str(TWO), "extraction": "team"},
    )
    report = world.sync()
    memory = world.memory(promoted.id)
    assert (report.retired, memory.source, memory.status) == (0, "checkout/MEMORY.md", Status.ACTIVE)
    assert memory.metadata == {
        "domain": "team",
        "promoted_from": str(ONE),
        "merged_from": str(TWO),
        "extraction": "team",
        "vault": "notes",
        "entry": str(promoted.id),
    }
    assert f"promoted_from: {ONE}\nmerged_from: [{TWO}]\n" in world.read("checkout/MEMORY.md")


# ── both sides moved ─────────────────────────────────────────────────────────────────────────────────────────────────


def test_changes_on_either_side_are_on_both_sides_afterwards(world: World) -> None:
    world.write("MEMORY.md", entry(fields="phase: design\n"))
    world.sync()
    world.retrieved()
    world.write("MEMORY.md", entry(text="Edited by hand.", fields="phase: review\n"), at=OLD + timedelta(days=1))
    world.sync()
    memory = world.memory()
    assert (memory.text, memory.metadata["phase"], memory.strength.usage.retrieved) == ("Edited by hand.", "review", 1)
    assert "reinforcement_count: 1\n" in world.read("MEMORY.md")


def test_of_two_texts_the_file_holds_and_the_other_is_a_revision(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    memory = world.memory()
    said = analysed_write(replace(memory, text="Said by the engine."))
    asyncio.run(world.ctx.store.revise(WORKSPACE, said, expected_revision=memory.revision, at=world.clock()))
    world.write("MEMORY.md", entry(text="Said by hand."), at=OLD + timedelta(days=1))
    world.sync()
    revisions = asyncio.run(world.ctx.store.revisions(Reader(WORKSPACE), ONE))
    assert world.memory().text == "Said by hand."
    assert "Said by the engine." in [revision.text for revision in revisions]


def test_a_text_that_only_the_engine_changed_is_written_to_the_file(world: World) -> None:
    world.write("MEMORY.md", entry() + "\n" + entry(TWO))
    world.sync()
    memory = world.memory()
    said = analysed_write(replace(memory, text="Said by the engine."))
    asyncio.run(world.ctx.store.revise(WORKSPACE, said, expected_revision=memory.revision, at=world.clock()))
    world.sync()
    assert world.read("MEMORY.md") == entry(text="Said by the engine.") + "\n" + entry(TWO)


def test_without_its_index_the_files_hold_and_no_count_is_lost(world: World) -> None:
    world.write("MEMORY.md", entry(fields="importance: 0.7\n"))
    world.sync()
    world.retrieved()
    (world.root / ".remembrancer" / "index.json").unlink()
    world.sync()
    assert world.memory().strength.usage.retrieved == 1
    assert "reinforcement_count: 1\n" in world.read("MEMORY.md")


def test_a_damaged_index_is_made_again(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    (world.root / ".remembrancer" / "index.json").write_text('{"version": 1, "files": {"MEMORY.md": 7}}')
    report = world.sync()
    assert (report.added, report.changed, report.retired) == (0, 0, 0)


def test_another_database_takes_the_files_and_trusts_no_index_of_the_first(world: World) -> None:
    world.write("MEMORY.md", entry(fields="reinforcement_count: 2\n"))
    world.sync()
    world.retrieved()
    world.sync()
    other = World(world.root, a_context(ReferenceStore(), world.clock), world.clock)
    world.clock.advance(timedelta(seconds=1))
    assert other.sync().added == 1
    assert other.memory().strength.usage.retrieved == 3


def analysed_write(memory: Memory) -> MemoryWrite:
    return MemoryWrite(memory, (own_cue(memory),))


# ── what is wrong ────────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("fields", "line", "said"),
    [
        ("importance: 7\n", 4, "importance: 7 is not allowed"),
        ("phase: [design\n", 5, "not YAML"),
        ("type: hunch\n", 4, "type: 'hunch' is not allowed"),
        ("phase: a\nphase: b\n", 5, "twice"),
        ("created_at: soon\n", 4, "twice"),
        ("last_reinforced: 2026-13-01\n", 4, "cannot be read"),
    ],
)
def test_a_bad_header_is_reported_with_its_line_and_its_neighbour_is_imported(
    world: World, fields: str, line: int, said: str
) -> None:
    world.write("MEMORY.md", entry(fields=fields) + "\n" + entry(TWO))
    report = world.sync()
    (finding,) = report.findings
    assert (finding.path, finding.line, said in finding.message) == ("MEMORY.md", line, True), finding
    assert set(world.current()) == {TWO}


def test_a_file_with_a_bad_header_is_not_written_to_and_nothing_is_lost(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    world.retrieved()
    broken = entry() + "\n" + entry(TWO, fields="importance: 7\n")
    world.write("MEMORY.md", broken, at=OLD + timedelta(days=1))
    world.sync()
    assert (world.read("MEMORY.md"), world.memory().strength.usage.retrieved) == (broken, 1)
    world.write("MEMORY.md", broken.replace("importance: 7", "importance: 0.7"), at=OLD + timedelta(days=2))
    world.sync()
    assert "reinforcement_count: 1\n" in world.read("MEMORY.md")


def test_a_memory_whose_header_became_invalid_stays_in_recall(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    world.write("MEMORY.md", entry(fields="importance: 7\n"), at=OLD + timedelta(days=1))
    report = world.sync()
    assert (report.retired, set(world.current())) == (0, {ONE})
    assert world.sync().findings == report.findings


def test_a_file_that_is_not_utf8_is_reported_and_its_memories_stay(world: World) -> None:
    path = world.write("MEMORY.md", entry())
    world.sync()
    path.write_bytes(b"---\nid: \xff\n---\n")
    (finding,) = world.sync().findings
    assert "UTF-8" in finding.message
    assert set(world.current()) == {ONE}


def test_a_text_too_long_for_a_memory_is_reported(world: World) -> None:
    world.write("MEMORY.md", entry(text="x" * 70_000))
    (finding,) = world.sync().findings
    assert (finding.line, "65,536 bytes" in finding.message) == (1, True)


def test_an_id_used_twice_with_different_texts_is_reported_and_the_first_is_used(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.write("checkout/MEMORY.md", entry(text="Something else."))
    (finding,) = world.sync().findings
    assert (finding.path, finding.line) == ("checkout/MEMORY.md", 1)
    assert world.memory().source == "MEMORY.md"


def test_a_copy_of_an_entry_is_no_finding_and_is_used_when_the_first_is_deleted(world: World) -> None:
    first = world.write("MEMORY.md", entry())
    world.write("checkout/MEMORY.md", entry())
    assert world.sync().findings == ()
    first.unlink()
    world.sync()
    assert world.memory().source == "checkout/MEMORY.md"


def test_an_id_of_another_kind_of_memory_is_reported(world: World) -> None:
    note = world.remember("A plain note.", kind="note")
    world.write("MEMORY.md", entry(note.id))
    (finding,) = world.sync().findings
    assert "another kind" in finding.message


def test_an_entry_without_an_id_gets_one_and_its_day(world: World) -> None:
    world.write("MEMORY.md", "---\ntype: corrective\n---\nNo id.\n")
    world.sync()
    (memory,) = world.current().values()
    assert world.read("MEMORY.md") == (
        f"---\ntype: corrective\nid: {memory.id}\ncreated_at: '2026-02-01'\n---\nNo id.\n"
    )


def test_a_check_writes_nothing_and_reports_what_a_sync_would_do(world: World) -> None:
    world.write("MEMORY.md", "---\ntype: corrective\n---\nNo id.\n")
    world.remember("Formed here.")
    report = asyncio.run(vault.check(world.ctx, WORKSPACE, world.files))
    assert (report.dry_run, report.added, report.written) == (True, 1, 2)
    assert world.read("MEMORY.md") == "---\ntype: corrective\n---\nNo id.\n"
    assert sorted(path.name for path in world.root.iterdir()) == ["MEMORY.md"]
    assert len(world.current()) == 1


# ── changed meanwhile, and broken off ────────────────────────────────────────────────────────────────────────────────


class EditedMeanwhile(FolderVault):
    """Someone saves a file after it was read and before it is written."""

    def __init__(self, root: Path, path: str, text: str) -> None:
        super().__init__(root, name="notes")
        self._saved = (path, text)

    async def replace(self, path: str, text: str, *, expected: str | None) -> Content:
        if path == self._saved[0]:
            (self.root / path).write_text(self._saved[1], encoding="utf-8")
        return await super().replace(path, text, expected=expected)


def test_a_file_changed_since_it_was_read_is_not_overwritten_and_merged_next_time(world: World) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    world.retrieved()
    edited = entry(text="Edited meanwhile.")
    files = EditedMeanwhile(world.root, "MEMORY.md", edited)
    report = asyncio.run(vault.sync(world.ctx, WORKSPACE, files))
    assert ([conflict.path for conflict in report.conflicts], world.read("MEMORY.md")) == (["MEMORY.md"], edited)
    world.sync()
    assert world.memory().text == "Edited meanwhile."
    assert "reinforcement_count: 1\n" in world.read("MEMORY.md")
    assert world.memory().strength.usage.retrieved == 1


def test_a_file_that_came_to_be_meanwhile_is_not_overwritten(world: World) -> None:
    memory = world.remember("Formed here.")
    files = EditedMeanwhile(world.root, "MEMORY.md", entry())
    report = asyncio.run(vault.sync(world.ctx, WORKSPACE, files))
    assert (len(report.conflicts), world.read("MEMORY.md")) == (1, entry())
    world.sync()
    assert world.read("MEMORY.md").startswith(entry())
    assert str(memory.id) in world.read("MEMORY.md")


def test_a_file_that_cannot_be_written_is_reported_and_waits(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    world.write("MEMORY.md", entry())
    world.sync()
    world.retrieved()

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "fsync", full)
        patched.setattr(FolderVault, "put_index", _nothing)
        (finding,) = world.sync().findings
    assert "No space left" in finding.message
    assert world.read("MEMORY.md") == entry()
    world.sync()
    assert "reinforcement_count: 1\n" in world.read("MEMORY.md")


async def _nothing(_files: FolderVault, _text: str) -> None: ...


def changed_on_both_sides(world: World) -> None:
    """A vault in agreement, then a retrieval, a retirement, a learning formed, an edit, a new file, a deleted one."""
    world.write("MEMORY.md", entry(fields="reinforcement_count: 4\n") + "\n" + entry(TWO))
    world.write("gone/MEMORY.md", entry(THREE, text="To be deleted."))
    world.sync()
    world.retrieved()
    asyncio.run(forget.forget(world.ctx, Reader(WORKSPACE), TWO))
    world.remember("Formed here.")
    edited = entry(text="Edited by hand.", fields="reinforcement_count: 6\n") + "\n" + entry(TWO)
    world.write("MEMORY.md", edited, at=OLD + timedelta(days=1))
    world.write("new/MEMORY.md", "---\ntype: corrective\n---\nAdded by hand.\n")
    (world.root / "gone" / "MEMORY.md").unlink()


def outcome(world: World) -> tuple[dict[str, str], dict[UUID, tuple[str, int, float]]]:
    files = {str(path.relative_to(world.root)): path.read_text() for path in sorted(world.root.rglob("*.md"))}
    memories = {
        memory.id: (memory.text, memory.strength.usage.retrieved, memory.strength.importance)
        for memory in world.current().values()
    }
    return files, memories


@pytest.mark.parametrize("kind", STORES)
def test_a_sync_that_fails_anywhere_is_completed_by_the_next(kind: str, tmp_path: Path) -> None:
    def a_world(name: str) -> World:
        clock = FixedClock()
        root = tmp_path / name
        root.mkdir()
        world = World(root, a_context(STORES[kind](), clock), clock)
        changed_on_both_sides(world)
        return world

    untouched = a_world("untouched")
    untouched.sync()
    untouched.sync()
    expected = outcome(untouched)
    for at in range(1, 200):
        world = a_world(f"at {at}")
        faults = Faults(at, RuntimeError)
        broken = replace(world.ctx, store=faults.around(world.ctx.store))
        with suppress(RuntimeError):
            asyncio.run(vault.sync(broken, WORKSPACE, faults.around(world.files)))
        world.sync()
        assert outcome(world) == expected, at
        assert world.sync().written == 0
        if not faults.struck:
            break
    else:
        raise AssertionError("no run came to its end")


def test_one_memory_that_cannot_be_written_delays_no_other(world: World) -> None:
    world.remember("Ana's own.", scope=Scope(workspace="acme", agent="ana"), topic_key="deploys", kind="note")
    world.write("MEMORY.md", entry(fields="agent: ana\ntopic_key: deploys\n") + "\n" + entry(TWO) + "\n" + entry(THREE))
    report = world.sync()
    assert ([left.path for left in report.left], report.added) == (["MEMORY.md"], 2)
    assert {TWO, THREE} <= set(world.current())


# ── rebuilding ───────────────────────────────────────────────────────────────────────────────────────────────────────

QUESTIONS = ("deploy the migrations", "force pushing", "house rules", "what is recalled after a rebuild")


def a_lived_in_vault(world: World) -> None:
    world.write("MEMORY.md", entry() + "\n" + entry(TWO, text="Ask before force-pushing the deploy branch."))
    world.write(
        "checkout/institutional.md", "# House\n\nHouse rules are told to everyone.\n\n" + entry(THREE, text="Be kind.")
    )
    world.write("checkout/guide.md", "# Deploy guide\n\n" + "Deploy with care. " * 200)
    world.remember("A rebuild loses nothing that is recalled.", scope=replace(WORKSPACE, project="checkout"))
    world.sync()
    for _ in range(3):
        world.retrieved(TWO)
    world.sync()
    world.clock.advance(timedelta(days=40, hours=7))


def test_a_rebuild_changes_no_answer(world: World) -> None:
    a_lived_in_vault(world)
    before = [world.found(question) for question in QUESTIONS]
    report = asyncio.run(vault.rebuild(world.ctx, WORKSPACE, world.files))
    assert [world.found(question) for question in QUESTIONS] == before
    assert any(before)
    assert report.findings == ()


def test_a_new_database_gives_the_same_answers_from_the_files(world: World) -> None:
    a_lived_in_vault(world)
    before = [[found for found, _ in world.found(question)] for question in QUESTIONS]
    fresh = World(world.root, a_context(ReferenceStore(), world.clock), world.clock)
    asyncio.run(vault.rebuild(fresh.ctx, WORKSPACE, fresh.files))
    assert [[found for found, _ in fresh.found(question)] for question in QUESTIONS] == before


def test_a_rebuild_undoes_changes_that_no_file_has(world: World) -> None:
    a_lived_in_vault(world)
    before = world.read("MEMORY.md")
    memory = world.memory()
    said = analysed_write(replace(memory, text="Only in the database."))
    asyncio.run(world.ctx.store.revise(WORKSPACE, said, expected_revision=memory.revision, at=world.clock()))
    asyncio.run(forget.forget(world.ctx, Reader(WORKSPACE), TWO))
    world.retrieved(ONE)
    asyncio.run(vault.rebuild(world.ctx, WORKSPACE, world.files))
    one, two = world.memory(ONE), world.memory(TWO)
    assert (one.text, one.strength.usage.retrieved, two.status) == (
        "Run the migrations before the deploy.",
        0,
        Status.ACTIVE,
    )
    assert world.read("MEMORY.md") == before


def test_a_rebuild_keeps_memories_that_are_in_no_file_and_reports_them(world: World) -> None:
    memory = world.remember("Formed here, not synced.")
    report = asyncio.run(vault.rebuild(world.ctx, WORKSPACE, world.files))
    assert (report.waiting, set(world.current()), list(world.root.glob("*.md"))) == (1, {memory.id}, [])


# ── documents ────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_a_document_is_remembered_in_pieces_with_their_offsets(world: World) -> None:
    text = "# Deploys\n\n" + "".join(f"Paragraph {number} says something.\n\n" for number in range(200))
    world.write("checkout/guide.md", text)
    report = world.sync()
    pieces = list(world.current().values())
    assert len(pieces) == report.chunks > 1
    for piece in pieces:
        offset = piece.metadata["offset"]
        assert isinstance(offset, int)
        assert text[offset:].startswith(piece.text)
        assert (piece.kind, piece.source) == ("document", "checkout/guide.md")


def test_an_edit_of_a_document_replaces_only_the_pieces_it_touches(world: World) -> None:
    sections = [f"## Part {number}\n\n" + f"Words of part {number}. " * 20 + "\n\n" for number in range(4)]
    world.write("guide.md", "".join(sections))
    world.sync()
    before = set(world.current())
    sections[2] = sections[2].replace("Words", "Sentences")
    world.write("guide.md", "".join(sections), at=OLD + timedelta(days=1))
    report = world.sync()
    after = set(world.current())
    assert (report.added, report.retired, len(before & after)) == (1, 1, 3)


def test_a_document_in_a_copy_of_the_project_is_not_remembered_again(world: World) -> None:
    world.write("checkout/.teaparty/jobs/j-7/tasks/t-2/worktree/README.md", "# Read me\n\nWords.\n")
    assert world.sync().chunks == 0


def test_texts_that_did_not_change_keep_their_vectors(world: World) -> None:
    ctx = replace(world.ctx, embedder=HashEmbedder(), without_embedder="")
    world.write("MEMORY.md", entry() + "\n" + entry(TWO, text="Ask first."))
    world.sync()
    asyncio.run(index.index_batch(ctx, WORKSPACE))
    world.retrieved()
    world.write(
        "MEMORY.md",
        entry(fields="importance: 0.9\n") + "\n" + entry(TWO, text="Ask twice."),
        at=OLD + timedelta(days=1),
    )
    world.sync()
    waiting = asyncio.run(world.ctx.store.pending(WORKSPACE, HashEmbedder().model_id, limit=9, now=world.clock()))
    assert [cue.memory_id for cue in waiting] == [TWO]


def test_a_memory_of_turns_is_found_by_them_after_an_edit_too(world: World) -> None:
    ((appended),) = asyncio.run(record.observe(world.ctx, WORKSPACE, [EventDraft(text="The zebra said so.")]))
    draft = MemoryDraft(text="An episode.", kind="procedural")
    memory, _ = asyncio.run(record.remember(world.ctx, WORKSPACE, draft, [appended.event.id]))
    world.sync()
    cues = asyncio.run(world.ctx.store.cues(Reader(WORKSPACE), [memory.id]))[memory.id]
    assert [cue.text for cue in cues] == ["An episode.", "The zebra said so."]


def test_days_are_written_as_days(world: World) -> None:
    world.write("MEMORY.md", entry(fields="last_reinforced: 2026-03-01\n"))
    world.sync()
    world.retrieved()
    world.sync()
    assert f"last_reinforced: {date(2026, 3, 4)}\n" in world.read("MEMORY.md")
