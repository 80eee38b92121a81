"""Input of pages: the fields of the query string, and forms from the dashboard's own pages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from http import HTTPStatus
from typing import Annotated, Final, TypeVar
from urllib.parse import parse_qs, urlsplit
from uuid import UUID

from fastapi import Depends, HTTPException, Request
from starlette.datastructures import QueryParams

from remembrancer.domain import validation
from remembrancer.errors import InvalidInput
from remembrancer.values import dataclass

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class QueryFields:
    """The fields of a query string. Each method raises InvalidInput, which names the field, for an invalid value."""

    fields: QueryParams

    def text(self, name: str) -> str | None:
        return (self.fields.get(name) or "").strip() or None

    def several(self, name: str) -> list[str]:
        """All values of that name, also those separated by commas."""
        given = [part.strip() for value in self.fields.getlist(name) for part in value.split(",")]
        return [part for part in given if part]

    def flag(self, name: str) -> bool:
        return self.text(name) is not None

    def whole(self, name: str, default: int, least: int, most: int) -> int:
        given = self.text(name)
        if given is None:
            return default
        if not (given.isascii() and given.isdigit() and len(given) <= 9):  # digits only: int() accepts more
            raise InvalidInput(name, given, f"a whole number from {least} to {most}")
        return validation.whole(name, int(given), least, most)

    def choice(self, name: str, choices: Mapping[str, T], default: str) -> tuple[str, T]:
        """The chosen name, and its value in `choices`."""
        given = self.text(name) or default
        if given not in choices:
            raise InvalidInput(name, given, f"one of {', '.join(choices)}")
        return given, choices[given]

    def identifier(self, name: str) -> UUID | None:
        given = self.text(name)
        return None if given is None else validation.identifier(name, given)

    def moment(self, name: str, *, to_end_of_day: bool = False) -> datetime | None:
        """A date, or a date and a time, in UTC if it has no offset. `to_end_of_day`: a date stands for the end of that
        day.
        """
        given = self.text(name)
        if given is None:
            return None
        try:
            read = datetime.fromisoformat(given)
            moment = read.replace(tzinfo=UTC) if read.tzinfo is None else read.astimezone(UTC)
            return moment + timedelta(days=1) if to_end_of_day and len(given) == len("2026-03-04") else moment
        except (ValueError, OverflowError):
            raise InvalidInput(name, given, "a date such as 2026-03-04, or a time such as 2026-03-04T09:30") from None


def kept(fields: QueryParams, names: Sequence[str]) -> dict[str, list[str]]:
    """The fields that have a value, for links to other pages with the same query."""
    return {name: values for name in names if (values := [value for value in fields.getlist(name) if value])}


MAX_FORM_BYTES: Final = 16_384
MAX_TEXT_FORM_BYTES: Final = 262_144
"""The text of a memory has up to 64 KiB, and a form writes many characters as three."""
MAX_FIELDS: Final = 250


async def submitted(request: Request) -> dict[str, str]:
    """The fields of a form from one of the dashboard's pages; the last value of each name. Raises as `_fields`."""
    return {name: values[-1] for name, values in (await _fields(request, MAX_FORM_BYTES)).items()}


async def submitted_lists(request: Request) -> dict[str, list[str]]:
    """As `submitted`, with all values of each name."""
    return await _fields(request, MAX_FORM_BYTES)


async def submitted_text(request: Request) -> dict[str, str]:
    """As `submitted`, for a form with the text of a memory."""
    return {name: values[-1] for name, values in (await _fields(request, MAX_TEXT_FORM_BYTES)).items()}


async def _fields(request: Request, most: int) -> dict[str, list[str]]:
    """Raises HTTPException 403 for a form of another site, 413 for a body that is too large, 415 if it is not a form,
    400 if it cannot be read.
    """
    refuse_other_pages(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a form is sent as application/x-www-form-urlencoded")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > most:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"this form is at most {most} bytes")
    try:
        return parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=MAX_FIELDS, errors="strict")
    except ValueError as error:  # also raised for invalid UTF-8
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form cannot be read") from error


SubmittedForm = Annotated[dict[str, str], Depends(submitted)]
SubmittedLists = Annotated[dict[str, list[str]], Depends(submitted_lists)]
SubmittedText = Annotated[dict[str, str], Depends(submitted_text)]


def selected_ids(values: Sequence[str], most: int) -> list[UUID]:
    """The ids of the selected memories, each once, in their order. Raises InvalidInput for none or too many."""
    ids = list(dict.fromkeys(validation.identifier("ids", value) for value in values))
    if not 1 <= len(ids) <= most:
        raise InvalidInput("ids", f"{len(ids)} memories", f"1 to {most} selected memories")
    return ids


def refuse_other_pages(request: Request) -> None:
    """Refuse forms from other sites. A browser sends `Origin` or `Sec-Fetch-Site` with every form.

    With keys, the cookie is not sent from another site (SameSite=Strict). Without keys there is no cookie, and this
    check is the only protection.
    """
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    ours = origin is not None and urlsplit(origin).netloc == request.headers.get("host", "")
    if not (ours or (origin is None and site == "same-origin")) or site not in (None, "same-origin"):
        raise HTTPException(HTTPStatus.FORBIDDEN, "forms are accepted from this server's own pages only")
