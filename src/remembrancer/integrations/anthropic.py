"""Anthropic's memory tool (`memory_20250818`), whose files are memories: `pip install 'remembrancer[anthropic]'`.

from anthropic import Anthropic
from remembrancer import Remembrancer
from remembrancer.integrations.anthropic import RemembrancerMemoryTool

with Remembrancer.open("agent.db") as memory:
    tool = RemembrancerMemoryTool(memory)
    Anthropic().beta.messages.run_tools(..., tools=[tool]).until_done()
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Final, NoReturn, cast
from urllib.parse import unquote

from anthropic.lib.tools import ToolError
from anthropic.tools.memory import BetaAbstractMemoryTool, BetaAsyncAbstractMemoryTool

from remembrancer.domain.validation import MAX_NAME_CHARS, name
from remembrancer.errors import Conflict, InvalidInput, NotFound

if TYPE_CHECKING:
    from anthropic.types.beta import (
        BetaCacheControlEphemeralParam,
        BetaMemoryTool20250818CreateCommand,
        BetaMemoryTool20250818DeleteCommand,
        BetaMemoryTool20250818InsertCommand,
        BetaMemoryTool20250818RenameCommand,
        BetaMemoryTool20250818StrReplaceCommand,
        BetaMemoryTool20250818ViewCommand,
    )

    from remembrancer import Memory, Remembrancer
    from remembrancer.domain.validation import JsonValue

FILE: Final = "anthropic.file"
"""The kind of memories that are files."""
ROOT: Final = "/memories"
MAX_PATH_CHARS: Final = MAX_NAME_CHARS
LISTED_DEPTH: Final = 2
PAGE: Final = 1_000
NUMBER_WIDTH: Final = 6
NEARBY: Final = 2
"""Lines shown before and after an edited line."""
BLANK: Final = "blank"
"""The metadata key with the content of a blank file. A memory's text is never blank: such a file's text is its path."""


class RemembrancerMemoryTool(BetaAbstractMemoryTool):
    """Each file is a memory: its text is the content, its topic key the path, its title the path below /memories. Every
    change is a revision, and recall finds files as it finds all memories. A directory exists while a file is in it.

    A deleted file is retired: `memory.restore` brings it back, and `memory.erase` removes it for good. A path has at
    most 200 characters, a file at most 64 KiB. Files are those of the caller's scope. Errors that a model can act on
    are raised as the SDK's ToolError.
    """

    def __init__(self, memory: Remembrancer, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._memory = memory

    def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        path = path_of(command.path)
        memory = self._stored(path)
        if memory is not None:
            return _numbered(path, _content(memory).split("\n"), command.view_range)
        inside = self._inside(path)
        if not inside and path != ROOT:
            raise ToolError(f"The path {path} does not exist. Please provide a valid path.")
        return _listing(path, inside)

    def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        path = path_of(command.path)
        if path == ROOT or self._stored(path) is not None or self._inside(path):
            raise ToolError(f"File {path} already exists")
        self._check_parents(path)
        self._write(path, command.file_text)
        return f"File created successfully at: {path}"

    def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        path, old = path_of(command.path), command.old_str
        memory = self._file(path)
        content = _content(memory)
        places = list(_places(content, old))
        if not places:
            raise ToolError(f"No replacement was performed, old_str `{old}` did not appear verbatim in {path}.")
        changed = content.count("\n", 0, places[0])
        if len(places) > 1:
            lines = ", ".join(str(content.count("\n", 0, place) + 1) for place in places)
            raise ToolError(
                f"No replacement was performed. Multiple occurrences of old_str `{old}` in lines: {lines}. "
                "Please ensure it is unique"
            )
        content = content.replace(old, command.new_str)
        self._edit(memory, path, content)
        lines = content.split("\n")
        first = max(0, changed - NEARBY)
        snippet = _with_numbers(lines[first : changed + NEARBY + 1], first + 1)
        return (
            f"The memory file has been edited. Here is the snippet showing the change (with line numbers):\n{snippet}"
        )

    def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        path, place = path_of(command.path), command.insert_line
        memory = self._file(path)
        lines = _content(memory).removesuffix("\n").split("\n") if _content(memory) else []
        if not 0 <= place <= len(lines):
            raise ToolError(
                f"Invalid `insert_line` parameter: {place}. It should be within the range [0, {len(lines)}]."
            )
        lines.insert(place, command.insert_text.rstrip("\n"))
        self._edit(memory, path, "\n".join(lines).removesuffix("\n") + "\n")
        return f"The file {path} has been edited."

    def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        path = path_of(command.path)
        if path == ROOT:
            raise ToolError(f"Cannot delete the {ROOT} directory itself")
        for memory in self._at(path):
            self._memory.forget(memory.id)
        return f"Successfully deleted {path}"

    def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        old, new = path_of(command.old_path), path_of(command.new_path)
        if old == ROOT:
            raise ToolError(f"Cannot rename the {ROOT} directory itself")
        moved = self._at(old)
        if new == ROOT or self._stored(new) is not None or self._inside(new):
            raise ToolError(f"The destination {new} already exists")
        if new.startswith(f"{old}/"):
            raise ToolError(f"Cannot rename {old} to {new}, which is inside it")
        self._check_parents(new)
        paths = [path_of(new + _path(memory).removeprefix(old)) for memory in moved]
        # Nothing is lost if this ends in between: the new names are written before the old ones are retired.
        for memory, path in zip(moved, paths, strict=True):
            self._write(path, _content(memory))
        for memory in moved:
            self._memory.forget(memory.id)
        return f"Successfully renamed {old} to {new}"

    def clear_all_memory(self) -> str:
        """Retire all files. Memories that are no files stay."""
        for memory in self._inside(ROOT):
            self._memory.forget(memory.id)
        return "All memory cleared"

    def _stored(self, path: str) -> Memory | None:
        try:
            memory = self._memory.get(topic_key=path)
        except NotFound:
            return None
        return memory if memory.kind == FILE else None

    def _file(self, path: str) -> Memory:
        memory = self._stored(path)
        if memory is not None:
            return memory
        if path == ROOT or self._inside(path):
            raise ToolError(f"The path {path} is not a file.")
        raise ToolError(f"The path {path} does not exist. Please provide a valid path.")

    def _at(self, path: str) -> list[Memory]:
        """The file at this path, or all files in the directory."""
        memory = self._stored(path)
        found = self._inside(path) if memory is None else [memory]
        if not found:
            raise ToolError(f"The path {path} does not exist")
        return found

    def _inside(self, directory: str) -> list[Memory]:
        """The files in a directory and those below it."""
        after: str | None = None
        found: list[Memory] = []
        while True:
            page = self._memory.memories(kinds=[FILE], after=after, limit=PAGE)
            found += [
                one for one in page.memories if _path(one).startswith(f"{directory}/") and self._is_of_the_caller(one)
            ]
            after = page.next
            if after is None:
                return found

    def _is_of_the_caller(self, memory: Memory) -> bool:
        """Whether the path names this memory, not the file of another agent that the caller may also read."""
        if memory.scope == self._memory.scope:
            return True
        stored = self._stored(_path(memory))
        return stored is not None and stored.id == memory.id

    def _check_parents(self, path: str) -> None:
        parts = path.split("/")
        for depth in range(len(ROOT.split("/")) + 1, len(parts)):
            parent = "/".join(parts[:depth])
            if self._stored(parent) is not None:
                raise ToolError(f"The path {parent} is not a directory.")

    def _write(self, path: str, content: str) -> None:
        try:
            self._memory.remember(
                _text(path, content), title=_title(path), kind=FILE, topic_key=path, metadata=_metadata(path, content)
            )
        except InvalidInput as error:
            _refuse(path, error)

    def _edit(self, memory: Memory, path: str, content: str) -> None:
        try:
            self._memory.update(
                memory.id,
                text=_text(path, content),
                metadata=_metadata(path, content),
                expected_revision=memory.revision,
            )
        except InvalidInput as error:
            _refuse(path, error)
        except Conflict as error:
            raise ToolError(f"The file {path} has changed meanwhile. View it again before editing it.") from error


class AsyncRemembrancerMemoryTool(BetaAsyncAbstractMemoryTool):
    """The same tool for AsyncAnthropic. Each command runs in a thread."""

    def __init__(self, memory: Remembrancer, *, cache_control: BetaCacheControlEphemeralParam | None = None) -> None:
        super().__init__(cache_control=cache_control)
        self._tool = RemembrancerMemoryTool(memory)

    async def view(self, command: BetaMemoryTool20250818ViewCommand) -> str:
        return await asyncio.to_thread(self._tool.view, command)

    async def create(self, command: BetaMemoryTool20250818CreateCommand) -> str:
        return await asyncio.to_thread(self._tool.create, command)

    async def str_replace(self, command: BetaMemoryTool20250818StrReplaceCommand) -> str:
        return await asyncio.to_thread(self._tool.str_replace, command)

    async def insert(self, command: BetaMemoryTool20250818InsertCommand) -> str:
        return await asyncio.to_thread(self._tool.insert, command)

    async def delete(self, command: BetaMemoryTool20250818DeleteCommand) -> str:
        return await asyncio.to_thread(self._tool.delete, command)

    async def rename(self, command: BetaMemoryTool20250818RenameCommand) -> str:
        return await asyncio.to_thread(self._tool.rename, command)

    async def clear_all_memory(self) -> str:
        return await asyncio.to_thread(self._tool.clear_all_memory)


def path_of(given: str) -> str:
    """The path without empty segments. Raises ToolError for one that is not below /memories, in plain text or when
    percent-decoded any number of times.
    """
    if given != ROOT and not given.startswith(f"{ROOT}/"):
        raise ToolError(f"Path must start with {ROOT}, got: {given}")
    path = "/".join(part for part in given.split("/") if part)
    try:
        name("path", f"/{path}", max_chars=MAX_PATH_CHARS)
    except InvalidInput as error:
        raise ToolError(str(error)) from error
    decoded = path
    while True:
        if "\\" in decoded or not {".", ".."}.isdisjoint(decoded.split("/")) or decoded.count("/") != path.count("/"):
            raise ToolError(f"Path {given} would escape {ROOT} directory")
        if decoded == (decoded := unquote(decoded)):
            return f"/{path}"


def _refuse(path: str, error: InvalidInput) -> NoReturn:
    raise ToolError(f"The file {path} was not written: {error}") from error


def _title(path: str) -> str:
    return path.removeprefix(f"{ROOT}/")


def _text(path: str, content: str) -> str:
    return content if content.strip() else _title(path)


def _metadata(path: str, content: str) -> Mapping[str, JsonValue]:
    return {"path": path} if content.strip() else {"path": path, BLANK: content}


def _content(memory: Memory) -> str:
    return str(memory.metadata.get(BLANK, memory.text)) if memory.text == _title(_path(memory)) else memory.text


def _path(memory: Memory) -> str:
    return str(memory.metadata["path"])


def _places(content: str, wanted: str) -> Iterator[int]:
    """The places at which the text occurs, overlapping ones included; none if it is empty."""
    place = content.find(wanted) if wanted else -1
    while place >= 0:
        yield place
        place = content.find(wanted, place + 1)


def _numbered(path: str, lines: Sequence[str], view_range: Sequence[int] | None) -> str:
    first, last = 1, len(lines)
    if view_range is not None:
        if len(view_range) != 2:
            raise ToolError(f"Invalid `view_range` parameter: {list(view_range)}. It should be two line numbers.")
        first, last = max(1, view_range[0]), len(lines) if view_range[1] == -1 else view_range[1]
    return f"Here's the content of {path} with line numbers:\n{_with_numbers(lines[first - 1 : max(0, last)], first)}"


def _with_numbers(lines: Sequence[str], first: int) -> str:
    return "\n".join(f"{number:>{NUMBER_WIDTH}}\t{line}" for number, line in enumerate(lines, first))


def _listing(directory: str, inside: Sequence[Memory]) -> str:
    """The files and directories down to two levels, each directory before what it contains, without hidden ones."""
    sizes: dict[tuple[str, ...], int] = {}
    directories: set[tuple[str, ...]] = set()
    for memory in inside:
        parts = tuple(_path(memory).removeprefix(f"{directory}/").split("/"))
        if any(part.startswith(".") for part in parts):
            continue
        directories.update(parts[:depth] for depth in range(1, len(parts)))
        for depth in range(len(parts) + 1):
            sizes[parts[:depth]] = sizes.get(parts[:depth], 0) + len(_content(memory).encode())
    shown = sorted(parts for parts in sizes if 0 < len(parts) <= LISTED_DEPTH)
    lines = [f"{_size(sizes.get((), 0))}\t{directory}"]
    for parts in shown:
        lines.append(f"{_size(sizes[parts])}\t{'/'.join((directory, *parts))}{'/' if parts in directories else ''}")
    header = (
        f"Here're the files and directories up to {LISTED_DEPTH} levels deep in {directory}, excluding hidden items:"
    )
    return "\n".join((header, *lines))


def _size(size: int) -> str:
    """A number of bytes as the SDK writes it.

    >>> _size(0), _size(1536), _size(2048)
    ('0B', '1.5K', '2K')
    """
    amount, unit = cast("float", size), "B"
    for larger in "KMG":
        if amount < 1024:
            break
        amount, unit = amount / 1024, larger
    return f"{amount:.1f}".removesuffix(".0") + unit
