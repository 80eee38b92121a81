"""The real server with access tokens of an authorization server on loopback."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import httpx
import pytest
from authorization_server import RESOURCE, AuthorizationServer, authorization_server
from driver import Cli
from server_process import serving

CALL: dict[str, Any] = {
    "jsonrpc": "2.0",
    "id": 1,
    "method": "tools/call",
    "params": {"name": "recent", "arguments": {}},
}
HEADERS = {"Accept": "application/json, text/event-stream", "MCP-Protocol-Version": "2025-11-25"}


def settings_of(issuer: AuthorizationServer, **changed: str) -> dict[str, str]:
    given = {"issuer": issuer.url, "jwks_url": issuer.jwks_url, "resource": RESOURCE, **changed}
    return {f"REMEMBRANCER_OAUTH_{name.upper()}": value for name, value in given.items()}


def test_settings_make_the_server_accept_the_tokens_of_an_issuer(tmp_path: Path) -> None:
    with (
        authorization_server() as issuer,
        serving(tmp_path / "a.db", environment=settings_of(issuer, audience="memory", workspace_claim="tenant")) as one,
    ):

        def status(path: str, **claims: Any) -> int:
            headers = {**HEADERS, "Authorization": f"Bearer {issuer.token(**claims)}"}
            return httpx.post(one.url + path, json=CALL, headers=headers).status_code

        assert status("mcp", aud="memory", tenant="acme") == 200
        assert status("mcp", tenant="acme") == 401
        assert status("mcp", aud="memory") == 403
        assert httpx.post(one.url + "mcp", json=CALL, headers=HEADERS).status_code == 401
        assert httpx.get(one.url + ".well-known/oauth-protected-resource/mcp").json()["resource"] == RESOURCE


@pytest.mark.usefixtures("folder")
def test_incomplete_settings_of_oauth_are_refused(cli: Cli, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REMEMBRANCER_OAUTH_ISSUER", "https://id.example")
    refused = cli("serve", "--port", "0")
    assert (refused.code, "oauth_jwks_url" in refused.err.splitlines()[-1]) == (2, True)
