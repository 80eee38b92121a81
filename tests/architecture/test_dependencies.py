"""What the package imports is what its dependencies and extras bring."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.metadata import distributions, packages_distributions
from pathlib import Path
from typing import Final

from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import remembrancer
from supply_chain import EXTRAS, PROJECT, brought_by

SOURCE: Final = Path(remembrancer.__file__).parent
ROOT: Final = Path(__file__).parents[2]
PAGES: Final = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]

OLDEST: Final = f"{PROJECT['requires-python'].removeprefix('>=')}.0"
"""The oldest Python that the package may be installed on."""

FRAMEWORKS: Final = {
    *("anthropic", "crewai", "google-adk", "langchain", "langgraph", "llama-index", "openai-agents", "pydantic-ai"),
}
"""The extras for agent frameworks. `all` leaves them out: whoever has a framework installs its extra."""

APART: Final = {"crewai"}
"""Of these, those that need other versions of packages than the development environment, with packages of the same
names: `make test-frameworks` imports them.
"""

WITH_AN_EXTRA: Final[dict[str, tuple[str, ...]]] = {
    "remembrancer.adapters.distributed": ("distributed",),
    "remembrancer.adapters.embedders.http": ("ollama", "remote"),
    "remembrancer.adapters.http_service": ("ollama", "remote", "rerank"),
    "remembrancer.adapters.llm": ("llm",),
    "remembrancer.adapters.qdrant.edge": ("qdrant",),
    "remembrancer.adapters.qdrant.server": ("qdrant",),
    "remembrancer.adapters.relational.postgres": ("postgres",),
    "remembrancer.adapters.rerankers.http": ("rerank",),
    "remembrancer.integrations.anthropic": ("anthropic",),
    "remembrancer.integrations.crewai": ("crewai",),
    "remembrancer.integrations.google_adk": ("google-adk",),
    "remembrancer.integrations.langchain": ("langchain",),
    "remembrancer.integrations.langgraph": ("langgraph",),
    "remembrancer.integrations.llama_index": ("llama-index",),
    "remembrancer.integrations.openai_agents": ("openai-agents",),
    "remembrancer.integrations.pydantic_ai": ("pydantic-ai",),
    "remembrancer.adapters.sealing": ("encryption", "mcp", "server"),
    "remembrancer.interfaces.charts": ("plot", "server"),
    "remembrancer.interfaces.dashboard": ("server",),
    "remembrancer.interfaces.http": ("server",),
    "remembrancer.interfaces.mcp": ("mcp", "server"),
    "remembrancer.testing": ("testing",),
}
"""Modules, or packages with all their modules, that need an extra to be imported: each of those named is enough. All
other modules need none.
"""


def path_names() -> dict[str, Path]:
    """Every module of the package by its full name."""
    names: dict[str, Path] = {}
    for path in SOURCE.rglob("*.py"):
        parts = ("remembrancer", *path.relative_to(SOURCE).with_suffix("").parts)
        names[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return names


MODULES: Final = path_names()


def on_import(body: Iterable[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements that run when a module is imported, without those for type checkers."""
    for node in body:
        yield node
        if isinstance(node, ast.If) and "TYPE_CHECKING" not in ast.unparse(node.test):
            yield from on_import([*node.body, *node.orelse])
        elif isinstance(node, ast.Try):
            yield from on_import([*node.body, *node.orelse, *node.finalbody])
        elif isinstance(node, ast.With | ast.ClassDef):
            yield from on_import(node.body)


