"""The reference of the documentation, generated from the code: a Markdown page for each surface.

`hook.py` adds the pages to the site. `tests/architecture/test_docs_coverage.py` checks that no public name is without a
text.
"""

from __future__ import annotations

from functools import cache

from reference import commands, errors, http, mcp, ports, presets, python, settings, values
from reference.page import Page


@cache
def pages() -> dict[str, Page]:
    """Every generated page by its path below `docs/`."""
    made = [each.page() for each in (python, values, commands, http, mcp, settings, presets, ports, errors)]
    return {page.file: page for page in made}
