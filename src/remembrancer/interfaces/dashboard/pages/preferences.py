"""Preferences: pinned memories, stated preferences, and instructions."""

from __future__ import annotations

from typing import Final

from fastapi import APIRouter
from fastapi.responses import HTMLResponse

from remembrancer.domain.preference import INSTRUCTION
from remembrancer.interfaces.dashboard.failures import PageRoute
from remembrancer.interfaces.dashboard.rendering import page
from remembrancer.interfaces.dashboard.visit import ReadingVisit
from remembrancer.interfaces.wire.memories import MemoriesOut
from remembrancer.policies.ranking.ranking import MAX_PINNED

router = APIRouter(route_class=PageRoute)

PREFERENCES: Final = ("preference",)
INSTRUCTIONS: Final = ("directive", "instruction", "guideline", "rule")
"""The kinds of memories that say how to act: those that people write, and the guidelines that jobs find."""
LISTED: Final = 100
"""The most preferences and instructions, the newest."""


@router.get("/preferences")
async def preferences(visit: ReadingVisit) -> HTMLResponse:
    memory, tag = visit.memory, visit.pinned_tag
    pinned = () if tag is None else (await memory.memories(tags=[tag], limit=MAX_PINNED)).memories
    stated = await memory.preferences(LISTED)
    directed = [one for one in stated if INSTRUCTION in one.tags or one.kind in INSTRUCTIONS]
    preferred = [one for one in stated if one not in directed]
    formation, facts = memory.presets.in_use.formation, memory.presets.in_use.facts
    return page(
        visit,
        "preferences.html",
        title="Preferences",
        here="preferences",
        pinned=MemoriesOut.of(pinned).memories,
        preferences=MemoriesOut.of(preferred).memories,
        instructions=MemoriesOut.of(directed).memories,
        more=len(stated) == LISTED,
        kinds={"preference": PREFERENCES, "instruction": INSTRUCTIONS},
        allowed={
            name: next((one for one in kinds if not formation.kinds or one in formation.kinds), None)
            for name, kinds in (("preference", PREFERENCES), ("instruction", INSTRUCTIONS))
        },
        draws_facts=facts is not None,
    )
