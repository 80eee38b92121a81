"""All targets."""

from __future__ import annotations

from typing import Final

from fuzz.target import Target
from fuzz.targets import doors, files, ingesting, language, models

TARGETS: Final[dict[str, Target]] = {
    target.name: target for part in (language, files, ingesting, models, doors) for target in part.TARGETS
}
