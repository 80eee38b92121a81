"""The first importance of an event's memory, in exact fractions: base + type + severity, at least its priority's floor.

Crewship's parts are those of its text; the other presets know no types. `floor` is what it never fades below.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import product

from plain import shown, table

MARKS = {"normal": "0", "pin": "0.80", "high": "0.85", "permanent": "0.95"}
CREWSHIP_TYPES = {
    "peer.escalation": "0.20",
    "summary.generated": "0.15",
    "memory.consolidated": "0.20",
    "approval.denied": "0.15",
    "eval.regression_detected": "0.30",
    "keeper.decision": "0.10",
    "mission.status_change": "0.05",
    "peer.conversation": "0",
    "message": "0",
}
SEVERITIES = {
    "crewship": {"info": "0", "notice": "0.05", "warn": "0.15", "error": "0.25"},
    "default": {"info": "0", "notice": "0.05", "warn": "0.1", "error": "0.2"},
    "engram": {"info": "0", "notice": "0", "warn": "0", "error": "0"},
}


def row(preset: str, kind: str, severity: str, priority: str) -> dict[str, str]:
    of_type = CREWSHIP_TYPES[kind] if preset == "crewship" else "0"
    formed = Fraction("0.5") + Fraction(of_type) + Fraction(SEVERITIES[preset][severity])
    floor = Fraction(MARKS[priority])
    return {
        "preset": preset,
        "type": kind,
        "severity": severity,
        "priority": priority,
        "expected": shown(min(Fraction(1), max(formed, floor))),
        "floor": shown(floor),
    }


if __name__ == "__main__":
    table(
        ("preset", "type", "severity", "priority", "expected", "floor"),
        [
            *(row("crewship", *of) for of in product(CREWSHIP_TYPES, SEVERITIES["crewship"], MARKS)),
            *(row("default", *of) for of in product(("message", "peer.escalation"), SEVERITIES["default"], MARKS)),
            *(row("engram", *of) for of in product(("message",), SEVERITIES["engram"], MARKS)),
        ],
    )
