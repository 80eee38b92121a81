"""What the routes of other systems have in common."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict

from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.v1 import Route


class ForeignBody(BaseModel):
    """A shape that programs written for another system send: they may send more than we know of."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def foreign_router(tag: str) -> APIRouter:
    """A router whose operations are called by its tag in small letters and the names of their functions."""

    def named(route: APIRoute) -> str:
        return f"{tag.lower()}_{route.name}"

    return APIRouter(tags=[tag], route_class=Route, generate_unique_id_function=named)


@contextmanager
def in_its_words(names: Mapping[str, str]) -> Generator[None]:
    """Say which argument is not what is allowed by the name that it was sent under: by ours, theirs."""
    try:
        yield
    except InvalidInput as error:
        raise InvalidInput(names.get(error.argument, error.argument), error.value, error.allowed) from error
