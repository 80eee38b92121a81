"""Docstrings as Markdown, and the part of a docstring that describes one parameter or field."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from typing import Final

_LABEL: Final = re.compile(
    r"(?:(?<=^)|(?<=[.;] )|(?<=\n)|(?<=- ))((?:`\w+`(?:, and |, | and )?)+)"
    r"((?:,? in [\[(][^\])]*[\])])?(?: \([^)]*\))?): "
)
_SENTENCE: Final = re.compile(r"(?<=[.;])\s+(?=[A-Z`])")
_AS_IN: Final = re.compile(r"\b(?:as in|as|of an?) `(\w+)`", re.IGNORECASE)
_AS_THERE: Final = re.compile(r"\bare as in `")
_NAME: Final = re.compile(r"`(\w+)`")


def doc_of(thing: object) -> str:
    """The docstring of an object itself, not an inherited or a generated one."""
    own = getattr(thing, "__doc__", None) or ""
    generated = isinstance(thing, type) and own.startswith(f"{thing.__name__}(")
    return "" if generated else inspect.cleandoc(own)


def blocks(doc: str) -> Iterator[tuple[str, str]]:
    """The blocks of a docstring, each `text`, `list` or `example`, in order."""
    for part in re.split(r"\n\s*\n", doc):
        if not part.strip():
            continue
        if part.lstrip().startswith(">>> "):
            yield "example", part
        elif part.lstrip().startswith("- "):
            yield "list", part
        else:
            yield "text", part


def markdown(doc: str) -> str:
    """A docstring as Markdown: examples in fences, each paragraph on one line."""
    shown: list[str] = []
    for kind, part in blocks(doc):
        match kind:
            case "example":
                shown.append(f"```pycon\n{part}\n```")
            case "list":
                shown.append(re.sub(r"\n\s+(?!- )", " ", part))
            case _:
                shown.append(" ".join(part.split()))
    return "\n\n".join(shown)


def labelled(doc: str, name: str) -> str:
    """The text of a docstring about one of its names: after the label "`name`:", else the first sentence that names
    it, else empty.

    >>> labelled("Find memories. `limit`: 1 to 10. `reach`, `role`: who asks.", "role")
    'Who asks.'
    >>> labelled("`weight` in [0, 1]; a second call replaces it.", "weight")
    'In [0, 1]; a second call replaces it.'
    """
    parts = [one for kind, part in blocks(doc) if kind != "example" for one in _items(part)]
    for part in parts:
        marks = list(_LABEL.finditer(part))
        for place, mark in enumerate(marks):
            if name in _NAME.findall(mark[1]):
                end = marks[place + 1].start() if place + 1 < len(marks) else len(part)
                text = _SENTENCE.split(part[mark.end() : end].strip())[0].rstrip(";")
                shared = mark[2].strip(" ,")
                return _sentence(f"{shared}: {text}" if shared else text)
    for part in parts:
        for sentence in _SENTENCE.split(part):
            if name in _NAME.findall(sentence) and not _AS_THERE.search(sentence):
                return _sentence(
                    sentence.removeprefix(f"`{name}` ") if sentence.startswith(f"`{name}` in ") else sentence
                )
    return ""


def _items(part: str) -> list[str]:
    return [" ".join(item.split()) for item in re.split(r"(?:^|\n)- ", part) if item.strip()]


def _sentence(text: str) -> str:
    told = text.strip().removesuffix(";")
    told = told if told.endswith((".", "!", "?", "…")) else f"{told}."
    is_word = told.startswith(("auto,", "none,"))  # a value, as it is written
    return told if is_word else told[0].upper() + told[1:]


def found(doc: str, name: str, other: Callable[[str], str]) -> str:
    """The text about a name in a docstring, else in those that the docstring refers to, such as "as in `recall`".

    `other` gives the docstring of a method or a class by its name, or an empty text.
    """
    own = labelled(doc, name)
    if own:
        return own
    texts = (labelled(other(referred), name) for referred in _AS_IN.findall(doc))
    return next(filter(None, texts), "")
