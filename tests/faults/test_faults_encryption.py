"""Encrypted stores: what lies on the disk, wrong keys, damaged pages, and keys that are changed in killed processes."""

from __future__ import annotations

import json
import logging
import os
import random
import subprocess
import sys
from contextlib import closing
from pathlib import Path
from typing import IO, Any, cast

import apsw
import pytest

from remembrancer import Remembrancer, restore_backup
from remembrancer.adapters import encryption
from remembrancer.adapters.encryption import EncryptionKey, FileKey
from remembrancer.adapters.relational.sqlite import ciphers, rekeying
from remembrancer.adapters.relational.sqlite import file as sqlite_file
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.compose import change_encryption, encryption_status
from remembrancer.errors import InvalidInput, RemembrancerError, StoreUnavailable
from remembrancer.index import workspace
from remembrancer.testing.doubles import FixedClock, HashEmbedder

KEY = bytes(range(128, 160))
OTHER = "00112233445566778899aabbccddeeff" * 2
CANARIES = ("chrysoprase", "Zanzibar", "quokka-17", "ana-the-agent")
MANY = 60


def opened(path: Path, key: str | bytes | None = KEY) -> Remembrancer:
    return Remembrancer.open(
        str(path),
        agent=CANARIES[3],
        embedder=HashEmbedder(64),
        encryption_key=key,
        settings={"background_index": False},
        clock=FixedClock(),
    )


def fill(path: Path, key: str | bytes | None = KEY, turns: int = MANY) -> None:
    with opened(path, key) as rem:
        rem.observe_many([{"text": f"{CANARIES[0]} {n} was shipped to {CANARIES[1]}"} for n in range(turns)])
        rem.remember(f"{CANARIES[0]} is a stone", title=CANARIES[1], metadata={"who": CANARIES[2]}, tags=[CANARIES[2]])
        rem.jobs.index_now()
        assert rem.recall(CANARIES[0], limit=3)


@pytest.fixture(scope="module")
def traces(tmp_path_factory: pytest.TempPathFactory) -> list[bytes]:
    """What must not be readable: the words, and the hashes of terms and the vectors as a store keeps them."""
    path = tmp_path_factory.mktemp("plain") / "store.db"
    fill(path, None)
    with closing(connect(str(path))) as plain:
        kept = [row[0] for row in plain.execute("SELECT terms FROM cues UNION SELECT vector FROM embeddings")]
        kept += [row[0][:64] for row in plain.execute("SELECT vector FROM embeddings")]
    words = [word for canary in CANARIES for word in (canary.encode(), canary.lower().encode())]
    return [*words, *kept, b"CREATE TABLE", b"SQLite format 3"]


def leaks(folder: Path, traces: list[bytes]) -> list[tuple[str, bytes]]:
    contents = {one.name: one.read_bytes() for one in folder.rglob("*") if one.is_file()}
    return [(name, trace) for name, content in contents.items() for trace in traces if trace in content]


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@pytest.fixture
def small_index(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workspace, "LEAST_WRITTEN", 1)


