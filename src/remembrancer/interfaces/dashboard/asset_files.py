"""The files that pages load: out of the package, under addresses that change with their contents."""

from __future__ import annotations

import hashlib
from functools import cache
from http import HTTPStatus
from importlib.resources import files
from typing import Final

from fastapi import APIRouter, HTTPException, Response

from remembrancer.values import dataclass

router = APIRouter()

PATH: Final = "/assets"
_TYPES: Final = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_FOR_EVER: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Asset:
    content: bytes
    media_type: str
    version: str


@cache
def assets() -> dict[str, Asset]:
    """By name. `version`: the first letters of the contents' SHA-256."""
    found: dict[str, Asset] = {}
    for file in files("remembrancer.interfaces.dashboard").joinpath("assets").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            content = file.read_bytes()
            found[file.name] = Asset(content, _TYPES[suffix], hashlib.sha256(content).hexdigest()[:16])
    return found


def asset_address(name: str) -> str:
    """Where a file is served; another address when it has changed. KeyError for a file that is not there."""
    return f"{PATH}/{name}?v={assets()[name].version}"


@router.get(PATH + "/{name}")
async def asset(name: str, v: str | None = None) -> Response:
    """To be kept for ever where the address tells these contents, else to be asked for again."""
    found = assets().get(name)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no asset {name!r}")
    lasting = _FOR_EVER if v == found.version else "no-cache"
    return Response(found.content, media_type=found.media_type, headers={"Cache-Control": lasting})
