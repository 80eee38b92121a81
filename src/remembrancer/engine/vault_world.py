"""Gathering the input of a sync: files that may have changed, and memories that are or were in the vault."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from typing import Final
from uuid import UUID

from remembrancer.domain.memory import Memory
from remembrancer.domain.query import Filter
from remembrancer.domain.scope import Reader, Scope
from remembrancer.engine.context import Context, every_memory
from remembrancer.policies.learning.learnings import KINDS
from remembrancer.policies.vault import planning
from remembrancer.policies.vault.changes import VAULT, Terms
from remembrancer.policies.vault.files import FileProblem, VaultFile, parsed
from remembrancer.policies.vault.index import Known, VaultIndex
from remembrancer.ports.vault import Content, Scan, VaultFiles
from remembrancer.values import dataclass

_FILES_AT_ONCE: Final = 256
_MEMORIES_AT_ONCE: Final = 2_000
_TICK: Final = 2_000_000_000
"""Nanoseconds: the coarsest resolution of a file system's clock. A file modified within this time before the index was
written may have changed again since.
"""


@dataclass(frozen=True, slots=True)
class VaultContents:
    """The input of a plan, with the parsed files in `contents`, by path. `findings`: what could not be read."""

    world: planning.World
    scan: Scan
    contents: Mapping[str, Content]
    findings: tuple[FileProblem, ...]


async def gather(ctx: Context, files: VaultFiles, terms: Terms, index: VaultIndex) -> VaultContents:
    """Gather the input of a sync. Writes nothing. Raises InvalidInput if the vault is not a folder."""
    scan = await files.scan()
    reading = _Reading(ctx, files, terms, index, scan)
    await reading.files_that_look_changed()
    await reading.look_up(index.owners())
    await reading.marked()
    await reading.files_that_the_store_disagrees_with()
    formed = await reading.formed()
    targets = planning.new_places(formed, {*reading.parsed, *reading.unchanged}, terms)
    await reading.read({path for path in targets.values() if path in reading.unchanged}, again=True)
    unclear = {*scan.refused, *(f"{path.removesuffix('/')}/" for path in scan.refused), *reading.unreadable}
    world = planning.World(
        index=index,
        read={path: reading.as_read(path) for path in sorted(reading.parsed)},
        unchanged=reading.unchanged,
        unclear=frozenset(unclear),
        memories=reading.memories,
        formed=formed,
    )
    refused = {**scan.refused, **reading.unreadable}
    findings = tuple(FileProblem(path, None, refused[path]) for path in sorted(refused))
    return VaultContents(world, scan, reading.contents, findings)


@dataclass(slots=True)
class _Reading:
    """The state of the gathering. `unreadable`: files that cannot be read, and why."""

    ctx: Context
    files: VaultFiles
    terms: Terms
    index: VaultIndex
    scan: Scan
    contents: dict[str, Content] = field(default_factory=dict[str, Content])
    parsed: dict[str, VaultFile] = field(default_factory=dict[str, VaultFile])
    unchanged: dict[str, Known] = field(default_factory=dict[str, Known])
    unreadable: dict[str, str] = field(default_factory=dict[str, str])
    memories: dict[UUID, Memory] = field(default_factory=dict[UUID, Memory])
    looked_up: set[UUID] = field(default_factory=set[UUID])

    @property
    def scope(self) -> Scope:
        return Scope(workspace=self.terms.workspace)

    async def files_that_look_changed(self) -> None:
        """Files whose time or size changed, or that were modified too recently to tell."""
        changed: list[str] = []
        for path, stat in self.scan.files.items():
            known = self.index.files.get(path)
            same = known is not None and (known.modified, known.size) == (stat.modified, stat.size)
            if known is not None and same and stat.modified + _TICK < self.scan.indexed_at:
                self.unchanged[path] = known
            else:
                changed.append(path)
        await self.read(changed, again=False)

    async def files_that_the_store_disagrees_with(self) -> None:
        disagreeing = [
            path
            for path, known in self.unchanged.items()
            if not planning.same_as_agreed(known, path, self.memories, self.terms)
        ]
        await self.read(disagreeing, again=True)

    async def read(self, paths: Iterable[str], *, again: bool) -> None:
        """Read and parse files: those whose content changed, or all with `again`."""
        several = sorted(paths)
        for start in range(0, len(several), _FILES_AT_ONCE):
            found = await self.files.read(several[start : start + _FILES_AT_ONCE])
            for path, content in found.items():
                self._take(path, content, again=again)
        fresh = [path for path in several if path in self.parsed]
        await self.look_up(entry.learning.id for path in fresh for entry in self.parsed[path].entries)
        await self.look_up(chunk for path in fresh for chunk in planning.chunks_of(self.parsed[path], self.terms.vault))

    def _take(self, path: str, content: Content | str, *, again: bool) -> None:
        self.unchanged.pop(path, None)
        if isinstance(content, str):
            self.unreadable[path] = content
            return
        known = self.index.files.get(path)
        if known is not None and known.modified >= 0 and known.digest == content.digest and not again:
            self.unchanged[path] = replace(known, modified=content.stat.modified, size=content.stat.size)
            return
        self.contents[path] = content
        self.parsed[path] = parsed(path, content.text)

    def as_read(self, path: str) -> planning.Read:
        file = self.parsed[path]
        return planning.Read(file, self.contents[path].stat.modified, planning.chunks_of(file, self.terms.vault))

    async def look_up(self, ids: Iterable[UUID]) -> None:
        """Look up the memories of ids that were not looked up yet, whatever their status."""
        missing = [identifier for identifier in dict.fromkeys(ids) if identifier not in self.looked_up]
        self.looked_up.update(missing)
        for start in range(0, len(missing), _MEMORIES_AT_ONCE):
            found = await self.ctx.store.get(Reader(self.scope), missing[start : start + _MEMORIES_AT_ONCE])
            self.memories.update(found)

    async def marked(self) -> None:
        """Look up the memories whose metadata names this vault, even if the index does not have them."""
        where = Filter(current_at=self.terms.now, metadata=((VAULT, self.terms.vault),))
        async for memory in every_memory(self.ctx, self.scope, where):
            if planning.is_marked(memory, self.terms.vault):
                self.memories.setdefault(memory.id, memory)

    async def formed(self) -> list[Memory]:
        """Active learnings that are and were in no file."""
        stood = {entry.learning.id for file in self.parsed.values() for entry in file.entries}
        stood |= set(self.index.owners())
        where = Filter(current_at=self.terms.now, kinds=KINDS)
        return [
            memory
            async for memory in every_memory(self.ctx, self.scope, where)
            if memory.id not in stood
            and not planning.is_marked(memory, self.terms.vault)
            and planning.belongs(memory, self.terms)
        ]
