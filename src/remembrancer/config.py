"""Settings: from arguments, environment variables, a TOML file and defaults, in this order of precedence. Only this
module reads the environment.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Collection, Generator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import field, fields, replace
from math import inf, isfinite
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, TypeVar, cast
from urllib.parse import urlsplit

from remembrancer.errors import InvalidInput, unreadable
from remembrancer.values import dataclass

PREFIX: Final = "REMEMBRANCER_"

ALIASES: Final = {
    "KEEPER_OLLAMA_URL": "ollama_url",
    "ENGRAM_NAMESPACE": "workspace",
    "FORWARDED_ALLOW_IPS": "trusted_proxies",
}
"""Environment variables of other systems, and the settings that they provide if ours are not set."""

CROSS_ENCODER: Final = "cross-encoder:"
"""The prefix, in the setting `reranker`, of the path of a cross-encoder's folder."""

AUTO: Final = "auto"
RESIDENT: Final = "resident"
PGVECTOR: Final = "pgvector"
OWN_INDEXES: Final = (AUTO, RESIDENT, PGVECTOR)
"""The setting `index`: by the size of a workspace, in this process's memory, or in the PostgreSQL database."""

EMBEDDED: Final = "embedded"
DISTRIBUTED: Final = "distributed"
"""The values of the setting `jobs`."""

LLM_KEYS: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
"""Each provider's usual environment variable for its API key. It provides `llm_key` if ours is not set."""

EMBEDDER_KEYS: Final = {
    protocol: (variable, f"{variable}_FALLBACK")
    for protocol, variable in LLM_KEYS.items()
    if protocol in {"openai", "gemini"}
}
"""Each provider's usual environment variables for API keys. They provide `embedder_keys` if ours is not set."""

KEY_SOURCES: Final = frozenset({"encryption_key", "encryption_key_file", "encryption_key_command"})
"""The settings that name the encryption key. A source of settings that has one of them replaces those of earlier ones.
"""
_KEY_BYTES: Final = 32
_LEAST_PASSPHRASE: Final = 12
"""The fewest characters of a passphrase."""
_SWITCHES: Final = dict.fromkeys(("true", "1", "yes", "on"), True) | dict.fromkeys(("false", "0", "no", "off"), False)


T = TypeVar("T")


class Secret:
    """A secret text, such as an API key: `repr` and `str` do not show it."""

    def __init__(self, text: str) -> None:
        self._text = text

    def reveal(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return "Secret('***')"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Secret) and other._text == self._text

    def __hash__(self) -> int:
        return hash(self._text)


class _Refused(Exception):
    """A value is not allowed. The argument says which values are."""


def _setting(default: T, check: Callable[[Any], T], description: str, *, shown: bool = True) -> T:
    """A field of Settings. `check` converts a value, or a variable's text, and returns it; or raises _Refused.

    `shown`: whether `repr` contains the value.
    """
    return field(default=default, repr=shown, metadata={"check": check, "description": description})


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise _Refused("a string")
    return value


def _optional(check: Callable[[Any], T]) -> Callable[[Any], T | None]:
    return lambda value: None if value is None else check(value)


def _number(*, above: float | None = None, least: float = 0.0, most: float = inf) -> Callable[[Any], float]:
    """A finite number in [least, most], or in (above, most]."""
    start = f"of at least {least:,g}" if above is None else f"above {above:,g}"
    allowed = f"a number {start}" + ("" if most == inf else f" and at most {most:,g}")

    def check(value: Any) -> float:
        try:
            number = float(value)
        except (TypeError, ValueError):
            raise _Refused(allowed) from None
        if not isfinite(number) or number > most or (number < least if above is None else number <= above):
            raise _Refused(allowed)
        return number

    return check


def _whole(least: int, most: int | None = None) -> Callable[[Any], int]:
    allowed = f"a whole number of at least {least}" if most is None else f"a whole number from {least} to {most}"

    def check(value: Any) -> int:
        try:
            number = int(value)
        except (TypeError, ValueError, OverflowError):
            raise _Refused(allowed) from None
        if (not isinstance(value, str) and number != value) or number < least or (most is not None and number > most):
            raise _Refused(allowed)
        return number

    return check


