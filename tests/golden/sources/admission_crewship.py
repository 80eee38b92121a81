"""Which journal entries are embedded: the table of Crewship's text, written out as one rule a type.

`forced` is where `episodic` stands and as what; `state` is payload.state. `original` is what Crewship's code did: there
the flag admits only types that are on the list of eight, so an ordinary type could never be forced.
"""

from __future__ import annotations

from itertools import product

from plain import table

ALWAYS = ("peer.escalation", "summary.generated", "memory.consolidated", "approval.denied", "eval.regression_detected")
WHEN_BAD = ("keeper.decision", "mission.status_change")
WHEN_ESCALATED = ("peer.conversation",)
NEVER = ("exec.output_chunk", "container.metrics", "network.port_opened", "network.egress")
ORDINARY = ("message", "run.failed", "exec.command", "container.snapshot", "peer.escalations", "network")
SEVERITIES = ("info", "notice", "warn", "error")
FORCED = ("", "refs:true", "payload:true")
ALMOST_FORCED = ("refs:false", 'refs:"true"', "refs:1", "payload:false", "payload:1")


def is_on_the_list(kind: str, severity: str, state: str) -> bool:
    if kind in ALWAYS:
        return True
    if kind in WHEN_BAD:
        return severity in {"warn", "error"}
    return kind in WHEN_ESCALATED and state == "escalated"


def row(kind: str, severity: str, forced: str, state: str) -> dict[str, str]:
    listed = is_on_the_list(kind, severity, state)
    is_forced = forced in {"refs:true", "payload:true"}
    never = kind in NEVER
    eight = kind in (*ALWAYS, *WHEN_BAD, *WHEN_ESCALATED)
    return {
        "type": kind,
        "severity": severity,
        "forced": forced,
        "state": state,
        "expected": "yes" if not never and (listed or is_forced) else "no",
        "original": "yes" if listed or (is_forced and eight) else "no",
    }


if __name__ == "__main__":
    table(
        ("type", "severity", "forced", "state", "expected", "original"),
        [
            *(
                row(kind, severity, forced, "")
                for kind, severity, forced in product(
                    (*ALWAYS, *WHEN_BAD, *WHEN_ESCALATED, *NEVER, *ORDINARY), SEVERITIES, FORCED
                )
            ),
            *(
                row("peer.conversation", severity, forced, state)
                for severity, forced, state in product(SEVERITIES, FORCED, ("escalated", "pending", "resolved"))
            ),
            *(row(kind, "info", "", "escalated") for kind in ("message", "peer.escalation", "network.egress")),
            *(row(kind, "info", forced, "") for kind, forced in product(("message", "network.egress"), ALMOST_FORCED)),
        ],
    )
