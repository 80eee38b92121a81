"""Presets as TOML tables: conversion to and from dataclasses, by their annotations.

A table has a key for each field. If a value may be of several classes, the key `form` names one: its class name in
lower case with underscores. None is written as `false`, because TOML has no null. A score expression is written as
text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import MISSING, fields
from enum import IntEnum, StrEnum
from types import MappingProxyType, NoneType, UnionType
from typing import Any, Final, Literal, Protocol, TypeGuard, cast, get_args, get_origin, get_type_hints

from remembrancer.domain.recall import Renderer
from remembrancer.errors import InvalidInput
from remembrancer.policies.admission.linking import SimilarLinks
from remembrancer.policies.consolidation.clusters import Clusters
from remembrancer.policies.consolidation.compaction import Compaction
from remembrancer.policies.consolidation.facts import Facts
from remembrancer.policies.consolidation.rules import Rules
from remembrancer.policies.consolidation.sleeping import Sleep
from remembrancer.policies.forgetting.retaining import Retention
from remembrancer.policies.forgetting.reviewing import Reviewing
from remembrancer.policies.learning.extraction import Extraction
from remembrancer.policies.learning.promoting import Promotion
from remembrancer.policies.learning.stages import Stages
from remembrancer.policies.ranking import expressions
from remembrancer.policies.ranking.expressions import Names
from remembrancer.policies.ranking.key_terms import KeyTerms
from remembrancer.policies.ranking.scoring import Expression
from remembrancer.policies.rendering.block import Block
from remembrancer.policies.rendering.markdown import Markdown
from remembrancer.policies.rendering.sections import Sections
from remembrancer.policies.segmentation.dual_channel import DualChannel
from remembrancer.policies.segmentation.windows import Windows
from remembrancer.values import dataclass

RENDERERS: Final[tuple[type[Renderer], ...]] = (Block, Markdown, Sections)
"""The classes of a preset's renderer."""

_SECTIONS: Final[dict[str, Any]] = {
    section.__name__: section
    for section in (
        SimilarLinks,
        Clusters,
        Compaction,
        Facts,
        Rules,
        Sleep,
        Retention,
        Reviewing,
        Extraction,
        Promotion,
        Stages,
        KeyTerms,
        DualChannel,
        Windows,
    )
}
"""Classes that presets' annotations name but import for type checking only, by name."""

FORM: Final = "form"
TomlTable = dict[str, Any]
"""A table as tomllib reads it."""

_BARE_KEY: Final = re.compile(r"[A-Za-z0-9_-]+")


class Form(Protocol):
    """The conversion of one annotation's values to TOML and back."""

    def to_toml(self, value: Any) -> Any: ...

    def read(self, path: str, given: Any) -> Any:
        """Convert a value of the file. Raises InvalidInput with its full path, the value, and the allowed values."""
        ...

    def completed(self, given: Any, base: Any) -> Any:
        """A table of a file, with missing keys taken from `base`."""
        ...


def form_of(annotation: Any, names: Names) -> Form:  # noqa: PLR0911  a case for each kind of annotation
    """The form of an annotation. `names`: expressions that a score may refer to by name."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Renderer:
        return _one_of(RENDERERS, names)
    if origin is UnionType:
        kinds = tuple(kind for kind in inner if kind is not NoneType)
        form = _of_any(kinds, names)
        return form if kinds == inner else _Optional(form)
    if origin is Literal:
        return _Word({word: word for word in inner})
    if origin is tuple:
        return _List(form_of(inner[0], names))
    if origin is Mapping:
        return _Entries(form_of(inner[0], names), form_of(inner[1], names))
    if annotation in _PLAIN:
        return _PLAIN[annotation]
    if issubclass(annotation, StrEnum):
        return _Word({member.value: member for member in annotation})
    if issubclass(annotation, IntEnum):
        return _Word({member.name.lower(): member for member in annotation})
    return _record(annotation, names)


def name_of(kind: type) -> str:
    """The name of a class for the key `form` of a preset file.

    >>> from remembrancer.policies.forgetting.decay import HalfLife
    >>> name_of(HalfLife)
    'half_life'
    """
    return re.sub(r"(?<!^)(?=[A-Z])", "_", kind.__name__).lower()


def within(path: str, key: str) -> str:
    """The path of a key, as TOML writes it.

    >>> within("admission.from_severity", "keeper.decision")
    'admission.from_severity."keeper.decision"'
    """
    shown = key if _BARE_KEY.fullmatch(key) else json.dumps(key, ensure_ascii=False)
    return f"{path}.{shown}" if path else shown


class _Simple:
    """A value without parts; it replaces the base's value completely."""

    def completed(self, given: Any, base: Any) -> Any:
        return given


@dataclass(frozen=True, slots=True)
class _Plain(_Simple):
    kinds: tuple[type, ...]
    allowed: str

    def to_toml(self, value: Any) -> Any:
        return self.kinds[-1](value)

    def read(self, path: str, given: Any) -> Any:
        # A bool is an int in Python, but not in TOML.
        if type(given) not in self.kinds:
            raise InvalidInput(path, given, self.allowed)
        try:
            return self.kinds[-1](given)
        except OverflowError:
            raise InvalidInput(path, "a whole number of more than 300 digits", self.allowed) from None


_PLAIN: Final[Mapping[type, Form]] = {
    str: _Plain((str,), "a text"),
    int: _Plain((int,), "a whole number"),
    float: _Plain((int, float), "a number"),
    bool: _Plain((bool,), "true or false"),
}


@dataclass(frozen=True, slots=True)
class _Word(_Simple):
    """A member of an enumeration."""

    members: Mapping[str, Any]

    def to_toml(self, value: Any) -> str:
        return next(word for word, member in self.members.items() if member == value)

    def read(self, path: str, given: Any) -> Any:
        if type(given) is not str or given not in self.members:
            raise InvalidInput(path, given, "one of " + ", ".join(self.members))
        return self.members[given]


