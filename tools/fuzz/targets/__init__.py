"""All targets."""

from __future__ import annotations

from typing import Final

from fuzz.target import Target
from fuzz.targets import language

TARGETS: Final[dict[str, Target]] = {target.name: target for part in (language,) for target in part.TARGETS}
