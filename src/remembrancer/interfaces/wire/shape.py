"""The base classes of the JSON shapes, and two shapes that many others contain.

Times are ISO 8601 in UTC, ids are text, ages are given in seconds and words. `SomeOut.of(value)` makes a shape from a
domain value.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Generic, Self, TypeVar

from pydantic import BaseModel, ConfigDict, ModelWrapValidatorHandler, model_validator

from remembrancer.domain.age import spoken_age

if TYPE_CHECKING:
    from remembrancer.domain.scope import Scope


S = TypeVar("S")


class Wire(BaseModel):
    """A JSON shape: a fixed set of fields, immutable. A field of this type accepts any object with the
    same attributes.
    """

    # Built on first use: a command that needs two of these shapes should not wait for all of them.
    model_config = ConfigDict(frozen=True, extra="forbid", from_attributes=True, defer_build=True)

    @classmethod
    def copied(cls, value: object, /, **differing: object) -> Self:
        """A shape whose fields have the values of the attributes of the same name, except for those in `differing`."""
        same = {name: getattr(value, name) for name in cls.__pydantic_fields__ if name not in differing}
        return cls.model_validate({**same, **differing})


class Of(Generic[S]):
    """Mixin of the shapes whose fields are all attributes of an `S`."""

    @classmethod
    def of(cls, value: S, /) -> Self:
        made: Any = cls
        return made.model_validate(value)


class Many(Generic[S]):
    """Mixin of the shapes whose only field is a list, with a shape for each `S`."""

    @classmethod
    def of(cls, values: Iterable[S], /) -> Self:
        made: Any = cls
        [field] = made.__pydantic_fields__
        return made.model_validate({field: tuple(values)})


class Derived(Wire):
    """A shape that computes its fields in its own `of`. A field of this type accepts the domain value that `of`
    takes.
    """

    @model_validator(mode="wrap")
    @classmethod
    def _nested(cls, value: object, validate: ModelWrapValidatorHandler[Self]) -> Self:
        if isinstance(value, Wire | dict):
            return validate(value)
        made: Any = cls
        return made.of(value)


class AgeOut(Derived):
    """Time since an event in seconds, negative if it is in the future, and in words."""

    seconds: float
    spoken: str

    @classmethod
    def of(cls, age: timedelta) -> Self:
        return cls(seconds=age.total_seconds(), spoken=spoken_age(age))


class ScopeOut(Wire, Of["Scope"]):
    workspace: str
    project: str | None
    crew: str | None
    agent: str | None
    session: str | None
