"""Files that are damaged, missing, read-only or on a full disk: one clear error each, no hang, nothing half done."""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
import tempfile
import textwrap
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from remembrancer import Remembrancer
from remembrancer.adapters.relational.connection import Connection
from remembrancer.adapters.relational.sqlite import checksums
from remembrancer.adapters.relational.sqlite import file as sqlite_file
from remembrancer.adapters.relational.sqlite.dialect import connect
from remembrancer.adapters.relational.sqlite.file import SqliteFile
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.domain.event import Event
from remembrancer.errors import InvalidInput, RemembrancerError, StoreUnavailable, Unsupported
from remembrancer.language.cues import analysed
from remembrancer.policies.admission.formation import Formation, memory_of_event
from remembrancer.ports.journal import Entry
from remembrancer.testing.doubles import SCOPE, FixedClock, HashEmbedder, an_event

ROWS = 200
NOBODY = 65534
BITS = 200
Monkey = pytest.MonkeyPatch


def opened(path: Path | str, *, create: bool = True) -> Remembrancer:
    return Remembrancer.open(
        str(path),
        workspace="acme",
        agent="ana",
        embedder=HashEmbedder(16),
        settings={"background_index": False},
        create=create,
        clock=FixedClock(),
    )


def refused(path: Path | str, *, create: bool = True) -> str:
    """The message of the error when the file cannot be opened."""
    with pytest.raises(StoreUnavailable, match=re.escape(str(path))) as caught:
        opened(path, create=create).close()
    return str(caught.value)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The bytes of a file with 200 memories in it."""
    path = tmp_path_factory.mktemp("sound") / "sound.db"
    with opened(path) as rem:
        rem.observe_many([{"text": f"note {n} about kestrel {n % 7}", "session": f"s{n % 5}"} for n in range(ROWS)])
        rem.jobs.index_now()
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "store.db"


@dataclass(frozen=True)
class Flip:
    """The result of one flipped bit: whether altered contents were read, and whether the damage was found."""

    bit: int
    altered: bool
    found: bool


@pytest.fixture(scope="module")
def flips(sound: bytes, tmp_path_factory: pytest.TempPathFactory) -> list[Flip]:
    """Two hundred bits anywhere in the file, one at a time."""
    path = tmp_path_factory.mktemp("flips") / "store.db"
    path.write_bytes(sound)
    with opened(path) as rem:
        before = contents(rem)
    done: list[Flip] = []
    for bit in random.Random(23).sample(range(len(sound) * 8), BITS):
        data = bytearray(sound)
        data[bit // 8] ^= 1 << bit % 8
        path.write_bytes(data)
        altered, found = False, True
        with suppress(StoreUnavailable), opened(path) as rem:
            found = any(not finding.ok for finding in rem.health.doctor())
            altered = contents(rem) != before
        done.append(Flip(bit, altered, found))
    return done


def contents(rem: Remembrancer) -> object:
    """All texts that are kept verbatim, and the result of a recall."""
    hits = rem.recall("which kestrel was it?", limit=50)
    return (
        rem.journal.list(limit=1000),
        rem.recent(limit=1000),
        [(hit.score, hit.memory.text, hit.cue.text) for hit in hits],
    )


class TestAPathThatIsNoStore:
    def test_a_file_of_something_else_is_damaged_or_not_ours(self, path: Path) -> None:
        path.write_bytes(b"Dear diary, today I saw a kestrel. " * 400)
        assert "damaged or not a Remembrancer database" in refused(path)

    def test_a_file_of_something_else_is_left_as_it_is(self, path: Path) -> None:
        path.write_bytes(b"Dear diary, today I saw a kestrel. " * 400)
        refused(path)
        assert path.read_bytes() == b"Dear diary, today I saw a kestrel. " * 400

    def test_an_empty_file_becomes_a_store(self, path: Path) -> None:
        path.touch()
        with opened(path) as rem:
            rem.observe("kept")
            assert rem.health.stats().events == 1

    def test_a_folder_is_refused(self, tmp_path: Path) -> None:
        assert "is a folder" in refused(tmp_path)

    def test_a_missing_folder_is_named(self, tmp_path: Path) -> None:
        assert f"its folder {tmp_path / 'missing'} does not exist" in refused(tmp_path / "missing" / "store.db")

    def test_a_file_taken_for_a_folder_is_named(self, tmp_path: Path) -> None:
        (tmp_path / "file").touch()
        assert "does not exist" in refused(tmp_path / "file" / "store.db")

    def test_a_missing_file_is_not_made_unasked(self, path: Path) -> None:
        assert "no such file" in refused(path, create=False)
        assert not path.exists()

    def test_a_name_too_long_for_a_file_is_refused(self, tmp_path: Path) -> None:
        assert "cannot be opened" in refused(tmp_path / ("n" * 300))

    def test_a_pipe_is_refused_at_once(self, path: Path) -> None:
        os.mkfifo(path)
        assert "not a file" in refused(path)

    @pytest.mark.parametrize("name", ["", "nul\0byte", "half a pair \ud800"])
    def test_an_invalid_path_is_refused(self, name: str) -> None:
        with pytest.raises(InvalidInput, match="url"):
            SqliteFile(name)


class TestADamagedFile:
    def test_a_ruined_header_is_refused(self, path: Path, sound: bytes) -> None:
        path.write_bytes(bytes(100) + sound[100:])
        assert "damaged" in refused(path)

    @pytest.mark.parametrize("version", [-1, 0])
    def test_a_version_that_never_was_is_damage(self, path: Path, sound: bytes, version: int) -> None:
        path.write_bytes(sound[:60] + version.to_bytes(4, "big", signed=True) + sound[64:])
        assert "damaged" in refused(path)

    @pytest.mark.parametrize("share", [0.3, 0.6, 0.9])
    def test_a_file_cut_short_is_refused(self, path: Path, sound: bytes, share: float) -> None:
        path.write_bytes(sound[: int(len(sound) * share)])
        with pytest.raises(StoreUnavailable, match=re.escape(str(path))):
            use(path)

    def test_many_flipped_bits_surface_as_nothing_but_our_error(self, path: Path, sound: bytes) -> None:
        failures: list[RemembrancerError] = []
        for seed in range(12):
            path.write_bytes(flipped(sound, seed))
            failures += failures_of(path)
        assert {type(failure) for failure in failures} == {StoreUnavailable}
        assert [failure for failure in failures if str(path) not in str(failure)] == []

    def test_no_flipped_bit_alters_a_text_that_is_read(self, flips: list[Flip]) -> None:
        assert [flip.bit for flip in flips if flip.altered] == []

    def test_every_flipped_bit_is_found_by_the_doctor_or_at_opening(self, flips: list[Flip]) -> None:
        assert [flip.bit for flip in flips if not flip.found] == []

    def test_the_doctor_of_a_running_process_finds_a_page_altered_after_it_was_read(self, path: Path) -> None:
        with opened(path) as rem:
            rem.observe_many([{"text": f"note {n}"} for n in range(50)])
            rem.health.doctor()
            checkpoint = connect(str(path))
            checkpoint.execute("PRAGMA wal_checkpoint(TRUNCATE)").get  # noqa: B018
            checkpoint.close()
            contents = path.read_bytes()
            with path.open("r+b") as file:
                file.seek(contents.index(b"note 17"))
                file.write(b"mote")
            assert next((finding.check, finding.detail) for finding in rem.health.doctor() if not finding.ok) == (
                "file",
                "a page does not match its checksum: the disk altered it, or another program wrote to it",
            )

    def test_a_file_without_checksums_gets_them_when_it_is_opened(self, path: Path, monkeypatch: Monkey) -> None:
        with monkeypatch.context() as without:
            without.setattr(checksums, "vfs", lambda: None)
            with opened(path) as rem:
                rem.observe("kept")
                assert [finding.check for finding in rem.health.doctor() if not finding.ok] == ["checksums"]
        with opened(path) as rem:
            assert [event.text for event in rem.journal.list()] == ["kept"]
            assert [finding for finding in rem.health.doctor() if not finding.ok] == []

    def test_a_file_with_checksums_is_refused_where_they_cannot_be_computed(
        self, path: Path, sound: bytes, monkeypatch: Monkey
    ) -> None:
        path.write_bytes(sound)
        monkeypatch.setattr(checksums, "vfs", lambda: None)
        with pytest.raises(
            Unsupported, match=r"store\.db: its pages have checksums; .* install apsw-sqlite3mc from PyPI"
        ):
            opened(path)
        assert path.read_bytes() == sound

    def test_the_doctor_names_the_faults_of_a_damaged_file(self, path: Path, sound: bytes) -> None:
        # The last pages are of rows: without those of the schema the file could not be opened.
        path.write_bytes(sound[: -4096 * 8] + random.Random(1).randbytes(4096 * 8))
        with opened(path) as rem:
            assert "file" in {finding.check for finding in rem.health.doctor() if not finding.ok}

    def test_the_doctor_finds_a_row_that_cannot_be_read(self, path: Path, sound: bytes) -> None:
        path.write_bytes(sound)
        connection = connect(str(path))
        connection.execute("UPDATE memories SET tier = 'episodix' WHERE n = 7")
        connection.close()
        with opened(path) as rem:
            assert [finding.check for finding in rem.health.doctor() if not finding.ok] == ["rows"]


def flipped(sound: bytes, seed: int) -> bytes:
    """The file with forty flipped bits outside its first page."""
    chance = random.Random(seed)
    data = bytearray(sound)
    for _ in range(40):
        data[chance.randrange(4096, len(data))] ^= 1 << chance.randrange(8)
    return bytes(data)


def use(path: Path) -> None:
    """Call every method that reads."""
    with opened(path) as rem:
        for call in reads(rem):
            call()


def reads(rem: Remembrancer) -> list[Callable[[], object]]:
    return [
        lambda: rem.recall("which kestrel was it?"),
        lambda: rem.recent(limit=1000),
        lambda: rem.journal.list(limit=1000),
        rem.health.decay,
        rem.health.fading,
        rem.health.stats,
        rem.health.doctor,
    ]


def failures_of(path: Path) -> list[RemembrancerError]:
    """The errors of all calls."""
    failed: list[RemembrancerError] = []
    try:
        rem = opened(path)
    except RemembrancerError as error:
        return [error]
    with rem:
        for call in (*reads(rem), lambda: rem.observe("one more"), rem.jobs.index_now):
            try:
                call()
            except RemembrancerError as error:
                failed.append(error)
    return failed


# ── permissions: as nobody, because nothing is read-only to root ─────────────────────────────────────────────────────

AS_NOBODY = f"""
import logging, os, sys
from remembrancer import Remembrancer, RemembrancerError
logging.disable()  # that there is no embedder is not what is asked here
Remembrancer.open(":memory:", embedder="none").close()  # all is imported: nobody may not read the interpreter's folder
if os.getuid() == 0:
    os.setgroups([])
    os.setgid({NOBODY})
    os.setuid({NOBODY})
