"""A life of a store whose file operations are recorded: it begins in an empty folder, or with a file of version 1."""

from __future__ import annotations

import argparse
import asyncio
import logging
import pickle
import random
import sys
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

import apsw

from benchmarks.power_cut.disk import Recording
from benchmarks.power_cut.recording import Recorder
from remembrancer import AsyncRemembrancer, restore_backup
from remembrancer.adapters.relational.schema import migrations
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.schema import APPLICATION_ID
from remembrancer.index import workspace
from remembrancer.testing.doubles import FixedClock, HashEmbedder

if TYPE_CHECKING:
    from remembrancer.adapters.relational.store import RelationalStore

STORE: Final = "store.db"
BACKUP: Final = "copy.db"
EXPORT: Final = "rows.jsonl"
DIM: Final = 64
TOGETHER: Final = 4
"""The events of one `observe_many`, whose texts begin with the same word."""
ERASED: Final = "quokkazither"
"""The beginning of the word that an erased text contains, and no other text does."""
VERSION_1: Final = "version-1"
LIFE: Final = "life"
KINDS: Final = (LIFE, VERSION_1)


async def opened(folder: Path, *, full_sync: bool, clock: Any, index: Any = None) -> AsyncRemembrancer:
    return await AsyncRemembrancer.open(
        str(folder / STORE),
        workspace="acme",
        agent="ana",
        session="monday",
        role="LEAD",
        embedder=HashEmbedder(DIM),
        index=index,
        clock=clock,
        settings={"background_index": False, "full_sync": full_sync},
    )


class _Life:
    """The steps. Each is marked in the recording before it begins and when it was acknowledged."""

    def __init__(self, recorder: Recorder, *, full_sync: bool, seed: int) -> None:
        self._recorder = recorder
        self._full_sync = full_sync
        self._chance = random.Random(seed)
        self._clock = FixedClock()
        self._number = 0
        self._rem: AsyncRemembrancer | None = None
        self._notes: list[UUID] = []
        self._secrets: dict[UUID, str] = {}

    @property
    def rem(self) -> AsyncRemembrancer:
        assert self._rem is not None
        return self._rem

    async def do(self, step: str) -> None:
        self._number += 1
        self._clock.advance(timedelta(minutes=1))
        self._recorder.mark(step)
        details: dict[str, Any] = await getattr(self, f"_{step}")() or {}
        self._recorder.mark(step, done=True, **details)

    async def _open(self) -> None:
        self._rem = await opened(self._recorder.folder, full_sync=self._full_sync, clock=self._clock)

    async def _close(self) -> None:
        await self.rem.close()
        self._rem = None

    async def _observe(self) -> None:
        await self.rem.observe(f"kestrel{self._number} sat on the wire")

    async def _observe_together(self) -> None:
        await self.rem.observe_many([{"text": f"batch{self._number} part {n} of the flock"} for n in range(TOGETHER)])

    async def _tell_secret(self) -> None:
        word = f"{ERASED}{self._number}"
        self._secrets[(await self.rem.observe(f"{word} hid behind the barn")).id] = word

    async def _remember(self) -> None:
        self._notes.append((await self.rem.remember(f"wren{self._number} nests in the wall", topic_key="wren")).id)

    async def _remember_anew(self) -> None:
        await self.rem.remember(f"wren{self._number} has left the wall", topic_key="wren")

    async def _remember_more(self) -> None:
        self._notes.append((await self.rem.remember(f"heron{self._number} waits by the pond")).id)

    async def _supersede(self) -> None:
        old = await self.rem.remember(f"swift{self._number} is early")
        new = await self.rem.remember(f"swift{self._number} is late")
        await self.rem.supersede(old.id, new.id)

    async def _forget(self) -> None:
        rook = await self.rem.remember(f"rook{self._number} is of no interest")
        await self.rem.forget(rook.id)

    async def _rate(self) -> None:
        await self.rem.feedback(self._notes[-1], "helpful")

    async def _index(self) -> None:
        await self.rem.jobs.index_now()

    async def _end_session(self) -> None:
        await self.rem.end_session()

    async def _consolidate(self) -> None:
        await self.rem.consolidate()

    async def _sleep(self) -> None:
        await self.rem.sleep()

    async def _maintain(self) -> None:
        await self.rem.maintain(force=True)

    async def _ask_and_keep_index(self) -> None:
        """Leave a file of the index."""
        await self.rem.recall("where did the kestrel sit?")
        await self.rem.context.index.save(self.rem.context.store)

    async def _erase(self) -> dict[str, Any]:
        event, word = self._secrets.popitem()
        vectors = await self._vectors_of(word)
        receipt = await self.rem.erase(events=[event])
        assert receipt.purged_at is not None, receipt.left
        return {"absent": [word.encode(), *vectors]}

    async def _vectors_of(self, word: str) -> list[bytes]:
        """The vectors of the cues that contain a word, without their scales."""
        statement = (
            "SELECT v.vector FROM embeddings v JOIN cues c ON c.n = v.cue JOIN events e ON e.n = c.event"
            " WHERE e.text LIKE ?"
        )
        return await cast("RelationalStore", self.rem.context.store).database.read(
            lambda connection: [bytes(data)[:DIM] for (data,) in connection.execute(statement, (f"{word}%",))]
        )

    async def _back_up(self) -> dict[str, Any]:
        await self.rem.backup(self._recorder.folder / BACKUP)
        return {"whole": BACKUP}

    async def _export(self) -> dict[str, Any]:
        await self.rem.export(self._recorder.folder / EXPORT)
        return {"whole": EXPORT}

    async def _leave_log(self) -> None:
        """Close the store, but leave the log next to it, as a killed process does."""
        other = connect(str(self._recorder.folder / STORE), create=False)
        other.pragma("user_version")
        await self._close()
        other.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        other.close()

    async def _restore(self) -> None:
        restore_backup(self._recorder.folder / BACKUP, str(self._recorder.folder / STORE), replace=True)


