"""The composition root: makes adapters from settings, and a Context from adapters. Only this module knows both adapters
and engine.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
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
    CROSS_ENCODER,
    DISTRIBUTED,
    EMBEDDER_KEYS,
    LLM_KEYS,
    OWN_INDEXES,
    PGVECTOR,
    RESIDENT,
    Settings,
    encryption_secret,
    load,
    read_toml,
)
from remembrancer.domain.calibration import REFERENCE, CosineScale
from remembrancer.domain.identity import uuid7
from remembrancer.engine.context import Clock, Context, TailVectors
from remembrancer.errors import InvalidInput, ModelUnavailable, StoreUnavailable, Unsupported
from remembrancer.index.files import IndexFolder
from remembrancer.index.resident import ResidentIndex
from remembrancer.jobs.embedded import EmbeddedQueue
from remembrancer.language.cues import analysed
from remembrancer.presets.catalogue import PRESETS, preset_named
from remembrancer.presets.spec import Preset
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.embedders.local import Precision
    from remembrancer.adapters.embedders.ollama_models import OllamaModel
    from remembrancer.adapters.embedders.services import EmbeddingService, RemoteProtocol
    from remembrancer.adapters.llm.service import LlmService, Prices
    from remembrancer.adapters.relational.dialect import Backend
    from remembrancer.adapters.rerankers.services import RerankService
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
LOCAL_PACKAGES: Final = ("onnxruntime", "tokenizers")
LOCAL_MODEL: Final = "remembrancer_minilm"
LLM_PACKAGES: Final = {
    "openai": ("jsonschema", "pydantic_ai", "openai"),
    "anthropic": ("jsonschema", "pydantic_ai", "anthropic"),
    "gemini": ("jsonschema", "pydantic_ai", "google.genai"),
    "ollama": ("jsonschema", "pydantic_ai", "openai"),
}
FOLDER: Final = "folder:"
INSTALLED: Final = "package:"
OLLAMA: Final = "ollama:"
OLLAMA_URL: Final = "http://localhost:11434"
"""The default address of Ollama."""
OLLAMA_MODEL: Final = "nomic-embed-text"
_ANOTHER_MODEL: Final = "the embedder from before the change, whose model is not that of `embedder`"
_NEEDS_HTTPX: Final = "the Ollama embedder needs httpx: pip install 'remembrancer[ollama]'"
_RERANKER_NEEDS_HTTPX: Final = "a reranker at an address needs httpx: pip install 'remembrancer[rerank]'"
_REMOTE_NEEDS_HTTPX: Final = "the embedder needs httpx: pip install 'remembrancer[remote]'"
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
_LLM_NEEDS: Final = "a language model needs {}: pip install 'remembrancer[llm]'"


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """An embedder, or the reason why there is none."""

    embedder: Embedder | None
    absent: str = ""


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
    earlier = _embedder_before(settings) if embedder_before is None else embedder_before
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


def choose_embedder(settings: Settings) -> EmbedderChoice:  # noqa: PLR0911  a case for each kind of embedder
    """The embedder of the setting `embedder`. It is not loaded or called yet.

    - `none`: no embedder; recall is lexical.
    - `local`, `local:PRECISION`: MiniLM, with the setting `precision`, or this one. Raises ModelUnavailable if its
      packages are not installed.
    - `folder:PATH`, `package:NAME`: the sentence transformer in that folder, or in that installed package. Raises
      ModelUnavailable naming the file or package that is missing.
    - `ollama:MODEL`: that model at `ollama_url`. Raises ModelUnavailable if httpx is not installed.
    - `openai:MODEL`, `gemini:MODEL`: that model at `embedder_url`, else at its provider's address, with `embedder_keys`
      in turn. Raises InvalidInput if the provider has no key, ModelUnavailable if httpx is not installed.
    - `auto`: Ollama's nomic-embed-text if `ollama_url` is set, else MiniLM; none, with the reason, if packages are
      missing.
    """
    match settings.embedder:
        case "none":
            return EmbedderChoice(None, "no embedder: lexical recall only, as asked for")
        case "local" | "local:fp32" | "local:int8":
            return EmbedderChoice(_local(settings))
        case "auto":
            try:
                return EmbedderChoice(
                    _local(settings) if settings.ollama_url is None else _ollama(settings, OLLAMA_MODEL)
                )
            except ModelUnavailable as error:
                return EmbedderChoice(None, f"no embedder: lexical recall only ({error})")
        case named if named.startswith((FOLDER, INSTALLED)):
            return EmbedderChoice(_folder(settings))
        case named if named.startswith(OLLAMA):
            return EmbedderChoice(_ollama(settings, named.removeprefix(OLLAMA)))
        case named if named.partition(":")[0] in EMBEDDER_KEYS:
            return EmbedderChoice(_remote(settings))
        case other:
            allowed = (
                "auto, none, local, local:PRECISION, folder:PATH, package:NAME, ollama:MODEL, openai:MODEL or "
                "gemini:MODEL"
            )
            raise InvalidInput("embedder", other, allowed)


def _embedder_before(settings: Settings) -> Embedder | None:
    """The embedder of the setting `embedder_before`, with the settings of its own."""
    if settings.embedder_before is None:
        return None
    earlier = replace(
        settings,
        embedder=settings.embedder_before,
        embedder_url=settings.embedder_before_url,
        embedder_keys=settings.embedder_before_keys,
        embedder_dim=settings.embedder_before_dim,
        embedder_calibration=settings.embedder_before_calibration,
        embedder_languages=frozenset(),
    )
    try:
        return choose_embedder(earlier).embedder
    except InvalidInput as error:
        raise InvalidInput(error.argument.replace("embedder", "embedder_before"), error.value, error.allowed) from error


def choose_reranker(settings: Settings) -> Reranker | None:
    """The reranker of the setting `reranker`, or None. It is not loaded or called yet.

    Raises InvalidInput for an endpoint without a `reranker_model`, ModelUnavailable if a package, or a file in a
    cross-encoder's folder, is missing.
    """
    if settings.reranker == "none":
        return None
    if settings.reranker.startswith(CROSS_ENCODER):
        return _cross_encoder(settings, Path(settings.reranker.removeprefix(CROSS_ENCODER)))
    return _rerank_endpoint(settings)


def choose_llm(settings: Settings) -> LanguageModel | None:
    """The language model of the setting `llm`, or None. It is not loaded or called yet.

    Raises InvalidInput if a provider's own address is used without a key, or if only one of the two prices is set;
    ModelUnavailable if a package is missing.
    """
    if settings.llm == "none":
        return None
    provider, _, model = settings.llm.partition(":")
    missing = [package for package in LLM_PACKAGES[provider] if _is_missing(package)]
    if missing:
        raise ModelUnavailable(_LLM_NEEDS.format(", ".join(missing)))
    from remembrancer.adapters.deferred import DeferredLanguageModel
    from remembrancer.adapters.llm.service import LlmService, Provider

    key = settings.llm_key
    if key is None and settings.llm_url is None and provider in LLM_KEYS:
        raise InvalidInput("llm_key", None, f"an API key, here or in {LLM_KEYS[provider]}")
    service = LlmService(
        provider=cast("Provider", provider),
        model=model,
        url=settings.llm_url or (settings.ollama_url if provider == "ollama" else None),
        key="" if key is None else key.reveal().strip(),
        timeout=settings.llm_timeout,
        prices=_llm_prices(settings),
    )
    return DeferredLanguageModel(model_id=service.model_id, load=partial(_call_llm, service))


def _local(settings: Settings) -> Embedder:
    packages = LOCAL_PACKAGES if settings.weights else (*LOCAL_PACKAGES, LOCAL_MODEL)
    _require("the local embedder", packages)
    from remembrancer.adapters.deferred import DeferredTokenEmbedder
    from remembrancer.adapters.embedders.local import (
        DIM,
        LANGUAGES,
        LocalEmbedder,
        local_model_id,
        reads_latin,
        weights,
    )

    named = settings.embedder.partition("local:")[2]
    precision = cast("Precision", named) if named else settings.precision or "int8"
    load = partial(LocalEmbedder.open, source=weights.located(settings.weights, precision), precision=precision)
    return DeferredTokenEmbedder(
        model_id=local_model_id(precision),
        dim=DIM,
        reads=reads_latin,
        load=load,
        languages=_languages(settings, LANGUAGES),
        calibration=_scale(settings) or REFERENCE,
    )


def _folder(settings: Settings) -> Embedder:
    _require("an embedder in this process", LOCAL_PACKAGES)
    from remembrancer.adapters.deferred import DeferredTokenEmbedder
    from remembrancer.adapters.embedders.local import LocalEmbedder, folder_of_package, reads_script, sentence_model

    kind, _, named = settings.embedder.partition(":")
    folder = folder_of_package(named) if f"{kind}:" == INSTALLED else Path(named).expanduser()
    model = sentence_model(folder, settings.precision)
    return DeferredTokenEmbedder(
        model_id=model.model_id,
        dim=model.dim,
        reads=reads_script(model),
        load=partial(LocalEmbedder.open_folder, model),
        languages=_languages(settings, model.languages),
        calibration=_scale(settings) or model.calibration,
    )


def _languages(settings: Settings, declared: frozenset[str] | None) -> frozenset[str] | None:
    return settings.embedder_languages or declared


def _scale(settings: Settings) -> CosineScale | None:
    given = settings.embedder_calibration
    return None if given is None else CosineScale.of(given)


def keep_calibration(settings: Settings, calibration: CosineScale) -> Path | None:
    """Keep a calibration of the settings' embedder with its model, if that is a folder; returns the file's path.

    Raises InvalidInput if the folder cannot be written to.
    """
    if not settings.embedder.startswith(FOLDER):
        return None
    from remembrancer.adapters.embedders.local import sentence_model, write_calibration

    folder = Path(settings.embedder.removeprefix(FOLDER)).expanduser()
    try:
        return write_calibration(folder, sentence_model(folder, settings.precision).precision, calibration)
    except OSError as error:
        allowed = f"a folder that can be written to ({error.strerror}), or the setting `embedder_calibration`"
        raise InvalidInput("embedder", settings.embedder, allowed) from error


def _require(what: str, packages: Iterable[str]) -> None:
    """Raises ModelUnavailable if packages of the extra `local` are not installed."""
    missing = [package for package in packages if find_spec(package) is None]
    if missing:
        raise ModelUnavailable(f"{what} needs {', '.join(missing)}: pip install 'remembrancer[local]'")


def _ollama(settings: Settings, name: str) -> Embedder:
    from remembrancer.adapters.deferred import DeferredEmbedder
    from remembrancer.adapters.embedders.ollama_models import model_named

    model = model_named(name)
    if find_spec("httpx") is None:
        raise ModelUnavailable(_NEEDS_HTTPX)
    load = partial(_call_ollama, settings.ollama_url or OLLAMA_URL, model, settings.embedder_timeout)
    return DeferredEmbedder(
        model_id=model.model_id,
        dim=model.dim,
        reads=lambda _: True,
        load=load,
        languages=_languages(settings, model.languages),
        calibration=_scale(settings),
    )


def _call_ollama(url: str, model: OllamaModel, timeout: float) -> Embedder:
    try:
        from remembrancer.adapters.embedders.http import HttpEmbedder
    except ImportError as error:
        raise ModelUnavailable(f"{_NEEDS_HTTPX} ({error})") from error
    return HttpEmbedder.open(url, model, timeout=timeout)


def _remote(settings: Settings) -> Embedder:
    from remembrancer.adapters.deferred import DeferredEmbedder
    from remembrancer.adapters.embedders.services import remote_model

    protocol, _, name = settings.embedder.partition(":")
    model = remote_model(
        cast("RemoteProtocol", protocol), name, dim=settings.embedder_dim, own_address=settings.embedder_url is None
    )
    if find_spec("httpx") is None:
        raise ModelUnavailable(_REMOTE_NEEDS_HTTPX)
    if not settings.embedder_keys and settings.embedder_url is None:
        raise InvalidInput("embedder_keys", None, f"an API key, here or in {EMBEDDER_KEYS[protocol][0]}")
    load = partial(_call_remote, settings, protocol, model)
    return DeferredEmbedder(
        model_id=model.model_id,
        dim=model.dim,
        reads=lambda _: True,
        load=load,
        languages=_languages(settings, None),
        calibration=_scale(settings),
    )


def _call_remote(settings: Settings, protocol: str, model: EmbeddingService) -> Embedder:
    from remembrancer.adapters.embedders.rotating import RotatingEmbedder
    from remembrancer.adapters.embedders.services import ADDRESSES

    try:
        from remembrancer.adapters.embedders.http import HttpEmbedder
    except ImportError as error:
        raise ModelUnavailable(f"{_REMOTE_NEEDS_HTTPX} ({error})") from error
    url = settings.embedder_url or ADDRESSES[protocol]
    keys = [key.reveal().strip() for key in settings.embedder_keys] or [""]
    embedders = [HttpEmbedder.open(url, model, timeout=settings.embedder_timeout, key=key) for key in keys]
    return RotatingEmbedder(embedders, round_robin=settings.embedder_rotation == "round-robin")


def _cross_encoder(settings: Settings, folder: Path) -> Reranker:
    _require("a cross-encoder", LOCAL_PACKAGES)
    from remembrancer.adapters.deferred import DeferredReranker
    from remembrancer.adapters.rerankers.classifier import model_files
    from remembrancer.adapters.rerankers.cross_encoder import CrossEncoder, cross_encoder_id

    model_files(folder)
    load = partial(CrossEncoder.open, folder, timeout=settings.reranker_timeout)
    return DeferredReranker(model_id=cross_encoder_id(folder.resolve().name), load=load)


def _rerank_endpoint(settings: Settings) -> Reranker:
    from remembrancer.adapters.deferred import DeferredReranker
    from remembrancer.adapters.rerankers.services import RerankService

    if settings.reranker_model is None:
        raise InvalidInput("reranker_model", None, "the name of a model, where reranker is an address")
    if find_spec("httpx") is None:
        raise ModelUnavailable(_RERANKER_NEEDS_HTTPX)
    service = RerankService(
        model=settings.reranker_model, dialect=settings.reranker_dialect, scale=settings.reranker_scale
    )
    return DeferredReranker(model_id=service.model_id, load=partial(_call_endpoint, settings, service))


def _call_endpoint(settings: Settings, service: RerankService) -> Reranker:
    try:
        from remembrancer.adapters.rerankers.http import HttpReranker
    except ImportError as error:
        raise ModelUnavailable(f"{_RERANKER_NEEDS_HTTPX} ({error})") from error
    key = settings.reranker_key
    return HttpReranker.open(
        settings.reranker,
        service,
        timeout=settings.reranker_timeout,
        api_key=None if key is None else key.reveal(),
    )


def _is_missing(package: str) -> bool:
    try:
        return find_spec(package) is None
    except ModuleNotFoundError:  # the parent package is missing
        return True


def _llm_prices(settings: Settings) -> Prices | None:
    from remembrancer.adapters.llm.service import Prices

    read, written = settings.llm_price_input, settings.llm_price_output
    if read is None and written is None:
        return None
    if read is None:
        raise InvalidInput("llm_price_input", None, "a price, where llm_price_output is one")
    if written is None:
        raise InvalidInput("llm_price_output", None, "a price, where llm_price_input is one")
    return Prices(input=read, output=written)


def _call_llm(service: LlmService) -> LanguageModel:
    try:
        from remembrancer.adapters.llm.model import PydanticAiModel

        return PydanticAiModel.open(service)
    except ImportError as error:
        raise ModelUnavailable(f"{_LLM_NEEDS.format('its packages')} ({error})") from error


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
