"""Docstrings and help texts name their subject, in words that a reader from the field knows."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Final

import remembrancer
from remembrancer.interfaces.cli.main import COMMANDS, GROUPS

SOURCE: Final = Path(remembrancer.__file__).parent

SUBJECTLESS: Final = re.compile(r"(What|How|Where) (?![^.]*\?)|Of ")
"""The beginning of a docstring that names no subject. A question that ends with a question mark is allowed."""

RETIRED: Final = {
    "fate": "drop reason",
    "dossier": "details",
    "outlook": "forecast",
    "surroundings": "context features",
    "standing": "pinned",
    "sight": "visibility or access policy",
    "retold": "rebuilt",
    "redrawn": "requeued",
    "reread": "reranked by late interaction",
    "teller": "speaker",
    "visitor": "principal",
    "unkept": "not stored",
}
"""Words of this package's own that were replaced, and the terms to use. Their plurals count too."""
RETIRED_WORD: Final = re.compile(rf"\b({'|'.join(RETIRED)})s?\b", re.IGNORECASE)


@cache
def nodes() -> tuple[tuple[str, ast.Expr | ast.Subscript], ...]:
    """The expression statements and subscripts of the package's source, with their places."""
    return tuple(
        (f"{file.relative_to(SOURCE)}:{node.lineno}", node)
        for file in sorted(SOURCE.rglob("*.py"))
        for node in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
        if isinstance(node, ast.Expr | ast.Subscript)
    )


def docstrings() -> Iterator[tuple[str, str]]:
    """The place and text of every docstring, also of constants and fields."""
    for place, node in nodes():
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str):
            yield place, " ".join(node.value.value.split())


def help_texts() -> Iterator[tuple[str, str]]:
    """The place and text of every help text of a command, an option, a parameter or a tool's argument."""
    for place, node in nodes():
        if isinstance(node, ast.Subscript) and ast.unparse(node.value) == "Annotated":
            parts = (part for part in ast.walk(node.slice) if isinstance(part, ast.Constant))
            yield from ((place, part.value) for part in parts if isinstance(part.value, str))
    for commands in COMMANDS.values():
        yield from ((f"the command {name}", summary) for name, (_, summary) in commands.items())
    yield from ((f"the commands {name}", summary) for name, (summary, _) in GROUPS.items())


def test_no_docstring_begins_without_its_subject() -> None:
    assert [f"{place}: {text[:80]}" for place, text in docstrings() if SUBJECTLESS.match(text)] == []


def test_no_docstring_or_help_text_has_a_retired_word() -> None:
    texts = [*docstrings(), *help_texts()]
    found = [(place, word[1].lower()) for place, text in texts for word in RETIRED_WORD.finditer(text)]
    assert [f"{place}: {word}; say {RETIRED[word]}" for place, word in found] == []


def test_a_text_without_subject_and_a_retired_word_are_recognised() -> None:
    assert SUBJECTLESS.match("What changes.")
    assert not SUBJECTLESS.match("What did we discuss yesterday? The question of an example.")
    assert RETIRED_WORD.search("The Dossiers of a memory.")
