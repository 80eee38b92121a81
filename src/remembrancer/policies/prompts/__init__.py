"""Prompts for language models: instructions, fenced untrusted text, and the schema and validation of the answer.

`from remembrancer.policies import prompts` loads no module; `prompts.key_terms` is loaded on first use.
"""

# pyright: reportUnusedImport=false
from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.modules import loaded_when_used

if TYPE_CHECKING:
    from . import key_terms  # noqa: F401

__getattr__ = loaded_when_used(__name__)
