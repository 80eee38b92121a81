"""The page of the settings: name, default, what is allowed, and variable, from `config.py`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields
from typing import Any, Final

from reference.docstrings import doc_of, markdown
from reference.page import Page, code
from reference.source import shown
from remembrancer import config
from remembrancer.config import ALIASES, EMBEDDER_KEYS, LLM_KEYS, PREFIX, Settings
from remembrancer.errors import InvalidInput

FILE: Final = "reference/settings.md"
_INTRODUCTION: Final = f"""\
A setting comes from an argument or an option, else from its environment variable, else from the TOML file that
`--config` or `{PREFIX}CONFIG` names, else from its default. An unknown setting is an error. In the file a setting has
its name as it stands here; its variable is `{PREFIX}` and the name in capitals. An
[example](../guides/operations.md#settings) is in the guide."""


def page() -> Page:
    made = Page(FILE, "Settings")
    made.add(_INTRODUCTION)
    rows: list[tuple[str, str, str, str]] = []
    for one in fields(Settings):
        text = made.name(one.name, one.metadata["description"])
        default = "none" if one.default in (None, (), frozenset(), "") else shown(one.default)
        rows.append(
            (code(one.name), code(default) if default != "none" else default, allowed(one.metadata["check"]), text)
        )
    made.table(("setting", "default", "allowed", ""), rows)
    made.heading(2, "Variables")
    made.add("Other variables that are read where a setting is not given otherwise:")
    keys = [(variable, "llm_key", f'with `llm = "{protocol}:…"`') for protocol, variable in LLM_KEYS.items()]
    keys += [
        (variable, "embedder_keys", f'with `embedder = "{protocol}:…"`')
        for protocol, variables in EMBEDDER_KEYS.items()
        for variable in variables
    ]
    others = [(alias, setting, "") for alias, setting in ALIASES.items()]
    made.table(
        ("variable", "setting", ""), [(code(name), code(setting), when) for name, setting, when in others + keys]
    )
    made.heading(2, "From Python")
    made.name("Settings", doc_of(Settings))
    made.add(
        f"`Settings`: {markdown(doc_of(Settings))}", f"`remembrancer.config.load`: {markdown(doc_of(config.load))}"
    )
    return made


def allowed(check: Callable[[Any], Any]) -> str:
    """What a setting's check allows, in its own words: when it refuses a control character, or an object."""
    for wrong in ("\0", object()):
        try:
            check(wrong)
        except InvalidInput as refused:
            return refused.allowed
        except Exception as refused:  # noqa: BLE001  the check's own error, which names what is allowed
            return str(refused)
    return ""