class TestWhatLiesOnTheDisk:
    @pytest.mark.usefixtures("small_index")
    def test_the_traces_are_found_in_a_store_that_is_not_encrypted(self, path: Path, traces: list[bytes]) -> None:
        fill(path, None)
        found = leaks(path.parent, traces)
        assert {trace for name, trace in found if name == "store.db"} >= {trace for trace in traces if len(trace) > 30}
        assert any(name.endswith(".index") and len(trace) == 64 for name, trace in found)

    @pytest.mark.usefixtures("small_index")
    def test_no_file_of_an_encrypted_store_has_a_trace_while_it_is_open(self, path: Path, traces: list[bytes]) -> None:
        with opened(path) as rem:
            rem.observe_many([{"text": f"{CANARIES[0]} {n} was shipped to {CANARIES[1]}"} for n in range(MANY)])
            rem.jobs.index_now()
            assert {"store.db", "store.db-wal", "store.db-shm"} <= {one.name for one in path.parent.iterdir()}
            assert leaks(path.parent, traces) == []

    @pytest.mark.usefixtures("small_index")
    def test_no_file_has_a_trace_afterwards_nor_the_backup(self, path: Path, traces: list[bytes]) -> None:
        fill(path)
        with opened(path) as rem:
            rem.backup(path.with_name("backup.db"))
        assert any(one.suffix == ".index" for one in path.parent.iterdir())
        assert leaks(path.parent, traces) == []

    @pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
    def test_the_temporary_file_of_a_purge_is_encrypted(
        self, path: Path, traces: list[bytes], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        fill(path, turns=800)
        temporary = path.with_name("temporary")
        temporary.mkdir()
        monkeypatch.setenv("SQLITE_TMPDIR", str(temporary))
        seen: list[bytes] = []

        def look() -> bool:
            for one in Path("/proc/self/fd").iterdir():
                try:
                    if one.readlink().is_relative_to(temporary) and (content := one.read_bytes()):
                        seen.append(content)
                except OSError:
                    continue
            return False

        def watched(file: str, **given: object) -> object:
            connection = connect(file, **given)  # pyright: ignore[reportArgumentType]
            connection.set_progress_handler(look, 5000)  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
            return connection

        monkeypatch.setattr(sqlite_file, "connect", watched)
        monkeypatch.setattr(sqlite_file, "CACHE_KIB", 40)  # so that the copy does not stay in memory
        with opened(path) as rem:
            rem.erase(ids=[rem.recent(limit=1)[0].id])
        assert seen
        assert not any(trace in content for content in seen for trace in traces)


class TestKeys:
    def test_a_wrong_key_is_one_clear_error_and_writes_nothing(self, path: Path) -> None:
        fill(path)
        before = {one.name: one.read_bytes() for one in path.parent.iterdir()}
        with pytest.raises(StoreUnavailable, match="the encryption key is not the key of this file"):
            opened(path, OTHER)
        with pytest.raises(StoreUnavailable, match="is encrypted, and no key is set"):
            opened(path, None)
        assert {one.name: one.read_bytes() for one in path.parent.iterdir()} == before

    def test_a_store_that_is_not_encrypted_is_refused_where_a_key_is_set(self, path: Path) -> None:
        fill(path, None)
        with pytest.raises(StoreUnavailable, match="is not encrypted, although an encryption key is set"):
            opened(path)

    def test_a_passphrase_opens_the_store_again(self, path: Path) -> None:
        fill(path, "correct horse battery")
        with opened(path, "correct horse battery") as rem:
            assert rem.recall(CANARIES[0], limit=1)
        with pytest.raises(StoreUnavailable, match="is not the key of this file"):
            opened(path, "correct horse batterz")

    def test_two_stores_with_one_passphrase_have_different_keys(self) -> None:
        key = EncryptionKey("correct horse battery")
        assert key.of_file(ciphers.new_salt()).key != key.of_file(ciphers.new_salt()).key

    def test_a_raw_key_is_the_key_of_the_pages(self, path: Path) -> None:
        fill(path)
        with closing(cast("Any", apsw).Connection(str(path), vfs=ciphers.require(str(path)))) as other:
            other.pragma("key", f"raw:{KEY.hex()}")
            assert other.execute("SELECT count(*) FROM events").get == MANY

    @pytest.mark.parametrize("key", ["too short", b"\xff" * 31, b"\x00" * 12, "with\nline breaks"])
    def test_a_bad_key_is_refused_and_not_shown(self, path: Path, key: str | bytes) -> None:
        with pytest.raises(InvalidInput, match=r"encryption_key: '\*\*\*' is not allowed; expected 32 bytes"):
            opened(path, key)

    def test_two_sources_of_the_key_are_refused(self, path: Path) -> None:
        with pytest.raises(InvalidInput, match="one source of the key"):
            Remembrancer.open(str(path), settings={"encryption_key": OTHER, "encryption_key_file": "key"})

    def test_an_argument_takes_the_place_of_a_key_file_of_the_environment(
        self, path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("REMEMBRANCER_ENCRYPTION_KEY_FILE", "/nowhere")
        fill(path)

    def test_a_key_file_and_a_command_give_the_same_key(self, path: Path, tmp_path: Path) -> None:
        file = tmp_path / "key file"
        file.write_bytes(KEY)
        fill(path)
        command = f"{sys.executable} -c \"print('{KEY.hex()}')\""
        for settings in ({"encryption_key_file": str(file)}, {"encryption_key_command": command}):
            with Remembrancer.open(str(path), embedder="none", settings=settings) as rem:
                assert rem.health.stats().events == MANY

    @pytest.mark.parametrize("command", ["/nowhere/at all", "false", "", "echo short", "'"])
    def test_a_command_that_gives_no_key_is_refused(self, path: Path, command: str) -> None:
        with pytest.raises(InvalidInput, match="encryption_key_command"):
            Remembrancer.open(str(path), embedder="none", settings={"encryption_key_command": command})
        assert not path.exists()

    @pytest.mark.parametrize(
        ("db", "index", "message"),
        [
            ("postgresql://localhost/memory", "auto", "no key for a database at an address"),
            ("store.db", "qdrant:///points", "another index would hold vectors in plain"),
        ],
    )
    def test_a_place_that_cannot_be_encrypted_is_refused(self, db: str, index: str, message: str) -> None:
        with pytest.raises(InvalidInput, match=message):
            Remembrancer.open(db, index=index, embedder="none", encryption_key=KEY)

    def test_no_log_and_no_error_contains_the_key(self, path: Path, caplog: pytest.LogCaptureFixture) -> None:
        told: list[str] = []
        with caplog.at_level(logging.DEBUG):
            fill(path)
            for key in (OTHER, "a passphrase for canaries"):
                with pytest.raises(RemembrancerError) as caught:
                    opened(path, key)
                told += [str(caught.value), repr(caught.value), repr(caught.value.__cause__)]
        told += [caplog.text, repr(EncryptionKey(OTHER)), repr(EncryptionKey(OTHER).of_file(bytes(16)))]
        assert not any(secret in one for one in told for secret in (KEY.hex(), OTHER, "a passphrase for canaries"))


def test_flipped_bits_are_an_error_and_never_a_wrong_answer(path: Path) -> None:
    fill(path)
    sound, chance = path.read_bytes(), random.Random(7)
    connection = connect(str(path), key=EncryptionKey(KEY.hex()).of_file(sound[:16]))
    expected = list(connection.execute("SELECT * FROM events ORDER BY n"))
    connection.close()
    wrong = found = 0
    for _ in range(60):
        damaged, place = bytearray(sound), chance.randrange(16, len(sound))
        damaged[place] ^= 1 << chance.randrange(8)
        path.write_bytes(damaged)
        try:
            connection = connect(str(path), key=EncryptionKey(KEY.hex()).of_file(sound[:16]))
            try:
                wrong += list(connection.execute("SELECT * FROM events ORDER BY n")) != expected
                found += connection.pragma("integrity_check") != "ok"
            finally:
                connection.close()
        except (apsw.Error, StoreUnavailable):
            found += 1
    assert wrong == 0
    assert found == 60


class TestTheIndexFile:
    @pytest.mark.usefixtures("small_index")
    def test_a_new_process_reads_it(self, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        fill(path)
        monkeypatch.setattr(workspace.WorkspaceIndex, "catch_up", None)  # which a sound file does not need
        with opened(path) as rem:
            assert rem.recall(CANARIES[0], limit=3)

    @pytest.mark.usefixtures("small_index")
    @pytest.mark.parametrize("damage", ["a flipped bit", "a cut", "other chunks", "plain"])
    def test_a_damaged_one_is_written_anew(
        self, path: Path, damage: str, tmp_path_factory: pytest.TempPathFactory, caplog: pytest.LogCaptureFixture
    ) -> None:
        fill(path)
        [index] = path.parent.glob("*.index")
        content = bytearray(index.read_bytes())
        if damage == "a flipped bit":
            content[len(content) // 2] ^= 1
        elif damage == "a cut":
            del content[-100:]
        elif damage == "other chunks":
            other = tmp_path_factory.mktemp("other") / "store.db"
            fill(other)
            content[60:] = next(other.parent.glob("*.index")).read_bytes()[60:]
        else:
            content = bytearray(b"RMBR-IDX" + bytes(8000))
        index.write_bytes(content)
        with opened(path) as rem:
            assert rem.recall(CANARIES[0], limit=3)
        assert "is not read, and written anew" in caplog.text


class TestChangingTheKey:
    def test_a_store_is_encrypted_its_key_changed_and_it_is_decrypted(self, path: Path, traces: list[bytes]) -> None:
        fill(path, None)
        told = [
            change_encryption(str(path), old=None, new=KEY),
            change_encryption(str(path), old=KEY, new=OTHER),
            change_encryption(str(path), old=OTHER, new="a passphrase of Zoe"),
        ]
        assert {one.cipher for one in told} == {ciphers.NAME}
        with opened(path, "a passphrase of Zoe") as rem:
            assert rem.recall(CANARIES[0], limit=3)
        assert leaks(path.parent, traces) == []
        assert change_encryption(str(path), old="a passphrase of Zoe", new=None).cipher is None
        with opened(path, None) as rem:
            assert len(rem.journal.list(limit=1000)) == MANY
            assert all(finding.ok for finding in rem.health.doctor())

    @pytest.mark.usefixtures("small_index")
    def test_nothing_plain_is_left_after_encrypting_but_copies_that_are_named(
        self, path: Path, traces: list[bytes]
    ) -> None:
        fill(path, None)
        copy = path.with_name("store.db.v3.backup")
        copy.write_bytes(path.read_bytes())
        report = change_encryption(str(path), old=None, new=KEY)
        assert report.plain_copies == encryption_status(str(path)).plain_copies == (copy.name,)
        copy.unlink()
        assert leaks(path.parent, traces) == []

    def test_the_bytes_of_the_old_file_are_overwritten(self, path: Path) -> None:
        fill(path, None)
        with path.open("rb") as old:
            change_encryption(str(path), old=None, new=KEY)
            assert not any(old.read())

    def test_a_hard_link_to_the_old_file_keeps_its_bytes(self, path: Path) -> None:
        fill(path, None)
        before = path.read_bytes()
        link = path.with_name("mine")
        os.link(path, link)
        change_encryption(str(path), old=None, new=KEY)
        assert link.read_bytes()[4096:] == before[4096:]  # the first page says that there is no log any more

    def test_a_store_in_use_is_refused(self, path: Path) -> None:
        fill(path, None)
        with opened(path, None), pytest.raises(StoreUnavailable, match="is open in another process; stop it first"):
            change_encryption(str(path), old=None, new=KEY)

    @pytest.mark.parametrize(
        ("old", "new", "message"),
        [
            (OTHER, KEY, "is not the key of this file"),
            (None, OTHER, "is encrypted, and no key is set"),
            (None, None, "new: None is not allowed"),
        ],
    )
    def test_a_wrong_change_is_refused(
        self, path: Path, old: str | None, new: str | bytes | None, message: str
    ) -> None:
        fill(path, KEY)
        before = path.read_bytes()
        with pytest.raises(RemembrancerError, match=message):
            change_encryption(str(path), old=old, new=new)
        assert path.read_bytes() == before

    def test_a_restored_backup_replaces_a_store_with_the_same_key(self, path: Path) -> None:
        fill(path)
        with opened(path) as rem:
            rem.backup(path.with_name("backup.db"))
        restore_backup(path.with_name("backup.db"), str(path), replace=True, encryption_key=KEY)
        names = {one.name for one in path.parent.iterdir()}
        assert names == {"store.db", "backup.db", "store.db.replaced-1"}

    def test_a_backup_needs_its_key_and_is_restored_with_it(self, path: Path) -> None:
        fill(path)
        backup, new = path.with_name("backup.db"), path.with_name("new.db")
        with opened(path) as rem:
            rem.backup(backup)
        with pytest.raises(StoreUnavailable, match="is encrypted, and no key is set"):
            restore_backup(backup, str(new))
        restore_backup(backup, str(new), encryption_key=KEY)
        with opened(new) as rem:
            assert rem.recall(CANARIES[0], limit=1)


SCRIPT = Path(__file__).parents[1] / "fixtures" / "killed_rekey.py"


@pytest.mark.parametrize(("old", "new"), [(None, OTHER), (OTHER, KEY.hex())], ids=["enable", "rotate"])
def test_a_change_that_is_killed_leaves_the_old_file_or_the_new_one_whole(
    path: Path, old: str | None, new: str, tmp_path_factory: pytest.TempPathFactory
) -> None:
    fill(path, old)
    sound = path.read_bytes()
    answers = str(tmp_path_factory.mktemp("answers") / "answer")
    left: set[str] = set()
    with subprocess.Popen(
        [sys.executable, str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as script:
        told, answered = cast("IO[str]", script.stdin), cast("IO[str]", script.stdout)

        def changed(at: int) -> str:
            for one in path.parent.iterdir():
                one.unlink()
            path.write_bytes(sound)
            order = {"path": str(path), "old": old, "new": new, "at": at, "answers": answers}
            told.write(json.dumps(order) + "\n")
            told.flush()
            return json.loads(answered.readline())

        steps = int(changed(0))
        assert steps > 8
        for at in range(1, steps + 1):
            assert changed(at) == "killed"
            is_new = ciphers.is_encrypted(str(path)) and path.read_bytes()[:16] != sound[:16]
            left.add("new" if is_new else "old")
            with closing(connect(str(path), key=file_key(path, new if is_new else old))) as connection:
                assert connection.execute("SELECT count(*) FROM events").get == MANY
                assert connection.pragma("integrity_check") == "ok"
        told.close()
    assert left == {"old", "new"}


def file_key(path: Path, key: str | None) -> FileKey | None:
    return ciphers.file_key(str(path), None if key is None else EncryptionKey(key), str(path))


@pytest.fixture(autouse=True)
def no_keys_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ENCRYPTION_KEY", "ENCRYPTION_KEY_FILE", "ENCRYPTION_KEY_COMMAND"):
        monkeypatch.delenv(f"REMEMBRANCER_{name}", raising=False)


@pytest.fixture(autouse=True)
def quick_passphrases(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(encryption, "COST", {"n": 16, "r": 8, "p": 1})


def test_a_passphrase_takes_128_mib_of_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.undo()
    assert encryption.COST == {"n": 2**17, "r": 8, "p": 1}
    monkeypatch.setattr(encryption, "MEMORY", 127 << 20)
    with pytest.raises(ValueError, match="memory limit"):
        EncryptionKey("correct horse battery").of_file(ciphers.new_salt())


def test_the_status_of_a_missing_file_is_an_error(path: Path) -> None:
    with pytest.raises(InvalidInput, match="there is no file at this path"):
        rekeying.status(path)
