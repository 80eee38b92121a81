from __future__ import annotations

import asyncio
import sys
from contextlib import aclosing
from datetime import timedelta
from pathlib import Path

import pytest

from remembrancer.adapters.vault import watching
from remembrancer.adapters.vault.watching import changes
from remembrancer.errors import Unsupported

SOON = timedelta(milliseconds=50)
LONG = timedelta(seconds=30)


async def told(root: Path, path: str, *, every: timedelta) -> bool:
    """The first report while a file is written repeatedly."""
    async with asyncio.timeout(20), aclosing(changes(root, every=every, debounce=SOON)) as watched:
        first = asyncio.ensure_future(anext(watched))
        number = 0
        while not first.done():
            number += 1
            (root / path).write_text(str(number), encoding="utf-8")
            await asyncio.wait([first], timeout=0.05)
        return first.result()


def test_a_change_of_a_markdown_file_is_reported(tmp_path: Path) -> None:
    assert asyncio.run(told(tmp_path.resolve(), "MEMORY.md", every=LONG)) is True


@pytest.mark.parametrize("path", ["notes.txt", ".remembrancer/index.md", ".git/x.md"])
def test_a_change_of_anything_else_is_none(tmp_path: Path, path: str) -> None:
    (tmp_path / path).parent.mkdir(exist_ok=True)
    assert asyncio.run(told(tmp_path.resolve(), path, every=timedelta(milliseconds=400))) is False


def test_without_the_extra_the_error_names_the_package_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "watchfiles", None)
    with pytest.raises(Unsupported, match=r"pip install 'remembrancer\[vault\]'"):
        watching.require_watchfiles()
