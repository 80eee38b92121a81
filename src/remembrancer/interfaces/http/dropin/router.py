"""Common parts of the routes of other systems."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.idempotency import IdempotentRoute
from remembrancer.interfaces.http.v1 import StrictRoute


class ForeignBody(BaseModel):
    """A body sent by programs for another system. Unknown fields are ignored."""

    model_config = ConfigDict(frozen=True, extra="ignore")


class ForeignRoute(IdempotentRoute, StrictRoute):
    """Takes idempotency keys and strict JSON. Unknown parameters are ignored."""


def foreign_router(tag: str) -> APIRouter:
    """A router whose operation ids are the tag in lower case and the names of its functions."""

    def named(route: APIRoute) -> str:
        return f"{tag.lower()}_{route.name}"

    return APIRouter(tags=[tag], route_class=ForeignRoute, generate_unique_id_function=named)


@contextmanager
def in_its_words(names: Mapping[str, str]) -> Generator[None]:
    """Rename the argument of an InvalidInput from this package's name to the other system's."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(names.get(error.argument, error.argument), error.value, error.allowed) from error
