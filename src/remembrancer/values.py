"""`dataclass` as in the standard library, but faster to define for frozen classes with slots, which most classes here
are.

One recall in a fresh process imports about 150 of them. The standard library compiles six methods for each, 0.4 ms of
CPU; together that is more than half of the time of `import numpy`. Here only `__init__` is compiled, and only for a
class with many instances; the other methods are shared functions or closures. Instances are also created faster. The
standard library collects the fields, so `fields`, `replace`, `asdict` and `match` work as usual.
"""

from __future__ import annotations

import dataclasses
import re
import sys
from collections.abc import Callable
from dataclasses import MISSING, Field, FrozenInstanceError, fields
from functools import cache, partial
from itertools import repeat
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

__all__ = ["copied", "dataclass", "replace"]

T = TypeVar("T")

_SET: Final = object.__setattr__
_SPECIAL: Final = re.compile("ClassVar|InitVar|KW_ONLY")
UNCOMPILED: Final = 16
"""The constructor of a class is compiled after this many instances."""
_QUICK: Final = {"frozen", "slots", "kw_only", "eq"}


def _dataclass(cls: type[Any] | None = None, /, **options: bool) -> type[Any] | Callable[[type[Any]], type[Any]]:
    def made(cls: type[Any]) -> type[Any]:
        quick = options.get("frozen") and options.get("slots") and options.keys() <= _QUICK
        if not quick:
            return dataclasses.dataclass(**options)(cls)
        return _value(cls, kw_only=options.get("kw_only", False), eq=options.get("eq", True))

    return made if cls is None else made(cls)


if TYPE_CHECKING:
    from dataclasses import dataclass
else:
    dataclass = _dataclass


def copied(source: object, kind: type[T], /, **given: Any) -> T:
    """A new `kind`, with the `given` fields; its other fields are copied from the dataclass instance
    `source` by name.
    """
    names = _shared(type(source), kind)
    return kind(**dict(zip(names, map(getattr, repeat(source), names), strict=True)) | given)


def replace(source: T, /, **changes: Any) -> T:
    """As `dataclasses.replace`, in less than half the time. All fields must be arguments of the constructor."""
    return copied(source, type(source), **changes)


@cache
def _shared(source: type[Any], kind: type[Any]) -> tuple[str, ...]:
    names = {field.name for field in fields(kind)}
    return tuple(field.name for field in fields(source) if field.name in names)


def _value(cls: type[Any], *, kw_only: bool, eq: bool) -> type[Any]:
    """The class with slots and the methods of a frozen dataclass. It is a new class, because slots cannot be added to
    one.
    """
    undocumented = cls.__doc__ is None
    if undocumented:
        cls.__doc__ = cls.__name__  # without a docstring, the standard library would compute the signature to write one
    # The standard library searches each annotation for these names with regular expressions, three times.
    types = dict(vars(cls).get("__annotations__", ()))
    cls.__annotations__ = {name: kind if _SPECIAL.search(str(kind)) else object for name, kind in types.items()}
    cls = dataclasses.dataclass(init=False, repr=False, eq=False, kw_only=kw_only)(cls)
    every = fields(cls)
    for field in every:
        field.type = types.get(field.name, field.type)
    names = [field.name for field in every]
    inherited = {slot for base in cls.__mro__[1:-1] for slot in getattr(base, "__slots__", ())}
    own = {name: member for name, member in vars(cls).items() if name not in {*names, "__dict__", "__weakref__"}}
    own["__annotations__"] = types
    if undocumented:
        del own["__doc__"]
    if eq:
        own = _compared(every) | {name: member for name, member in own.items() if member is not None}
    slots = tuple(name for name in names if name not in inherited)
    members = {"__repr__": _repr} | own | _FROZEN | {"__init__": _Init(), "__slots__": slots}
    value = _metaclass(cls)(cls.__name__, cls.__bases__, members)
    value.__qualname__ = cls.__qualname__
    return value


