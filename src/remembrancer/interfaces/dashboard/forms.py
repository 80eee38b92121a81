"""Forms that change something. They are accepted only from the dashboard's own pages, up to a small size."""

from __future__ import annotations

from http import HTTPStatus
from typing import Annotated, Final
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, HTTPException, Request

MAX_FORM_BYTES: Final = 16_384


async def submitted(request: Request) -> dict[str, str]:
    """The fields of a form from one of the dashboard's pages; the last value of each name.

    Raises HTTPException 403 for a form of another site, 413 and 415 for a body that is too large or no form.
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
    except ValueError as error:  # what is not UTF-8 too
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
        raise HTTPException(HTTPStatus.FORBIDDEN, "forms are taken from this server's own pages only")
