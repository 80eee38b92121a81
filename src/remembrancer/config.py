"""Settings: arguments, then environment variables, then a TOML file, then defaults. The only module that reads the
environment.
"""

from __future__ import annotations

import os
import re
import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Literal, NamedTuple, cast
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator
from pydantic_core import PydanticCustomError

from remembrancer.errors import InvalidInput

PREFIX: Final = "REMEMBRANCER_"

ALIASES: Final = {"KEEPER_OLLAMA_URL": "ollama_url", "ENGRAM_NAMESPACE": "workspace"}
"""Environment variables of other systems, and the settings they provide where ours is not set."""

CROSS_ENCODER: Final = "cross-encoder:"
"""The prefix of a cross-encoder's folder, as a reranker."""

LLM_KEYS: Final = {"openai": "OPENAI_API_KEY", "anthropic": "ANTHROPIC_API_KEY", "gemini": "GEMINI_API_KEY"}
"""Each provider's usual environment variable for its API key. It provides `llm_key` where ours is not set."""

_LLM: Final = re.compile(r"(openai|anthropic|gemini|ollama):[\w.:/@+-]+")


class Settings(BaseModel):
    """All settings. Unknown names are errors, whatever their source."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    db: str = Field(default="remembrancer.db", description="the store: a file's path, or :memory:")
    preset: str = Field(default="default", description="the preset to remember by: a name, or a TOML file")
    workspace: str = Field(default="default", description="the tenant whose memories these are")
    project: str | None = Field(default=None, description="the project within the workspace")
    crew: str | None = Field(default=None, description="the crew within the project")
    agent: str | None = Field(default=None, description="the agent whose memories these are")
    session: str | None = Field(default=None, description="the session within the agent")
    role: str = Field(default="AGENT", description="as what the caller reads: AGENT or LEAD")
    embedder: str = Field(default="auto", description="auto, none, local or ollama:MODEL")
    # A URL may carry a password: kept out of the settings' repr.
    ollama_url: str | None = Field(default=None, repr=False, description="the Ollama server, http://host:port")
    embedder_timeout: float = Field(
        default=15.0, gt=0, le=600, description="seconds for one answer of an embedder that is called over HTTP"
    )
    # Its address may carry a password too.
    reranker: str = Field(
        default="none", repr=False, description="none, cross-encoder:FOLDER, or the address of a rerank endpoint"
    )
    reranker_model: str | None = Field(default=None, description="the model that the rerank endpoint is to use")
    reranker_dialect: Literal["cohere", "tei"] = Field(
        default="cohere", description="how the rerank endpoint is spoken to"
    )
    reranker_scale: Literal["probability", "logit", "cosine"] = Field(
        default="probability", description="what the rerank endpoint's scores are"
    )
    reranker_key: SecretStr | None = Field(default=None, description="the rerank endpoint's API key")
    reranker_timeout: float = Field(
        default=15.0, gt=0, le=600, description="seconds for the reranker's scores of one question"
    )
    llm: str = Field(
        default="none",
        description="the language model: none, openai:MODEL, anthropic:MODEL, gemini:MODEL or ollama:MODEL",
    )
    llm_url: str | None = Field(
        default=None, repr=False, description="where the language model is asked, if not at its provider's own address"
    )
    llm_key: SecretStr | None = Field(default=None, description="the language model's API key")
    llm_timeout: float = Field(default=60.0, gt=0, le=600, description="seconds for one request to the language model")
    llm_price_input: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="US dollars per million tokens that the model reads"
    )
    llm_price_output: float | None = Field(
        default=None, ge=0, allow_inf_nan=False, description="US dollars per million tokens that the model writes"
    )
    weights: str | None = Field(default=None, description="a folder with the local model, or hub")
    cache_dir: str | None = Field(default=None, description="where prepared models are kept")
    precision: Literal["fp32", "int8"] | None = Field(default=None, description="arithmetic of the local embedder")
    full_sync: bool = Field(default=False, description="wait for the disk at every commit")
    index_mb: int = Field(default=1024, ge=1, description="memory budget of the resident indexes, in MiB")
    background_index: bool = Field(default=True, description="index new memories beside other work")
    host: str = Field(default="127.0.0.1", description="the address that `serve` listens on")
    port: int = Field(default=8765, ge=0, le=65_535, description="its port; 0: any that is free")
    request_timeout: float = Field(default=60.0, gt=0, le=3600, description="seconds for one request to the server")
    rate_limit: float = Field(
        default=100.0,
        ge=0,
        le=1_000_000,
        description="requests a second that the server takes from one key, in the long run; 0: any number",
    )

    @field_validator("ollama_url", "llm_url")
    @classmethod
    def _is_http(cls, url: str | None) -> str | None:
        if url is not None and not _is_http(url):
            raise PydanticCustomError("address", "an http:// or https:// address, such as http://localhost:11434")
        return url

    @field_validator("reranker")
    @classmethod
    def _is_reranker(cls, named: str) -> str:
        has_folder = named.startswith(CROSS_ENCODER) and named != CROSS_ENCODER
        if named == "none" or has_folder or _is_http(named):
            return named
        raise PydanticCustomError(
            "reranker",
            "none, cross-encoder:FOLDER, or the http:// or https:// address of an endpoint, such as "
            "http://localhost:8080/rerank",
        )

    @field_validator("llm")
    @classmethod
    def _is_llm(cls, named: str) -> str:
        if named == "none" or _LLM.fullmatch(named):
            return named
        raise PydanticCustomError("llm", "none, openai:MODEL, anthropic:MODEL, gemini:MODEL or ollama:MODEL")

    @field_validator("reranker_model")
    @classmethod
    def _is_model(cls, model: str | None) -> str | None:
        if model is not None and (not model.strip() or not model.isprintable()):
            raise PydanticCustomError("model", "the name of a model")
        return model

    @field_validator("reranker_key", "llm_key")
    @classmethod
    def _is_key(cls, key: SecretStr | None) -> SecretStr | None:
        """Check that the key fits into an HTTP header; a final line break of a file is ignored."""
        told = "" if key is None else key.get_secret_value().strip()
        if key is not None and not (told and told.isascii() and told.isprintable() and " " not in told):
            raise PydanticCustomError("key", "printable ASCII characters without a blank")
        return key


class _Given(NamedTuple):
    """A setting's value, and its name as its source spells it."""

    value: Any
    source: str


