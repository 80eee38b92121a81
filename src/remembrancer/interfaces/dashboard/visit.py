"""A request for a page: its principal, its part of the workspace, and links that keep that part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Final, cast
from urllib.parse import urlencode

from fastapi import Depends, Request

from remembrancer.domain.api_key import Right
from remembrancer.domain.scope import SCOPE_PARTS
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.access import ANONYMOUS, Authenticated, Principal, allowed
from remembrancer.values import dataclass

ROLE: Final = "role"


@dataclass(frozen=True, slots=True, kw_only=True)
class Visit:
    """A request for a page. `memory` is bound to `scope`: the parts and the role in the query string."""

    request: Request
    principal: Principal
    memory: AsyncRemembrancer
    scope: Mapping[str, str]

    @property
    def may_write(self) -> bool:
        return self.principal.right.allows(Right.WRITE)

    @property
    def may_erase(self) -> bool:
        return self.principal.right.allows(Right.ADMIN)

    @property
    def may_choose_role(self) -> bool:
        return self.principal.right.allows(Right.ADMIN)

    @property
    def pinned_tag(self) -> str | None:
        """The tag of pinned memories; None if the preset has none."""
        return self.memory.presets.in_use.pinned_tag

    @property
    def has_key(self) -> bool:
        """Whether the principal has a key, and so can log out."""
        return self.principal.name != ANONYMOUS

    def link(self, path: str, **query: object) -> str:
        """The address of a page with the same scope. Values that are None or "" are left out."""
        return address(path, self.scope, query)

    @property
    def query(self) -> str:
        """The query string that keeps the scope; "" for the whole workspace."""
        return address("", self.scope)


def address(path: str, *queries: Mapping[str, object]) -> str:
    """A path with the non-empty values of these queries. A list repeats its name for each item."""
    pairs = [
        (name, str(one))
        for query in queries
        for name, value in query.items()
        for one in (cast("list[object]", value) if isinstance(value, list) else [value])
        if one is not None and one != ""
    ]
    return f"{path}?{urlencode(pairs)}" if pairs else path


async def reading(request: Request, principal: Authenticated) -> Visit:
    """The request of a principal that may read. Raises PermissionDenied, and InvalidInput for an invalid scope."""
    return _visit(request, principal, Right.READ)


async def writing(request: Request, principal: Authenticated) -> Visit:
    """The request of a principal that may write. Raises the same errors as `reading`."""
    return _visit(request, principal, Right.WRITE)


async def administering(request: Request, principal: Authenticated) -> Visit:
    """The request of a principal that may administer. Raises the same errors as `reading`."""
    return _visit(request, principal, Right.ADMIN)


def _visit(request: Request, principal: Principal, needed: Right) -> Visit:
    # A form also submits its empty fields, which select nothing.
    parts = {part: value for part in SCOPE_PARTS if (value := request.query_params.get(part))}
    role = request.query_params.get(ROLE) or None
    memory = allowed(principal, needed, role, parts)
    return Visit(
        request=request, principal=principal, memory=memory, scope=parts if role is None else {**parts, ROLE: role}
    )


ReadingVisit = Annotated[Visit, Depends(reading)]
WritingVisit = Annotated[Visit, Depends(writing)]
AdministeringVisit = Annotated[Visit, Depends(administering)]
