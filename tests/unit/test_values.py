"""Our `dataclass` makes frozen values with slots that behave as those of the standard library do."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, field
from functools import partial
from types import SimpleNamespace
from typing import Any, ClassVar, Generic, TypeVar, get_type_hints

import pytest

from remembrancer import values

T = TypeVar("T")


def made_by(dataclass: Any) -> Any:
    """The same classes, made by one or the other."""

    @dataclass(frozen=True, slots=True)
    class Point(Generic[T]):
        dimensions: ClassVar[int] = 2
        x: T
        y: float = 0.0
        tags: list[str] = field(default_factory=list[str])
        note: str = field(default="", repr=False, compare=False)

        def __post_init__(self) -> None:
            if self.y < 0:
                raise ValueError("y")

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Marked(Point[int]):
        color: str
        _set: int = 1  # the compiled constructor uses this name too

    @dataclass(frozen=True, slots=True, eq=False)
    class Handle:
        name: str

    @dataclass(frozen=True, slots=True)
    class Near:
        at: float

        def __eq__(self, other: object) -> bool:
            return abs(self.at - getattr(other, "at", 9)) < 1

        def __hash__(self) -> int:
            return 7

        def __repr__(self) -> str:
            return "near"

    @dataclass(frozen=True, slots=True)
    class Nothing: ...

    @dataclass(slots=True)
    class Counter:
        count: int = 0

    @dataclass(frozen=True, slots=True, order=True)
    class Rank:
        at: int

    return SimpleNamespace(
        Point=Point, Marked=Marked, Handle=Handle, Near=Near, Nothing=Nothing, Counter=Counter, Rank=Rank
    )


THEIRS, OURS = made_by(dataclasses.dataclass), made_by(values.dataclass)


def doubled(point: Any) -> Any:
    return 2 * point.x


def raised(call: Callable[[], object]) -> str:
    with pytest.raises(Exception) as error:  # noqa: PT011  which one is what is compared
        call()
    return f"{error.type.__name__}: {error.value}"


CASES: dict[str, Callable[[Any], object]] = {
    "repr": lambda of: [repr(of.Point(1)), repr(of.Marked(1, color="red")), repr(of.Near(1)), repr(of.Nothing())],
    "equality": lambda of: [
        of.Point(1) == of.Point(1.0), of.Point(1) == of.Point(2), of.Point(1, note="a") == of.Point(1, note="b"),
        of.Point(1) == of.Marked(1, color="red"), of.Point(1) == 1, of.Near(1) == of.Near(1.5),
        of.Nothing() == of.Nothing(), of.Handle("a") == of.Handle("a"),
    ],
    "hash": lambda of: [
        len({of.Point(1, tags=()), of.Point(1, tags=(), note="b"), of.Point(2, tags=())}),
        len({of.Handle("a"), of.Handle("a")}),
        len({of.Near(1), of.Near(1), of.Near(2)}),
        len({of.Nothing(), of.Nothing()}),
    ],
    "hash of what has none": lambda of: raised(lambda: hash(of.Point(1))),
    "replace": lambda of: repr(dataclasses.replace(of.Marked(1, color="red"), y=2.0, color="blue")),
    "a replacement is checked": lambda of: raised(lambda: dataclasses.replace(of.Point(1), y=-1.0)),
    "asdict": lambda of: dataclasses.asdict(of.Marked(1, color="red", tags=["a"])),
    "fields": lambda of: [(one.name, one.type, one.kw_only) for one in dataclasses.fields(of.Marked)],
    "slots": lambda of: [of.Point.__slots__, of.Marked.__slots__, of.Nothing.__slots__],
    "no attribute beside them": lambda of: hasattr(of.Marked(1, color="red"), "__dict__"),
    "positional patterns": lambda of: [of.Point.__match_args__, of.Marked.__match_args__],
    "class variable": lambda of: (of.Point.dimensions, of.Point(1).dimensions),
    "factory": lambda of: of.Point(1).tags is of.Point(1).tags,
    "parameters": lambda of: [
        (one.name, one.kind, one.annotation, one.default is one.empty)
        for cls in (of.Point, of.Marked, of.Nothing)
        for one in inspect.signature(cls).parameters.values()
    ],
    "types of the parameters": lambda of: get_type_hints(of.Handle.__init__),
    "a missing argument": lambda of: raised(of.Handle),
    "an unknown argument": lambda of: raised(lambda: of.Handle("a", color="red")),
    "a positional argument that is keyword-only": lambda of: raised(lambda: of.Marked(1, 2.0, [], "", "red")),
    "assignment": lambda of: raised(lambda: setattr(of.Point(1), "x", 2)),
    "deletion": lambda of: raised(lambda: delattr(of.Point(1), "x")),
    "copy": lambda of: [repr(copy.deepcopy(of.Marked(1, color="red", tags=["a"]))), repr(copy.copy(of.Nothing()))],
    "names": lambda of: [of.Point.__qualname__, of.Point.__init__.__qualname__, of.Point.__module__],
    "a subclass without the decorator": lambda of: [
        (one.double(), repr(one), raised(partial(setattr, one, "x", 2)))
        for one in [type("Doubled", (of.Point,), {"double": doubled})(3, y=1.0)]
    ],
    "order, as the standard library does it": lambda of: of.Rank(1) < of.Rank(2),
    }  # fmt: skip


@pytest.mark.parametrize("uncompiled", [0, values.UNCOMPILED])
@pytest.mark.parametrize("told", CASES.values(), ids=CASES)
def test_a_value_behaves_as_the_standard_library_s(
    monkeypatch: pytest.MonkeyPatch, told: Callable[[Any], object], uncompiled: int
) -> None:
    monkeypatch.setattr(values, "UNCOMPILED", uncompiled)
    assert told(made_by(values.dataclass)) == told(THEIRS)


def test_a_constructor_is_compiled_for_a_class_with_many_instances() -> None:
    @values.dataclass(frozen=True, slots=True)
    class Word:
        text: str

    first = [Word("a") for _ in range(values.UNCOMPILED)]
    assert not inspect.isfunction(vars(Word)["__init__"])
    assert {*first, Word("a")} == {Word("a")}
    assert inspect.isfunction(vars(Word)["__init__"])


def test_a_field_of_a_class_that_is_not_frozen_can_change() -> None:
    counter = OURS.Counter()
    counter.count += 1
    assert counter == OURS.Counter(1)


def test_nothing_can_be_assigned_to_a_value() -> None:
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'x'"):
        OURS.Point(1).x = 2
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'z'"):
        OURS.Point(1).z = 2


def test_a_generic_value_is_made_by_its_alias_too() -> None:
    assert OURS.Point[int](1) == OURS.Point(1)


@values.dataclass(frozen=True, slots=True)
class Kept:
    text: str
    parts: tuple[Kept, ...] = ()


def test_a_value_survives_pickling() -> None:
    kept = Kept("a", (Kept("b"),))
    assert pickle.loads(pickle.dumps(kept)) == kept  # noqa: S301  our own


@pytest.mark.parametrize("changes", [{}, {"y": 2.0, "color": "blue"}, {"y": -1.0}, {"z": 1.0}])
def test_replace_does_what_the_standard_library_s_does(changes: dict[str, Any]) -> None:
    def outcome(replace: Callable[..., object]) -> str:
        try:
            return repr(replace(OURS.Marked(1, color="red"), **changes))
        except (TypeError, ValueError) as error:
            return f"{type(error).__name__}: {error}"

    assert outcome(values.replace) == outcome(dataclasses.replace)
