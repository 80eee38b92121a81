"""MCP with access tokens of an authorization server, which listens on loopback."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import time
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar
from urllib.parse import parse_qs, urlsplit

import httpx
import httpx2
import jwt
import pytest
from authorization_server import RESOURCE, AuthorizationServer, SigningKey, authorization_server
from cryptography.hazmat.primitives import serialization
from mcp import Client
from mcp.client.auth import AuthorizationCodeResult, OAuthClientProvider
from mcp.client.auth.extensions.client_credentials import ClientCredentialsOAuthProvider
from mcp.client.streamable_http import streamable_http_client
from mcp.shared.auth import OAuthClientInformationFull, OAuthClientMetadata, OAuthToken
from mcp_clients import Called, Caller
from served import Served, asked

from remembrancer import Settings
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.http.app import Serving
from remembrancer.interfaces.mcp.oauth import CLOCK_SKEW, FAILURE_PAUSE, JwtVerifier, KeysUnavailable, OAuth, oauth_of

T = TypeVar("T")

METADATA = "http://127.0.0.1:8765/.well-known/oauth-protected-resource/mcp"
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


@pytest.fixture
def issuer() -> Iterator[AuthorizationServer]:
    with authorization_server() as running:
        yield running


def oauth_with(issuer: AuthorizationServer, claim: str | None = None) -> OAuth:
    return OAuth(
        issuer=issuer.url, jwks_url=issuer.jwks_url, resource=RESOURCE, audience=RESOURCE, workspace_claim=claim
    )


def running(issuer: AuthorizationServer, steps: Callable[[Served], Awaitable[T]], claim: str | None = None) -> T:
    async def within(served: Served) -> T:
        async with served.app.router.lifespan_context(served.app):
            return await steps(served)

    return asked(within, serving=Serving(rate_limit=0, oauth=oauth_with(issuer, claim)))


async def sent(served: Served, token: str | None, tool: str = "recent", **arguments: Any) -> httpx.Response:
    headers = HEADERS if token is None else {**HEADERS, "Authorization": f"Bearer {token}"}
    call = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    return await served.http.post("/mcp", json=call, headers=headers)


def answered(issuer: AuthorizationServer, token: str | None, claim: str | None = None) -> httpx.Response:
    async def steps(served: Served) -> httpx.Response:
        return await sent(served, token)

    return running(issuer, steps, claim)


def unsigned(claims: dict[str, Any], name: str) -> str:
    return jwt.encode(claims, "", "none", headers={"kid": name})


def encoded(part: object) -> str:
    return base64.urlsafe_b64encode(json.dumps(part).encode()).rstrip(b"=").decode()


def signed_with_the_public_key(issuer: AuthorizationServer) -> str:
    """A token whose HMAC secret is the text of the public key. PyJWT itself refuses to make one."""
    public = issuer.key.private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )

    signed = f"{encoded({'alg': 'HS256', 'typ': 'JWT', 'kid': issuer.key.name})}.{encoded(issuer.claims())}"
    signature = base64.urlsafe_b64encode(hmac.new(public, signed.encode(), hashlib.sha256).digest()).rstrip(b"=")
    return f"{signed}.{signature.decode()}"


REFUSED: dict[str, Callable[[AuthorizationServer], str]] = {
    "expired": lambda issuer: issuer.token(exp=int(time.time()) - CLOCK_SKEW - 5),
    "without an end": lambda issuer: issuer.token(exp=None),
    "not valid yet": lambda issuer: issuer.token(nbf=int(time.time()) + CLOCK_SKEW + 60),
    "for another resource": lambda issuer: issuer.token(aud="https://other.example/mcp"),
    "for no resource": lambda issuer: issuer.token(aud=None),
    "of another issuer": lambda issuer: issuer.token(iss="https://other.example"),
    "of nobody": lambda issuer: issuer.token(sub=None),
    "not signed": lambda issuer: unsigned(issuer.claims(), issuer.key.name),
    "signed with the public key as a secret": signed_with_the_public_key,
    "signed by a key of the same name": lambda issuer: issuer.token(SigningKey(issuer.key.name)),
    "signed by an unknown key": lambda issuer: issuer.token(SigningKey("unknown")),
    "without the name of its key": lambda issuer: jwt.encode(issuer.claims(), issuer.key.private, "ES256"),
    "altered": lambda issuer: issuer.token()[:-8] + "AAAAAAAA",
    "no token": lambda _: "a.b.c",
    "with a header that is no object": lambda _: f"{encoded(['RS256'])}.e30.AAAA",
    "with a header that is too deep": lambda _: f"{base64.urlsafe_b64encode(b'[' * 40_000).decode()}.e30.AAAA",
    "with a key that has no text as its name": lambda _: f"{encoded({'alg': 'ES256', 'kid': 7})}.e30.AAAA",
    "with several algorithms": lambda _: f"{encoded({'alg': ['ES256'], 'kid': 'first'})}.e30.AAAA",
}


@pytest.mark.parametrize("make", REFUSED.values(), ids=REFUSED)
def test_a_token_that_is_not_valid_here_is_refused(
    issuer: AuthorizationServer, make: Callable[[AuthorizationServer], str]
) -> None:
    answer = answered(issuer, make(issuer))
    assert (answer.status_code, 'error="invalid_token"' in answer.headers["www-authenticate"]) == (401, True)


def test_a_token_that_ended_within_the_difference_of_the_clocks_is_accepted(issuer: AuthorizationServer) -> None:
    assert answered(issuer, issuer.token(exp=int(time.time()) - 5)).status_code == 200


def test_without_a_token_the_answer_says_where_the_authorization_server_is_named(issuer: AuthorizationServer) -> None:
    answer = answered(issuer, None)
    assert (answer.status_code, answer.headers["www-authenticate"]) == (
        401,
        f'Bearer resource_metadata="{METADATA}", scope="memory:read memory:write"',
    )


def test_the_metadata_name_the_resource_and_the_authorization_server(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> Any:
        return (await served.http.get(METADATA)).json()

    told = running(issuer, steps)
    assert told["resource"] == RESOURCE
    assert told["authorization_servers"] == [issuer.url]
    assert told["scopes_supported"] == ["memory:read", "memory:write"]


def test_a_token_without_a_scope_of_the_memory_is_told_which_it_needs(issuer: AuthorizationServer) -> None:
    answer = answered(issuer, issuer.token(scope="openid"))
    told = answer.headers["www-authenticate"]
    assert (answer.status_code, 'error="insufficient_scope"' in told, 'scope="memory:read"' in told) == (
        403,
        True,
        True,
    )


@pytest.mark.parametrize(
    ("scope", "refused"),
    [({"scope": "memory:read"}, True), ({"scope": "openid memory:write"}, False), ({"scope": None}, False)],
)
def test_the_scope_decides_who_may_write(issuer: AuthorizationServer, scope: dict[str, Any], refused: bool) -> None:
    async def steps(served: Served) -> Any:
        token = issuer.token(**scope, scp=["memory:write"])
        return (await sent(served, token, "remember", text="a kestrel")).json()["result"]

    assert running(issuer, steps)["isError"] == refused


def test_a_claim_names_the_workspace(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> list[str]:
        await sent(served, issuer.token(tenant="acme"), "remember", text="a kestrel")
        of_acme = await served.memory.of_workspace("acme").recent()
        return [memory.text for memory in (*await served.memory.recent(), *of_acme)]

    assert running(issuer, steps, claim="tenant") == ["a kestrel"]


@pytest.mark.parametrize("tenant", [None, "", 7, ["acme"], " acme"])
def test_a_token_that_names_no_workspace_is_refused(issuer: AuthorizationServer, tenant: Any) -> None:
    assert answered(issuer, issuer.token(tenant=tenant), claim="tenant").status_code == 403


def test_api_keys_are_accepted_beside_tokens(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> int:
        key = (await served.memory.keys.create("agent", "write")).token
        return (await sent(served, key)).status_code

    assert running(issuer, steps) == 200


def test_only_mcp_accepts_tokens(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> int:
        headers = {"Authorization": f"Bearer {issuer.token()}"}
        return (await served.http.get("/v1/stats", headers=headers)).status_code

    assert running(issuer, steps) == 401


def test_with_oauth_no_request_is_served_without_a_token_or_a_key(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> int:
        return (await served.http.get("/v1/stats")).status_code

    assert running(issuer, steps) == 401


def test_a_token_is_refused_with_503_while_the_keys_cannot_be_fetched(issuer: AuthorizationServer) -> None:
    issuer.published = None
    answer = answered(issuer, issuer.token())
    assert (answer.status_code, "retry-after" in answer.headers) == (503, True)


@pytest.mark.parametrize("published", [[], {}, {"keys": []}, "keys"])
def test_keys_that_cannot_be_read_are_as_good_as_none(issuer: AuthorizationServer, published: Any) -> None:
    issuer.published = published
    assert answered(issuer, issuer.token()).status_code == 503


def test_keys_that_are_known_are_used_while_the_authorization_server_is_down(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> list[int]:
        before = await sent(served, issuer.token())
        issuer.published = None
        return [before.status_code, (await sent(served, issuer.token())).status_code]

    assert running(issuer, steps) == [200, 200]


def test_a_new_key_is_fetched_when_a_token_is_signed_by_it(
    issuer: AuthorizationServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("remembrancer.interfaces.mcp.oauth.KEY_PAUSE", 0)

    async def steps(served: Served) -> list[int]:
        before = issuer.token()
        first = await sent(served, before)
        issuer.replace_key("second")
        second = await sent(served, issuer.token())
        return [each.status_code for each in (first, second, await sent(served, before))]

    assert running(issuer, steps) == [200, 200, 401]


def test_unknown_keys_do_not_make_the_server_fetch_again_and_again(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> int:
        for number in range(5):
            await sent(served, issuer.token(SigningKey(f"unknown {number}")))
        return issuer.fetched

    assert running(issuer, steps) == 1


def test_after_a_failed_fetch_the_next_one_waits(issuer: AuthorizationServer) -> None:
    now = [0.0]
    issuer.published = None

    async def steps(_: Served) -> list[int]:
        verifier, fetched = JwtVerifier(oauth_with(issuer), stopwatch=lambda: now[0]), list[int]()
        for now[0] in (0.0, FAILURE_PAUSE - 1, FAILURE_PAUSE + 1):
            with pytest.raises(KeysUnavailable):
                await verifier.verify_token(issuer.token())
            fetched.append(issuer.fetched)
        return fetched

    assert asked(steps) == [1, 1, 2]


def test_settings_of_oauth_come_together() -> None:
    with pytest.raises(InvalidInput, match="oauth_jwks_url"):
        oauth_of(Settings(oauth_issuer="https://id.example", oauth_resource="https://memory.example/mcp"))


def test_an_authorization_server_elsewhere_needs_tls() -> None:
    given = Settings(
        oauth_issuer="https://id.example",
        oauth_jwks_url="http://id.example/keys",
        oauth_resource="https://memory.example/mcp",
    )
    with pytest.raises(InvalidInput, match="https://"):
        oauth_of(given)


class InMemory:
    """What an OAuth client keeps."""

    def __init__(self) -> None:
        self.tokens: OAuthToken | None = None
        self.client: OAuthClientInformationFull | None = None

    async def get_tokens(self) -> OAuthToken | None:
        return self.tokens

    async def set_tokens(self, tokens: OAuthToken) -> None:
        self.tokens = tokens

    async def get_client_info(self) -> OAuthClientInformationFull | None:
        return self.client

    async def set_client_info(self, client_info: OAuthClientInformationFull) -> None:
        self.client = client_info


async def remembered(served: Served, auth: httpx2.Auth) -> Called:
    """What the SDK's client gets, which finds the authorization server by itself. The server of the memory is in this
    process, the other one is not.
    """
    mounts = {"all://127.0.0.1:8765": httpx2.ASGITransport(app=served.app)}
    async with (
        httpx2.AsyncClient(auth=auth, mounts=mounts) as http,
        Client(streamable_http_client(RESOURCE, http_client=http)) as client,
    ):
        return await Caller(client).done("remember", text="a kestrel")


def test_the_sdks_client_finds_the_issuer_and_registers_and_a_user_agrees(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> str:
        sent_back: list[str] = []

        async def agree(url: str) -> None:
            async with httpx2.AsyncClient() as browser:
                sent_back.append((await browser.get(url)).headers["location"])

        async def code() -> AuthorizationCodeResult:
            told = parse_qs(urlsplit(sent_back[-1]).query)
            return AuthorizationCodeResult(code=told["code"][0], state=told["state"][0])

        client = OAuthClientMetadata.model_validate(
            {"redirect_uris": ["http://127.0.0.1:9/back"], "token_endpoint_auth_method": "none"}
        )
        provider = OAuthClientProvider(RESOURCE, client, InMemory(), agree, code)
        return (await remembered(served, provider)).text

    assert "Remembered as" in running(issuer, steps)
    assert [path for path in issuer.asked if path in ("/register", "/authorize", "/token")] == [
        "/register",
        "/authorize",
        "/token",
    ]


def test_the_sdks_client_signs_in_with_credentials_of_its_own(issuer: AuthorizationServer) -> None:
    async def steps(served: Served) -> str:
        provider = ClientCredentialsOAuthProvider(
            RESOURCE, InMemory(), "agent", "secret", scope="memory:write", issuer=issuer.url
        )
        return (await remembered(served, provider)).text

    assert "Remembered as" in running(issuer, steps)
