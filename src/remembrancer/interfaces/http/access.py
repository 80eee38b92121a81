"""Authentication and rights: an API key names its workspace and its right. Over MCP an access token may take its place.
Without any key, only this machine is served.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial
from hashlib import sha256
from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import urlsplit

from fastapi import Depends, HTTPException, Query, Request, Security
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.requests import HTTPConnection

from remembrancer.domain import validation
from remembrancer.domain.api_key import Right
from remembrancer.domain.audit import PROCESS
from remembrancer.errors import InvalidInput, PermissionDenied, RemembrancerError
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http.given import Name
from remembrancer.interfaces.loopback import is_loopback
from remembrancer.interfaces.mcp.app import PATH as MCP_PATH
from remembrancer.interfaces.mcp.oauth import FAILURE_PAUSE, READ, JwtVerifier, KeysUnavailable, OAuth, right_of
from remembrancer.values import dataclass

ANONYMOUS: Final = "local"
"""The name of a principal without a key, in logs and metrics."""
COOKIE: Final = "remembrancer_key"
"""The cookie in which a browser keeps the key, out of reach of scripts. A page cannot send a header
with every request.
"""

AUTHENTICATION: Final = "remembrancer.authentication"
"""The key of a request's scope for its Principal, or for the error with which it is refused."""

_OAUTH: Final = "oauth:"
"""Begins the name of a principal with an access token."""
_OF_PROXIES: Final = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")

_BEARER: Final = HTTPBearer(
    auto_error=False, description="A key made by `remembrancer keys create`. Not needed if there are no keys."
)
_Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(_BEARER)]
"""The bearer token of a request, if it has one."""


@dataclass(frozen=True, slots=True)
class Principal:
    """The caller of a request: its name (the key's id, or a digest of a token's `sub`), its right, and the memory of
    its workspace, bound as the key is. `role`: the role that the key is bound to.
    """

    name: str
    right: Right
    memory: AsyncRemembrancer
    role: str | None = None

    @property
    def actor(self) -> Mapping[str, str | None]:
        """The principal in the audit trail: fields of `Acting`. The name of an access token's is that of a person."""
        if self.name == ANONYMOUS:
            return {"principal": PROCESS, "name": None}
        if self.name.startswith(_OAUTH):
            return {"principal": _OAUTH.rstrip(":"), "name": self.name}
        return {"principal": f"key:{self.name}", "name": None}


@dataclass(frozen=True, slots=True)
class AccessTokens:
    """Finds the principal of an access token."""

    oauth: OAuth
    verifier: JwtVerifier

    async def principal(self, memory: AsyncRemembrancer, token: str) -> Principal:
        """Raises HTTPException 401 for a token that is not valid here, 403 for one without a scope or the claim with
        the workspace, and 503 if the authorization server's keys cannot be fetched.
        """
        try:
            access = await self.verifier.verify_token(token)
        except KeysUnavailable:
            detail = "the keys of the authorization server cannot be fetched"
            headers = {"Retry-After": str(FAILURE_PAUSE)}
            raise HTTPException(HTTPStatus.SERVICE_UNAVAILABLE, detail, headers=headers) from None
        if access is None:
            detail = "this key or access token is not valid here: it is unknown, expired, or for somebody else"
            raise HTTPException(HTTPStatus.UNAUTHORIZED, detail, headers=self.oauth.challenge("invalid_token"))
        right = right_of(access.scopes)
        if right is None:
            headers = self.oauth.challenge("insufficient_scope", READ)
            raise HTTPException(HTTPStatus.FORBIDDEN, f"this access token needs the scope {READ}", headers=headers)
        name = _OAUTH + sha256(str(access.subject).encode("utf-8", "surrogatepass")).hexdigest()[:16]
        claim = self.oauth.workspace_claim
        if claim is None:
            return Principal(name, right, memory)
        try:
            workspace = validation.name(claim, (access.claims or {}).get(claim))
        except InvalidInput:
            detail = f"this access token names no workspace in its claim {claim}"
            raise HTTPException(HTTPStatus.FORBIDDEN, detail) from None
        return Principal(name, right, memory.of_workspace(workspace))


@dataclass(frozen=True, slots=True)
class Authenticator:
    """Finds the principal of a request. `host`: the address that the server listens on. `access_tokens`: what finds
    that of an access token, which only MCP accepts; None: there is no OAuth.
    """

    memory: AsyncRemembrancer
    host: str
    access_tokens: AccessTokens | None = None

    async def authenticate(self, connection: HTTPConnection, bearer: str | None) -> Principal:
        """Raises HTTPException 401 for a missing or invalid key, 403 for a page of another site."""
        token = bearer or connection.cookies.get(COOKIE)
        if bearer is None:
            _refuse_other_sites(connection)
        if token is not None:
            key = await self.memory.keys.find(token)
            if key is None and self.access_tokens is not None and bearer is not None and _is_mcp(connection):
                return await self.access_tokens.principal(self.memory, bearer)
            if key is None:
                raise _unauthorized("this key is not valid here: it is unknown, expired or revoked")
            memory = self.memory.of_workspace(key.workspace)
            return Principal(str(key.id), key.right, memory.bound_to(**key.bound) if key.bound else memory, key.role)
        if self.access_tokens is not None and _is_mcp(connection):
            detail = "an access token or a key is needed: Authorization: Bearer TOKEN"
            headers = self.access_tokens.oauth.challenge(None)
            raise HTTPException(HTTPStatus.UNAUTHORIZED, detail, headers=headers)
        if (
            self.access_tokens is not None
            or not is_loopback(self.host)
            or _came_through_a_proxy(connection)
            or await self.memory.keys.exist(expired=True)
        ):
            raise _unauthorized("a key is needed: Authorization: Bearer KEY")
        _refuse_other_names(connection)
        return Principal(ANONYMOUS, Right.ADMIN, self.memory)


