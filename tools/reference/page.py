"""A generated page: its Markdown, and the names that it documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

FOLDER = "reference"


@dataclass
class Page:
    """`names`: each public name on the page with its text, which is empty where the code has none."""

    file: str
    title: str
    names: dict[str, str] = field(default_factory=dict[str, str])
    parts: list[str] = field(default_factory=list[str])

    @property
    def markdown(self) -> str:
        return "\n\n".join([f"# {self.title}", *self.parts]) + "\n"

    def add(self, *parts: str) -> None:
        self.parts += [part for part in parts if part]

    def heading(self, level: int, text: str, anchor: str | None = None) -> None:
        self.add(f"{'#' * level} {text}" + (f" {{ #{anchor} }}" if anchor else ""))

    def name(self, name: str, text: str) -> str:
        """Record that the page documents a name. Returns the text."""
        self.names[name] = " ".join(text.split())
        return text

    def table(self, head: Iterable[str], rows: Iterable[Iterable[str]]) -> None:
        """A table. Columns without any content are left out."""
        titles, listed = list(head), [[cell(one) for one in row] for row in rows]
        if not listed:
            return
        used = [place for place in range(len(titles)) if any(row[place] for row in listed)]
        lines = [[titles[place] for place in used], ["---"] * len(used)]
        lines += [[row[place] for place in used] for row in listed]
        self.add("\n".join(f"| {' | '.join(line)} |" for line in lines))


def code(text: object) -> str:
    """Inline code; empty for an empty text."""
    told = str(text)
    return f"`` {told} ``" if "`" in told else f"`{told}`" if told else ""


def fenced(text: str, language: str = "") -> str:
    return f"```{language}\n{text.rstrip()}\n```"


def cell(text: str) -> str:
    """A text as one cell of a table: a bar that is not within code is escaped."""
    parts = re.split(r"(`+[^`]*`+)", text)
    parts[::2] = [re.sub(r"(?<!\\)\|", r"\\|", part) for part in parts[::2]]
    return " ".join("".join(parts).split())


def anchor(*parts: str) -> str:
    return "-".join(re.sub(r"[^a-z0-9_]+", "-", part.lower()).strip("-") for part in parts)


def see(label: str, file: str, place: str = "", *, here: str) -> str:
    """A link from the page `here` to another page of the reference."""
    target = "" if file == here else file.removeprefix(f"{FOLDER}/")
    return f"[{label}]({target}{'#' + place if place else ''})"


def defaults_of(schema: Mapping[str, object]) -> str:
    """The default in a JSON schema, as JSON."""
    import json  # noqa: PLC0415

    return code(json.dumps(schema["default"], ensure_ascii=False)) if "default" in schema else ""
