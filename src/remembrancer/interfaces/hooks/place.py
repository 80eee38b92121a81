"""The folder through which a hook and its server communicate, and the project that a folder belongs to.

A hook loads this module at every prompt, so it uses only modules that load within milliseconds.
"""

from __future__ import annotations

import os
import zlib
from pathlib import Path
from typing import Final

DEFAULT_STORE: Final = "~/.remembrancer/claude-code.db"
_STORE_VARIABLE: Final = "REMEMBRANCER_DB"
_INSIDE: Final = "IN_REMEMBRANCER_HOOK"
"""The environment variable that a hook's server gives to the programs it starts, so that their hooks do nothing."""
_MAX_NAME: Final = 200
"""The longest name of a workspace."""


class Place:
    """The folder beside a store. `store`: an absolute path, or an address with a scheme.

    It contains `socket`, where the server listens; `waiting/`, a note for each transcript that has unread lines;
    `transcripts.json`, how far each was read; `lock`, which a running server holds; `failure.json`, why the last server
    did not start; and `server.log`. Only its owner may enter it.
    """

    SOCKET: Final = Path("socket")
    """Relative to the folder, which must be the working directory: a socket's address has at most 107 bytes."""

    def __init__(self, store: str) -> None:
        self.store = store
        self.folder = Path(f"{store}.hooks")
        if "://" in store:
            self.folder = Path(DEFAULT_STORE).expanduser().with_name(f"{zlib.crc32(store.encode()):08x}.hooks")
        self.waiting = self.folder / "waiting"
        self.failure = self.folder / "failure.json"
        self.log = self.folder / "server.log"
        self.lock = self.folder / "lock"
        self.transcripts = self.folder / "transcripts.json"

    def make(self) -> None:
        self.folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        for folder in (self.folder, self.waiting):
            folder.mkdir(mode=0o700, exist_ok=True)


def place_of(store: str | None) -> Place:
    """The place of a store. None: the one that REMEMBRANCER_DB names, else ~/.remembrancer/claude-code.db."""
    named = store or os.environ.get(_STORE_VARIABLE) or DEFAULT_STORE
    return Place(named if "://" in named else str(Path(named).expanduser().absolute()))


def is_inside_a_hook() -> bool:
    """Whether a hook's server started this process, directly or not."""
    return bool(os.environ.get(_INSIDE))


def server_environment() -> dict[str, str]:
    """The environment of a hook's server."""
    return {**os.environ, _INSIDE: "1"}


def project_of(folder: Path) -> str:
    """The name of the workspace of a folder's project: the root of its git repository, else the folder itself.

    All work trees of a repository are one project. A path too long for a name keeps its end, after a checksum.
    """
    inside = folder.resolve()
    root = next((_repository_of(one) for one in (inside, *inside.parents) if (one / ".git").exists()), inside)
    name = "".join(character if character.isprintable() else "?" for character in str(root)).strip()
    if len(name) <= _MAX_NAME:
        return name
    return f"{zlib.crc32(name.encode(errors='replace')):08x}…{name[-(_MAX_NAME - 9) :]}".strip()


def _repository_of(root: Path) -> Path:
    """The root of the repository of a work tree, whose `.git` is a file that points to it; any other root itself."""
    git = root / ".git"
    if git.is_dir():
        return root
    try:
        target = git.read_text(encoding="utf-8", errors="replace").removeprefix("gitdir:").strip()
    except OSError:
        return root
    repository, found, _ = target.partition("/.git/worktrees/")
    return Path(repository) if found else root