def imports(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """The full names of imported modules, and of imported names that may be modules."""
    for node in nodes:
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def foreign(name: str) -> str:
    """The top package of an import; "" for our own package and the standard library."""
    top = name.partition(".")[0]
    return "" if top in sys.stdlib_module_names or top == "remembrancer" else top


@cache
def tree(module: str) -> ast.Module:
    return ast.parse(MODULES[module].read_text(encoding="utf-8"))


@cache
def on_import_of(module: str) -> frozenset[str]:
    """What importing `module` imports directly. A parent package is imported with its module."""
    return frozenset({*imports(on_import(tree(module).body)), module.rpartition(".")[0]})


def needed(module: str) -> set[str]:
    """The packages that must be installed for `module` to be imported."""
    seen: set[str] = set()
    waiting = [module]
    while waiting:
        one = waiting.pop()
        if one not in seen:
            seen.add(one)
            waiting += on_import_of(one) if one in MODULES else ()
    return {foreign(name) for name in seen if name} - {""}


@cache
def modules_of_distributions() -> dict[str, set[str]]:
    """The distributions that each importable package is of."""
    return {
        package: {canonicalize_name(one) for one in carriers} for package, carriers in packages_distributions().items()
    }


def available(*extras: str) -> set[str]:
    """The packages that can be imported with these extras."""
    lines = [*PROJECT["dependencies"], *(line for extra in extras for line in EXTRAS[extra])]
    there = {one for line in lines for one in brought_by(line)}
    return {package for package, carriers in modules_of_distributions().items() if carriers & there}


def extras_for(module: str) -> tuple[str, ...]:
    """The extras of which `module` needs one."""
    return next((extras for part, extras in WITH_AN_EXTRA.items() if f"{module}.".startswith(f"{part}.")), ())


def test_a_module_can_be_imported_with_what_its_extra_brings() -> None:
    there = {extra: available(extra) for extra in EXTRAS.keys() - {"dev"} - APART}
    there[""] = available()
    missing = {
        f"{module} with {extra or 'no extra'}": sorted(lacking)
        for module in MODULES
        for extra in extras_for(module) or ("",)
        if extra not in APART and (lacking := needed(module) - there[extra])
    }
    assert missing == {}


def test_every_package_that_is_imported_anywhere_is_brought_by_an_extra() -> None:
    imported = {foreign(name) for module in MODULES for name in imports(ast.walk(tree(module)))} - {""}
    assert imported - available("all", "testing", *(FRAMEWORKS - APART)) == APART


def test_all_is_every_extra_for_users() -> None:
    (line,) = EXTRAS["all"]
    assert Requirement(line).extras == EXTRAS.keys() - {"all", "dev", "testing"} - FRAMEWORKS


def test_every_pinned_version_can_be_installed_on_the_oldest_python() -> None:
    pins = (ROOT / "constraints.txt").read_text(encoding="utf-8").split()
    asked = {
        f"{canonicalize_name(one.name)}=={one.version}": one.metadata["Requires-Python"] for one in distributions()
    }
    wanted = {pin: asked.get(f"{canonicalize_name(pin.partition('==')[0])}=={pin.partition('==')[2]}") for pin in pins}
    assert {pin: python for pin, python in wanted.items() if OLDEST not in SpecifierSet(python or "")} == {}


def test_every_extra_that_a_page_or_a_message_names_exists() -> None:
    texts = {file: file.read_text(encoding="utf-8") for file in [*PAGES, *MODULES.values()]}
    named = {
        (str(file.relative_to(ROOT)), extra)
        for file, text in texts.items()
        for extras in re.findall(r"remembrancer\[([a-z,-]+)\]", text)
        for extra in extras.split(",")
    }
    assert {(file, extra) for file, extra in named if extra not in EXTRAS} == set()


def test_the_table_of_extras_is_complete() -> None:
    page = (ROOT / "docs" / "install.md").read_text(encoding="utf-8")
    assert set(re.findall(r"^\| `([\w-]+)` \|", page, re.MULTILINE)) == EXTRAS.keys() - {"dev"}


A_PATH = re.compile(r"""['" ]\.(?:[\['" ]|$)|--editable|-e |-r |src/|--no-deps""")


def test_no_page_installs_from_a_path_that_only_a_checkout_has() -> None:
    lines = {
        f"{page.relative_to(ROOT)}: {line}"
        for page in PAGES
        if page.parent.name != "decisions"  # they tell what was once done
        for line in re.findall(r"(?:pip|pipx) (?:install|run)[^\n`]*", page.read_text(encoding="utf-8"))
    }
    assert {line for line in lines if A_PATH.search(line)} == set()
