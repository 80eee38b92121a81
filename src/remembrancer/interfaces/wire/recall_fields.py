"""The fields of an answer that a client asked for, as JSON. Other fields are not computed."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Final, get_args, get_origin

from pydantic import ConfigDict
from pydantic_core import to_json

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.wire.memories import MemoryOut
from remembrancer.interfaces.wire.recall import HitOut, RecallOut
from remembrancer.interfaces.wire.shape import Derived, Wire

if TYPE_CHECKING:
    from remembrancer.domain.recall import Recall

EVERYTHING: Final = "*"
_OPENED: Final = (HitOut, MemoryOut)
"""The shapes whose fields can be asked for one by one."""
_SELDOM_USED: Final = frozenset(
    "recorded_at superseded_by superseded_at retired_at consolidated_at status strength".split()
)
"""The fields of a memory that an answer has on request only."""
_Write = Callable[[Any], Any]


def _inside(annotation: Any) -> type[Wire] | None:
    """The shape that a field has, or has a list of."""
    for one in (annotation, *get_args(annotation)):
        if isinstance(one, type) and issubclass(one, Wire):
            return one
    return None


def _names(shape: type[Wire], before: str = "") -> Iterator[str]:
    for name, field in shape.__pydantic_fields__.items():
        yield before + name
        inside = _inside(field.annotation)
        if inside in _OPENED:
            yield from _names(inside, f"{before}{name}.")


FIELDS: Final = (EVERYTHING, *_names(RecallOut))
"""The names of the fields that can be asked for. A name stands for all that is below it."""


def field_name(given: str) -> str:
    """The name, if it is one of `FIELDS`. Raises InvalidInput with the names that are allowed beside it."""
    if given in FIELDS:
        return given
    before, beside = given, list[str]()
    while not beside:
        before = before.rpartition(".")[0]
        beside = [name for name in FIELDS if name.rpartition(".")[0] == before]
    raise InvalidInput("fields", given, "one of " + ", ".join(beside))


def recall_json(
    recall: Recall,
    fields: Sequence[str] | None,
    *,
    explained: bool,
    rendered: str | None = None,
    rendered_pinned: str | None = None,
) -> bytes:
    """The answer as JSON: these `fields` of RecallOut; None: all but those that are seldom used."""
    write = _writer(RecallOut, "", None if fields is None else frozenset(fields), explained)
    told = RecallOut.differing(recall, rendered=rendered, rendered_pinned=rendered_pinned)
    return to_json(write(_Answer(recall, told)), inf_nan_mode="null")


class _Answer:
    """A recall with the attributes of a RecallOut."""

    def __init__(self, recall: Recall, differing: dict[str, Any]) -> None:
        self._recall = recall
        self.__dict__.update(differing)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._recall, name)


@cache
def _writer(shape: type[Wire], before: str, chosen: frozenset[str] | None, explained: bool) -> _Write:
    """A function that makes the JSON object of a value of this shape. `chosen`: names of fields; None: as by
    default.
    """
    converters: dict[str, _Write | None] = {
        name: _converter(field.annotation, before + name, chosen, explained)
        for name, field in shape.__pydantic_fields__.items()
        if _is_wanted(shape, before + name, name, chosen)
    }
    converted = [(name, convert) for name, convert in converters.items() if convert is not None]

    def write(value: Any) -> dict[str, Any]:
        written = dict(zip(converters, map(getattr, repeat(value), converters), strict=True))
        for name, convert in converted:
            written[name] = convert(written[name])
        return written

    return write


def _is_wanted(shape: type[Wire], path: str, name: str, chosen: frozenset[str] | None) -> bool:
    if chosen is None:
        return shape is not MemoryOut or name not in _SELDOM_USED
    ways = path.split(".")
    above = {".".join(ways[:length]) for length in range(1, len(ways) + 1)}
    return bool(chosen & {EVERYTHING, *above}) or any(one.startswith(f"{path}.") for one in chosen)


def _converter(annotation: Any, path: str, chosen: frozenset[str] | None, explained: bool) -> _Write | None:
    """The function that makes a field's value ready for JSON; None: it is."""
    if path == "hits.explanation" and not explained:
        return lambda _: None
    inside = _inside(annotation)
    if inside is None:
        return dict if get_origin(annotation) is dict else None
    if issubclass(inside, Derived):
        made: Any = inside
        one: _Write = made.of
    elif inside in _OPENED or chosen is None:
        one = _writer(inside, f"{path}.", chosen, explained)
    else:
        one = _writer(inside, "", frozenset({EVERYTHING}), explained)
    if get_origin(annotation) is list:
        return lambda several: [one(each) for each in several]
    return one


def _optional(schema: dict[str, Any]) -> None:
    schema.pop("required", None)


_PARTLY: Final = ConfigDict(json_schema_extra=_optional)


class MemoryFieldsOut(MemoryOut):
    """The fields of a memory that were asked for."""

    model_config = _PARTLY


class HitFieldsOut(HitOut):
    """The fields of a hit that were asked for. `explanation`: null unless `explain` is set."""

    model_config = _PARTLY

    memory: MemoryFieldsOut  # pyright: ignore[reportIncompatibleVariableOverride]  instances are frozen


class RecallFieldsOut(RecallOut):
    """The fields of a recall's result that were asked for. `rendered`, `rendered_pinned`: the prompt blocks of the hits
    and of the pinned memories, null if not requested, empty if there are none.
    """

    model_config = _PARTLY

    hits: list[HitFieldsOut]  # pyright: ignore[reportIncompatibleVariableOverride]
    pinned: list[MemoryFieldsOut]  # pyright: ignore[reportIncompatibleVariableOverride]