try:
    with Remembrancer.open(sys.argv[1], workspace="acme", embedder="none") as rem:
        rem.observe("kept")
except RemembrancerError as error:
    print(type(error).__name__, error)
"""


def said_to_nobody(path: Path) -> str:
    """The error of a process without permission that opens the file and writes to it; empty if it is allowed."""
    done = subprocess.run([sys.executable, "-c", AS_NOBODY, str(path)], capture_output=True, text=True, check=False)
    assert not done.stderr
    return done.stdout


@pytest.fixture
def common() -> Iterator[Path]:
    """A folder that everyone can reach and write to."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)
        yield folder
        folder.chmod(0o700)


def test_a_read_only_file_is_refused(common: Path) -> None:
    opened(common / "store.db").close()
    (common / "store.db").chmod(0o444)
    assert re.match(
        r"StoreUnavailable .*store\.db: the file or its folder is read-only", said_to_nobody(common / "store.db")
    )


def test_a_file_in_a_read_only_folder_is_refused(common: Path) -> None:
    opened(common / "store.db").close()
    (common / "store.db").chmod(0o666)
    common.chmod(0o555)
    assert re.match(
        r"StoreUnavailable .*store\.db: the file or its folder is read-only", said_to_nobody(common / "store.db")
    )


def test_no_file_is_made_in_a_read_only_folder(common: Path) -> None:
    common.chmod(0o555)
    assert re.match(
        r"StoreUnavailable .*new\.db: cannot be created, its folder is read-only", said_to_nobody(common / "new.db")
    )


