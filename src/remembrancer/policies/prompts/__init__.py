"""Prompts for language models: our instructions, fenced untrusted text, the schema of an answer, and its check.

`from remembrancer.policies import prompts` costs nothing: `prompts.key_terms` is loaded when it is first used.
"""

# pyright: reportUnusedImport=false
from __future__ import annotations

from typing import TYPE_CHECKING

from remembrancer.modules import loaded_when_used

if TYPE_CHECKING:
    from . import key_terms  # noqa: F401

__getattr__ = loaded_when_used(__name__)
