"""The composition root: makes adapters from settings, and a Context from adapters. Only this module knows both adapters
and engine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast
from uuid import UUID

from remembrancer.adapters.encryption import EncryptionKey
from remembrancer.adapters.relational.sqlite import ciphers
from remembrancer.adapters.relational.sqlite.file import SqliteFile, check_path
from remembrancer.adapters.relational.store import RelationalStore
from remembrancer.config import (
    AUTO,
    DISTRIBUTED,
    OWN_INDEXES,
    PGVECTOR,
    RESIDENT,
    Settings,
    encryption_secret,
    load,
    read_toml,
)
from remembrancer.domain.identity import uuid7
from remembrancer.engine.context import Clock, Context, TailVectors
from remembrancer.errors import InvalidInput, StoreUnavailable, Unsupported
from remembrancer.index.files import IndexFolder
from remembrancer.index.resident import ResidentIndex
from remembrancer.jobs.embedded import EmbeddedQueue
from remembrancer.language.cues import analysed
from remembrancer.models import EmbedderChoice, choose_embedder, choose_llm, choose_reranker, embedder_before_of
from remembrancer.presets.catalogue import PRESETS, preset_named
from remembrancer.presets.spec import Preset

if TYPE_CHECKING:
    from remembrancer.adapters.relational.dialect import Backend
    from remembrancer.ports.embedder import Embedder
    from remembrancer.ports.index import Index, IndexOpener
    from remembrancer.ports.job_queue import JobQueue
    from remembrancer.ports.language_model import LanguageModel
    from remembrancer.ports.reranker import Reranker
    from remembrancer.ports.store import Store, StoreOpener
    from remembrancer.ports.transfer import (
        AskedBefore,
        EncryptionReport,
        EncryptionStatus,
        MoveReport,
        OnMoved,
        OnPages,
        RestoreReport,
    )
    from remembrancer.ports.vault import VaultFiles

STORES: Final = "remembrancer.stores"
"""The entry point group for further stores: the name is a URL scheme, the object a `StoreOpener`."""
INDEXES: Final = "remembrancer.indexes"
"""The entry point group for further indexes: the name is a URL scheme, the object an `IndexOpener`."""
_ANOTHER_MODEL: Final = "the embedder from before the change, whose model is not that of `embedder`"
_QDRANT_NEEDS: Final = "Qdrant needs qdrant-edge-py or qdrant-client: pip install 'remembrancer[qdrant]'"
_POSTGRES_NEEDS: Final = "a PostgreSQL database needs psycopg: pip install 'remembrancer[postgres]'"
_DISTRIBUTED_NEEDS: Final = "distributed jobs need procrastinate: pip install 'remembrancer[distributed]'"
_DISTRIBUTED_STORES: Final = ("postgresql", "postgres")
"""The schemes of databases on which workers can share a queue."""
_ENCRYPTION_NEEDS: Final = "an encrypted store needs cryptography: pip install 'remembrancer[encryption]'"
_ENCRYPTED_SERVER: Final = (
    "no key for a database at an address, whose server searches texts and vectors in plain; encrypt the server's disk,"
    " or use an SQLite file"
)
_ENCRYPTED_INDEX: Final = (
    f"{AUTO} or {RESIDENT}, where an encryption key is set: another index would hold vectors in plain"
)


def context(
    settings: Settings,
    *,
    store: Store | None = None,
    index: Index | None = None,
    preset: Preset | None = None,
    embedder: Embedder | None = None,
    embedder_before: Embedder | None = None,
    reranker: Reranker | None = None,
    llm: LanguageModel | None = None,
    clock: Clock | None = None,
    create: bool = True,
) -> Context:
    """Make the Context of engine functions. A store, index, preset or model given here replaces the one in the
    settings.

    Raises InvalidInput, StoreUnavailable, Unsupported, ModelUnavailable.
    """
    preset = preset or choose_preset(settings.preset)
    preset.access_policy.reach_of(settings.role)  # an unknown role raises before anything is opened
    choice = EmbedderChoice(embedder) if embedder is not None else choose_embedder(settings)
    earlier = embedder_before_of(settings) if embedder_before is None else embedder_before
    if earlier is not None and (choice.embedder is None or earlier.model_id == choice.embedder.model_id):
        allowed = _ANOTHER_MODEL if choice.embedder else f"None, where there is {choice.absent}"
        raise InvalidInput("embedder_before", settings.embedder_before or earlier.model_id, allowed)
    reranker = choose_reranker(settings) if reranker is None else reranker
    llm = choose_llm(settings) if llm is None else llm
    encryption = None if store is not None else encryption_key(settings)
    if encryption is not None and index is None and settings.index not in {AUTO, RESIDENT}:
        raise InvalidInput("index", settings.index, _ENCRYPTED_INDEX)
    opened = _store(settings, encryption, create=create) if store is None else None
    store = opened or cast("Store", store)
    try:
        index = _index(settings, store, choice.embedder, encryption) if index is None else index
    except BaseException:
        if isinstance(opened, RelationalStore):
            opened.database.close()
        raise
    made = Context(
        store=store,
        index=index,
        embedder=choice.embedder,
        without_embedder=choice.absent,
        preset=preset,
        clock=clock or _now,
        stopwatch=time.perf_counter,
        new_id=_new_id,
        reranker=reranker,
        llm=llm,
        walk_agents=settings.walk_agents,
        max_event_mb=settings.max_event_mb,
        reembed_share=settings.reembed_share,
        sealed_backups=settings.sealed_backups,
    )
    return made if earlier is None else replace(made, before=replace(made, embedder=earlier, tails=TailVectors()))


def choose_job_queue(settings: Settings, given: JobQueue | None = None) -> Callable[[Context], JobQueue]:
    """Makes the queue of the setting `jobs` for a Context, or returns the `given` one. Nothing is opened yet.

    Raises InvalidInput if workers cannot share a queue on this store, StoreUnavailable if a package is missing.
    """
    if given is not None:
        return lambda _: given
    if settings.jobs != DISTRIBUTED:
        return lambda _: EmbeddedQueue()
    if settings.db.partition("://")[0] not in _DISTRIBUTED_STORES:
        raise InvalidInput("jobs", settings.jobs, f"embedded, as {settings.place} is no PostgreSQL database")
    try:
        from remembrancer.adapters.distributed.queue import ProcrastinateQueue
    except ImportError as error:
        raise StoreUnavailable(f"{_DISTRIBUTED_NEEDS} ({error})") from error

    def queue(ctx: Context) -> JobQueue:
        llm = None if ctx.llm is None else ctx.llm.model_id
        return ProcrastinateQueue(settings.db, group=f"{ctx.preset.name} {ctx.model} {llm}")

    return queue


def encryption_key(settings: Settings) -> EncryptionKey | None:
    """The key with which the store of the settings is encrypted; None: it is not.

    Raises InvalidInput for a key that cannot be had, and for a store that is no SQLite file; StoreUnavailable if a
    package is missing.
    """
    secret = encryption_secret(settings)
    if secret is None:
        if settings.sealed_backups:
            raise InvalidInput("sealed_backups", value=True, allowed="false without an encryption key")
        return None
    if "://" in settings.db:
        raise InvalidInput("encryption_key", "***", _ENCRYPTED_SERVER)
    if find_spec("cryptography") is None:
        raise StoreUnavailable(_ENCRYPTION_NEEDS)
    return EncryptionKey(secret)


def _key_for(url: str, given: str | bytes | None) -> EncryptionKey | None:
    """The key for a store that is not opened with settings: the given one, else that of the environment; none for a
    store at an address.
    """
    if "://" in url:
        return None
    return encryption_key(load({"db": url}) if given is None else Settings(db=url, encryption_key=cast("Any", given)))


def require_shareable(settings: Settings) -> None:
    """Raises InvalidInput if several processes cannot use the store and the index of the settings at once."""
    argument, allowed = "workers", "1, because {} is used by one process at a time"
    if settings.db == ":memory:":
        raise InvalidInput(argument, settings.workers, allowed.format("a store in memory"))
    if settings.index.startswith("qdrant:///"):
        raise InvalidInput(argument, settings.workers, allowed.format("a folder of Qdrant"))


def restore_backup(
    backup: str | Path,
    url: str,
    *,
    replace: bool = False,
    encryption_key: str | bytes | None = None,
    on_pages: OnPages | None = None,
) -> RestoreReport:
    """Copy a backup to the path where a store is opened, and check the copy. No process may have that store open.

    `replace`: move what lies there, with its log, to `URL.replaced-1` (or the next free number). `encryption_key`: of
    an encrypted backup; None: as `open` finds it in the environment. Raises InvalidInput if something lies there, or
    the backup is none; StoreUnavailable if the backup is damaged, cannot be copied, or the store is open in another
    process; Unsupported for a store that is no file.
    """
    if "://" in url or url == ":memory:":
        raise Unsupported(f"{url}: is not a file; restore it with the tools of its own database")
    from remembrancer.adapters.relational.sqlite import backups

    check_path(url, create=True)
    key = _key_for(url, encryption_key)
    return backups.restore(
        Path(backup), Path(url), replace=replace, on_pages=on_pages, encryption=key, analyse=analysed
    )


def encryption_status(url: str) -> EncryptionStatus:
    """Whether the file of a store, and its copies beside it, are encrypted. Needs no key.

    Raises InvalidInput if there is no file, Unsupported for a store that is no file.
    """
    from remembrancer.adapters.relational.sqlite import rekeying

    return rekeying.status(_file_to_encrypt(url))


def change_encryption(url: str, *, old: str | bytes | None, new: str | bytes | None) -> EncryptionReport:
    """Encrypt the file of a store (`old` None), change its key, or decrypt it (`new` None). No process may have it
    open.

    A key is 32 bytes, 64 hexadecimal digits, or a passphrase. The file is written anew and renamed when it is whole, so
    that an interruption leaves it as it was; that takes as much space again. Backups and exports stay as they are.
    Raises InvalidInput, StoreUnavailable, Unsupported.
    """
    from remembrancer.adapters.relational.sqlite import rekeying

    if old is None and new is None:
        raise InvalidInput("new", None, "a key, where there is no old one")
    before, after = (None if key is None else _key_for(url, key) for key in (old, new))
    return rekeying.rekey(_file_to_encrypt(url), before, after, analyse=analysed)


def _file_to_encrypt(url: str) -> Path:
    if "://" in url or url == ":memory:":
        raise Unsupported(f"{url}: is not a file, and only files are encrypted")
    return Path(url)


def move_store(
    source: str,
    target: str,
    *,
    dry_run: bool = False,
    encryption_key: str | bytes | None = None,
    on_moved: OnMoved | None = None,
) -> MoveReport:
    """Copy a whole store into another database, absent, empty or left unfinished by an earlier call, and compare every
    row. `source`, `target`: an SQLite file's path, or postgresql://…

    `dry_run`: only count. The source is read in one snapshot and never written. The target cannot be opened until it is
    equal to a source that was not written to meanwhile; the next call goes on from there. `encryption_key`: of the
    sides that are encrypted files, and of a new file; None: as `open` finds it in the environment. Raises Conflict for
    a target with other rows, InvalidInput, StoreUnavailable, Unsupported.
    """
    from remembrancer.adapters.relational import moving

    return moving.move(
        _backend("source", source, encryption_key, read_only=True),
        _backend("target", target, encryption_key, read_only=False),
        analyse=analysed,
        on_moved=on_moved,
        dry_run=dry_run,
    )


def compare_stores(
    source: str, target: str, *, encryption_key: str | bytes | None = None, on_moved: OnMoved | None = None
) -> MoveReport:
    """Compare every row of two stores, and change neither. Raises as `move_store` does."""
    from remembrancer.adapters.relational import moving

    sides = [
        _backend(side, url, encryption_key, read_only=True) for side, url in (("source", source), ("target", target))
    ]
    return moving.verify(*sides, on_moved=on_moved)


def asked_before(source: str, limit: int, *, encryption_key: str | bytes | None = None) -> tuple[AskedBefore, ...]:
    """Up to `limit` questions to compare a store and its copy by: those it was asked, else words of its memories."""
    from remembrancer.adapters.relational import moving

    return moving.questions(_backend("source", source, encryption_key, read_only=True), limit)


def read_only_store(url: str, *, encryption_key: str | bytes | None = None) -> Store:
    """The store of an SQLite file or a PostgreSQL database, which writes nothing."""
    return RelationalStore(_backend("url", url, encryption_key, read_only=True), analyse=analysed)


def choose_preset(named: str) -> Preset:
    """The preset with that name. A name that ends in .toml, or contains a path separator, is the path of a TOML file.

    Raises InvalidInput naming the setting, or the file and the key in it.
    """
    if not named.endswith(".toml") and not {"/", os.sep} & set(named):
        return preset_named(named)
    from remembrancer.presets.text import own_preset

    table = read_toml("preset", Path(named))
    try:
        return own_preset(table)
    except InvalidInput as error:
        raise InvalidInput(f"{named}: {error.argument}", error.value, error.allowed) from error


def choose_presets(in_use: Preset, given: Iterable[object] | None) -> tuple[Preset, ...]:
    """The presets to compare. `given`: Presets, or names and paths as in `choose_preset`; None: `in_use`, then the
    other shipped presets. Raises InvalidInput.
    """
    if given is None:
        return (in_use, *(preset for name, preset in PRESETS.items() if name != in_use.name))
    chosen: list[Preset] = []
    for one in given:
        if not isinstance(one, str | Preset):
            raise InvalidInput("presets", one, "the name of a preset, its file, or a Preset")
        chosen.append(choose_preset(one) if isinstance(one, str) else one)
    return tuple(chosen)


def _store(settings: Settings, encryption: EncryptionKey | None, *, create: bool) -> Store:
    if "://" in settings.db:
        opener: StoreOpener = _opener(STORES, "db", settings.db, "a file's path, :memory:")
        return opener(settings.db, analyse=analysed, create=create)
    file = SqliteFile(
        settings.db,
        create=create,
        full_sync=settings.full_sync,
        encryption=encryption,
        sealed_backups=settings.sealed_backups,
    )
    return RelationalStore(file, analyse=analysed)


def _backend(argument: str, url: str, key: str | bytes | None, *, read_only: bool) -> Backend:
    if "://" not in url:
        if url == ":memory:":
            raise InvalidInput(argument, url, "a file's path, or postgresql://…")
        needs_key = ciphers.is_encrypted(url) or not Path(url).exists()
        return SqliteFile(url, read_only=read_only, encryption=_key_for(url, key) if needs_key else None)
    opener: StoreOpener = _opener(STORES, argument, url, "a file's path")
    from remembrancer.adapters.relational.postgres import server

    if opener is not server.open_store:
        raise Unsupported(f"{url}: neither an SQLite file nor PostgreSQL; move it with `export` and `import`")
    return server.PostgresServer(url, read_only=read_only)


def _index(settings: Settings, store: Store, embedder: Embedder | None, encryption: EncryptionKey | None) -> Index:
    if settings.index in OWN_INDEXES:
        return _own_index(settings, store, embedder, encryption)
    shipped = SHIPPED_INDEXES.get(settings.index.partition("://")[0])
    if shipped is not None:
        return shipped(settings.index)
    allowed = ", ".join((*OWN_INDEXES, *(f"{scheme}://" for scheme in SHIPPED_INDEXES)))
    opener: IndexOpener = _opener(INDEXES, "index", settings.index, allowed)
    return opener(settings.index)


def _own_index(settings: Settings, store: Store, embedder: Embedder | None, encryption: EncryptionKey | None) -> Index:
    """The resident index, that over the store's own candidates, or both.

    Raises InvalidInput, StoreUnavailable or Unsupported if the setting names an index that this store cannot have.
    """
    budget = settings.index_mb << 20
    resident = ResidentIndex(budget, files=None if settings.file is None else _index_folder(settings.file, encryption))
    if settings.index == RESIDENT:
        return resident
    required = settings.index == PGVECTOR
    if not isinstance(store, RelationalStore):
        if required:
            raise InvalidInput(
                "index", settings.index, f"{AUTO} or {RESIDENT} for a store that is no PostgreSQL database"
            )
        return resident
    dim = settings.embedder_dim or (embedder.dim if embedder is not None else None)
    model = None if embedder is None or dim is None else embedder.model_id
    source = store.candidate_source(model, dim or 0, install=required)
    if source is None:
        return resident
    from remembrancer.index.candidates import CandidateIndex
    from remembrancer.index.sized import SizedIndex, most_memories

    candidates = CandidateIndex(source)
    return candidates if required else SizedIndex(resident, candidates, most=most_memories(budget, dim or 0))


def _index_folder(store: Path, encryption: EncryptionKey | None) -> IndexFolder:
    key = ciphers.file_key(str(store), encryption, str(store))
    return IndexFolder(store, None if key is None else key.sealer("index file"))


def _qdrant(url: str) -> Index:
    """Raises InvalidInput, StoreUnavailable."""
    from remembrancer.index.candidates import CandidateIndex

    try:
        from remembrancer.adapters.qdrant.opening import open_source

        return CandidateIndex(open_source(url))
    except ImportError as error:
        raise StoreUnavailable(_QDRANT_NEEDS) from error


SHIPPED_INDEXES: Final[Mapping[str, IndexOpener]] = dict.fromkeys(("qdrant", "qdrant+http", "qdrant+https"), _qdrant)
"""The indexes of this package besides the resident one, by the scheme of their address."""


def _opener(group: str, setting: str, url: str, allowed: str) -> Any:
    """The object of the entry point in `group` whose name is the URL's scheme.

    Raises InvalidInput if no package, or several, register the scheme; StoreUnavailable if the object cannot be loaded.
    """
    from importlib.metadata import entry_points

    scheme, kind = url.partition("://")[0], "store" if group == STORES else "index"
    installed = entry_points(group=group)
    found = [point for point in installed if point.name == scheme]
    if not found:
        known = "".join(f", {name}://" for name in sorted(installed.names))
        raise InvalidInput(setting, url, f"{allowed}{known} (no {kind} for {scheme}:// is installed)")
    if len(found) > 1:
        packages = ", ".join(sorted(point.value for point in found))
        raise InvalidInput(setting, url, f"a scheme that one package opens; several are installed: {packages}")
    try:
        return found[0].load()
    except (ImportError, AttributeError) as error:
        if isinstance(error, ImportError) and error.name == "psycopg":
            raise StoreUnavailable(_POSTGRES_NEEDS) from error
        raise StoreUnavailable(f"{url}: the {kind} for {scheme}:// cannot be loaded: {error}") from error


def vault(folder: Path, name: str | None, *, create: bool = False) -> VaultFiles:
    """The markdown files of a folder. Raises InvalidInput if the folder does not exist; with `create` only if it cannot
    be made, which the first write does.
    """
    from remembrancer.adapters.vault.folder import FolderVault

    return FolderVault(folder, name=name, create=create)


def _now() -> datetime:
    return datetime.now(UTC)


def _new_id(moment: datetime) -> UUID:
    return uuid7(moment, os.urandom(10))
