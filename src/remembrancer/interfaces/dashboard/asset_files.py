"""The files that pages load, served from the package under addresses that change with their content."""

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
    """By name. `version`: the beginning of the content's SHA-256."""
    found: dict[str, Asset] = {}
    for file in files("remembrancer.interfaces.dashboard").joinpath("assets").iterdir():
        suffix = file.name[file.name.rfind(".") :]
        if suffix in _TYPES:
            content = file.read_bytes()
            found[file.name] = Asset(content, _TYPES[suffix], hashlib.sha256(content).hexdigest()[:16])
    return found


def asset_address(name: str) -> str:
    """The address of a file, which changes with its content. Raises KeyError for an unknown file."""
    return f"{PATH}/{name}?v={assets()[name].version}"


@router.get(PATH + "/{name}")
async def asset(name: str, v: str | None = None) -> Response:
    """Cached forever if the address has the current version, otherwise revalidated."""
    found = assets().get(name)
    if found is None:
        raise HTTPException(HTTPStatus.NOT_FOUND, f"no asset {name!r}")
    lasting = _FOR_EVER if v == found.version else "no-cache"
    return Response(found.content, media_type=found.media_type, headers={"Cache-Control": lasting})