PROLOGUE: Final = (
    "open", "observe", "observe_together", "tell_secret", "tell_secret", "remember", "remember_anew", "supersede",
    "forget", "rate", "index", "ask_and_keep_index", "end_session", "maintain", "index", "ask_and_keep_index", "erase",
    "observe", "back_up", "export", "ask_and_keep_index", "close",
)  # fmt: skip
EPILOGUE: Final = ("open", "observe", "erase", "remember_more", "leave_log", "restore", "open", "observe", "close")
BETWEEN: Final = (
    "observe", "observe_together", "remember_more", "remember_anew", "supersede", "forget", "rate", "index",
    "end_session", "consolidate", "sleep", "maintain", "ask_and_keep_index",
)  # fmt: skip
"""The steps that are drawn between the two, by the seed."""


async def live(recorder: Recorder, *, full_sync: bool, seed: int, more: int) -> None:
    """`more`: the number of steps between the prologue and the epilogue."""
    life, chance = _Life(recorder, full_sync=full_sync, seed=seed), random.Random(seed)
    for step in PROLOGUE:
        await life.do(step)
    if more:
        await life.do("open")
        for _ in range(more):
            await life.do(chance.choice(BETWEEN))
            if chance.random() < 0.15:
                for step in ("tell_secret", "index", "ask_and_keep_index", "erase"):
                    await life.do(step)
            if chance.random() < 0.1:
                await life.do("close")
                await life.do("open")
        await life.do("close")
    for step in EPILOGUE:
        await life.do(step)


async def migrate(recorder: Recorder, *, full_sync: bool, seed: int) -> None:
    life = _Life(recorder, full_sync=full_sync, seed=seed)
    for step in ("open", "observe", "maintain", "remember_more", "close"):
        await life.do(step)


def old_file(path: Path) -> None:
    """A file of version 1 without checksums, with two memories."""
    connection: Any = apsw.Connection(str(path), vfs="unix")
    connection.pragma("journal_mode", "wal")
    connection.execute(migrations()[0].sql)
    for n, text in enumerate(("the deploy failed", "rolled it back"), start=1):
        connection.execute(
            "INSERT INTO memories (n, workspace, id, project, crew, agent, session, visibility, tier, kind, text,"
            " origin, occurred_from, occurred_to, recorded_at, revision, tags, metadata, status, importance, priority,"
            " confidence, surprise, retrieved, shown, used, helped, harmed, change)"
            " VALUES (?, 'acme', ?, '', '', '', '', 'workspace', 'episodic', 'note', ?, 'user', 0, 0, 0, 1, '[]', '{}',"
            " 'active', 0.5, 5, 0.5, 0, 0, 0, 0, 0, 0, ?)",
            (n, n.to_bytes(16, "big"), text, n),
        )
        connection.execute(
            "INSERT INTO cues (n, workspace, memory, ordinal, heading, text, terms, length)"
            " VALUES (?, 'acme', ?, 0, '', ?, x'', 0)",
            (n, n, text),
        )
        connection.execute("INSERT INTO cues_fts (rowid, words) VALUES (?, ?)", (n, text))
    connection.execute(
        f"UPDATE sequence SET change = 2; PRAGMA application_id = {APPLICATION_ID}; PRAGMA user_version = 1"
    )
    connection.close()


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.power_cut.workload", description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("out", type=Path, help="the file that receives the recording")
    parser.add_argument("--kind", choices=KINDS, default=LIFE)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--more", type=int, default=0)
    parser.add_argument("--full-sync", action="store_true")
    return parser


def main() -> None:
    options = _parser().parse_args()
    logging.disable()
    if options.kind == VERSION_1:
        old_file(options.folder / STORE)
    recorder = Recorder(options.folder)  # before the checksum VFS is loaded
    workspace.LEAST_WRITTEN, workspace.WRITTEN_SHARE = 1, 1_000_000  # type: ignore[misc]
    if options.kind == VERSION_1:
        asyncio.run(migrate(recorder, full_sync=options.full_sync, seed=options.seed))
    else:
        asyncio.run(live(recorder, full_sync=options.full_sync, seed=options.seed, more=options.more))
    options.out.write_bytes(pickle.dumps(Recording(recorder.before, recorder.operations)))


if __name__ == "__main__":
    sys.exit(main())
