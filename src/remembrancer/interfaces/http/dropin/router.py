"""What the routes of other systems have in common."""

from __future__ import annotations

from fastapi import APIRouter
from fastapi.routing import APIRoute
from pydantic import BaseModel, ConfigDict

from remembrancer.interfaces.http.document import ALWAYS, answers
from remembrancer.interfaces.http.strict_json import StrictRoute


class ForeignBody(BaseModel):
    """A shape that programs written for another system send: they may send more than we know of."""

    model_config = ConfigDict(frozen=True, extra="ignore")


def foreign_router(prefix: str, tag: str) -> APIRouter:
    """A router whose operations are called by its tag and the names of their functions."""

    def named(route: APIRoute) -> str:
        return f"{tag}_{route.name}"

    return APIRouter(
        prefix=prefix,
        tags=[tag],
        route_class=StrictRoute,
        responses=answers(*ALWAYS),
        generate_unique_id_function=named,
    )
