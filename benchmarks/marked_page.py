"""Places of a page of the documentation that benchmarks fill, between `<!-- NAME -->` and `<!-- end of NAME -->`."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Final

MARKED: Final = re.compile(r"(?<=<!-- )([\w-]+)( -->\n).*?(?=<!-- end of \1 -->)", re.DOTALL)


def fill(page: Path, contents: Mapping[str, str]) -> list[str]:
    """Replace what the page has in the places with these names. Returns the names that it has places for, in order."""
    filled: list[str] = []

    def content(found: re.Match[str]) -> str:
        name, end = found.groups()
        if name not in contents:
            return found[0]
        filled.append(name)
        return f"{name}{end}\n{contents[name]}\n"

    page.write_text(MARKED.sub(content, page.read_text(encoding="utf-8")), encoding="utf-8")
    return filled