def test_a_file_that_may_not_be_read_is_refused(common: Path) -> None:
    opened(common / "store.db").close()
    (common / "store.db").chmod(0o200)
    assert re.match(r"StoreUnavailable .*store\.db: no permission to read it", said_to_nobody(common / "store.db"))


def test_a_folder_that_may_not_be_entered_is_refused(common: Path) -> None:
    (common / "closed").mkdir(mode=0o700 if os.getuid() == 0 else 0o000)
    assert re.match(
        r"StoreUnavailable .*store\.db: cannot be opened \(Permission denied\)",
        said_to_nobody(common / "closed" / "store.db"),
    )


# ── no more room ─────────────────────────────────────────────────────────────────────────────────────────────────────

WITHIN_A_LIMIT = textwrap.dedent("""
    import logging, resource, signal, sys
    logging.disable()  # that there is no embedder is not what is asked here
    from remembrancer import Remembrancer, RemembrancerError
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    with Remembrancer.open(sys.argv[1], workspace="acme", embedder="none") as rem:
        resource.setrlimit(resource.RLIMIT_FSIZE, (600_000, resource.RLIM_INFINITY))
        for n in range(10_000):
            try:
                rem.observe(f"note {n} " + "kestrel " * 500)
            except RemembrancerError as error:
                print(type(error).__name__, error, file=sys.stderr)
                break
            print(n, flush=True)
        try:
            rem.observe("still no room" * 2000)
        except RemembrancerError as error:
            print(type(error).__name__, error, file=sys.stderr)
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
        rem.observe("room again")
""")


