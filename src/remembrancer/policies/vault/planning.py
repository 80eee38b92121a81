"""Planning a sync from the files, the store, and the state that they last agreed on."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import field, replace
from datetime import UTC, date, datetime, timedelta
from typing import Final
from uuid import UUID, uuid5

from remembrancer.domain.learning import Learning
from remembrancer.domain.memory import Memory, Status
from remembrancer.domain.recalled import without_recalled
from remembrancer.domain.scope import Visibility
from remembrancer.errors import InvalidInput
from remembrancer.policies.learning.learnings import KINDS, learning_of_memory, moment_of
from remembrancer.policies.vault.changes import (
    DOCUMENT,
    ENTRY,
    VAULT,
    Change,
    FileOrigin,
    Terms,
    Trust,
    of_chunk,
    of_entry,
    retiring,
)
from remembrancer.policies.vault.chunks import Chunk, chunks
from remembrancer.policies.vault.files import Edit, FileProblem, LearningEntry, VaultFile
from remembrancer.policies.vault.index import Known, VaultIndex
from remembrancer.policies.vault.merging import Base, agreed, base_for, merged, says_enough
from remembrancer.policies.vault.places import VaultOwner, path_of, place_of, place_of_memory
from remembrancer.values import dataclass

_CHUNKS: Final = UUID("8c0f4e3b-2d57-5a1c-8e96-0b7d4f2a6c13")
_WORKTREE: Final = "worktree"
"""A folder with a copy of the whole project. Its texts other than learnings belong to the project, not to the task."""
_DAY: Final = re.compile(r"(?<!\d)(\d{4})-?(\d{2})-?(\d{2})(?!\d)")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Read:
    """A parsed file: its content, its modification time (nanoseconds since 1970), and its passages by id."""

    file: VaultFile
    modified: int
    chunks: Mapping[UUID, Chunk]


@dataclass(frozen=True, slots=True, kw_only=True)
class World:
    """The input of a plan.

    `read`: files that may have changed; `unchanged`: the other ones, as in the index. `unclear`: unreadable files, and
    folders ending in `/`. `memories`: those that are or were in the vault, by id, whatever their status. `formed`:
    active learnings that are in no file.
    """

    index: VaultIndex
    read: Mapping[str, Read]
    unchanged: Mapping[str, Known]
    unclear: frozenset[str]
    memories: Mapping[UUID, Memory]
    formed: Sequence[Memory]

    def is_unclear(self, path: str) -> bool:
        return path in self.unclear or any(path.startswith(one) for one in self.unclear if one.endswith("/"))


@dataclass(slots=True)
class FilePlan:
    """The changes to a file and to the memories of its entries. `agreed`: the agreed state after the sync, by id.

    `again`: read the file again at the next sync in any case.
    """

    edits: list[Edit] = field(default_factory=list[Edit])
    appended: list[Learning] = field(default_factory=list[Learning])
    changes: list[Change] = field(default_factory=list[Change])
    agreed: dict[UUID, Base] = field(default_factory=dict[UUID, Base])
    chunks: list[UUID] = field(default_factory=list[UUID])
    findings: list[FileProblem] = field(default_factory=list[FileProblem])
    left: list[FileProblem] = field(default_factory=list[FileProblem])
    again: bool = False


@dataclass(frozen=True, slots=True)
class VaultPlan:
    """The changes of a sync. `files`: by path, existing and new ones. `gone`: changes of memories whose text is no
    longer in the vault. `left`: learnings that no file can hold.
    """

    files: Mapping[str, FilePlan]
    gone: Sequence[Change]
    left: Sequence[FileProblem]
    waiting: int
    """The number of learnings of the store that are in no file, if files are not written."""


def chunks_of(file: VaultFile, vault: str) -> dict[UUID, Chunk]:
    """The passages of a file's text without headers, by ids derived from path and text. Those that only repeat recalled
    memories are left out.
    """
    if not file.entries and not file.findings and _WORKTREE in file.path.split("/"):
        return {}
    times: dict[str, int] = defaultdict(int)
    found: dict[UUID, Chunk] = {}
    for chunk in (chunk for span in file.prose for chunk in chunks(file.text, span)):
        if not without_recalled(chunk.text):
            continue
        times[chunk.text] += 1
        found[uuid5(_CHUNKS, f"{vault}\n{file.path}\n{times[chunk.text]}\n{chunk.text}")] = chunk
    return found


def planned(world: World, terms: Terms) -> VaultPlan:
    owners = _owners(world)
    files: dict[str, FilePlan] = defaultdict(FilePlan)
    bases = world.index.bases()
    for path, read in world.read.items():
        files[path] = _file_plan(read, owners, bases, world, terms)
    left: list[FileProblem] = []
    targets = new_places(world.formed, {*world.read, *world.unchanged}, terms)
    if terms.trust is Trust.BOTH:
        for memory in world.formed:
            left += _written_down(memory, targets[memory.id], files, world, terms)
    here = set(owners) | {chunk for plan in files.values() for chunk in plan.chunks}
    here |= {chunk for known in world.unchanged.values() for chunk in known.chunks}
    return VaultPlan(files, _gone(world, here, terms), left, len(world.formed) if terms.trust is Trust.FILES else 0)


def new_places(formed: Iterable[Memory], known: Collection[str], terms: Terms) -> dict[UUID, str | None]:
    """The path for each learning formed in the store; None if no file can hold it. `known`: the existing files."""
    paths: dict[VaultOwner, str | None] = {}
    targets: dict[UUID, str | None] = {}
    for memory in formed:
        place = place_of_memory(memory, pinned_tag=terms.pinned_tag)
        if place not in paths:
            paths[place] = path_of(place, project=terms.project, known=known)
        targets[memory.id] = paths[place]
    return targets


def same_as_agreed(known: Known, path: str, memories: Mapping[UUID, Memory], terms: Terms) -> bool:
    """Whether the store still has the agreed state of all entries of an unchanged file."""
    try:
        origin = FileOrigin.of(terms, place_of(path, project=terms.project), path, terms.now)
    except InvalidInput:
        return False
    for identifier, base in known.bases.items():
        memory = memories.get(identifier)
        if memory is None or memory.recorded_at != base.recorded_at or not _stands(memory, origin):
            return False
        if agreed(learning_of_memory(memory, file_tags=origin.tags)) != base.agreed:
            return False
    found = [memories.get(identifier) for identifier in known.chunks]
    return all(memory is not None and memory.status is Status.ACTIVE and _stands(memory, origin) for memory in found)


def belongs(memory: Memory, terms: Terms) -> bool:
    """Whether a memory without a file belongs to this vault: a learning visible to the workspace, and in no other
    vault.
    """
    ours = memory.metadata.get(VAULT) in {None, terms.vault}
    inside = terms.project is None or memory.scope.project == terms.project
    return memory.kind in KINDS and memory.visibility is Visibility.WORKSPACE and ours and inside


def _stands(memory: Memory, origin: FileOrigin) -> bool:
    """Whether the memory comes from an entry of its file."""
    told = origin.metadata_of(memory.id)
    metadata = all(memory.metadata.get(name) == told[name] for name in told)
    return memory.source == origin.source and metadata and set(origin.tags) <= set(memory.tags)


def _owners(world: World) -> dict[UUID, str]:
    """The file that owns each entry. If several have the same id: the previous owner, else the file nearest to the
    root.
    """
    before = world.index.owners()
    owners: dict[UUID, str] = {}
    candidates = [
        *((identifier, path) for path, known in world.unchanged.items() for identifier in known.bases),
        *((entry.learning.id, path) for path, read in world.read.items() for entry in read.file.entries),
    ]
    for identifier, path in sorted(candidates, key=lambda one: (one[1].count("/"), one[1])):
        if identifier not in owners or before.get(identifier) == path:
            owners[identifier] = path
    return owners


def _file_plan(
    read: Read, owners: Mapping[UUID, str], bases: Mapping[UUID, Base], world: World, terms: Terms
) -> FilePlan:
    file = read.file
    plan = FilePlan(findings=list(file.findings))
    place = place_of(file.path, project=terms.project)
    try:
        origin = FileOrigin.of(terms, place, file.path, _since(file.path, read.modified))
    except InvalidInput as error:
        plan.findings.append(
            FileProblem(file.path, None, f"its path is too long for the metadata of a memory: {error}")
        )
        return plan
    seen: dict[UUID, Learning] = {}
    for number, entry in enumerate(file.entries):
        identifier = entry.learning.id
        if owners[identifier] != file.path or identifier in seen:
            plan.again = True  # the other file may be removed later and leave this one
            plan.findings += _copied(file, entry, owners[identifier], seen.get(identifier), world)
            continue
        seen[identifier] = entry.learning
        _plan_entry(plan, number, entry, bases.get(identifier), world.memories.get(identifier), origin, terms)
    _plan_chunks(plan, read, origin, world, terms)
    if file.findings and file.path in world.index.files:
        # Entries whose header is unreadable now keep their agreed state.
        known = world.index.files[file.path].bases
        plan.agreed |= {identifier: base for identifier, base in known.items() if identifier not in owners}
    plan.again = plan.again or bool(plan.findings or plan.left)
    return plan


def _plan_entry(
    plan: FilePlan,
    number: int,
    entry: LearningEntry,
    base: Base | None,
    memory: Memory | None,
    origin: FileOrigin,
    terms: Terms,
) -> None:
    if memory is not None and memory.kind not in KINDS:
        said = f"its id is that of a memory of another kind ({memory.kind})"
        plan.findings.append(FileProblem(origin.source, entry.block.line, said))
        return
    meant = entry.learning
    if memory is not None:
        superseded = memory.superseded_by is not None
        theirs = learning_of_memory(memory, file_tags=origin.tags)
        if terms.trust is Trust.FILES:
            meant = merged(meant, replace(meant, created_at=theirs.created_at), None, superseded=superseded)
        else:
            meant = merged(meant, theirs, base_for(base, memory), superseded=superseded)
        if superseded and meant.text != theirs.text:
            said = f"memory {memory.id} is superseded by {memory.superseded_by}: it cannot be revised"
            plan.left.append(FileProblem(origin.source, entry.block.line, said))
    elif not entry.named:
        meant = replace(meant, created_at=meant.created_at or origin.since.date())
    try:
        change = of_entry(memory, meant, origin, terms)
    except InvalidInput as error:
        plan.findings.append(FileProblem(origin.source, entry.block.line, str(error)))
        return
    if terms.trust is Trust.BOTH and not (entry.named and says_enough(entry.learning, meant)):
        plan.edits.append(Edit(number, meant))
    if not change.is_empty:
        plan.changes.append(change)
    plan.agreed[meant.id] = _base(change.memory, origin.tags)


def _plan_chunks(plan: FilePlan, read: Read, origin: FileOrigin, world: World, terms: Terms) -> None:
    for identifier, chunk in read.chunks.items():
        try:
            change = of_chunk(world.memories.get(identifier), identifier, chunk, origin, terms)
        except InvalidInput as error:
            line = read.file.text.count("\n", 0, chunk.offset) + 1
            plan.findings.append(FileProblem(read.file.path, line, str(error)))
            continue
        plan.chunks.append(identifier)
        if not change.is_empty:
            plan.changes.append(change)


def _copied(
    file: VaultFile, entry: LearningEntry, owner: str, twin: Learning | None, world: World
) -> Iterable[FileProblem]:
    """The problems of an entry whose id another file owns: none for an exact copy, one for a different text."""
    identifier = entry.learning.id
    if owner in world.read:
        texts = {one.learning.text for one in world.read[owner].file.entries if one.learning.id == identifier}
        copied = entry.learning.text in texts
    else:
        copied = agreed(entry.learning)["text"] == world.unchanged[owner].bases[identifier].agreed["text"]
    if copied and twin is None:
        return
    said = f"id: {identifier} is already in {owner} with another text; this entry is not used"
    yield FileProblem(file.path, entry.block.line, said)


def _written_down(
    memory: Memory, path: str | None, files: dict[str, FilePlan], world: World, terms: Terms
) -> Iterable[FileProblem]:
    """Append a learning formed in the store to the file of its owner. Returns the problems."""
    place = place_of_memory(memory, pinned_tag=terms.pinned_tag)
    if path is None:
        yield FileProblem(str(memory.id), None, f"no file can be named for {_spoken(place)}")
        return
    read = world.read.get(path)
    if world.is_unclear(path) or (read is not None and read.file.findings):
        yield FileProblem(str(memory.id), None, f"{path} has findings: nothing is written to it")
        return
    try:
        origin = FileOrigin.of(terms, place, path, terms.now)
        learning = learning_of_memory(memory, file_tags=origin.tags)
        change = of_entry(memory, learning, origin, terms)
    except InvalidInput as error:
        yield FileProblem(str(memory.id), None, f"cannot be written as an entry of {path}: {error}")
        return
    plan = files[path]
    plan.appended.append(learning)
    if not change.is_empty:
        plan.changes.append(change)
    plan.agreed[memory.id] = _base(change.memory, origin.tags)


def is_marked(memory: Memory, vault: str) -> bool:
    """Whether the memory's metadata names the vault."""
    return memory.metadata.get(VAULT) == vault and memory.metadata.get(ENTRY) == str(memory.id)