class _Init:
    """The `__init__` of a class before it is compiled. Compiling takes as long as making some forty
    instances this way.
    """

    owner: type[Any]

    def __init__(self) -> None:
        self._made = 0

    def __set_name__(self, owner: type[Any], name: str) -> None:
        self.owner = owner

    def __get__(self, instance: object, owner: type[Any]) -> Callable[..., None]:
        self._made += 1
        if instance is not None and self._made <= UNCOMPILED:
            return partial(self._fill, instance)
        return self._compiled().__get__(instance, owner)

    def _compiled(self) -> Callable[..., None]:
        self.owner.__init__ = init = _init(self.owner, fields(self.owner))
        return init

    def _fill(self, instance: Any, /, *args: object, **given: object) -> None:
        """Set the fields as the compiled `__init__` would; for wrong arguments, call that one, which
        raises the error.
        """
        every = fields(self.owner)
        values = dict(zip([field.name for field in every if not field.kw_only], args, strict=False))
        fits = len(values) == len(args) and values.keys().isdisjoint(given)
        values |= given
        for field in every:
            if field.name in values:
                _SET(instance, field.name, values.pop(field.name))
            elif field.default is not MISSING:
                _SET(instance, field.name, field.default)
            elif field.default_factory is not MISSING:
                _SET(instance, field.name, field.default_factory())
            else:
                fits = False
        if values or not fits:
            self._compiled()(instance, *args, **given)
        elif hasattr(instance, "__post_init__"):
            instance.__post_init__()


def _init(cls: type[Any], every: tuple[Field[Any], ...]) -> Callable[..., None]:
    """An `__init__` that sets the fields while the instance belongs to `_assignable(cls)`, which takes less than half
    as long as calling `object.__setattr__` for each. An instance of a subclass without this decorator may have another
    layout; its fields are set by these calls.
    """
    given: dict[str, Any] = {
        "__dataclass_set__": _SET,
        "__dataclass_missing__": MISSING,
        "__dataclass_frozen__": cls,
        "__dataclass_assignable__": _assignable(cls),
    }
    positional, keywords = ["self"], ["*"]
    assigned, others = list[str](), list[str]()
    for field in every:
        name = value = parameter = field.name
        default = f"__dataclass_{name}__"
        if field.default is not MISSING:
            given[default] = field.default
            parameter = f"{name}={default}"
        elif field.default_factory is not MISSING:
            given[default] = field.default_factory
            parameter, value = (
                f"{name}=__dataclass_missing__",
                f"{default}() if {name} is __dataclass_missing__ else {name}",
            )
        (keywords if field.kw_only else positional).append(parameter)
        assigned.append(f" self.{name} = {value}")
        others.append(f" __dataclass_set__(self, {name!r}, {value})")
    lines = [
        "if self.__class__ is __dataclass_frozen__:",
        " __dataclass_set__(self, '__class__', __dataclass_assignable__)",
        *assigned,
        " self.__class__ = __dataclass_frozen__",
        "else:",
        *(others or [" pass"]),
    ]
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    parameters = ", ".join(positional + (keywords if len(keywords) > 1 else []))
    body = "\n  ".join(lines)
    source = f"def made({', '.join(given)}):\n def __init__({parameters}):\n  {body}\n return __init__"
    scope: dict[str, Any] = {}
    exec(source, vars(sys.modules[cls.__module__]), scope)  # noqa: S102  of names of our own fields
    init: Callable[..., None] = scope["made"](**given)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {field.name: field.type for field in every} | {"return": None}
    return init


def _assignable(cls: type[Any]) -> type[Any]:
    """A class with the layout of `cls` whose attributes can be assigned."""
    copied = {name: vars(cls)[name] for name in ("__slots__", "__orig_bases__") if name in vars(cls)}
    return _metaclass(cls)(cls.__name__, cls.__bases__, {**copied, "__setattr__": _SET})


def _metaclass(cls: type[Any]) -> Callable[[str, tuple[type, ...], dict[str, Any]], type[Any]]:
    return cast("Any", type(cls))


def _compared(every: tuple[Field[Any], ...]) -> dict[str, Any]:
    names = [field.name for field in every if field.compare]
    told: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def __eq__(self: object, other: object) -> bool:  # noqa: N807  the name that it is called by
        return told(self) == told(other) if other.__class__ is self.__class__ else NotImplemented

    def __hash__(self: object) -> int:  # noqa: N807
        return hash(told(self))

    return {"__eq__": __eq__, "__hash__": __hash__}


def _repr(self: Any) -> str:
    shown = ", ".join(f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if field.repr)
    return f"{type(self).__qualname__}({shown})"


def _refuse_to_set(_: object, name: str, __: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(_: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in fields(self)]


def _restore(self: Any, state: list[Any]) -> None:
    for field, value in zip(fields(self), state, strict=True):
        _SET(self, field.name, value)


_FROZEN: Final[dict[str, Any]] = {
    "__setattr__": _refuse_to_set,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,  # pickle and copy cannot set the attributes of a frozen instance
    "__setstate__": _restore,
}
