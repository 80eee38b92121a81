"""Sealed backups: what an erasure leaves readable in backups that were made before it."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from remembrancer import Remembrancer, compose, restore_backup
from remembrancer.adapters import encryption
from remembrancer.adapters.encryption import EncryptionKey, FileKey
from remembrancer.adapters.relational.schema import Table, current_version, migrations, tables
from remembrancer.adapters.relational.sqlite import ciphers, row_keys, sealed
from remembrancer.adapters.relational.sqlite.dialect import SqliteConnection, connect, connect_immutable
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.sqlite.row_keys import BACKUPS
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.event import Origin
from remembrancer.errors import InvalidInput, StoreUnavailable
from remembrancer.language.cues import analysed
from remembrancer.ports.transfer import RestoreReport
from remembrancer.testing.contract.world import populate
from remembrancer.testing.doubles import SCOPE, FixedClock, HashEmbedder

KEY = "00112233445566778899aabbccddeeff" * 2
OTHER = "ffeeddccbbaa99887766554433221100" * 2
CANARY = "chrysoprase"
SEALED = {"sealed_backups": True, "background_index": False}


def opened(path: Path, agent: str = "ana", *, key: str = KEY, session: str | None = None) -> Remembrancer:
    return Remembrancer.open(
        str(path),
        workspace="acme",
        agent=agent,
        embedder=HashEmbedder(64),
        encryption_key=key,
        settings=SEALED,
        clock=FixedClock(),
        session=session,
    )


@pytest.fixture(autouse=True)
def quick_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "COST", {"n": 16, "r": 8, "p": 1})


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A store of two agents, of whom ana spoke of chrysoprase."""
    path = tmp_path / "store.db"
    with opened(path, session="one") as rem:
        rem.observe_many([{"text": f"ana keeps {CANARY} number {n} in the safe", "key": f"a{n}"} for n in range(20)])
        rem.remember(f"the {CANARY} is ana's", title=CANARY, metadata={"stone": CANARY}, tags=[CANARY])
        rem.jobs.index_now()
    with opened(path, "bob") as rem:
        rem.observe_many([{"text": f"bob keeps turquoise number {n} in the drawer"} for n in range(20)])
        rem.jobs.index_now()
        found = rem.recall(f"who keeps {CANARY}?", limit=3, keep=True)
        rem.mark(found.hits, "used", query=f"who keeps {CANARY}?")
        turquoise = rem.recall("turquoise number 3", limit=1)
        rem.outcome("failure", memories=turquoise, task=f"find the {CANARY}", note=f"{CANARY} is elsewhere")
    return path


def backed_up(path: Path) -> Path:
    backup = path.with_name("backup.db")
    with opened(path) as rem:
        assert rem.backup(backup).sealed
    return backup


def restored(path: Path, backup: Path, name: str = "restored.db", key: str = KEY) -> tuple[Path, RestoreReport]:
    """The backup restored beside the keys that there are now."""
    target = path.with_name(name)
    shutil.copy(row_keys.path_of(str(path)), row_keys.path_of(str(target)))
    return target, restore_backup(backup, str(target), encryption_key=key)


def readable(path: Path, backup: Path) -> bytes:
    """All that can be read of a backup with every key that there is."""
    with row_keys.opened(str(path), EncryptionKey(KEY)) as keys:
        container = connect_immutable(backup, FileKey(keys.of(BACKUPS)[1], ciphers.sealed_salt_of(str(backup))))
        with closing(container):
            found = [repr(list(container.execute("SELECT contents FROM meta"))).encode()]
            for part, owner, box, log_owner, log in container.execute(
                "SELECT part, owner, box, log_owner, log FROM sealed"
            ):
                for number, one in ((owner, box), (log_owner, log)):
                    key = None if number is None else keys.numbered(number)
                    found.append(one or b"" if key is None else repr(sealed.unsealed(key, one, part)).encode())
    return b"\n".join(found)


