"""Every public member of each interface is called by the suite of isolation (`tests/isolation`)."""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "fixtures"))

from isolation_trial import NOT_CALLED, WHOLE_WORKSPACE, calls_of, every_member


def test_every_member_can_be_called() -> None:
    """A new method, route, tool, command or argument needs a value in VALUES of tests/fixtures/drawn_calls.py; where
    that is not enough, a probe or a reason in tests/fixtures/isolation_trial.py. docs/changing.md says how.
    """
    _, missing = calls_of(asyncio.run(every_member()))
    assert missing == []


def test_only_members_that_exist_are_exempt() -> None:
    members = {str(member) for member in asyncio.run(every_member())}
    assert sorted((NOT_CALLED.keys() | WHOLE_WORKSPACE.keys()) - members) == []
