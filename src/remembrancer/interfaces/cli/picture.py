"""The --png option of commands, and writing its file."""
# ruff: noqa: PLC0415 - what a picture needs is loaded when one is drawn

from __future__ import annotations

import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

from remembrancer.errors import InvalidInput, Unsupported, unwritable
from remembrancer.interfaces.cli.invocation import Invocation

Png = Annotated[Path | None, "FILE", "Also draw it as a picture in a new file: a PNG, or an SVG for *.svg."]


def check(png: Path | None) -> None:
    """Check --png before any work is done. Raises InvalidInput for a file that exists; Unsupported as `check_installed`
    does.
    """
    if png is None:
        return
    if png.exists():
        raise InvalidInput("--png", str(png), "a file that does not exist yet")
    check_installed()


def check_installed() -> None:
    """Raises Unsupported if the packages that draw pictures are not installed."""
    if find_spec("resvg_py") is None:
        raise Unsupported("a picture needs resvg-py: pip install 'remembrancer[plot]'")


def write(call: Invocation, file: Path, document: str) -> None:
    """Write an SVG document as a PNG, or unchanged if `file` ends in .svg; the whole file or nothing.

    Raises InvalidInput if the file cannot be written.
    """
    from remembrancer.interfaces.charts.document import png

    content = document.encode() if file.suffix == ".svg" else png(document)
    partial = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        partial.write_bytes(content)
        partial.replace(file)
    except OSError as error:
        raise InvalidInput("--png", str(file), f"a file that can be written ({unwritable(error)})") from error
    finally:
        with suppress(OSError):  # the file was not created, and the original error says why
            partial.unlink(missing_ok=True)
    call.note(f"drew {file}")
