"""The check of a valid file."""

from __future__ import annotations

import asyncio
from pathlib import Path

from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.language.cues import analysed
from remembrancer.ports.inspection import Finding
from remembrancer.testing.doubles import SCOPE, a_memory, indexed


def test_a_sound_file_is_sound_however_often_it_is_looked_at_while_it_grows(tmp_path: Path) -> None:
    async def looked_at() -> list[Finding]:
        store = RelationalStore(SqliteFile(str(tmp_path / "growing.db")), analyse=analysed)
        try:
            findings: list[Finding] = []
            for number in range(20):
                await store.insert(SCOPE, indexed(a_memory(f"the saw binds for the {number}. time")))
                findings += await store.check(SCOPE, None)
            return findings
        finally:
            await store.close()

    assert [finding for finding in asyncio.run(looked_at()) if not finding.ok] == []