def _switch(value: Any) -> bool:
    told = str(value).lower() if isinstance(value, bool | int | str) else ""
    if told not in _SWITCHES:
        raise _Refused("true or false")
    return _SWITCHES[told]


def _one_of(*options: str) -> Callable[[Any], Any]:
    def check(value: Any) -> str:
        if value not in options:
            raise _Refused(" or ".join(options))
        return value

    return check


def _address(value: Any) -> str:
    if not _is_http(_text(value)):
        raise _Refused("an http:// or https:// address, such as http://localhost:11434")
    return value


def _peers(value: Any) -> str:
    import ipaddress  # noqa: PLC0415  most programs name none

    for one in filter(None, map(str.strip, _text(value).split(","))):
        try:
            ipaddress.ip_network(one)
        except ValueError:
            if one != "*":
                raise _Refused("IP addresses and networks, such as 127.0.0.1,10.0.0.0/8; or *") from None
    return value


def _embedder_before(value: Any) -> str:
    named = _text(value)
    if not re.fullmatch(r"local(:(fp32|int8))?|(folder|package|ollama|openai|gemini):.+", named):
        raise _Refused(
            "local, local:fp32, local:int8, folder:PATH, package:NAME, ollama:MODEL, openai:MODEL or gemini:MODEL"
        )
    return named


def _reranker(value: Any) -> str:
    named = _text(value)
    has_folder = named.startswith(CROSS_ENCODER) and named != CROSS_ENCODER
    if not (named == "none" or has_folder or _is_http(named)):
        raise _Refused(
            "none, cross-encoder:FOLDER, or the http:// or https:// address of an endpoint, such as "
            "http://localhost:8080/rerank"
        )
    return named


def _llm(value: Any) -> str:
    named = _text(value)
    if named != "none" and not re.fullmatch(r"(openai|anthropic|gemini|ollama):[\w.:/@+-]+", named):
        raise _Refused("none, openai:MODEL, anthropic:MODEL, gemini:MODEL or ollama:MODEL")
    return named


def _model(value: Any) -> str:
    if not _text(value).strip() or not value.isprintable():
        raise _Refused("the name of a model")
    return value


def _key(value: Any) -> Secret:
    """An API key that fits into an HTTP header. A final line break, as in a key file, is removed."""
    key = value if isinstance(value, Secret) else Secret(_text(value))
    told = key.reveal().strip()
    if not (told and told.isascii() and told.isprintable() and " " not in told):
        raise _Refused("printable ASCII characters without spaces")
    return key


def _encryption_key(value: Any) -> Secret:
    """A key of 32 bytes, as they are or as 64 hexadecimal digits; or a passphrase. A final line break is removed.

    32 bytes of ASCII are a passphrase: of all keys, one in four thousand million is so.
    """
    told = value.reveal() if isinstance(value, Secret) else value
    if isinstance(told, bytes):
        try:
            told = told.hex() if len(told) == _KEY_BYTES and not told.isascii() else told.decode()
        except UnicodeDecodeError:
            told = ""
    secret = told.rstrip("\r\n") if isinstance(told, str) else ""
    if len(secret) < _LEAST_PASSPHRASE or not secret.isprintable():
        raise _Refused(
            f"32 bytes, 64 hexadecimal digits, or a passphrase of at least {_LEAST_PASSPHRASE} printable characters"
        )
    return Secret(secret)


def _keys(value: Any) -> tuple[Secret, ...]:
    """Several API keys: a list of them, or one text with commas between them."""
    several = [one.strip() for one in value.split(",")] if isinstance(value, str) else value
    if not isinstance(several, list | tuple):
        raise _Refused("API keys, separated by commas")
    return tuple(dict.fromkeys(_key(one) for one in cast("Collection[Any]", several)))


