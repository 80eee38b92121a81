"""Adding a memory, editing one, and pinning."""

from __future__ import annotations

from http import HTTPStatus
from typing import Any, Final
from uuid import uuid4

from fastapi import APIRouter
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from remembrancer.domain import validation
from remembrancer.domain.memory import Memory
from remembrancer.errors import Conflict, InvalidInput
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.forms import QueryFields, SubmittedForm, SubmittedText
from remembrancer.interfaces.dashboard.rendering import page, title_of
from remembrancer.interfaces.dashboard.visit import ReadingVisit, Visit, WritingVisit
from remembrancer.interfaces.text import shown
from remembrancer.policies.admission.updating import Changes

router = APIRouter(route_class=PageRoute)

FIELDS: Final = ("text", "title", "kind", "tags", "importance")


@router.get("/memories/new")
async def adding(visit: ReadingVisit) -> HTMLResponse:
    """The empty form. `kind` fills in the kind."""
    asked = QueryFields(visit.request.query_params)
    formation = visit.memory.presets.in_use.formation
    values = {**dict.fromkeys(FIELDS, ""), "kind": asked.text("kind") or formation.kind(None), "importance": "0.5"}
    return _new(visit, {**values, "key": str(uuid4())}, {}, HTTPStatus.OK)


@router.post("/memories/new")
async def add(visit: WritingVisit, form: SubmittedText) -> Response:
    """Keep a memory under the key of its form: sent twice, the form adds one memory."""
    values = {name: form.get(name, "") for name in (*FIELDS, "pinned", "key")}
    try:
        key = f"dashboard:{validation.identifier('key', values['key'])}"
        fields = _fields(values)
        if values["pinned"] and visit.pinned_tag is not None:
            fields["tags"] = [*dict.fromkeys((*fields["tags"], visit.pinned_tag))]
        kept: Memory = await visit.memory.remember(**fields, key=key)
        _check_same(kept, fields)
    except InvalidInput as error:
        return _new(visit, values, _errors(error), HTTPStatus.BAD_REQUEST)
    except Conflict:
        problem = "This form has already added a memory with other contents. Send it again to add this one too."
        return _new(visit, {**values, "key": str(uuid4())}, {"form": problem}, HTTPStatus.CONFLICT)
    return RedirectResponse(visit.link(f"/memories/{kept.id}", done="added"), HTTPStatus.SEE_OTHER)


@router.get("/memories/{memory_id}/edit")
async def editing(visit: ReadingVisit, memory_id: str) -> HTMLResponse:
    memory = await visit.memory.get(memory_id)
    return _edit(visit, memory, {**_values(memory), "revision": str(memory.revision)}, {}, HTTPStatus.OK)


@router.post("/memories/{memory_id}/edit")
async def edit(visit: WritingVisit, memory_id: str, form: SubmittedText) -> Response:
    """Change the fields that differ from the memory as it is now, if it still has the revision of the form."""
    memory = await visit.memory.get(memory_id)
    values = {name: form.get(name, "") for name in (*FIELDS, "revision")}
    try:
        revision = _whole("revision", values["revision"])
        changes = _changes(memory, values)
        if changes:
            await visit.memory.update(memory.id, expected_revision=revision, **changes)
    except InvalidInput as error:
        return _edit(visit, memory, values, _errors(error), HTTPStatus.BAD_REQUEST)
    except Conflict:
        problem = (
            f"It is superseded by {memory.superseded_by}, and can no longer be edited."
            if memory.superseded_by
            else "It was changed in the meantime. Below is what you typed; saving again replaces its current text."
        )
        told = {**values, "revision": str(memory.revision)}
        return _edit(visit, memory, told, {"form": problem}, HTTPStatus.CONFLICT)
    return RedirectResponse(visit.link(f"/memories/{memory.id}", done="edited"), HTTPStatus.SEE_OTHER)


