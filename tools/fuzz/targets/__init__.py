"""All targets."""

from __future__ import annotations

from typing import Final

from fuzz.target import Target
from fuzz.targets import doors, files, ingesting, language

TARGETS: Final[dict[str, Target]] = {target.name: target for part in (doors, files, ingesting, language) for target in part.TARGETS}
