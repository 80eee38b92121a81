"""A picture beside what a command prints: the option, and the file it goes to."""

from __future__ import annotations

import os
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated

import typer

from remembrancer.errors import InvalidInput, Unsupported
from remembrancer.interfaces.cli.invocation import Invocation

Png = Annotated[
    Path | None, typer.Option("--png", metavar="FILE", help="Draw it as a picture too; the file must not exist yet.")
]


def check(png: Path | None) -> None:
    """Before any work is done for it. Raises InvalidInput for a file that is there, Unsupported without matplotlib."""
    if png is None:
        return
    if png.exists():
        raise InvalidInput("--png", str(png), "a file that does not exist yet")
    if find_spec("matplotlib") is None:
        raise Unsupported("a picture needs matplotlib: pip install 'remembrancer[plot]'")


def write(call: Invocation, png: Path, picture: bytes) -> None:
    """All of it or nothing. Raises InvalidInput where it cannot be written."""
    partial = png.with_name(f".{png.name}.{os.getpid()}")
    try:
        partial.write_bytes(picture)
        partial.replace(png)
    except OSError as error:
        raise InvalidInput("--png", str(png), f"a file that can be written ({error.strerror})") from error
    finally:
        with suppress(OSError):  # it was never made: what is raised already says so
            partial.unlink(missing_ok=True)
    call.note(f"drew {png}")
