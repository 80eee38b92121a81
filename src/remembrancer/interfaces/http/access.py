"""Who asks, and what they may: a key names its workspace and its right; without keys only this machine is served."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Query, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from remembrancer.domain.api_key import Right
from remembrancer.errors import PermissionDenied
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.given import Name
from remembrancer.interfaces.loopback import is_loopback
from remembrancer.values import dataclass

ANONYMOUS: Final = "local"
"""How one without a key is called, in logs and where requests are counted."""
COOKIE: Final = "remembrancer_key"
"""What a browser keeps a key in, out of reach of scripts: a page cannot send a header with every request."""

_OF_PROXIES: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")

_BEARER: Final = HTTPBearer(
    auto_error=False, description="A key that `remembrancer keys create` made. None is needed while there are no keys."
)


@dataclass(frozen=True, slots=True)
class Principal:
    """Who asks: by what name, with what right, and the memory of their workspace."""

    name: str
    right: Right
    memory: AsyncRemembrancer


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Lets in who may. `host`: the address that the server listens on."""

    memory: AsyncRemembrancer
    host: str

    async def authenticate(self, connection: HTTPConnection, bearer: str | None) -> Principal:
        """Raises HTTPException 401 for a key that is missing or not valid, 403 for a page of another site."""
        token = bearer or connection.cookies.get(COOKIE)
        if bearer is None:
            _refuse_other_sites(connection)
        if token is not None:
            key = await self.memory.keys.find(token)
            if key is None:
                raise _unauthorized("this key is not valid here: unknown, expired or revoked")
            return Principal(str(key.id), key.right, self.memory.of_workspace(key.workspace))
        if (
            not is_loopback(self.host)
            or _came_through_a_proxy(connection)
            or await self.memory.keys.exist(expired=True)
        ):
            raise _unauthorized("a key is needed: Authorization: Bearer KEY")
        _refuse_other_names(connection)
        return Principal(ANONYMOUS, Right.ADMIN, self.memory)


Reauthenticate = Callable[[], Awaitable[Principal]]


async def authenticate(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
) -> Principal:
    """Who asks. Kept with the request: what comes after asks no second time."""
    known = request.scope.get("remembrancer.principal")
    if isinstance(known, Principal):
        return known
    authenticator: Authenticator = request.app.state.authenticator
    token = None if credentials is None else credentials.credentials
    found = await authenticator.authenticate(request, token)
    request.scope["remembrancer.principal"] = found
    return found


Authenticated = Annotated[Principal, Depends(authenticate)]


async def authenticate_request(request: Request) -> Principal:
    """The same, for what is no route of the framework's."""
    return await authenticate(request, await _BEARER(request))


async def reauthenticate(
    request: Request, credentials: Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)] = None
) -> Reauthenticate:
    """For streams: a function that authenticates the same request again. Calling it raises HTTPException 401 once the
    key is revoked or expired.
    """
    authenticator: Authenticator = request.app.state.authenticator
    token = None if credentials is None else credentials.credentials
    return partial(authenticator.authenticate, request, token)


def _memory_for(needed: Right) -> Callable[..., Awaitable[AsyncRemembrancer]]:
    async def memory(
        principal: Authenticated,
        project: Annotated[Name | None, Query(description="The project within the workspace.")] = None,
        crew: Annotated[Name | None, Query(description="The crew within the project.")] = None,
        agent: Annotated[Name | None, Query(description="The agent whose memories these are.")] = None,
        session: Annotated[Name | None, Query(description="The session within the agent.")] = None,
        role: Annotated[
            Name | None,
            Query(description="As what to read, AGENT or LEAD; another than the server's needs an admin key."),
        ] = None,
    ) -> AsyncRemembrancer:
        return allowed(principal, needed, role, {"project": project, "crew": crew, "agent": agent, "session": session})

    return memory


def allowed(
    principal: Principal, needed: Right, role: str | None, scope: Mapping[str, str | None]
) -> AsyncRemembrancer:
    """The memory of who asks, as far as they choose, where they have that right. Raises PermissionDenied."""
    if not principal.right.allows(needed):
        raise PermissionDenied(f"this key may {principal.right.value}; this needs one that may {needed.value}")
    if role is not None and not principal.right.allows(Right.ADMIN):
        raise PermissionDenied(f"role: only a key that may {Right.ADMIN.value} chooses as what it reads")
    parts = {part: value for part, value in scope.items() if value is not None}
    return principal.memory.scoped(role=role, **parts) if parts or role is not None else principal.memory


Reading = Annotated[AsyncRemembrancer, Depends(_memory_for(Right.READ))]
"""The memory of the caller, who may read it."""
Writing = Annotated[AsyncRemembrancer, Depends(_memory_for(Right.WRITE))]
"""The memory of the caller, who may write to it."""
Administering = Annotated[AsyncRemembrancer, Depends(_memory_for(Right.ADMIN))]
"""The memory of the caller, who may also do what cannot be undone."""


def _unauthorized(detail: str) -> HTTPException:
    return HTTPException(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": "Bearer"})


def _refuse_other_names(connection: HTTPConnection) -> None:
    """Without keys whoever reaches the port may do everything. A web page must not, by a name that was made to point
    here (DNS rebinding): the browser tells that name in `Host`.
    """
    if not is_loopback(_name_in(f"//{connection.headers.get('host', '')}")):
        detail = "without a key, only requests for this machine's own name are answered"
        raise HTTPException(HTTPStatus.FORBIDDEN, detail)


def _came_through_a_proxy(connection: HTTPConnection) -> bool:
    """Whether somebody passed it on, who may serve the whole world: then this machine is not who asks."""
    return any(name in connection.headers for name in _OF_PROXIES)


def _name_in(url: str) -> str:
    """The name of the host, or of none: whoever sends it may write what they like."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _refuse_other_sites(connection: HTTPConnection) -> None:
    """What a browser adds by itself, a cookie or its place behind the wall, must not serve pages of other sites."""
    origin = connection.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != connection.headers.get("host", ""):
        raise HTTPException(HTTPStatus.FORBIDDEN, "pages of other sites are not answered")
