"""The command `import-config`: the settings of Engram's config.yaml as a file of settings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, cast

import tomli_w
import yaml
from rich.text import Text

from remembrancer.config import load, read_file
from remembrancer.errors import InvalidInput, Unsupported, unreadable, unwritable
from remembrancer.interfaces.cli.drawing import Renderables
from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.text import counted
from remembrancer.interfaces.wire.files import ConfigOut, LeftOutSetting
from remembrancer.yaml_text import loaded

_PROVIDERS: Final = ("gemini", "openai", "anthropic", "ollama")
_KEPT: Final[Mapping[str, str]] = {
    "episodic.namespace": "workspace",
    "embedding.key_strategy": "embedder_rotation",
    "embedding.dimensions": "embedder_dim",
    "serve.host": "host",
    "serve.port": "port",
}
"""The keys of Engram with a setting of the same meaning."""
_LEFT_OUT: Final = {
    "episodic": "the preset engram decides it",
    "embedding": "API keys are read from GEMINI_API_KEY and GEMINI_API_KEY_FALLBACK",
    "llm": "API keys are read from the provider's environment variable",
    "scoring": "the preset engram has the published weights; change them in a preset of your own",
    "recall": "limits are arguments of recall, or belong to a preset of your own",
    "scheduler": "the preset's schedule; `remembrancer worker` runs the jobs",
    "consolidation": "the preset engram has the published thresholds; change them in a preset of your own",
    "feedback": "the preset engram has the published steps; change them in a preset of your own",
    "semantic": "there is no separate graph database: relations are in the same file",
    "cache": "recall needs no cache",
}
"""The reason why the other keys of a section have no setting, by section."""


def import_config(
    call: Invocation,
    *,
    file: Annotated[Path, "FILE", "Engram's config.yaml."],
    out: Annotated[Path | None, "FILE", "The settings file to write; it must not exist. Default: stdout."] = None,
) -> None:
    """Convert Engram's config.yaml into settings.

    Converts keys that have a setting of the same meaning. Every other key is listed on stderr, with the reason why it
    was left out. Use the file with --config or REMEMBRANCER_CONFIG.

    Example: remembrancer import-config ~/.engram/config.yaml --out settings.toml
    """
    settings, left_out = settings_of(read(file))
    load(settings, environment={})  # a value that is not allowed is an error now, not when the file is used
    text = _printable(tomli_w.dumps(settings))
    if out is not None:
        try:
            with out.open("x", encoding="utf-8") as written:
                written.write(text)
        except OSError as error:
            raise InvalidInput("--out", str(out), f"a new file ({unwritable(error)})") from error
    for one in left_out:
        call.note(f"left out: {one.key}: {one.reason}")
    answer = ConfigOut(settings=settings, left_out=left_out, path=None if out is None else str(out))
    call.answer(answer, lambda told: _written(told, text))


def _printable(toml: str) -> str:
    """The TOML text with escapes for characters that a terminal does not show; they occur in strings only."""
    return "".join(one if one.isprintable() or one == "\n" else f"\\U{ord(one):08X}" for one in toml)


def read(file: Path) -> dict[str, Any]:
    """The sections of a config.yaml of at most 1 MiB. Raises InvalidInput."""
    allowed = "a config.yaml of Engram"
    try:
        document = loaded(read_file("FILE", file))
    except OSError as error:
        raise unreadable("FILE", file, allowed, error) from error
    except InvalidInput:
        raise
    except (yaml.YAMLError, ValueError) as error:
        raise InvalidInput("FILE", str(file), f"{allowed} (not YAML: {error})") from error
    if not isinstance(document, dict):
        raise InvalidInput("FILE", str(file), f"{allowed}: sections with keys")
    return cast("dict[str, Any]", document)


def settings_of(document: Mapping[str, Any]) -> tuple[dict[str, Any], list[LeftOutSetting]]:
    """The settings with the meaning of an Engram configuration, and its other keys with the reason each is left out.

    Raises Unsupported for vectors on a Qdrant server, whose address is not in the file.
    """
    keys = dict(_flat(document))
    if keys.get("episodic.mode", "embedded") != "embedded":
        raise Unsupported(
            "episodic.mode: only embedded is read; remove it, and set `index` to the address of your Qdrant"
        )
    settings = dict[str, Any](preset="engram")
    for section, setting in (("embedding", "embedder"), ("llm", "llm")):
        model = _model(keys.get(f"{section}.provider"), keys.get(f"{section}.model"))
        if model is not None:
            settings[setting] = model
            keys.pop(f"{section}.provider", None)
            del keys[f"{section}.model"]
    left_out: list[LeftOutSetting] = []
    for key, value in keys.items():
        if key == "episodic.mode" or value is None:  # a key without a value is not set
            continue
        if isinstance(value, str) and "${" in value:
            left_out.append(
                LeftOutSetting(key=key, reason="set from the environment: set the variable of Remembrancer instead")
            )
        elif key in _KEPT:
            settings[_KEPT[key]] = value
        else:
            reason = _LEFT_OUT.get(key.partition(".")[0], "there is no setting with this meaning")
            left_out.append(LeftOutSetting(key=key, reason=reason))
    return settings, left_out


def _flat(section: Mapping[Any, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    """The keys of nested sections, with dots between their parts."""
    for name, value in section.items():
        if isinstance(value, dict):
            yield from _flat(cast("dict[Any, Any]", value), f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _model(provider: object, model: object) -> str | None:
    """PROVIDER:MODEL, if the provider is given in a key of its own or before the model
    ("gemini/gemini-embedding-001").
    """
    if not isinstance(model, str):
        return None
    before, slash, name = model.partition("/")
    if isinstance(provider, str):
        return f"{provider}:{name if slash and before == provider else model}" if provider in _PROVIDERS else None
    return f"{before}:{name}" if slash and before in _PROVIDERS else None


def _written(told: ConfigOut, text: str) -> Renderables:
    yield Text(text.rstrip() if told.path is None else f"wrote {counted(len(told.settings), 'setting')} to {told.path}")