Filled = tuple[Path, subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def full(tmp_path_factory: pytest.TempPathFactory) -> Filled:
    """A file, and the errors of a process that wrote to it until the disk was full, once more, and with free space."""
    path = tmp_path_factory.mktemp("full") / "full.db"
    command = [sys.executable, "-c", WITHIN_A_LIMIT, str(path)]
    return path, subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def test_a_file_that_cannot_grow_raises_our_error(full: Filled) -> None:
    path, done = full
    assert [line.split(" ", 2)[:2] for line in done.stderr.splitlines()] == [["StoreUnavailable", f"{path}:"]] * 2


def test_a_file_that_cannot_grow_keeps_every_acknowledged_row(full: Filled) -> None:
    path, done = full
    with opened(path) as rem:
        kept = [event.text.split()[1] for event in rem.journal.list(limit=10_000, oldest_first=True)]
    assert kept == [*done.stdout.split(), "again"]


def test_a_file_that_could_not_grow_is_sound(full: Filled) -> None:
    with opened(full[0]) as rem:
        assert [finding for finding in rem.health.doctor() if not finding.ok] == []


async def filled(path: Path) -> tuple[list[Event], RemembrancerError]:
    """The acknowledged events of a store limited to a hundred pages, and the error when they were full."""
    store = RelationalStore(SqliteFile(str(path)), analyse=analysed)
    acknowledged: list[Event] = []
    try:
        while True:
            event = an_event(f"note {len(acknowledged)} " + "kestrel " * 500)
            (appended,) = await store.append(SCOPE, [Entry(event, memory_of_event(event, Formation()))])
            acknowledged.append(appended.event)
    except RemembrancerError as error:
        return acknowledged, error
    finally:
        await store.close()


@pytest.fixture
def small_files(monkeypatch: pytest.MonkeyPatch) -> None:
    def small(path: str, **given: Any) -> Connection:
        connection = connect(path, **given)
        connection.pragma("max_page_count", 150)
        return connection

    monkeypatch.setattr(sqlite_file, "connect", small)


@pytest.mark.usefixtures("small_files")
def test_a_limit_of_pages_is_a_full_disk(path: Path) -> None:
    _, error = asyncio.run(filled(path))
    assert re.match(rf"{re.escape(str(path))}: the disk .* is full", str(error))


@pytest.mark.usefixtures("small_files")
def test_a_limit_of_pages_keeps_every_acknowledged_row(path: Path) -> None:
    acknowledged, _ = asyncio.run(filled(path))
    with Remembrancer.open(str(path), workspace=SCOPE.workspace, embedder="none") as rem:
        assert list(rem.journal.list(limit=10_000, oldest_first=True)) == acknowledged
