"""Rendering of templates, whose values are escaped and stripped of control characters, and the files pages load."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from datetime import UTC, datetime
from functools import cache, partial
from http import HTTPStatus
from importlib.resources import files
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast

from fastapi import APIRouter, HTTPException, Response
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

import remembrancer
from remembrancer.domain.age import spoken_age
from remembrancer.domain.scope import Scope
from remembrancer.interfaces.text import counted, day, minute, one_line, shown, size
from remembrancer.values import dataclass

if TYPE_CHECKING:
    from remembrancer.engine.conversations import TitledConversation
    from remembrancer.interfaces.dashboard.visit import Visit
    from remembrancer.interfaces.wire.shape import ScopeOut

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
    """The files that pages load, by name. `version`: the beginning of the content's SHA-256."""
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


class NavigationEntry(NamedTuple):
    """An entry of the navigation. `key`: the second key of its keyboard shortcut, after `g`; `under`: the name of the
    entry it belongs to.
    """

    name: str
    path: str
    title: str
    key: str
    under: str | None = None


PLACES: Final = (
    NavigationEntry("overview", "/", "Overview", "o"),
    NavigationEntry("search", "/search", "Search", "s"),
    NavigationEntry("compare", "/compare", "Compare presets", "c", under="search"),
    NavigationEntry("memories", "/memories", "Memories", "m"),
    NavigationEntry("timeline", "/timeline", "Timeline", "t", under="memories"),
    NavigationEntry("graph", "/graph", "Graph", "g", under="memories"),
    NavigationEntry("erasures", "/erasures", "Erasures", "e", under="memories"),
    NavigationEntry("conversations", "/conversations", "Conversations", "v"),
    NavigationEntry("journal", "/journal", "Journal", "j", under="conversations"),
    NavigationEntry("preferences", "/preferences", "Preferences", "p"),
    NavigationEntry("jobs", "/jobs", "Jobs", "b"),
)


@cache
def environment() -> Environment:
    """The template environment. A value that is not Markup loses control and bidirectional formatting characters and is
    then escaped.
    """
    made = Environment(
        loader=PackageLoader("remembrancer.interfaces.dashboard"),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_harmless,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    # Jinja's types cover only the predefined entries, not added ones.
    known, filters = cast("dict[str, Any]", made.globals), cast("dict[str, Any]", made.filters)
    known |= {"asset": asset_address, "places": PLACES, "version": remembrancer.__version__}
    filters |= {
        "ago": _ago,
        "conversation_of": conversation_of,
        "conversation_title": conversation_title,
        "counted": counted,
        "day": day,
        "iso": _iso,
        "minute": _minute,
        "one_line": one_line,
        "pretty": partial(json.dumps, ensure_ascii=False, indent=2, default=str),
        "shares": "{:.2f}".format,
        "size": size,
        "title_of": title_of,
    }
    return made


def prepare() -> None:
    """Load every template now, so that the first request does not wait for it."""
    for name in environment().list_templates(extensions=["html", "svg"]):
        environment().get_template(name)


def page(
    visit: Visit | None,
    template: str,
    *,
    title: str,
    here: str | None = None,
    status: HTTPStatus = HTTPStatus.OK,
    headers: Mapping[str, str] | None = None,
    **values: Any,
) -> HTMLResponse:
    """A page. `visit`: None for the login form or an error, which have no principal. `here`: its entry in the
    navigation.
    """
    if visit is not None:
        values |= {"link": visit.link, "now": visit.memory.now}
    html = environment().get_template(template).render(visit=visit, title=title, here=here, **values)
    return HTMLResponse(html, status, headers=None if headers is None else dict(headers))


def title_of(memory: Any, length: int = 90) -> str:
    """The memory's title, or the beginning of its text."""
    line = one_line(memory.title or "") or one_line(memory.text[: 8 * length])
    return line if len(line) <= length else line[: length - 1].rstrip() + "…"


def conversation_title(conversation: TitledConversation) -> str:
    """The conversation's title, or the name of its session, in one line."""
    return one_line(conversation.name)


def conversation_of(scope: Scope | ScopeOut, titles: Mapping[Scope, str]) -> str:
    """The title of the conversation that a row belongs to, in one line; "conversation" if it has none."""
    stream = scope if isinstance(scope, Scope) else Scope(**scope.model_dump())
    return one_line(titles.get(stream, "")) or "conversation"


def _harmless(value: object) -> object:
    if value is None:
        return ""
    return shown(value) if isinstance(value, str) and not isinstance(value, Markup) else value


def _iso(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")


def _minute(moment: datetime) -> str:
    return f"{minute(moment)} UTC"


def _ago(moment: datetime, now: datetime) -> str:
    return spoken_age(now - moment)
