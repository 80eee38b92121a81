"""Exports, imports and vaults over HTTP."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import pytest
from requests_made import Answer, Client, with_client

from remembrancer.domain.api_key import Right
from remembrancer.interfaces.http.app import Serving
from remembrancer.interfaces.http.middleware import NDJSON

ROWS = {"Content-Type": NDJSON}


async def exported(http: Client) -> bytes:
    answer = await http.served.http.get("/v1/export")
    assert (answer.status_code, answer.headers["content-type"]) == (200, NDJSON)
    return answer.content


async def imported(http: Client, rows: bytes, **sent: Any) -> Answer:
    return await http("POST", "/v1/import", content=rows, headers={**ROWS, **sent.pop("headers", {})}, **sent)


async def remembered(http: Client) -> bytes:
    await http.done("POST", "/v1/memories", {"text": "Ana is allergic to nuts."})
    return await exported(http)


def test_an_export_equals_that_of_python(tmp_path: Path) -> None:
    async def steps(http: Client) -> tuple[bytes, bytes]:
        rows = await remembered(http)
        await http.memory.export(tmp_path / "python.jsonl")
        return rows, (tmp_path / "python.jsonl").read_bytes()

    over_http, by_python = with_client(steps)
    assert over_http == by_python


def test_an_export_is_imported_elsewhere_once() -> None:
    rows = with_client(remembered)

    async def steps(http: Client) -> list[Any]:
        dry = await imported(http, rows, params={"dry_run": "true"})
        first, second = await imported(http, rows), await imported(http, rows)
        recalled = await http.done("POST", "/v1/recall", {"query": "What is Ana allergic to?"})
        return [*(one.body for one in (dry, first, second)), len(recalled["hits"]), await exported(http) == rows]

    dry, first, second, hits, same = with_client(steps)
    assert (dry["new"], dry["dry_run"]) == (first["new"], True)
    assert (first["new"], second["new"]) == (first["rows"], 0)
    assert (hits, same) == (1, True)


def test_a_file_that_is_no_export_is_refused_and_nothing_of_it_imported() -> None:
    async def steps(http: Client) -> tuple[Answer, bytes, bytes]:
        before = await remembered(http)
        answer = await imported(http, before + b"{nonsense\n")
        return answer, before, await exported(http)

    answer, before, after = with_client(steps)
    assert (answer.status, before) == (400, after)


@pytest.mark.parametrize("route", ["GET /v1/export", "POST /v1/import", "POST /v1/vault/sync", "POST /v1/vault/check"])
def test_files_need_the_right_to_administer(route: str) -> None:
    async def steps(http: Client) -> int:
        return (
            await http(
                *route.split(),
                headers={**ROWS, **await http.key(Right.WRITE)} if "import" in route else await http.key(Right.WRITE),
            )
        ).status

    assert with_client(steps) == 403


def test_an_import_that_is_not_json_lines_is_refused() -> None:
    async def steps(http: Client) -> int:
        return (await imported(http, b"{}", headers={"Content-Type": "text/plain"})).status

    assert with_client(steps) == 415


def test_no_file_of_an_export_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    rows = with_client(remembered)

    async def steps(http: Client) -> None:
        await imported(http, rows)
        await imported(http, b"{nonsense")

    with_client(steps)
    assert list(tmp_path.iterdir()) == []


# ── vaults ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def test_the_vault_of_a_workspace_is_the_folder_with_its_name(tmp_path: Path) -> None:
    (tmp_path / "default").mkdir()
    (tmp_path / "default" / "institutional.md").write_text("# Habits\n\nDeploy on Mondays.\n")

    async def steps(http: Client) -> tuple[Any, Any, Any]:
        checked, synced = await http.done("POST", "/v1/vault/check"), await http.done("POST", "/v1/vault/sync")
        return checked, synced, await http.done("POST", "/v1/recall", {"query": "When do we deploy?"})

    checked, synced, recalled = with_client(steps, serving=Serving(rate_limit=0, vaults=tmp_path))
    assert (checked["dry_run"], synced["dry_run"], synced["vault"]) == (True, False, "default")
    assert (checked["added"], synced["added"], len(recalled["pinned"])) == (1, 1, 1)


def test_a_server_without_vaults_says_so() -> None:
    async def steps(http: Client) -> Answer:
        return await http("POST", "/v1/vault/sync")

    answer = with_client(steps)
    assert (answer.status, "vaults" in answer.body["detail"]) == (501, True)


@pytest.mark.parametrize("workspace", ["../other", ".", "a/b"])
def test_a_workspace_whose_name_is_a_path_has_no_vault(tmp_path: Path, workspace: str) -> None:
    async def steps(http: Client) -> Answer:
        memory = http.memory.of_workspace(workspace)
        key = (await memory.keys.create("test", Right.ADMIN)).token
        return await http("POST", "/v1/vault/sync", headers={"Authorization": f"Bearer {key}"})

    answer = with_client(steps, serving=Serving(rate_limit=0, vaults=tmp_path))
    assert (answer.status, "workspace" in answer.body["detail"]) == (400, True)