class TestABackup:
    def test_nothing_of_it_can_be_read_without_the_keys(self, path: Path) -> None:
        content = backed_up(path).read_bytes()
        assert not any(one in content for one in (CANARY.encode(), b"turquoise", b"ana", b"CREATE TABLE"))

    def test_every_row_comes_back(self, tmp_path: Path) -> None:
        path = tmp_path / "world.db"

        async def fill() -> None:
            store = RelationalStore(SqliteFile(str(path), encryption=EncryptionKey(KEY)), analyse=analysed)
            await populate(store, SCOPE)
            await populate(store, replace(SCOPE, workspace="globex"), prefix="globex: ")
            await store.close()

        asyncio.run(fill())
        with opened(path) as rem:
            rem.erase(ids=[rem.remember("Quokkas juggle vermilion zithers").id])
        target, report = restored(path, backed_up(path))
        assert report.unreadable == 0
        compared = compose.compare_stores(str(path), str(target), encryption_key=KEY)
        assert (compared.difference, compared.is_whole) == ("", True)

    def test_a_restored_store_is_sound_and_finds_by_words_and_by_meaning(self, path: Path) -> None:
        asked = "cleo asks whether to be or not to be"
        with opened(path, "cleo") as rem:
            rem.observe(asked)
        target, _ = restored(path, backed_up(path))
        with opened(target, session="one") as rem:
            assert rem.recall(f"{CANARY} number 7", limit=1)[0].memory.text.startswith(f"ana keeps {CANARY} number 7")
            assert [finding for finding in rem.health.doctor() if not finding.ok] == []
            assert rem.observe("one more").seq == 21
        with Remembrancer.open(str(target), workspace="acme", embedder="none", encryption_key=KEY) as rem:
            assert [hit.memory.text for hit in rem.recall("to be or not to be")] == [asked]  # found as a phrase

    def test_it_is_opened_by_restore_only(self, path: Path) -> None:
        backup = backed_up(path)
        with pytest.raises(StoreUnavailable, match="is a sealed backup; `remembrancer restore` opens it"):
            opened(backup)
        with pytest.raises(StoreUnavailable, match="is a sealed backup"):
            restore_backup(backup, str(path.with_name("new.db")))

    def test_a_store_without_encryption_has_none(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput, match="sealed_backups"):
            Remembrancer.open(str(tmp_path / "plain.db"), embedder="none", settings=SEALED)

    def test_a_flipped_bit_is_an_error(self, path: Path) -> None:
        backup = backed_up(path)
        content = bytearray(backup.read_bytes())
        content[len(content) // 2] ^= 1
        backup.write_bytes(content)
        with pytest.raises(StoreUnavailable):
            restored(path, backup)
        assert not path.with_name("restored.db").exists()

    def test_every_table_is_sealed_but_those_that_hold_no_text(self) -> None:
        """A new table is sealed as a log, until somebody says whose it is."""
        unsealed = {table.name for table in tables() if sealed.owner_of(table)[0] == "NULL"}
        assert unsealed == sealed.IN_NO_MEMORY


def an_agent(rem: Remembrancer) -> None:
    rem.erase(agent="ana")


def a_session(rem: Remembrancer) -> None:
    rem.erase(session="one")


def an_origin(rem: Remembrancer) -> None:
    for origin in Origin:
        rem.erase(agent="ana", origin=origin)


def memories(rem: Remembrancer) -> None:
    rem.erase(ids=[one.id for one in rem.recent(limit=100) if CANARY in one.text])


def memories_and_events(rem: Remembrancer) -> None:
    rem.erase(events=[one.id for one in rem.journal.list(limit=100) if CANARY in one.text])
    memories(rem)


class TestAfterAnErasure:
    @pytest.mark.parametrize("erase", [an_agent, a_session, an_origin, memories, memories_and_events])
    def test_nothing_that_was_erased_can_be_read_in_an_older_backup(
        self, path: Path, erase: Callable[[Remembrancer], None]
    ) -> None:
        backup = backed_up(path)
        assert CANARY.encode() in readable(path, backup)
        with opened(path) as rem:
            erase(rem)
            assert all(one.purged_at is not None for one in rem.erasures())
        found = readable(path, backup)
        assert CANARY.encode() not in found
        assert b"turquoise number 19" in found

    def test_an_earlier_text_from_an_erased_session_cannot_be_read(self, path: Path) -> None:
        with opened(path, "bob", session="one") as rem:
            note = rem.remember("the safe has the password amaranth")
        with opened(path, "bob", session="two") as rem:
            rem.update(note.id, text="the safe has a new lock")
        backup = backed_up(path)
        assert b"amaranth" in readable(path, backup)
        with opened(path, "bob") as rem:
            rem.erase(agent="bob", session="one")
        assert b"amaranth" not in readable(path, backup)

    def test_others_are_restored_as_they_were(self, path: Path) -> None:
        backup = backed_up(path)
        with opened(path) as rem:
            rem.erase(agent="ana")
        target, report = restored(path, backup)
        assert report.unreadable > 40
        compared = compose.compare_stores(str(path), str(target), encryption_key=KEY)
        same = {one.table for one in compared.tables if one.workspace == "acme" and one.digest == one.target_digest}
        assert {"events", "memories", "cues", "embeddings", "memory_events"} <= same
        with opened(target, "bob") as rem:
            assert rem.recall("turquoise number 7", limit=1)
            assert CANARY not in str(rem.recall(f"{CANARY} turquoise", limit=5).hits)
            # The trail of that time names ana, whose name was erased since.
            assert {finding.check for finding in rem.health.doctor() if not finding.ok} <= {"audit trail"}

    def test_the_receipt_names_no_sealed_backups(self, path: Path) -> None:
        with opened(path) as rem:
            receipt = rem.erase(agent="ana")
        assert [one.what for one in receipt.left if "copies" in one.what] == [
            "exports, copies of the database that are not sealed backups, and files that were ingested"
        ]

    def test_a_backup_that_is_being_sealed_delays_the_destruction(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        backup = backed_up(path)
        monkeypatch.setattr(row_keys, "PATIENCE_S", 0.01)
        with opened(path) as rem:
            with row_keys.opened(str(path), EncryptionKey(KEY)):
                receipt = rem.erase(agent="ana")
            assert receipt.purged_at is None
            assert "keys of sealed backups are not destroyed yet" in receipt.left[-1].why
            assert CANARY.encode() in readable(path, backup)
            rem.maintain()
            assert rem.erasures()[0].purged_at is not None
        assert CANARY.encode() not in readable(path, backup)

    def test_rows_that_only_a_later_backup_has_are_erased_with_their_scope(self, path: Path) -> None:
        before = path.read_bytes()
        with opened(path) as rem:
            rem.observe(f"ana sold the {CANARY}")
        backup = backed_up(path)
        for one in path.parent.glob(f"{path.name}-*"):
            one.unlink()
        path.write_bytes(before)
        with opened(path) as rem:
            rem.erase(agent="ana")
        assert b"sold" not in readable(path, backup)


class TestTheKeys:
    def test_without_them_nothing_is_restored(self, path: Path) -> None:
        backup = backed_up(path)
        with pytest.raises(StoreUnavailable, match=r"new\.db\.keys: is missing; it has the keys of sealed backups"):
            restore_backup(backup, str(path.with_name("new.db")), encryption_key=KEY)
        assert not path.with_name("new.db").exists()

    def test_those_of_another_store_are_refused(self, path: Path) -> None:
        backup = backed_up(path)
        row_keys.path_of(str(path)).unlink()
        backed_up_again = path.with_name("again.db")
        with opened(path) as rem:
            rem.backup(backed_up_again)
        with pytest.raises(StoreUnavailable, match=r"store\.db\.keys has not the keys of this backup"):
            restore_backup(backup, str(path), replace=True, encryption_key=KEY)

    def test_they_are_encrypted_with_the_key_of_the_store(self, path: Path) -> None:
        backed_up(path)
        assert ciphers.is_encrypted(str(row_keys.path_of(str(path))))
        with (
            pytest.raises(StoreUnavailable, match="is not the key of this file"),
            row_keys.opened(str(path), EncryptionKey(OTHER)),
        ):
            pass

    def test_a_change_of_the_key_leaves_older_backups_readable(self, path: Path) -> None:
        backup = backed_up(path)
        before = backup.read_bytes()
        compose.change_encryption(str(path), old=KEY, new=OTHER)
        compose.change_encryption(str(path), old=OTHER, new="a passphrase of Zoe")
        _, report = restored(path, backup, key="a passphrase of Zoe")
        assert (report.unreadable, backup.read_bytes()) == (0, before)

    def test_a_change_that_changed_only_the_keys_goes_on(self, path: Path) -> None:
        backup, store = backed_up(path), path.read_bytes()
        compose.change_encryption(str(path), old=KEY, new=OTHER)
        path.write_bytes(store)  # as if the process had been killed between the two files
        compose.change_encryption(str(path), old=KEY, new=OTHER)
        assert restored(path, backup, key=OTHER)[1].unreadable == 0

    def test_a_store_that_has_them_is_not_decrypted(self, path: Path) -> None:
        backed_up(path)
        with pytest.raises(StoreUnavailable, match="has the keys of sealed backups"):
            compose.change_encryption(str(path), old=KEY, new=None)

    def test_a_second_backup_uses_the_same_keys(self, path: Path) -> None:
        backed_up(path)
        with row_keys.opened(str(path), EncryptionKey(KEY)) as keys:
            first = keys.numbered(1), keys.numbered(2)
        with opened(path) as rem:
            rem.backup(path.with_name("second.db"))
        with row_keys.opened(str(path), EncryptionKey(KEY)) as keys:
            assert (keys.numbered(1), keys.numbered(2)) == first


def test_a_backup_of_the_version_before_is_restored_and_migrated(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    version = current_version() - 1
    path, backup, target = (tmp_path / name for name in ("store.db", "backup.db", "target.db"))
    backup.touch()
    with closing(connect(str(path), key=EncryptionKey(KEY).of_file(ciphers.new_salt()))) as source:
        for step in migrations()[:version]:
            source.execute(step.sql)
        source.execute("INSERT INTO positions (workspace, last) VALUES ('acme', 7)")
        source.execute("BEGIN")
        with monkeypatch.context() as older:
            older.setattr(sealed, "current_version", lambda: version)
            older.setattr(sealed, "tables", lambda: tuple(_as_in(source)))
            sealed.write(source, backup, str(path), EncryptionKey(KEY), None)
    shutil.copy(row_keys.path_of(str(path)), row_keys.path_of(str(target)))
    restore_backup(backup, str(target), encryption_key=KEY)
    with opened(target) as rem:
        rem.observe("one more")
    assert {one.name for one in tmp_path.glob("target.db*")} == {"target.db", "target.db.keys"}
    with closing(connect(str(target), key=ciphers.file_key(str(target), EncryptionKey(KEY), ""))) as there:
        assert there.execute("SELECT last FROM positions").get == 8
        assert there.pragma("user_version") == current_version()


def _as_in(source: SqliteConnection) -> Iterator[Table]:
    """The tables as they are in an older file."""
    for table in tables():
        found = {row[1] for row in source.execute(f"PRAGMA table_info({table.name})")}
        if found:
            parents = tuple(one for one in table.parents if one[0] in found)
            yield replace(table, columns=tuple(one for one in table.columns if one in found), parents=parents)