def load(
    arguments: Mapping[str, Any] | None = None,
    *,
    environment: Mapping[str, str] | None = None,
    file: Path | None = None,
) -> Settings:
    """The settings in force. `arguments` that are None count as not given.

    `file` defaults to the one named by REMEMBRANCER_CONFIG. Raises InvalidInput naming the setting and its source.
    """
    environment = os.environ if environment is None else environment
    named = environment.get(f"{PREFIX}CONFIG")
    file = file or (Path(named) if named else None)
    given: dict[str, _Given] = {}
    if file is not None:
        given |= {name: _Given(value, f"{file}: {name}") for name, value in read_toml("config", file).items()}
    given |= {setting: _Given(environment[name], name) for name, setting in ALIASES.items() if environment.get(name)}
    given |= {
        name.removeprefix(PREFIX).lower(): _Given(value, name)
        for name, value in environment.items()
        if name.startswith(PREFIX) and name != f"{PREFIX}CONFIG" and value  # an empty variable counts as not set
    }
    given |= {name: _Given(value, name) for name, value in (arguments or {}).items() if value is not None}
    usual = LLM_KEYS.get(str(given["llm"].value).partition(":")[0]) if "llm" in given else None
    if usual and environment.get(usual):
        given.setdefault("llm_key", _Given(environment[usual], usual))
    try:
        return Settings.model_validate({name: one.value for name, one in given.items()})
    except ValidationError as error:
        raise _named(error, given) from error


def settings_of(settings: object, arguments: Mapping[str, Any]) -> Settings:
    """The settings of a program that passes its own: Settings, which nothing else is added to, or a mapping of some, or
    None. `arguments` that are not None replace them. Raises InvalidInput.
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    if isinstance(settings, Settings):
        return load({**settings.model_dump(), **given}, environment={})
    if settings is None:
        return load(given)
    if not isinstance(settings, Mapping):
        raise InvalidInput("settings", settings, "Settings, or a mapping of some of them")
    return load({**cast("Mapping[str, Any]", settings), **given})


def read_toml(setting: str, file: Path) -> dict[str, Any]:
    """The content of the TOML file that a setting names. Raises InvalidInput naming the setting."""
    try:
        return tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InvalidInput(setting, str(file), f"a readable TOML file ({error.strerror})") from error
    except ValueError as error:  # not TOML, not UTF-8, or a number with thousands of digits
        raise InvalidInput(setting, str(file), f"a TOML file ({error})") from error


def user_cache(environment: Mapping[str, str] | None = None) -> Path:
    """The folder for files that can be recreated: XDG_CACHE_HOME, or ~/.cache."""
    environment = os.environ if environment is None else environment
    base = environment.get("XDG_CACHE_HOME")
    return (Path(base) if base else Path.home() / ".cache") / "remembrancer"


def _is_http(url: str) -> bool:
    try:
        parts = urlsplit(url)
        whole = parts.port is None or parts.port > 0
    except ValueError:  # an invalid port or IPv6 address
        return False
    plain = url.isprintable() and not re.search(r"[\s?#]", url)
    return whole and plain and parts.scheme in ("http", "https") and bool(parts.hostname)


def _named(error: ValidationError, given: Mapping[str, _Given]) -> InvalidInput:
    """The first validation error, with the setting's name as its source spells it."""
    first = error.errors()[0]
    name = str(first["loc"][0])
    value, source = given[name]
    if "key" in name.lower():  # secrets are hidden even where their name is misspelt
        value = "***"
    elif isinstance(value, str):
        value = re.sub(r"//[^/\s]*@", "//***@", value)  # user and password of a URL are hidden
    if first["type"] == "extra_forbidden":
        return InvalidInput(source, value, "one of the settings " + ", ".join(sorted(Settings.model_fields)))
    return InvalidInput(source, value, first["msg"])
