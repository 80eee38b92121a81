"""Retention rules and legal holds: what is erased by age, what is kept from erasure, and forms to change both."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from http import HTTPStatus
from typing import Any, Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from remembrancer.domain.erasure import PARTS
from remembrancer.domain.event import Origin
from remembrancer.domain.retention import MAX_REASON_CHARS
from remembrancer.errors import InvalidInput
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, SubmittedForm
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import AdministeringVisit, Visit
from remembrancer.interfaces.wire.retention import HoldsOut, RulesOut

router = APIRouter(route_class=PageRoute)

DONE: Final = {
    "rule": "The rule was added. The job retain applies it once a day.",
    "removed": "The rule was removed. What it erased stays erased.",
    "hold": "The hold was placed: the rows that it selects are not erased.",
    "released": "The hold was released. It stays in the list.",
}


@router.get("/retention")
async def retention(visit: AdministeringVisit) -> HTMLResponse:
    return await _page(visit)


@router.post("/retention/rules")
async def add_rule(visit: AdministeringVisit, form: SubmittedForm) -> Response:
    try:
        await visit.memory.retention.add(_days(form.get("days", "")), **_parts(form))
    except InvalidInput as error:
        return await _page(visit, {"rule": form}, {"rule": _told(error)})
    return _back(visit, "rule")


@router.post("/retention/rules/{rule_id}/remove")
async def remove_rule(visit: AdministeringVisit, rule_id: str, form: SubmittedForm) -> RedirectResponse:
    await visit.memory.retention.remove(rule_id)
    return _back(visit, "removed")


@router.post("/retention/holds")
async def place_hold(visit: AdministeringVisit, form: SubmittedForm) -> Response:
    try:
        await visit.memory.retention.hold(form.get("reason", "").strip(), **_parts(form))
    except InvalidInput as error:
        return await _page(visit, {"hold": form}, {"hold": _told(error)})
    return _back(visit, "hold")


@router.post("/retention/holds/{hold_id}/release")
async def release_hold(visit: AdministeringVisit, hold_id: str, form: SubmittedForm) -> RedirectResponse:
    await visit.memory.retention.release(hold_id)
    return _back(visit, "released")


async def _page(
    visit: Visit, typed: Mapping[str, Mapping[str, str]] | None = None, errors: Mapping[str, str] | None = None
) -> HTMLResponse:
    """The page. `typed`: the fields of a form that was refused, by form; `errors`: why."""
    kept = visit.memory.retention
    return page(
        visit,
        "retention.html",
        title="Retention and legal holds",
        here=None if errors else "erasures",  # a refused form has an address without a page of its own
        status=HTTPStatus.BAD_REQUEST if errors else HTTPStatus.OK,
        rules=RulesOut.of(await kept.due()).rules,
        holds=HoldsOut.of(await kept.holds()).holds,
        parts=PARTS,
        origins=list(Origin),
        most_reason=MAX_REASON_CHARS,
        typed=typed or {},
        errors=errors or {},
        done=DONE.get(QueryFields(visit.request.query_params).text("done") or ""),
    )


def _parts(form: Mapping[str, str]) -> dict[str, Any]:
    """The parts of a selection that are filled in."""
    return {part: value for part in PARTS if (value := form.get(part, "").strip())}


def _days(given: str) -> timedelta:
    try:
        return timedelta(days=float(given))
    except (ValueError, OverflowError):
        raise InvalidInput("days", given, "a number of days") from None


def _told(error: InvalidInput) -> str:
    return f"{error.argument}: expected {error.allowed}."


def _back(visit: Visit, done: str) -> RedirectResponse:
    """Redirect to the page, so that reloading it does not submit the form again."""
    return RedirectResponse(visit.link("/retention", done=done), HTTPStatus.SEE_OTHER)