@dataclass(frozen=True, slots=True)
class _Score(_Simple):
    names: Names

    def to_toml(self, value: Expression) -> str:
        return expressions.printed(value, names=self.names)

    def read(self, path: str, given: Any) -> Expression:
        if type(given) is not str:
            raise InvalidInput(path, given, "a score expression, as text")
        return expressions.parse(path, given, names=self.names)


@dataclass(frozen=True, slots=True)
class _List(_Simple):
    item: Form

    def to_toml(self, value: tuple[Any, ...]) -> list[Any]:
        return [self.item.to_toml(one) for one in value]

    def read(self, path: str, given: Any) -> tuple[Any, ...]:
        if type(given) is not list:
            raise InvalidInput(path, given, "a list")
        listed = cast("list[Any]", given)
        return tuple(self.item.read(f"{path}[{place}]", one) for place, one in enumerate(listed))


@dataclass(frozen=True, slots=True)
class _Optional:
    inner: Form

    def to_toml(self, value: Any) -> Any:
        return False if value is None else self.inner.to_toml(value)

    def read(self, path: str, given: Any) -> Any:
        return None if given is False else self.inner.read(path, given)

    def completed(self, given: Any, base: Any) -> Any:
        return given if base is False else self.inner.completed(given, base)


@dataclass(frozen=True, slots=True)
class _Entries:
    """A mapping. `false` removes an entry of the base."""

    key: Form
    value: Form

    def to_toml(self, value: Mapping[Any, Any]) -> TomlTable:
        return {self.key.to_toml(key): self.value.to_toml(one) for key, one in value.items()}

    def read(self, path: str, given: Any) -> Mapping[Any, Any]:
        entries = _table(path, given)
        return MappingProxyType(
            {
                self.key.read(path, key): self.value.read(within(path, key), one)
                for key, one in entries.items()
                if one is not False
            }
        )

    def completed(self, given: Any, base: TomlTable) -> Any:
        if not _is_table(given):
            return given
        return base | {key: self.value.completed(one, base[key]) if key in base else one for key, one in given.items()}


@dataclass(frozen=True, slots=True)
class _Record:
    kind: type
    forms: Mapping[str, Form]
    required: frozenset[str]

    def to_toml(self, value: Any) -> TomlTable:
        return {name: form.to_toml(getattr(value, name)) for name, form in self.forms.items()}

    def read(self, path: str, given: Any) -> Any:
        table = _table(path, given)
        for key, there in table.items():
            if key not in self.forms:
                allowed = "one of the keys " + ", ".join(self.forms) if self.forms else "no key here"
                raise InvalidInput(within(path, key), there, allowed)
        for name in self.forms:
            if name in self.required and name not in table:
                raise InvalidInput(within(path, name), None, "a value: there is no default")
        values = {name: self.forms[name].read(within(path, name), there) for name, there in table.items()}
        try:
            return self.kind(**values)
        except InvalidInput as error:
            raise InvalidInput(_placed(path, error.argument), error.value, error.allowed) from error

    def completed(self, given: Any, base: TomlTable) -> Any:
        if not _is_table(given):
            return given
        return base | {
            key: self.forms[key].completed(one, base[key]) if key in self.forms else one for key, one in given.items()
        }


@dataclass(frozen=True, slots=True)
class _OneOf:
    """A table whose `form` names its class."""

    records: Mapping[str, _Record]

    def to_toml(self, value: Any) -> TomlTable:
        for name, record in self.records.items():
            if type(value) is record.kind:
                return {FORM: name, **record.to_toml(value)}
        raise InvalidInput(FORM, type(value).__name__, "one of " + ", ".join(self.records))

    def read(self, path: str, given: Any) -> Any:
        table = dict(_table(path, given))
        form = table.pop(FORM, None)
        if type(form) is not str or form not in self.records:
            raise InvalidInput(within(path, FORM), form, "one of " + ", ".join(self.records))
        return self.records[form].read(path, table)

    def completed(self, given: Any, base: TomlTable) -> Any:
        """The given table completed from `base`. If its `form` differs from the base's, it starts from that class's
        defaults.
        """
        if not _is_table(given) or given.get(FORM, base[FORM]) != base[FORM]:
            return given
        return self.records[base[FORM]].completed(given, base)


def _record(kind: type[Any], names: Names) -> _Record:
    hints = get_type_hints(kind, localns=_SECTIONS)
    return _Record(
        kind,
        {field.name: form_of(hints[field.name], names) for field in fields(kind)},
        frozenset(field.name for field in fields(kind) if field.default is field.default_factory is MISSING),
    )


def _of_any(kinds: tuple[type, ...], names: Names) -> Form:
    if kinds == get_args(Expression):
        return _Score(names)
    return form_of(kinds[0], names) if len(kinds) == 1 else _one_of(kinds, names)


def _one_of(kinds: tuple[type, ...], names: Names) -> _OneOf:
    return _OneOf({name_of(kind): _record(kind, names) for kind in kinds})


def _is_table(given: Any) -> TypeGuard[TomlTable]:
    return type(given) is dict


def _table(path: str, given: Any) -> TomlTable:
    if not _is_table(given):
        raise InvalidInput(path, given, "a table")
    return given


def _placed(path: str, argument: str) -> str:
    """The full path of an argument that was rejected by the constructor of the value at `path`.

    Some constructors name arguments relative to themselves: `limits.most` under `limits`.
    """
    own = path.rpartition(".")[2]
    return ".".join(part for part in (path, argument.removeprefix(f"{own}.")) if part)
