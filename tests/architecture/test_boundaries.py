"""Import rules and naming rules of the package, checked on its source."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

import remembrancer
from remembrancer.presets.catalogue import PRESETS

SOURCE = Path(remembrancer.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))

ALLOWED_IMPORTS = {
    "errors": set[str](),
    "domain": {"errors"},
    "language": {"domain", "errors"},
    "policies": {"language", "domain", "errors"},
    "ports": {"domain", "errors"},
    "ingest": {"domain", "errors"},
    "presets": {"policies", "language", "domain", "errors"},
    "engine": {"presets", "policies", "language", "ports", "domain", "durable", "errors"},
    "jobs": {"engine", "presets", "policies", "ports", "domain", "errors"},
    "adapters": {"ports", "domain", "durable", "errors"},
    "index": {"ports", "domain", "durable", "errors"},
    "testing": {"index", "adapters", "language", "ports", "domain", "errors"},
    "config": {"errors"},
}
"""What each part of the package may import of the others, beside `modules`, `patterns`, `values` and `yaml_text`. Parts
that are not here may use all.
"""

TEXTBOOK_ADAPTER = SOURCE / "adapters" / "reference"
"""The store that others are compared with analyses cues by itself where it is not told how."""


def part_of(module: Path) -> str:
    return module.relative_to(SOURCE).parts[0].removesuffix(".py")


def imported_parts(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("remembrancer."):
            yield node.module.split(".")[1]
        elif isinstance(node, ast.Import):
            yield from (alias.name.split(".")[1] for alias in node.names if alias.name.startswith("remembrancer."))


def allowed_imports(module: Path) -> set[str]:
    part = part_of(module)
    textbook = {"language"} if TEXTBOOK_ADAPTER in module.parents else set[str]()
    return ALLOWED_IMPORTS[part] | {part, "modules", "patterns", "values", "yaml_text"} | textbook


def test_each_module_imports_only_modules_allowed_for_its_part() -> None:
    restricted = [module for module in MODULES if part_of(module) in ALLOWED_IMPORTS]
    forbidden = {
        f"{module.relative_to(SOURCE)} imports {part}"
        for module in restricted
        for part in set(imported_parts(module)) - allowed_imports(module)
    }
    assert forbidden == set()


def test_classes_of_values_are_made_by_our_dataclass_which_is_quicker() -> None:
    by_the_standard_library = {
        str(module.relative_to(SOURCE))
        for module in MODULES
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        if isinstance(node, ast.ImportFrom) and node.module == "dataclasses"
        if "dataclass" in {alias.name for alias in node.names}
    }
    assert by_the_standard_library == {"values.py"}


def lines_matching(pattern: str, *parts: str) -> list[str]:
    found: list[str] = []
    for module in MODULES:
        if parts and part_of(module) not in parts:
            continue
        for number, line in enumerate(module.read_text(encoding="utf-8").splitlines(), start=1):
            if re.search(pattern, line):
                found.append(f"{module.relative_to(SOURCE)}:{number}: {line.strip()}")
    return found


def test_pure_parts_read_no_clock_and_no_chance() -> None:
    clock_or_chance = r"datetime\.(now|utcnow)|time\.(time|monotonic|perf_counter)\(|random\.|os\.urandom|uuid[14]\("
    assert (
        lines_matching(clock_or_chance, "domain", "language", "policies", "presets", "ports", "engine", "ingest") == []
    )


def test_only_the_configuration_reads_the_environment() -> None:
    readers = {line.partition(":")[0] for line in lines_matching(r"os\.environ|os\.getenv")}
    # modules.py: a setting of numpy's; place.py: a hook has no time to load the configuration.
    assert readers <= {"config.py", "modules.py", "interfaces/hooks/place.py"}


def test_nothing_branches_on_the_name_of_a_backend() -> None:
    names = "sqlite|postgres|postgresql|qdrant"
    assert lines_matching(rf"""(==|!=|\bin|\bcase)\s*\(?["']({names})["']""") == []


READERS = [SOURCE / "ingest" / "formats.py", *(SOURCE / "ingest" / "systems").glob("*.py")]
"""Modules that name the systems whose files they read; some presets have the name of their system."""
OUTSIDE_PRESETS = [module for module in MODULES if part_of(module) != "presets" and module not in READERS]
DATA = {module.stem for module in (SOURCE / "presets").glob("*.py")} - {"spec", "catalogue", "forms", "text"}

LOOKING_UP = {"get", "pop", "startswith", "endswith", "index", "count", "__contains__", "__eq__"}


def uses_of_a_presets_name(source: str) -> list[str]:
    """Places where code could behave differently by preset: comparisons with a preset's name or with a preset.

    A preset may be chosen by name, as the argument `preset` of a call. "default" is also the name of other things: it
    counts only beside the presets.
    """
    tree = ast.parse(source)
    chosen = {node.value for node in ast.walk(tree) if isinstance(node, ast.keyword) and node.arg == "preset"}
    suspects = [node for node in ast.walk(tree) if isinstance(node, ast.stmt | ast.expr) and node not in chosen]
    return [f"{node.lineno}: {ast.unparse(node)}" for node in suspects if _knows_a_preset(node)]


def _knows_a_preset(node: ast.stmt | ast.expr) -> bool:  # noqa: PLR0911  a case for each kind of node
    match node:
        case ast.Constant(str(text)):
            return text in set(PRESETS) - {"default"}
        case ast.ImportFrom(module=str(module), names=names):
            return bool(DATA & {_preset_module(f"{module}.{name.name}") for name in names})
        case ast.Import(names):
            return bool(DATA & {_preset_module(name.name) for name in names})
        case ast.Compare(left, _, others):
            return _told_apart(left, *others)
        case ast.Match(subject):
            return _told_apart(subject)
        case ast.Subscript(table, key):
            return _told_apart(table, key)
        case _:
            return (
                isinstance(node, ast.Call)
                and isinstance(node.func, ast.Attribute)
                and node.func.attr in LOOKING_UP
                and _told_apart(node.func.value, *node.args)
            )


def _preset_module(path: str) -> str:
    return path.removeprefix("remembrancer.presets.").partition(".")[0]


def _told_apart(*sides: ast.expr) -> bool:
    """Whether this code compares with a preset's name, or picks one preset by name."""
    texts = [ast.unparse(side) for side in sides]
    if any(re.search(r"(^|\.)PRESETS$", text) for text in texts):
        return any(isinstance(side, ast.Constant) for side in sides)
    return any(text.endswith(("preset.name", "settings.preset")) for text in texts)


def test_nothing_branches_on_the_name_of_a_preset() -> None:
    branches = [
        f"{module.relative_to(SOURCE)}:{use}"
        for module in OUTSIDE_PRESETS
        for use in uses_of_a_presets_name(module.read_text(encoding="utf-8"))
    ]
    assert branches == []


@pytest.mark.parametrize(
    "source",
    [
        "if settings.preset == 'engram': pass",
        "if settings.preset == 'default': pass",
        "if self._settings.preset != BEST: pass",
        "if named in ('crewship', 'teaparty'): pass",
        "match name:\n  case 'plastmem': pass",
        "halves = {'mnemosyne': 7}",
        "halves = dict(mnemosyne=7)[name] if 'mnemosyne' else 0",
        "halves = HALVES.get(preset.name)",
        "halves = HALVES[ctx.preset.name]",
        "strict = ctx.preset.name == STRICT",
        "strict = STRICT != ctx.preset.name",
        "strict = ctx.preset.name.startswith('crew')",
        "match ctx.preset.name:\n  case _: pass",
        "strict = ctx.preset is PRESETS['default']",
        "strict = ctx.preset is PRESETS.get('default')",
        "from remembrancer.presets.crewship import CREWSHIP",
        "from remembrancer.presets import crewship",
        "import remembrancer.presets.default as best",
    ],
)
def test_a_branch_on_the_name_of_a_preset_would_be_found(source: str) -> None:
    assert uses_of_a_presets_name(source) != []


@pytest.mark.parametrize(
    "source",
    [
        "memory = Remembrancer.open(path, preset='mnemosyne')",
        "style = 'default'",
        "preset = PRESETS[settings.preset]",
        "preset = PRESETS.get(named)",
        "known = named in PRESETS",
        "line.append(preset.name)",
        "from remembrancer.presets.catalogue import PRESETS",
        "shown = f'preset {preset.name}'",
    ],
)
def test_choosing_or_naming_a_preset_is_no_branch(source: str) -> None:
    assert uses_of_a_presets_name(source) == []


def test_broad_excepts_are_only_at_the_outer_edges() -> None:
    edges = {"interfaces/cli/main.py", "jobs/indexer.py", "jobs/maintenance.py", "jobs/worker.py"}
    broad = lines_matching(r"except\s*:|except (Exception|BaseException)\b")
    # Code that must undo or release something whatever happened catches all, and raises it again.
    swallowing = [line for line in broad if not _raises_again(line) and line.partition(":")[0] not in edges]
    assert swallowing == []


def _raises_again(found: str) -> bool:
    """Whether the handler at that line raises the error, or passes it to the caller that awaits the result."""
    name, number, _ = found.split(":", 2)
    module = ast.parse((SOURCE / name).read_text(encoding="utf-8"))
    for node in ast.walk(module):
        if isinstance(node, ast.ExceptHandler) and node.lineno == int(number):
            return any(
                isinstance(inner, ast.Raise)
                or (isinstance(inner, ast.Call) and _gives_to_callers(inner))
                or (isinstance(inner, ast.Return) and inner.value is not None and "error" in ast.unparse(inner.value))
                for inner in ast.walk(node)
            )
    return False


def _gives_to_callers(call: ast.Call) -> bool:
    """Whether the call sets the error on the caller's future, itself or in the caller's event loop."""
    function = ast.unparse(call.func)
    return "set_exception" in function or (function == "_answer" and "error" in ast.unparse(call))


def test_a_public_class_name_means_one_thing_in_the_whole_package() -> None:
    """Aliases of types count as classes; there is no exception."""
    homes: dict[str, set[str]] = {}
    for module in MODULES:
        for name in public_types(ast.parse(module.read_text(encoding="utf-8"))):
            homes.setdefault(name, set()).add(str(module.relative_to(SOURCE)))
    assert {name: sorted(modules) for name, modules in homes.items() if len(modules) > 1} == {}


def public_types(module: ast.Module) -> Iterator[str]:
    """Names of the classes, type aliases and type variables at the top level of a module, also inside an `if`."""
    statements = [
        each for top in module.body for each in ([*top.body, *top.orelse] if isinstance(top, ast.If) else [top])
    ]
    for statement in statements:
        match statement:
            case (
                ast.ClassDef(name=name)
                | ast.AnnAssign(target=ast.Name(id=name))
                | ast.Assign(targets=[ast.Name(id=name)])
            ):
                if name[0].isupper() and not name.isupper():
                    yield name
            case _:
                pass