Reauthenticate = Callable[[], Awaitable[Principal]]


async def authenticate(request: Request, credentials: _Credentials = None) -> Principal:
    """The principal of a request. It, or the refusal, is cached in the scope, so a request is authenticated once.

    It needs the headers only. Raises HTTPException 401 or 403, and StoreUnavailable.
    """
    known = request.scope.get(AUTHENTICATION)
    if isinstance(known, HTTPException | RemembrancerError):
        raise known
    if not isinstance(known, Principal):
        known = request.scope[AUTHENTICATION] = await (await reauthenticate(request, credentials))()
    return known


Authenticated = Annotated[Principal, Depends(authenticate)]


async def authenticate_request(request: Request) -> Principal:
    """Like `authenticate`, for endpoints that are not FastAPI routes, and where FastAPI has authenticated already."""
    known = request.scope.get(AUTHENTICATION)
    return known if isinstance(known, Principal) else await authenticate(request, await _BEARER(request))


async def reauthenticate(request: Request, credentials: _Credentials = None) -> Reauthenticate:
    """For streams: a function that authenticates the same request again. Calling it raises HTTPException 401 once the
    key is revoked or expired.
    """
    authenticator: Authenticator = request.app.state.authenticator
    token = None if credentials is None else credentials.credentials
    return partial(authenticator.authenticate, request, token)


def _memory_for(needed: Right) -> Callable[..., Awaitable[AsyncRemembrancer]]:
    async def memory(
        request: Request,
        credentials: _Credentials,
        project: Annotated[Name | None, Query(description="The project within the workspace.")] = None,
        crew: Annotated[Name | None, Query(description="The crew within the project.")] = None,
        agent: Annotated[Name | None, Query(description="The agent that the memories belong to.")] = None,
        session: Annotated[Name | None, Query(description="The session within the agent.")] = None,
        role: Annotated[
            Name | None,
            Query(description="The role to read as, AGENT or LEAD. Any role but the server's needs an admin key."),
        ] = None,
    ) -> AsyncRemembrancer:
        # Not a dependency on `authenticate`: FastAPI would go through what that depends on once more.
        principal = await authenticate(request, credentials)
        return allowed(principal, needed, role, {"project": project, "crew": crew, "agent": agent, "session": session})

    return memory


def allowed(
    principal: Principal, needed: Right, role: str | None, scope: Mapping[str, str | None]
) -> AsyncRemembrancer:
    """The memory of the principal within the chosen scope and role.

    Raises PermissionDenied if its right is less than `needed`, or if it chooses a role without the right to administer.
    """
    if not principal.right.allows(needed):
        raise PermissionDenied(f"this key may only {principal.right.value}; this needs a key that may {needed.value}")
    if role not in (None, principal.role) and not principal.right.allows(Right.ADMIN):
        raise PermissionDenied(f"role: only a key that may {Right.ADMIN.value} can choose a role")
    parts = {part: value for part, value in scope.items() if value is not None}
    return principal.memory.scoped(role=role, **parts) if parts or role is not None else principal.memory


ReadableMemory = Annotated[AsyncRemembrancer, Depends(_memory_for(Right.READ))]
"""The memory of a principal that may read."""
WritableMemory = Annotated[AsyncRemembrancer, Depends(_memory_for(Right.WRITE))]
"""The memory of a principal that may write."""
Administering = Annotated[AsyncRemembrancer, Depends(_memory_for(Right.ADMIN))]
"""The memory of a principal that may administer."""


def _unauthorized(detail: str) -> HTTPException:
    return HTTPException(HTTPStatus.UNAUTHORIZED, detail, headers={"WWW-Authenticate": "Bearer"})


def _is_mcp(connection: HTTPConnection) -> bool:
    return connection.scope["path"] == MCP_PATH


def _refuse_other_names(connection: HTTPConnection) -> None:
    """Accept requests without a key only for this machine's own name.

    Without keys, every client that reaches the port may do everything. A web page could reach it under a domain name
    that was made to resolve to this machine (DNS rebinding); the browser sends that name in `Host`.
    """
    if not is_loopback(_name_in(f"//{connection.headers.get('host', '')}")):
        detail = "without a key, only requests to localhost are answered"
        raise HTTPException(HTTPStatus.FORBIDDEN, detail)


def _came_through_a_proxy(connection: HTTPConnection) -> bool:
    """Whether a proxy forwarded the request. The proxy may serve anybody, so the request does not count as this
    machine's own.
    """
    return any(name in connection.headers for name in _OF_PROXIES)


def _name_in(url: str) -> str:
    """The host name of a URL; empty if there is none or the URL is malformed."""
    try:
        return urlsplit(url).hostname or ""
    except ValueError:
        return ""


def _refuse_other_sites(connection: HTTPConnection) -> None:
    """Refuse requests from pages of other sites: the browser adds the cookie to them, or they come from inside the
    network.
    """
    origin = connection.headers.get("origin")
    if origin is not None and origin.partition("://")[2] != connection.headers.get("host", ""):
        raise HTTPException(HTTPStatus.FORBIDDEN, "requests from pages of other sites are refused")
