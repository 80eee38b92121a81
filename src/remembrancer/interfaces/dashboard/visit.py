"""Who looks at a page, over which part of the workspace, and how links keep to it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, cast
from urllib.parse import urlencode

from fastapi import Depends, Request

from remembrancer.domain.api_key import Right
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import ANONYMOUS, Authenticated, Principal, allowed
from remembrancer.values import dataclass

PARTS: Final = ("project", "crew", "agent", "session")
"""The parts of a scope that a principal chooses, in the query string; the workspace is the key's."""
ROLE: Final = "role"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A page asked for. `memory` is bound to the chosen `scope`, parts and role as the query string has them."""

    request: Request
    principal: Principal
    memory: AsyncRemembrancer
    scope: Mapping[str, str]

    @property
    def may_write(self) -> bool:
        return self.principal.right.allows(Right.WRITE)

    @property
    def may_choose_role(self) -> bool:
        return self.principal.right.allows(Right.ADMIN)

    @property
    def has_key(self) -> bool:
        """Whether there is something to log out of."""
        return self.principal.name != ANONYMOUS

    def link(self, path: str, **query: object) -> str:
        """The address of a page over the same part of the workspace. What is None or "" is left out."""
        return address(path, self.scope, query)

    @property
    def query(self) -> str:
        """What a link ends with that keeps to the same part of the workspace: "" for the whole."""
        return address("", self.scope)


def address(path: str, *queries: Mapping[str, object]) -> str:
    """A path with everything in these queries that says something; a list gives its name once for each value."""
    pairs = [
        (name, str(one))
        for query in queries
        for name, value in query.items()
        for one in (cast("list[object]", value) if isinstance(value, list) else [value])
        if one is not None and one != ""
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


async def reading(request: Request, principal: Authenticated) -> Visit:
    """A visit of one who may read. Raises PermissionDenied, and InvalidInput for what is no scope."""
    return _visit(request, principal, Right.READ)


async def writing(request: Request, principal: Authenticated) -> Visit:
    """A visit of one who may write. Raises as `reading`."""
    return _visit(request, principal, Right.WRITE)


def _visit(request: Request, principal: Principal, needed: Right) -> Visit:
    # A form sends its empty fields too: they choose nothing.
    parts = {part: value for part in PARTS if (value := request.query_params.get(part))}
    role = request.query_params.get(ROLE) or None
    memory = allowed(principal, needed, role, parts)
    return Visit(
        request=request, principal=principal, memory=memory, scope=parts if role is None else {**parts, ROLE: role}
    )


Reading = Annotated[Visit, Depends(reading)]
Writing = Annotated[Visit, Depends(writing)]
