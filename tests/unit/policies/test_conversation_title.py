from __future__ import annotations

import pytest

from remembrancer.policies.rendering.conversation_title import derived_title, is_readable
from remembrancer.testing.doubles import NOW


@pytest.mark.parametrize(
    ("session", "readable"),
    [
        ("2026-03-14-outage", True),
        ("support 4711", True),
        ("20260314120000", True),
        ("67a1c8f0-1b2c-8000-9d3e-4f5a6b7c8d9e", False),
        ("chatgpt-9c8bd83e01a209b3", False),
    ],
)
def test_a_session_is_readable_unless_a_machine_named_it(session: str, readable: bool) -> None:
    assert is_readable(session) is readable


@pytest.mark.parametrize(
    ("speakers", "expected"),
    [
        ((), "Wednesday 4 March 2026"),
        (("Ana",), "Wednesday 4 March 2026, Ana"),
        (("Ana", "Tomasz"), "Wednesday 4 March 2026, Ana and Tomasz"),
        (("Ana", "Bo", "Cy", "Di"), "Wednesday 4 March 2026, Ana, Bo and 2 others"),
    ],
)
def test_a_derived_title_is_the_day_and_who_spoke(speakers: tuple[str, ...], expected: str) -> None:
    assert derived_title(NOW, speakers) == expected
