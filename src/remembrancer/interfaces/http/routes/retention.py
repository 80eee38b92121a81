"""Retention rules and legal holds of the caller's workspace."""

from __future__ import annotations

from datetime import timedelta
from http import HTTPStatus
from typing import Annotated
from uuid import UUID

from fastapi import Path

from remembrancer.interfaces.http.access import Administering
from remembrancer.interfaces.http.bodies import HoldIn, RuleIn
from remembrancer.interfaces.http.v1 import MISSING, router_of
from remembrancer.interfaces.wire.retention import HoldOut, HoldsOut, RuleOut, RulesOut

router = router_of("retention")

_EXAMPLE = "01981c0e-7a44-7d0c-9f3e-0a1b2c3d4e5f"
RuleId = Annotated[UUID, Path(description="The rule's id.", examples=[_EXAMPLE])]
HoldId = Annotated[UUID, Path(description="The hold's id.", examples=[_EXAMPLE])]


@router.post("/v1/retention/rules", status_code=HTTPStatus.CREATED, summary="Add a retention rule")
async def add_rule(memory: Administering, body: RuleIn) -> RuleOut:
    """Erase rows with all of the parts given once they happened longer ago than `after` seconds, with everything that
    quotes them or was derived from them. The job `retain` applies the rules once a day.
    """
    given = body.given()
    return RuleOut.of(await memory.retention.add(timedelta(seconds=given.pop("after")), **given))


@router.get("/v1/retention/rules", summary="List the retention rules")
async def rules(memory: Administering) -> RulesOut:
    """The rules, oldest first, each with how many rows are past its time."""
    return RulesOut.of(await memory.retention.due())


@router.delete("/v1/retention/rules/{rule_id}", summary="Remove a retention rule", responses=MISSING)
async def remove_rule(memory: Administering, rule_id: RuleId) -> RuleOut:
    """Remove a rule. What it erased stays erased."""
    return RuleOut.of(await memory.retention.remove(rule_id))


@router.post("/v1/retention/holds", status_code=HTTPStatus.CREATED, summary="Place a legal hold")
async def place_hold(memory: Administering, body: HoldIn) -> HoldOut:
    """Until the hold is released, rows with all of the parts given are neither erased nor archived, also those that are
    recorded later. An erasure that would remove one of them is refused whole.
    """
    return HoldOut.of(await memory.retention.hold(**body.given()))


@router.get("/v1/retention/holds", summary="List the legal holds")
async def holds(memory: Administering) -> HoldsOut:
    """The holds, newest first, released ones too."""
    return HoldsOut.of(await memory.retention.holds())


@router.delete("/v1/retention/holds/{hold_id}", summary="Release a legal hold", responses=MISSING)
async def release_hold(memory: Administering, hold_id: HoldId) -> HoldOut:
    """Release a hold. It stays in the list, with the time of its release."""
    return HoldOut.of(await memory.retention.release(hold_id))
