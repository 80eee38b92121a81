"""Adds the generated pages to the site that MkDocs builds, and checks what the site loads."""

from __future__ import annotations

import logging
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

from mkdocs.structure.files import File, Files

if TYPE_CHECKING:
    from mkdocs.config.defaults import MkDocsConfig
    from mkdocs.structure.pages import Page

_FOREIGN = re.compile(r'<(?:script|link|img|iframe|source)\b[^>]*?(?:src|href)="?(https?:[^"\s>]+)')
log = logging.getLogger("mkdocs.hooks.reference")


def on_files(files: Files, *, config: MkDocsConfig) -> Files:
    sys.path.insert(0, str(Path(__file__).parents[1]))  # MkDocs restores the path after it has loaded a hook
    from reference import pages  # noqa: PLC0415  found by that path
    from reference.source import PACKAGE  # noqa: PLC0415

    for page in pages().values():
        files.append(File.generated(config, page.file, content=page.markdown))
    icon = PACKAGE / "interfaces" / "dashboard" / "assets" / "icon.svg"
    files.append(File.generated(config, "assets/icon.svg", content=icon.read_text(encoding="utf-8")))
    names = [(name, text) for page in pages().values() for name, text in page.names.items()]
    silent = [name for name, text in names if not text]
    for name in silent:
        log.warning("There is no text about %s", name)
    log.info("%d of %d public names have a text: %.2f %%", *_shares(len(names) - len(silent), len(names)))
    return files


def on_post_page(output: str, *, page: Page, config: MkDocsConfig) -> str:
    """Warn, which fails a strict build, where a page loads anything from another host."""
    for resource in _FOREIGN.findall(output):
        log.warning("%s loads %s, which another host serves", page.file.src_uri, resource)
    return output


def _shares(documented: int, every: int) -> tuple[int, int, float]:
    return documented, every, 100 * documented / every
