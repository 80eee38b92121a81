"""Addresses of Qdrant: a folder for the engine in this process, or a server's collection."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final
from urllib.parse import parse_qsl, unquote, urlsplit

from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

FOLDER: Final = "qdrant"
SERVERS: Final = {"qdrant+http": "http", "qdrant+https": "https"}
COLLECTION: Final = "remembrancer"
"""The collection of an address that names none."""
PORT: Final = 6333
TIMEOUT_S: Final = 5.0
_ALLOWED: Final = "qdrant:///folder, or qdrant+https://host:6333/collection?api_key=…&timeout=5"
_NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,100}")


@dataclass(frozen=True, slots=True)
class QdrantFolder:
    """A folder of the engine in this process. One process at a time may have it open."""

    path: Path

    @property
    def name(self) -> str:
        """For messages."""
        return f"{FOLDER}://{self.path}"


@dataclass(frozen=True, slots=True, kw_only=True)
class QdrantServer:
    """A collection of a server. `url`: where its REST API is, without the collection. `timeout_s`: of each call."""

    url: str
    collection: str
    api_key: str
    timeout_s: float

    @property
    def name(self) -> str:
        """For messages: without user, password and key."""
        return f"{FOLDER}+{self.url}/{self.collection}"

    def __repr__(self) -> str:
        return f"QdrantServer({self.name})"


def parsed(url: str) -> QdrantFolder | QdrantServer:
    """The place of an address. Raises InvalidInput, whose message has no key in it.

    - `qdrant:///srv/index` or `qdrant://~/index`: a folder.
    - `qdrant+http://host:port/collection`, `qdrant+https://…`: a server. Parameters: `api_key`; `timeout`, 0.1 to 600
      seconds, 5 if missing. The path's last part is the collection, the others are a prefix of the server's API.
    """
    scheme, _, rest = url.partition("://")
    if scheme == FOLDER:
        if not rest or "?" in rest or "#" in rest:
            raise InvalidInput("index", without_key(url), _ALLOWED)
        return QdrantFolder(Path(unquote(rest)).expanduser().absolute())
    try:
        parts = urlsplit(url)
        port = parts.port or PORT
        given = dict(parse_qsl(parts.query, keep_blank_values=True, strict_parsing=bool(parts.query)))
        timeout_s = float(given.pop("timeout", TIMEOUT_S))
    except ValueError as error:
        raise InvalidInput("index", without_key(url), _ALLOWED) from error
    api_key = given.pop("api_key", "")
    *prefix, collection = [part for part in parts.path.split("/") if part] or [COLLECTION]
    is_valid = scheme in SERVERS and parts.hostname and not parts.username and not given and not parts.fragment
    if not is_valid or not 0.1 <= timeout_s <= 600 or not _NAME.fullmatch(collection):
        raise InvalidInput("index", without_key(url), _ALLOWED)
    host = f"[{parts.hostname}]" if ":" in (parts.hostname or "") else parts.hostname
    base = "/".join([f"{SERVERS[scheme]}://{host}:{port}", *prefix])
    return QdrantServer(url=base, collection=collection, api_key=api_key, timeout_s=timeout_s)


def without_key(url: str) -> str:
    """The address for messages: its user, password and the values of all parameters are replaced."""
    return re.sub(r"([?&][^=&#]*=)[^&#]*", r"\1***", re.sub(r"//[^/\s]*@", "//***@", url))
