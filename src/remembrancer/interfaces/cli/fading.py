"""Commands about forgetting: decay, fading."""
# ruff: noqa: PLC0415 - what a command needs is loaded when it runs: `--help` needs none of it

from __future__ import annotations

from datetime import timedelta
from functools import partial
from typing import Annotated

from remembrancer.interfaces.cli.invocation import Invocation
from remembrancer.interfaces.cli.options import LimitOption
from remembrancer.interfaces.cli.times import LENGTHS


def decay(call: Invocation, *, limit: LimitOption = 20) -> None:
    """List the weakest memories.

    The current strength of each by the preset's curve, weakest first, and when it falls below the threshold for faded
    memories if nothing else happens. Faded memories are not deleted.

    Example: remembrancer decay --limit 20
    """
    from remembrancer.interfaces.cli import fading_pages
    from remembrancer.interfaces.wire.fading import OutlooksOut

    call.tell(
        lambda memory: OutlooksOut.of(memory.health.decay(limit=limit)), partial(fading_pages.weakest, now=call.now)
    )


def fading(
    call: Invocation,
    *,
    limit: LimitOption = 20,
    within: Annotated[timedelta | None, f"How far to look ahead: {LENGTHS}. Default: 30d."] = None,
) -> None:
    """List the memories that will fade soon.

    Memories that are above the threshold for faded memories and fall below it within that time by the preset's curve,
    soonest first. Using a memory postpones it: `show ID --curve` draws the curve.

    Example: remembrancer fading --within 30d
    """
    from remembrancer.facade import MAX_LISTED
    from remembrancer.interfaces.cli import fading_pages
    from remembrancer.interfaces.wire.fading import OutlooksOut

    ahead = timedelta(days=30) if within is None else within
    with call.opened(create=False) as memory:
        found = memory.health.fading(limit=limit, within=ahead)
        # Asked only where it is told.
        weakest = () if found or call.as_json else memory.health.decay(limit=MAX_LISTED)
    faded = sum(outlook.has_faded for outlook in weakest)
    call.answer(OutlooksOut.of(found), partial(fading_pages.fading, now=call.now, within=ahead, faded=faded))
