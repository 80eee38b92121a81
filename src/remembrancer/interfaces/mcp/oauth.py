"""OAuth 2.1 for MCP over HTTP: access tokens of an authorization server are accepted beside API keys.

This server is a resource server only (RFC 9728): it issues no tokens, and has no users.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection
from typing import Any, Final, cast

import jwt
from jwt.exceptions import PyJWKClientConnectionError, PyJWKClientError, PyJWTError
from mcp.server.auth.provider import AccessToken
from mcp.server.auth.routes import build_resource_metadata_url, create_protected_resource_routes
from pydantic import AnyHttpUrl, ConfigDict, TypeAdapter
from starlette.routing import Route

from remembrancer.config import Settings
from remembrancer.domain.api_key import Right
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.loopback import is_loopback
from remembrancer.values import dataclass

READ: Final = "memory:read"
WRITE: Final = "memory:write"
"""The scopes. `memory:write` includes `memory:read`. No scope gives the right to administer."""

ALGORITHMS: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512", "ES256", "ES384", "ES512", "EdDSA")
"""The signatures that are accepted, each by a public key. Signatures by a shared secret, and unsigned tokens, are not:
whoever knows the public key could make them.
"""

CLOCK_SKEW: Final = 30
"""Seconds by which the clocks of the two servers may differ."""
KEYS_KEPT: Final = 300
"""Seconds for which fetched keys are used. A key that was removed is accepted for no longer."""
KEY_PAUSE: Final = 30
"""Seconds after a fetch in which an unknown key causes no other one."""
FETCH_TIMEOUT: Final = 5
FAILURE_PAUSE: Final = 5
"""Seconds after a failed fetch in which no other one is tried."""


_URL: Final = TypeAdapter(AnyHttpUrl, config=ConfigDict(url_preserve_empty_path=True))
"""Addresses as they were given, because clients compare issuers as texts."""


class KeysUnavailable(Exception):
    """The keys of the authorization server cannot be fetched."""


@dataclass(frozen=True, slots=True, kw_only=True)
class OAuth:
    """The authorization server whose tokens are accepted, and what they say. `issuer`: their `iss`. `jwks_url`: its
    public keys. `resource`: the address of the MCP server for its clients. `audience`: their `aud`. `workspace_claim`:
    the claim with the workspace; None: the server's own workspace.
    """

    issuer: str
    jwks_url: str
    resource: str
    audience: str
    workspace_claim: str | None

    @property
    def routes(self) -> list[Route]:
        """The document about this resource (RFC 9728), which names the authorization server. Anybody may read it."""
        resource, issuer = (_URL.validate_python(url) for url in (self.resource, self.issuer))
        return create_protected_resource_routes(resource, [issuer], [READ, WRITE], "Remembrancer")

    def challenge(self, error: str | None, scope: str = f"{READ} {WRITE}") -> dict[str, str]:
        """The header by which a refused client finds the authorization server. `error`: a code of RFC 6750, section
        3.1; None if no token was sent.
        """
        found = build_resource_metadata_url(_URL.validate_python(self.resource))
        told = {"error": error, "resource_metadata": str(found), "scope": scope}
        parts = (f'{name}="{value}"' for name, value in told.items() if value is not None)
        return {"WWW-Authenticate": f"Bearer {', '.join(parts)}"}


def oauth_of(settings: Settings) -> OAuth | None:
    """The OAuth part of the settings; None if none of it is set. Raises InvalidInput if a part is missing, or
    an address has no TLS and is not this machine's own.
    """
    together = {name: getattr(settings, name) for name in ("oauth_issuer", "oauth_jwks_url", "oauth_resource")}
    others = {name: getattr(settings, name) for name in ("oauth_audience", "oauth_workspace_claim")}
    if not any((together | others).values()):
        return None
    for name, url in together.items():
        if url is None:
            raise InvalidInput(name, None, "an address: OAuth needs " + ", ".join(together))
        if not url.startswith("https://") and not is_loopback(_URL.validate_python(url).host or ""):
            raise InvalidInput(name, url, "an https:// address; http:// only of this machine")
    return OAuth(
        issuer=settings.oauth_issuer or "",
        jwks_url=settings.oauth_jwks_url or "",
        resource=settings.oauth_resource or "",
        audience=settings.oauth_audience or settings.oauth_resource or "",
        workspace_claim=settings.oauth_workspace_claim,
    )


def right_of(scopes: Collection[str]) -> Right | None:
    """The right that scopes give; None if they give none."""
    if WRITE in scopes:
        return Right.WRITE
    return Right.READ if READ in scopes else None


class JwtVerifier:
    """Verifies access tokens that are JWTs, by the public keys of the authorization server: the SDK's `TokenVerifier`.

    Keys are fetched when a token is signed by one that is not known, so an authorization server can replace its keys at
    any time. A token that claims an unknown key causes at most one fetch in `KEY_PAUSE`, and never delays those whose
    keys are known.
    """

    def __init__(self, oauth: OAuth, *, stopwatch: Callable[[], float] = time.monotonic) -> None:
        self._oauth = oauth
        self._jwks = jwt.PyJWKClient(
            oauth.jwks_url, lifespan=KEYS_KEPT, timeout=FETCH_TIMEOUT, cooldown_duration=KEY_PAUSE
        )
        self._stopwatch = stopwatch
        self._fetching = asyncio.Lock()
        self._failed_at: float | None = None

    async def verify_token(self, token: str) -> AccessToken | None:
        """The contents of a token; None if it is not valid here. Raises KeysUnavailable."""
        try:
            header = jwt.get_unverified_header(token)
        except PyJWTError:
            return None
        name = header.get("kid")
        key = await self._key(name) if header.get("alg") in ALGORITHMS and isinstance(name, str) else None
        if key is None:
            return None
        try:
            claims: dict[str, Any] = jwt.decode(
                token,
                key,
                algorithms=ALGORITHMS,
                audience=self._oauth.audience,
                issuer=self._oauth.issuer,
                leeway=CLOCK_SKEW,
                options={"require": ["exp", "iss", "aud", "sub"]},
            )
        except PyJWTError:
            return None
        return AccessToken(
            token=token,
            client_id=str(claims.get("client_id", claims.get("azp", claims["sub"]))),
            scopes=_scopes(claims),
            expires_at=int(claims["exp"]),
            resource=self._oauth.resource,
            subject=claims["sub"],
            claims=claims,
        )

    async def _key(self, name: str) -> jwt.PyJWK | None:
        """The public key of that name; None if there is none. Raises KeysUnavailable."""
        known = self._known(name)
        if known is not None:
            return known
        async with self._fetching:
            if self._failed_at is not None and self._stopwatch() - self._failed_at < FAILURE_PAUSE:
                raise KeysUnavailable
            try:
                found = await asyncio.to_thread(self._fetched, name)
            except (PyJWTError, ValueError, OSError) as error:
                self._failed_at = self._stopwatch()
                raise KeysUnavailable from error
            self._failed_at = None
            return found

    def _known(self, name: str) -> jwt.PyJWK | None:
        cache = self._jwks.jwk_set_cache
        kept = None if cache is None else cache.get()
        signing = [] if kept is None else [key for key in kept.keys if key.public_key_use in ("sig", None)]
        return self._jwks.match_kid(signing, name)

    def _fetched(self, name: str) -> jwt.PyJWK | None:
        keys = self._jwks.get_signing_keys()  # raises if they cannot be fetched or read
        try:
            return self._jwks.match_kid(keys, name) or self._jwks.get_signing_key(name)
        except PyJWKClientConnectionError:
            raise
        except PyJWKClientError:
            return None


def _scopes(claims: dict[str, Any]) -> list[str]:
    """The scopes of a token: `scope` (RFC 9068), or `scp` as some authorization servers call it."""
    given = claims.get("scope", claims.get("scp", ""))
    several = cast("list[Any]", given) if isinstance(given, list) else str(given).split()
    return [one for one in several if isinstance(one, str)]
