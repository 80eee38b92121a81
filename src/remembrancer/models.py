"""Makes the models that the settings name: embedder, reranker and language model. None is loaded or called here.

Apart from `compose`, so that a short command can begin to load its model before it imports the rest.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final, cast

from remembrancer.config import CROSS_ENCODER, EMBEDDER_KEYS, LLM_KEYS, Settings
from remembrancer.domain.calibration import REFERENCE, CosineScale
from remembrancer.errors import InvalidInput, ModelUnavailable
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.adapters.embedders.local import Precision
    from remembrancer.adapters.embedders.ollama_models import OllamaModel
    from remembrancer.adapters.embedders.services import EmbeddingService, RemoteProtocol
    from remembrancer.adapters.llm.service import LlmService, Prices
    from remembrancer.adapters.rerankers.services import RerankService
    from remembrancer.ports.embedder import Embedder
    from remembrancer.ports.language_model import LanguageModel
    from remembrancer.ports.reranker import Reranker

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
_NEEDS_HTTPX: Final = "the Ollama embedder needs httpx: pip install 'remembrancer[ollama]'"
_RERANKER_NEEDS_HTTPX: Final = "a reranker at an address needs httpx: pip install 'remembrancer[rerank]'"
_REMOTE_NEEDS_HTTPX: Final = "the embedder needs httpx: pip install 'remembrancer[remote]'"
_LLM_NEEDS: Final = "a language model needs {}: pip install 'remembrancer[llm]'"


@dataclass(frozen=True, slots=True)
class EmbedderChoice:
    """An embedder, or the reason why there is none."""

    embedder: Embedder | None
    absent: str = ""


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


def embedder_before_of(settings: Settings) -> Embedder | None:
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