@router.post("/memories/{memory_id}/pin")
async def pin(visit: WritingVisit, memory_id: str, form: SubmittedForm) -> RedirectResponse:
    memory = await visit.memory.pin(memory_id)
    return RedirectResponse(visit.link(f"/memories/{memory.id}", done="pinned"), HTTPStatus.SEE_OTHER)


@router.post("/memories/{memory_id}/unpin")
async def unpin(visit: WritingVisit, memory_id: str, form: SubmittedForm) -> RedirectResponse:
    memory = await visit.memory.unpin(memory_id)
    return RedirectResponse(visit.link(f"/memories/{memory.id}", done="unpinned"), HTTPStatus.SEE_OTHER)


def _check_same(kept: Memory, fields: dict[str, Any]) -> None:
    """Raises Conflict if the memory stored under the key of the form has other contents than the form."""
    told = (kept.title, kept.kind, set(kept.tags), kept.strength.importance)
    if told != (fields["title"], fields["kind"], set(fields["tags"]), fields["importance"]):
        raise Conflict("the form was already sent with other contents")


def _new(visit: Visit, values: dict[str, str], errors: dict[str, str], status: HTTPStatus) -> HTMLResponse:
    return _form(visit, "Add a memory", "/memories/new", values, errors, status)


def _edit(
    visit: Visit, memory: Memory, values: dict[str, str], errors: dict[str, str], status: HTTPStatus
) -> HTMLResponse:
    return _form(visit, "Edit a memory", f"/memories/{memory.id}/edit", values, errors, status, memory)


def _form(
    visit: Visit,
    title: str,
    action: str,
    values: dict[str, str],
    errors: dict[str, str],
    status: HTTPStatus,
    memory: Memory | None = None,
) -> HTMLResponse:
    return page(
        visit,
        "edit.html",
        title=title,
        here="memories",
        status=status,
        action=action,
        values=values,
        errors=errors,
        memory=memory,
        name=None if memory is None else title_of(memory),
        kinds=visit.memory.presets.in_use.formation.kinds,
        most_title=validation.MAX_TITLE_CHARS,
    )


def _values(memory: Memory) -> dict[str, str]:
    """The fields of a memory as the form shows them."""
    return {
        "text": _as_typed(memory.text),
        "title": _as_typed(memory.title or ""),
        "kind": memory.kind,
        "tags": _as_typed(", ".join(memory.tags)),
        "importance": f"{memory.strength.importance:g}",
    }


def _changes(memory: Memory, values: dict[str, str]) -> Changes:
    """The fields that differ from what the form showed of the memory; the others keep characters that a page does not
    show.
    """
    before = _values(memory)
    typed = {name: values[name] for name in FIELDS if _as_typed(values[name]) != before[name]}
    changes: dict[str, Any] = {name: value for name, value in _fields({**before, **typed}).items() if name in typed}
    return Changes(**changes)


def _fields(values: dict[str, str]) -> dict[str, Any]:
    """The fields of a form as arguments of `remember`. Raises InvalidInput."""
    return {
        "text": values["text"].replace("\r\n", "\n"),
        "title": values["title"].strip() or None,
        "kind": values["kind"].strip(),
        "tags": [tag for one in values["tags"].split(",") if (tag := one.strip())],
        "importance": _share("importance", values["importance"]),
    }


def _as_typed(text: str) -> str:
    """A text as a form shows it and sends it back."""
    return shown(text.replace("\r\n", "\n").replace("\r", "\n"))


def _share(name: str, given: str) -> float:
    try:
        return validation.fraction(name, float(given))
    except ValueError:
        raise InvalidInput(name, given, "a number from 0 to 1") from None


def _whole(name: str, given: str) -> int:
    if not (given.isascii() and given.isdigit() and len(given) <= 9):
        raise InvalidInput(name, given, "a whole number")
    return int(given)


def _errors(error: InvalidInput) -> dict[str, str]:
    """The error by the field that it belongs to; "form" for none of the fields."""
    field = error.argument.partition("[")[0]
    return {field if field in FIELDS else "form": f"Expected {error.allowed}."}
