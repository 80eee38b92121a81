"""The classes of the package by their names, and how signatures and types are written."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterator
from dataclasses import MISSING, dataclass, fields, is_dataclass
from enum import Enum, IntEnum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any, Final, cast, is_typeddict

import remembrancer
from reference.docstrings import doc_of
from remembrancer import errors
from remembrancer.facade import AsyncRemembrancer

PACKAGE: Final = Path(remembrancer.__file__).parent
_CLASS: Final = re.compile(r"^class (\w+)", re.MULTILINE)


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, a field of a dataclass, or a key of a TypedDict. `default`: as it is written in code;
    empty if a value is required.
    """

    name: str
    type: str
    default: str


@cache
def homes() -> dict[str, str]:
    """The module of each public class of the package, by the class's name."""
    found: dict[str, str] = {}
    for file in sorted(PACKAGE.rglob("*.py")):
        module = ".".join(("remembrancer", *file.relative_to(PACKAGE).with_suffix("").parts)).removesuffix(".__init__")
        for name in _CLASS.findall(file.read_text(encoding="utf-8")):
            if not name.startswith("_"):
                found.setdefault(name, module)
    return found


def class_named(name: str) -> type[Any] | None:
    home = homes().get(name)
    return None if home is None else getattr(import_module(home), name)


def doc_named(name: str) -> str:
    """The docstring of a method of `rem`, or of a class of the package; empty if there is none of that name."""
    return doc_of(vars(AsyncRemembrancer).get(name)) or doc_of(class_named(name))


def named_in(annotation: str) -> list[str]:
    """The classes of the package that an annotation names."""
    return [name for name in re.findall(r"\b[A-Z]\w+", annotation) if name in homes()]


def public_members(made: type[Any]) -> Iterator[tuple[str, Any]]:
    """The public methods and properties of a class, in the order of its source."""
    for name, member in vars(made).items():
        inner: Any = getattr(member, "__func__", member)
        if not name.startswith("_") and (isinstance(inner, property) or inspect.isroutine(inner)):
            yield name, inner


def parameters(function: Callable[..., object]) -> list[Parameter]:
    """The parameters of a function without `self`. `**filters: Unpack[Filters]` stands for the keys of `Filters`."""
    listed: list[Parameter] = []
    for one in inspect.signature(function).parameters.values():
        if one.name in {"self", "cls"}:
            continue
        unpacked = re.fullmatch(r"Unpack\[(\w+)\]", str(one.annotation))
        if unpacked:
            listed += keys(cast("type", class_named(unpacked[1])))
        else:
            default = "" if one.default is one.empty else shown(one.default)
            listed.append(Parameter(one.name, written(one.annotation), default))
    return listed


def unpacked(function: Callable[..., object]) -> type | None:
    """The TypedDict of a function's keyword arguments."""
    kinds = [
        re.fullmatch(r"Unpack\[(\w+)\]", str(one.annotation)) for one in inspect.signature(function).parameters.values()
    ]
    return next((class_named(kind[1]) for kind in kinds if kind), None)


def keys(made: type[Any]) -> list[Parameter]:
    """The fields of a dataclass, or the keys of a TypedDict."""
    if is_typeddict(made):
        return [Parameter(name, _forward(kind), "not given") for name, kind in made.__annotations__.items()]
    if not is_dataclass(made):
        return []
    listed: list[Parameter] = []
    for one in fields(made):
        if one.name.startswith("_") or not one.init:
            continue
        default = "" if one.default is MISSING else shown(one.default)
        if one.default_factory is not MISSING:
            default = shown(one.default_factory())
        listed.append(Parameter(one.name, written(one.type), default))
    return listed


def _forward(kind: object) -> str:
    return str(getattr(kind, "__forward_arg__", kind))


def written(annotation: object) -> str:
    text = annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))
    return "" if annotation is inspect.Parameter.empty else re.sub(r"\btyping\.", "", text)


def shown(value: object) -> str:
    """A default value as it is written in code."""
    if isinstance(value, Enum):
        return repr(value.name.lower() if isinstance(value, IntEnum) else value.value)
    if isinstance(value, frozenset):
        return "none" if not value else ", ".join(map(str, cast("frozenset[Any]", value)))
    text = repr(value).replace("datetime.", "")
    if text.startswith("mappingproxy("):
        text = text.removeprefix("mappingproxy(").removesuffix(")")
    return re.sub(r"<(\w+)\.\w+: ('[^']*')>", r"\2", text)


def signature(name: str, function: Callable[..., object]) -> str:
    """A call as it is written, with types and defaults: on one line, or a line for each parameter."""
    given = inspect.signature(function)
    told: list[str] = []
    starred = False
    for one in given.parameters.values():
        if one.name in {"self", "cls"}:
            continue
        if one.kind is one.KEYWORD_ONLY and not starred:
            told.append("*")
            starred = True
        stars = {one.VAR_POSITIONAL: "*", one.VAR_KEYWORD: "**"}.get(one.kind, "")
        default = "" if one.default is one.empty else f" = {shown(one.default)}"
        told.append(f"{stars}{one.name}: {written(one.annotation)}{default}")
    returns = written(given.return_annotation)
    ending = f" -> {returns}" if returns else ""
    line = f"{name}({', '.join(told)}){ending}"
    return line if len(line) <= 90 else "\n".join([f"{name}(", *(f"    {one}," for one in told), f"){ending}"])


def all_errors() -> list[type[errors.RemembrancerError]]:
    """Every public error, the base first."""
    return [
        made for made in vars(errors).values() if isinstance(made, type) and issubclass(made, errors.RemembrancerError)
    ]
