"""Whole files: the workspace as an export, and as a vault of markdown files."""

from __future__ import annotations

import asyncio
import json
import shutil
import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Annotated, Final

from fastapi import Query, Request
from fastapi.responses import FileResponse
from starlette.background import BackgroundTask

from remembrancer.errors import InvalidInput, Unsupported
from remembrancer.facade import AsyncRemembrancer
from remembrancer.interfaces.http import problems
from remembrancer.interfaces.http.access import Administering
from remembrancer.interfaces.http.bodies import SubjectIn
from remembrancer.interfaces.http.middleware import NDJSON
from remembrancer.interfaces.http.v1 import ParametersRoute, router_of
from remembrancer.interfaces.wire.files import ImportedOut, VaultOut

router = router_of("files")
exchange = router_of("files", route_class=ParametersRoute)
"""Routes whose bodies are files. They take no Idempotency-Key: repeating them has no further effect."""

_ROWS: Final = {"schema": {"type": "string", "format": "binary"}}
_WITHOUT_VAULTS: Final = problems.described({501: "The server has no vaults"})


@exchange.get(
    "/v1/export",
    summary="Export the workspace",
    response_class=FileResponse,
    responses={200: {"content": {NDJSON: _ROWS}}},
)
async def export(memory: Administering, chosen: Annotated[SubjectIn, Query()]) -> FileResponse:
    """All rows of the workspace as JSON lines, whatever their visibility, for `POST /v1/import`. The same memories
    always give the same file.

    With any parameter: only the rows that have every part given, and the memories derived from these alone. The header
    `Remembrancer-Receipt` then has the number of rows by kind, the SHA-256 of the file, and the number of memories that
    were withheld because they also say what others said.

    It is written in full before it is sent, and the request's time limit applies to the writing. The command
    `remembrancer export` has no time limit.
    """
    folder = Path(await asyncio.to_thread(tempfile.mkdtemp, prefix="remembrancer-"))
    file = folder / "export.jsonl"
    selected, receipt = chosen.given(), dict[str, str]()
    try:
        if selected:
            made = await memory.export_subject(file, **selected)
            told = {"counts": made.counts, "sha256": made.sha256, "withheld": len(made.withheld)}
            receipt["Remembrancer-Receipt"] = json.dumps(told)
        else:
            await memory.export(file)
    except BaseException:
        shutil.rmtree(folder)
        raise
    name = f"{memory.scope.workspace}.jsonl"
    return FileResponse(
        file, media_type=NDJSON, filename=name, headers=receipt, background=BackgroundTask(shutil.rmtree, folder)
    )


@exchange.post(
    "/v1/import",
    summary="Import an export",
    openapi_extra={"requestBody": {"required": True, "content": {NDJSON: _ROWS}}},
)
async def import_rows(
    memory: Administering,
    request: Request,
    dry_run: Annotated[bool, Query(description="Only report what would be added.")] = False,
) -> ImportedOut:
    """Add the rows of an export of at most 1 GiB, all of them or none. Rows that already exist are left unchanged, so
    importing a file again adds nothing. The request's time limit applies.
    """
    async with _received(request) as file:
        return ImportedOut.of(await memory.import_(file, dry_run=dry_run))


@router.post("/v1/vault/check", summary="Check the vault", responses=_WITHOUT_VAULTS)
async def check_vault(memory: Administering, request: Request) -> VaultOut:
    """Problems in the files of the workspace's vault, and what a sync would do. Nothing is written."""
    return VaultOut.of(await memory.vault.check(_vault_of(memory, request)), None)


@router.post("/v1/vault/sync", summary="Sync the vault", responses=_WITHOUT_VAULTS)
async def sync_vault(memory: Administering, request: Request) -> VaultOut:
    """Copy changes in the vault's Markdown files into the memory, and new learnings, counts of use and retirements into
    the files. The vault of a workspace is the folder with its name below the server's setting `vaults`.
    """
    return VaultOut.of(await memory.vault.sync(_vault_of(memory, request)), None)


@asynccontextmanager
async def _received(request: Request) -> AsyncGenerator[Path]:
    """The request's body as a file, for as long as the context lasts."""
    with tempfile.NamedTemporaryFile(prefix="remembrancer-", suffix=".jsonl") as file:
        async for part in request.stream():
            await asyncio.to_thread(file.write, part)
        file.flush()
        yield Path(file.name)


def _vault_of(memory: AsyncRemembrancer, request: Request) -> Path:
    """The folder of the caller's vault. Raises Unsupported without the setting, InvalidInput if the workspace's name
    cannot name a folder.
    """
    vaults: Path | None = request.app.state.vaults
    workspace = memory.scope.workspace
    if vaults is None:
        raise Unsupported("this server has no vaults: start it with the setting vaults, a folder")
    if workspace.startswith(".") or Path(workspace).name != workspace:
        raise InvalidInput("workspace", workspace, "a workspace name that is a valid folder name, to have a vault")
    return vaults / workspace