def _names(value: Any) -> frozenset[str]:
    """Several names: a list, or one text with commas between them."""
    several = value.split(",") if isinstance(value, str) else value
    if not isinstance(several, list | tuple | frozenset):
        raise _Refused("names, separated by commas")
    return frozenset(name for one in cast("Collection[Any]", several) if (name := _text(one).strip()))


def _calibration(value: Any) -> tuple[float, ...]:
    """Means of cosines: unrelated and related, perhaps also those of token embeddings."""
    several = value.split(",") if isinstance(value, str) else value
    numbers: list[float] = []
    with suppress(TypeError, ValueError):  # then none of them counts
        numbers = [float(one) for one in several]
    are_cosines = len(numbers) in (2, 4) and all(-1 <= one <= 1 for one in numbers)
    if not are_cosines or numbers[0] >= numbers[1]:
        raise _Refused("2 or 4 cosines, as `remembrancer embedder calibrate` prints them")
    return tuple(numbers)


def _languages(value: Any) -> frozenset[str]:
    codes = _names(value)
    if not all(re.fullmatch("[a-z]{2}", code) for code in codes):
        raise _Refused("codes of languages by ISO 639-1, separated by commas, such as en,de")
    return codes


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """All settings. Raises InvalidInput for a value that is not allowed; `load` also does for an unknown name."""

    db: str = _setting(
        "remembrancer.db", _text, "the store: a file's path, :memory:, or postgresql://USER:PASSWORD@HOST/DATABASE"
    )
    preset: str = _setting("default", _text, "the preset: a name or a TOML file")
    workspace: str = _setting("default", _text, "the tenant whose memories these are")
    project: str | None = _setting(None, _optional(_text), "the project within the workspace")
    crew: str | None = _setting(None, _optional(_text), "the crew within the project")
    agent: str | None = _setting(None, _optional(_text), "the agent whose memories these are")
    session: str | None = _setting(None, _optional(_text), "the session within the agent")
    role: str = _setting("AGENT", _text, "the role of the caller: AGENT or LEAD")
    walk_agents: frozenset[str] = _setting(
        frozenset(),
        _names,
        "agents whose recalls also follow the `similar` relations of hits: names, separated by commas",
    )
    embedder: str = _setting(
        "auto",
        _text,
        "auto, none, local, local:PRECISION, folder:PATH, package:NAME, ollama:MODEL, openai:MODEL or gemini:MODEL",
    )
    embedder_before: str | None = _setting(
        None,
        _optional(_embedder_before),
        "during a change of embedder, the one from before: its vectors answer until `remembrancer embedder switch`",
    )
    embedder_before_url: str | None = _setting(
        None, _optional(_address), "as `embedder_url`, for `embedder_before`", shown=False
    )
    embedder_before_keys: tuple[Secret, ...] = _setting((), _keys, "as `embedder_keys`, for `embedder_before`")
    embedder_before_calibration: tuple[float, ...] | None = _setting(
        None, _optional(_calibration), "as `embedder_calibration`, for `embedder_before`"
    )
    embedder_before_dim: int | None = _setting(
        None, _optional(_whole(1, 65_536)), "as `embedder_dim`, for `embedder_before`"
    )
    reembed_share: float = _setting(
        0.5,
        _number(above=0, most=1),
        "the share of time that embedding for a change of embedder takes in the background; 1: without pauses",
    )
    # URLs may contain a password, so they are not shown.
    ollama_url: str | None = _setting(None, _optional(_address), "the Ollama server, http://host:port", shown=False)
    embedder_url: str | None = _setting(
        None,
        _optional(_address),
        "the base URL of openai:MODEL or gemini:MODEL, such as http://localhost:8000/v1, if not its provider's",
        shown=False,
    )
    embedder_keys: tuple[Secret, ...] = _setting(
        (),
        _keys,
        "the embedder's API keys, separated by commas; `embedder_rotation` says how they are used",
    )
    embedder_rotation: Literal["failover", "round-robin"] = _setting(
        "failover", _one_of("failover", "round-robin"), "how several keys are used"
    )
    embedder_dim: int | None = _setting(
        None, _optional(_whole(1, 65_536)), "the requested vector dimensions of openai:MODEL or gemini:MODEL"
    )
    embedder_languages: frozenset[str] = _setting(
        frozenset(),
        _languages,
        "the languages that the embedder's model reads, as codes separated by commas, such as en,de; if not given, "
        "those that its folder or its name tells",
    )
    embedder_calibration: tuple[float, ...] | None = _setting(
        None,
        _optional(_calibration),
        "the embedder's measured cosines, as `remembrancer embedder calibrate` prints them: 2 or 4 numbers, separated "
        "by commas; a folder has its own",
    )
    embedder_timeout: float = _setting(
        15.0, _number(above=0, most=600), "the time limit of one request to an embedder over HTTP, in seconds"
    )
    reranker: str = _setting(
        "none", _reranker, "none, cross-encoder:FOLDER, or the address of a rerank endpoint", shown=False
    )
    reranker_model: str | None = _setting(
        None, _optional(_model), "the model that the rerank endpoint uses; required with an endpoint"
    )
    reranker_dialect: Literal["cohere", "tei"] = _setting(
        "cohere",
        _one_of("cohere", "tei"),
        "the protocol of the rerank endpoint: cohere (Cohere, Jina, vLLM, Infinity, llama.cpp), or tei "
        "(Text Embeddings Inference)",
    )
    reranker_scale: Literal["probability", "logit", "cosine"] = _setting(
        "probability",
        _one_of("probability", "logit", "cosine"),
        "the range of the rerank endpoint's scores: probability in [0, 1], logit (llama.cpp), or cosine in [-1, 1]",
    )
    reranker_key: Secret | None = _setting(None, _optional(_key), "the rerank endpoint's API key")
    reranker_timeout: float = _setting(
        15.0, _number(above=0, most=600), "the reranker's time limit per question, in seconds"
    )
    llm: str = _setting(
        "none", _llm, "the language model: none, openai:MODEL, anthropic:MODEL, gemini:MODEL or ollama:MODEL"
    )
    llm_url: str | None = _setting(
        None,
        _optional(_address),
        "the language model's address, if not its provider's",
        shown=False,
    )
    llm_key: Secret | None = _setting(None, _optional(_key), "the language model's API key")
    llm_timeout: float = _setting(
        60.0, _number(above=0, most=600), "the language model's time limit per request, in seconds"
    )
    llm_price_input: float | None = _setting(
        None, _optional(_number()), "US dollars per million tokens that the model reads"
    )
    llm_price_output: float | None = _setting(
        None, _optional(_number()), "US dollars per million tokens that the model writes"
    )
    weights: str | None = _setting(None, _optional(_text), "a folder with the files of the local model")
    precision: Literal["fp32", "int8"] | None = _setting(
        None, _optional(_one_of("fp32", "int8")), "arithmetic of an embedder in this process"
    )
    full_sync: bool = _setting(False, _switch, "sync the file to disk at every commit")
    encryption_key: Secret | None = _setting(
        None,
        _optional(_encryption_key),
        "the key with which an SQLite file is encrypted: 64 hexadecimal digits (32 bytes), or a passphrase",
    )
    encryption_key_file: str | None = _setting(
        None, _optional(_text), "a file with this key: 32 bytes, 64 hexadecimal digits, or a passphrase"
    )
    encryption_key_command: str | None = _setting(
        None, _optional(_text), "a command that prints this key, such as one that asks a keyring; no shell runs it"
    )
    sealed_backups: bool = _setting(
        False,
        _switch,
        "seal each memory and event of a backup under a key of its own, which `erase` destroys; the keys are in"
        " STORE.keys, a file without which no such backup can be restored",
    )
    index: str = _setting(
        AUTO,
        _text,
        "the index: resident (in memory), pgvector (in the PostgreSQL database), auto (by the size of a workspace), "
        "qdrant:///folder, qdrant+https://host:6333/collection?api_key=…, or an address whose scheme an installed "
        "package handles",
        shown=False,
    )
    index_mb: int = _setting(1024, _whole(1), "memory budget of the resident indexes, in MiB")
    max_event_mb: int = _setting(16, _whole(1, 256), "the longest text that can be recorded, in MiB")
    background_index: bool = _setting(True, _switch, "index new memories in the background")
    jobs: Literal["embedded", "distributed"] = _setting(
        EMBEDDED,
        _one_of(EMBEDDED, DISTRIBUTED),
        "who runs the background jobs: embedded, each process for itself; distributed, the workers on a PostgreSQL"
        " database share them",
    )
    audit_reads: bool = _setting(
        False,
        _switch,
        "record in the audit trail also each call that shows memories or events, not only changes",
    )
    host: str = _setting("127.0.0.1", _text, "the address that `serve` listens on")
    port: int = _setting(8765, _whole(0, 65_535), "its port; 0: any that is free")
    workers: int = _setting(1, _whole(1, 64), "the number of processes that answer requests to `serve`")
    vaults: str | None = _setting(
        None, _optional(_text), "the folder in which `serve` finds a vault for each workspace, by its name"
    )
    request_timeout: float = _setting(
        60.0, _number(above=0, most=3600), "the time limit of a request to the server, in seconds"
    )
    rate_limit: float = _setting(
        100.0,
        _number(most=1_000_000),
        "sustained requests per second per key; 0: unlimited",
    )
    max_connections: int = _setting(
        1000,
        _whole(1, 1_000_000),
        "the maximum number of open connections to the server; fewer if the process may not open so many files",
    )
    max_connections_per_address: int = _setting(
        256,
        _whole(1, 1_000_000),
        "the maximum number of open connections per address (of IPv6: per network of 64 bits)",
    )
    trusted_proxies: str = _setting(
        "",
        _peers,
        "addresses or networks, separated by commas, whose X-Forwarded-For and X-Forwarded-Proto the server trusts",
    )
    oauth_issuer: str | None = _setting(
        None, _optional(_address), "the authorization server whose access tokens MCP accepts: their `iss`"
    )
    oauth_jwks_url: str | None = _setting(None, _optional(_address), "the address of its public keys (JWKS)")
    oauth_resource: str | None = _setting(
        None, _optional(_address), "the address of the MCP server for its clients, such as https://memory.example/mcp"
    )
    oauth_audience: str | None = _setting(
        None, _optional(_text), "the `aud` of access tokens; if not given, `oauth_resource`"
    )
    oauth_workspace_claim: str | None = _setting(
        None, _optional(_text), "the claim of an access token with the workspace; if not given, the server's workspace"
    )
    header_timeout: float = _setting(
        10.0, _number(above=0, most=3600), "the time limit for a request's headers, in seconds"
    )

    @property
    def file(self) -> Path | None:
        """The path of the store's file; None if it is in memory, or at an address."""
        return None if self.db == ":memory:" or "://" in self.db else Path(self.db)

    @property
    def place(self) -> str:
        """The path or address of the store for messages, without user and password."""
        return str(_hidden("db", self.db))

    def __post_init__(self) -> None:
        for one in fields(self):
            value = getattr(self, one.name)
            try:
                object.__setattr__(self, one.name, one.metadata["check"](value))
            except _Refused as refused:
                raise InvalidInput(one.name, _hidden(one.name, value), str(refused)) from None


