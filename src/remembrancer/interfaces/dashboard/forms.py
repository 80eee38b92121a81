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


async def submitted(request: Request) -> dict[str, str]:
    """The fields of a form from one of the dashboard's pages; the last value of each name.

    Raises HTTPException 403 for a form of another site, 413 for a body that is too large, 415 if it is not a form.
    """
    refuse_other_pages(request)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        raise HTTPException(HTTPStatus.UNSUPPORTED_MEDIA_TYPE, "a form is sent as application/x-www-form-urlencoded")
    body = bytearray()
    async for chunk in request.stream():
        body += chunk
        if len(body) > MAX_FORM_BYTES:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"a form is at most {MAX_FORM_BYTES} bytes")
    try:
        fields = parse_qs(body.decode("utf-8"), keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError as error:  # also raised for invalid UTF-8
        raise HTTPException(HTTPStatus.BAD_REQUEST, "the form cannot be read") from error
    return {name: values[-1] for name, values in fields.items()}


SubmittedForm = Annotated[dict[str, str], Depends(submitted)]


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
