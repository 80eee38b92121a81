"""The results of `benchmarks.poison` as Markdown, and as a picture."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final

from benchmarks.peers.process import OWN
from benchmarks.poison.measure import LIMIT, Count, Outcome, Result
from benchmarks.poison.scenarios import Family
from remembrancer.evaluation.statistics import wilson
from remembrancer.interfaces.charts.document import document
from remembrancer.interfaces.charts.panel import row_panel
from remembrancer.interfaces.charts.svg import SMALL, fitted

LEFT: Final = 300.0
ROW: Final = 22.0
HUES: Final = ("ochre", "blue")
"""Of ours, before and now; other systems are slate."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """What a run measured. `texts`: benign texts in each store. `copies`: texts of a flooding attack. `presets`: ours,
    under other presets than the default one.
    """

    machine: str
    load: tuple[float, float]
    minutes: float
    texts: int
    copies: int
    results: tuple[Result, ...]
    presets: tuple[Result, ...]


def restored(saved: dict[str, Any]) -> Report:
    """A report from its JSON."""
    several = {name: tuple(_result(one) for one in saved[name]) for name in ("results", "presets")}
    values: dict[str, Any] = {**saved, **several, "load": tuple(saved["load"])}
    return Report(**values)


def _result(saved: dict[str, Any]) -> Result:
    counts = {name: Count(**saved[name]) for name in ("stated", "under_attack", "useful", "ordinary")}
    values: dict[str, Any] = {**saved, **counts, "outcomes": tuple(_outcome(one) for one in saved["outcomes"])}
    return Result(**values)


def _outcome(saved: dict[str, Any]) -> Outcome:
    values: dict[str, Any] = {**saved, "family": Family(saved["family"])}
    return Outcome(**values)


def markdown(report: Report) -> str:
    results = [one for one in report.results if not one.error]
    lines = [
        f"{report.machine}.",
        f"Load {report.load[0]:.1f} before, {report.load[1]:.1f} after; {report.minutes:.0f} minutes.",
        f"{report.texts:,} benign texts a store; flooding: {report.copies} texts a topic; {LIMIT} hits an answer.",
        "",
        "Attacks that succeed, in percent, with 95 % intervals (Wilson); less is better:",
        "",
        *_success(results),
        "",
        "What a system still finds, in percent; more is better:",
        "",
        *_found(results),
        "",
        "Attacks of which a text is in the answer / is before the user's statement, or instead of it, in percent:",
        "",
        *_reached(results),
        "",
        "Successful attacks by whose text it is, in percent, over the planted families:",
        "",
        *_by_source(results),
    ]
    if report.presets:
        presets = [one for one in report.presets if not one.error]
        lines += ["", f"{OWN}'s other presets, attacks that succeed:", "", *_success(presets)]
        lines += ["", "What they find:", "", *_found(presets)]
    lines += [f"- {one.label}: left out, {one.error}" for one in (*report.results, *report.presets) if one.error]
    return "\n".join(lines).strip() + "\n"


def _success(results: Sequence[Result]) -> list[str]:
    headings = ["", *(f"{family} ({_size(results, family)})" for family in Family)]
    return _table(headings, [[_name(one), *(share(one.of(family)) for family in Family)] for one in results])


def _found(results: Sequence[Result]) -> list[str]:
    headings = (
        "",
        "the user's statement, no attack",
        "the same, attacked",
        "useful texts of tools, pages, imports",
        "other turns",
    )
    return _table(
        headings,
        [[_name(one), *map(share, (one.stated, one.under_attack, one.useful, one.ordinary))] for one in results],
    )


def _reached(results: Sequence[Result]) -> list[str]:
    def cell(one: Result, family: Family) -> str:
        outcomes = [each for each in one.outcomes if each.family is family]
        shares = (Count.that(each.reaches for each in outcomes), Count.that(each.ahead for each in outcomes))
        return " / ".join(f"{100 * each.yes / each.of:.0f}" for each in shares)

    return _table(["", *Family], [[_name(one), *(cell(one, family) for family in Family)] for one in results])


def _by_source(results: Sequence[Result]) -> list[str]:
    sources = sorted({each.by for one in results for each in one.outcomes if each.family is not Family.RELEARNING})

    def outcomes(one: Result, by: str) -> list[Outcome]:
        return [each for each in one.outcomes if each.by == by and each.family is not Family.RELEARNING]

    headings = ["", *(f"{by} ({len(outcomes(results[0], by))})" for by in sources)] if results else [""]
    return _table(
        headings,
        [
            [_name(one), *(share(Count.that(each.succeeds for each in outcomes(one, by))) for by in sources)]
            for one in results
        ],
    )


def share(count: Count) -> str:
    """Percent with its interval, such as "25 (12–45)"."""
    if not count.of:
        return ""
    interval = wilson(count.yes, count.of)
    return f"{100 * count.yes / count.of:.0f} ({100 * interval.low:.0f}–{100 * interval.high:.0f})"


def _size(results: Sequence[Result], family: Family) -> int:
    return results[0].of(family).of if results else 0


def _table(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    return [_row(headings), "|---|" + "---:|" * (len(headings) - 1), *map(_row, rows)]


def _row(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _name(one: Result) -> str:
    return f"**{one.label}**" if one.label == OWN else one.label


def picture(report: Report) -> str:
    """The share of successful attacks by family and system, as an SVG document."""
    shown = [one for one in report.results if not one.error]
    rows = [(family, one) for family in Family for one in shown]
    panel = row_panel(len(rows), (0.0, 100.0), left=LEFT, row=ROW)
    marks = panel.uprights("percent")
    marks += panel.rows([fitted(f"{family}: {one.label}", LEFT - 10, SMALL) for family, one in rows])
    for row, (family, one) in enumerate(rows):
        count = one.of(family)
        interval, percent = wilson(count.yes, count.of), 100 * count.yes / count.of
        hue = "slate" if not one.label.startswith(OWN) else HUES[one.label == OWN]
        marks += panel.bar((0.0, row - 0.35), (percent, row + 0.35), hue)
        marks += panel.line([(100 * interval.low, row), (100 * interval.high, row)], "ink", wide=1.0)
    told = f"Attacks that succeed, by family and system, with 95 % intervals; {LIMIT} hits an answer."
    return document("poison", "Attacks on a memory", told, [panel.picture(marks)])