class _Given(NamedTuple):
    """A setting's value, and the setting's name as its source spells it."""

    value: Any
    source: str


def load(
    arguments: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Settings:
    """The settings from all sources. `arguments` that are None count as not given.

    `file`: a TOML file; None: the one named by REMEMBRANCER_CONFIG. Raises InvalidInput naming the setting and its
    source.
    """
    environment = os.environ if environment is None else environment
    named = environment.get(f"{PREFIX}CONFIG")
    file = file or (Path(named) if named else None)
    given: dict[str, _Given] = {}
    if file is not None:
        given |= {name: _Given(value, f"{file}: {name}") for name, value in read_toml("config", file).items()}
    given |= {setting: _Given(environment[name], name) for name, setting in ALIASES.items() if environment.get(name)}
    variables = {
        name.removeprefix(PREFIX).lower(): _Given(value, name)
        for name, value in environment.items()
        if name.startswith(PREFIX) and name != f"{PREFIX}CONFIG" and value  # an empty variable counts as not set
    }
    passed = {name: _Given(value, name) for name, value in (arguments or {}).items() if value is not None}
    for later in (variables, passed):
        given = {name: one for name, one in given.items() if not _replaces_key(name, later)} | later
    for setting in ("embedder", "embedder_before"):
        protocol = str(given[setting].value).partition(":")[0] if setting in given else ""
        keys = [environment[name] for name in EMBEDDER_KEYS.get(protocol, ()) if environment.get(name)]
        if keys:
            given.setdefault(f"{setting}_keys", _Given(keys, " and ".join(EMBEDDER_KEYS[protocol])))
    usual = LLM_KEYS.get(str(given["llm"].value).partition(":")[0]) if "llm" in given else None
    if usual and environment.get(usual):
        given.setdefault("llm_key", _Given(environment[usual], usual))
    known = {one.name for one in fields(Settings)}
    for name, one in given.items():
        if name not in known:
            raise InvalidInput(one.source, _hidden(name, one.value), "one of the settings " + ", ".join(sorted(known)))
    try:
        return Settings(**{name: one.value for name, one in given.items()})
    except InvalidInput as error:
        raise InvalidInput(given[error.argument].source, error.value, error.allowed) from error


def _replaces_key(name: str, later: Collection[str]) -> bool:
    """Whether settings of a later source name the encryption key, so that this setting of an earlier one does not."""
    return name in KEY_SOURCES and not KEY_SOURCES.isdisjoint(later)


def settings_of(settings: object, arguments: Mapping[str, Any]) -> Settings:
    """A program's settings. `settings`: Settings, used alone; or a mapping of some, or None, completed by `load`.

    `arguments` that are not None take precedence. Raises InvalidInput.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if isinstance(settings, Settings):
        return replace(settings, **{name: None for name in KEY_SOURCES if _replaces_key(name, given)} | given)
    if settings is None:
        return load(given)
    if not isinstance(settings, Mapping):
        raise InvalidInput("settings", settings, "Settings, or a mapping of some of them")
    return load({**cast("Mapping[str, Any]", settings), **given})


_METRICS: Final = "PROMETHEUS_MULTIPROC_DIR"
"""The variable with the folder in which processes add up their metrics. prometheus_client reads it when imported."""


@contextmanager
def shared_metrics(folder: Path) -> Generator[None]:
    """Let processes that are started meanwhile add up their metrics in the folder."""
    before = os.environ.get(_METRICS)
    os.environ[_METRICS] = str(folder)
    try:
        yield
    finally:
        del os.environ[_METRICS]
        os.environ.update({} if before is None else {_METRICS: before})


def has_shared_metrics() -> bool:
    """Whether this process was started with a folder of shared metrics."""
    return _METRICS in os.environ


MAX_KEY_BYTES: Final = 4096
"""The longest key file, and the longest answer of a key command."""
KEY_COMMAND_S: Final = 60
"""The time limit of a key command, in which somebody may have to unlock a keyring."""


def encryption_secret(settings: Settings) -> str | None:
    """The encryption key: 64 hexadecimal digits, or a passphrase; None: the settings name none.

    Raises InvalidInput if they name several, or one that cannot be had. No message contains a part of the key.
    """
    given = [name for name in sorted(KEY_SOURCES) if getattr(settings, name) is not None]
    if len(given) > 1:
        raise InvalidInput(given[1], "***", f"one source of the key; {given[0]} is set too")
    if settings.encryption_key is not None:
        return settings.encryption_key.reveal()
    if settings.encryption_key_file is not None:
        return _secret_in("encryption_key_file", settings.encryption_key_file, _key_file(settings.encryption_key_file))
    if settings.encryption_key_command is not None:
        command = settings.encryption_key_command
        return _secret_in("encryption_key_command", command, _key_command(command))
    return None


def _secret_in(setting: str, source: str, content: bytes) -> str:
    try:
        return _encryption_key(content).reveal()
    except _Refused as refused:
        raise InvalidInput(setting, source, f"a source of {refused}") from None


def _key_file(path: str) -> bytes:
    try:
        with Path(path).expanduser().open("rb") as file:
            content = file.read(MAX_KEY_BYTES + 1)
    except OSError as error:
        raise unreadable("encryption_key_file", path, "a file with a key", error) from error
    if len(content) > MAX_KEY_BYTES:
        raise InvalidInput("encryption_key_file", path, f"a file of at most {MAX_KEY_BYTES:,} bytes")
    return content


def _key_command(command: str) -> bytes:
    import shlex  # noqa: PLC0415  most programs run none
    import subprocess  # noqa: PLC0415

    def refused(why: str) -> InvalidInput:
        return InvalidInput("encryption_key_command", command, f"a command that prints the key ({why})")

    try:
        words = shlex.split(command)
        done = subprocess.run(words, capture_output=True, timeout=KEY_COMMAND_S, check=False)  # noqa: S603
    except (OSError, ValueError, IndexError) as error:
        raise refused(str(error) or "it is empty") from None
    except subprocess.TimeoutExpired:
        raise refused(f"it ran for more than {KEY_COMMAND_S} seconds") from None
    if done.returncode:
        raise refused(f"it ended with code {done.returncode}: {done.stderr[:200].decode(errors='replace').strip()}")
    if len(done.stdout) > MAX_KEY_BYTES:
        raise refused(f"it printed more than {MAX_KEY_BYTES:,} bytes")
    return done.stdout


MAX_FILE_BYTES: Final = 1 << 20
"""The largest file of settings, of a preset, or of a text that a command takes."""


def read_file(argument: str, file: Path) -> str:
    """The text of a file in UTF-8, without reading more than it may have. Raises InvalidInput for a file beyond
    `MAX_FILE_BYTES`, OSError, and UnicodeDecodeError.
    """
    with file.open("rb") as opened:
        content = opened.read(MAX_FILE_BYTES + 1)
    if len(content) > MAX_FILE_BYTES:
        raise InvalidInput(argument, str(file), f"a file of at most {MAX_FILE_BYTES:,} bytes")
    return content.decode("utf-8")


def read_toml(setting: str, file: Path) -> dict[str, Any]:
    """The content of a TOML file. `setting`: the setting that names the file. Raises InvalidInput naming
    the setting.
    """
    import tomllib  # noqa: PLC0415  most programs name no file

    try:
        return tomllib.loads(read_file(setting, file))
    except OSError as error:
        raise unreadable(setting, file, "a TOML file", error) from error
    except InvalidInput:
        raise
    except RecursionError:
        raise InvalidInput(setting, str(file), "a TOML file that is not nested so deeply") from None
    except ValueError as error:  # not TOML, not UTF-8, or a number with too many digits
        raise InvalidInput(setting, str(file), f"a TOML file ({error})") from error


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        whole = parts.port is None or parts.port > 0
    except ValueError:  # an invalid port or IPv6 address
        return False
    plain = url.isprintable() and not re.search(r"[\s?#]", url)
    return whole and plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def _hidden(name: str, value: Any) -> Any:
    """The value as an error's text shows it: without secrets."""
    if "key" in name.lower():  # also if the setting's name is misspelt
        return "***"
    if not isinstance(value, str):
        return value
    value = re.sub(r"//[^/\s]*@", "//***@", value)  # user and password of a URL
    return re.sub(r"(api_key=)[^&#\s]*", r"\1***", value)