def _gone(world: World, here: Collection[UUID], terms: Terms) -> list[Change]:
    """Changes that retire the memories no longer in the vault, unless an unreadable file may hold them."""
    before = world.index.owners()
    gone: list[Change] = []
    for identifier, memory in world.memories.items():
        path = before.get(identifier) or memory.source or ""
        stood = identifier in before or is_marked(memory, terms.vault)
        if not stood or identifier in here or memory.status is not Status.ACTIVE or world.is_unclear(path):
            continue
        read = world.read.get(path)
        if read is not None and read.file.findings and memory.kind != DOCUMENT:
            continue  # it may belong to one of the unreadable headers
        gone.append(retiring(memory, path, f"its entry was deleted from {path} in the vault"))
    return gone


def _base(memory: Memory, tags: tuple[str, ...]) -> Base:
    return Base(agreed(learning_of_memory(memory, file_tags=tags)), memory.recorded_at)


def _spoken(place: VaultOwner) -> str:
    job = "" if place.job is None else f", job {place.job!r}"
    return ("the workspace" if place.project is None else f"project {place.project!r}") + job


def _since(path: str, modified: int) -> datetime:
    """The creation time of entries without one: the last date in the path, else the file's modification date."""
    for year, month, day in reversed(_DAY.findall(path)):
        try:
            return moment_of(date(int(year), int(month), int(day)))
        except ValueError:
            continue
    return moment_of((_EPOCH + timedelta(microseconds=modified // 1000)).date())
