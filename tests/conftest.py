"""How generated tests run: with no clock on a single example, and the same examples each time on a build server."""

from __future__ import annotations

import os

from hypothesis import HealthCheck, settings

settings.register_profile(
    "remembrancer",
    max_examples=60,
    deadline=None,
    database=None,
    derandomize="CI" in os.environ,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("remembrancer")
