"""The results of `benchmarks.run` as Markdown, and as a picture."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from benchmarks.peers.measure import LIMIT, Found, Speed
from benchmarks.peers.process import OWN
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.panel import row_panel
from remembrancer.interfaces.charts.svg import SMALL, fitted

SPEED_HEADINGS: Final = (
    "{size:,} memories",
    "CPU of a recall, ms: p50",
    "wall, ms: p50 / p95",
    "writes a second of CPU, 250 at once",
    "singly",
    "open to first answer, ms",
    "memory, MB",
    "bytes per memory",
)
FOUND_HEADINGS: Final = (f"found@{LIMIT}", f"any@{LIMIT}", f"NDCG@{LIMIT}")
LEFT: Final = 280.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """Everything that a run measured. `outputs`: what our own commands printed. `packages`: with
    their versions, by environment.
    `load`: how many processes wanted a processor before and after.
    """

    machine: str
    load: tuple[float, float]
    minutes: float
    speeds: tuple[Speed, ...]
    questions: str
    found: tuple[Found, ...]
    outputs: Mapping[str, str]
    packages: Mapping[str, Sequence[str]]


def markdown(report: Report) -> str:
    lines = [
        f"{report.machine}.",
        f"Load {report.load[0]:.1f} before, {report.load[1]:.1f} after; {report.minutes:.0f} minutes.",
        "",
    ]
    for size in dict.fromkeys(speed.size for speed in report.speeds):
        lines += [*_speeds(size, [speed for speed in report.speeds if speed.size == size]), ""]
    if report.found:
        lines += [f"{report.questions}:", "", *_found(report), ""]
    lines += [f"- {each}" for each in _missing(report)]
    for command, output in report.outputs.items():
        printed = [line.rstrip() for line in output.splitlines()]
        lines += [f"`{command}`:", "", "```text", *printed, "```", ""]
    return "\n".join(lines).strip() + "\n"


def _speeds(size: int, speeds: Sequence[Speed]) -> list[str]:
    headings = [heading.format(size=size) for heading in SPEED_HEADINGS]
    lines = [_row(headings), "|---|" + "---:|" * (len(headings) - 1)]
    for one in speeds:
        if not one.error:
            cells = (
                _name(one.system),
                f"{one.cpu_p50:.2f}",
                f"{one.wall_p50:.2f} / {one.wall_p95:.2f}",
                f"{one.together:,.0f}",
                f"{one.singly:,.0f}",
                f"{one.first_wall:,.0f}",
                f"{one.resident:,.0f}",
                f"{one.bytes:,.0f}",
            )
            lines.append(_row(cells))
    return lines


def _found(report: Report) -> list[str]:
    version_of = {speed.system: speed.version for speed in report.speeds}
    lines = [_row(("", "version", *FOUND_HEADINGS)), "|---|---|" + "---:|" * len(FOUND_HEADINGS)]
    lines += [
        _row(
            (
                _name(one.system),
                version_of.get(one.system, ""),
                *(f"{value:.3f}" for value in (one.recall, one.any, one.ndcg)),
            )
        )
        for one in report.found
        if not one.error
    ]
    return lines


def _missing(report: Report) -> list[str]:
    slow = [f"{one.system}, {one.size:,} memories: left out, {one.error}" for one in report.speeds if one.error]
    return slow + [f"{one.system}, questions: left out, {one.error}" for one in report.found if one.error]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _name(system: str) -> str:
    return f"**{system}**" if system == OWN else system


def picture(report: Report) -> str:
    """The CPU of a recall by system and size, as an SVG document."""
    shown = [one for one in report.speeds if not one.error]
    values = [one.cpu_p50 for one in shown] or [1.0]
    low = min(values) / 2
    panel = row_panel(len(shown), (low, max(values) * 2.5), left=LEFT, log=True)
    marks = panel.uprights("ms, logarithmic")
    marks += panel.rows([fitted(f"{one.system}, {one.size:,}", LEFT - 10, SMALL) for one in shown])
    for row, one in enumerate(shown):
        hue = "blue" if one.system.startswith(OWN) else "slate"
        marks += panel.bar((low, row - 0.3), (one.cpu_p50, row + 0.3), hue)
        marks += panel.words((one.cpu_p50, row), f"{one.cpu_p50:.2f}", (6.0, 4.0))
    told = f"Milliseconds of CPU (p50), without the question's embedding; {LIMIT} hits of the memories given."
    return document("bench", "CPU time of a recall", told, [panel.picture(marks)])
