"""Which windows a model is asked about, and what becomes of its answers.

`turns`: minutes since the turn before, `20*1` for twenty of them. `answers`: to one question after the other, the sizes
and surprises of the segments it tells, questions parted by `;`. `asked`: the places of each window; `expected`:
`start-end:surprise` of each segment; `left`: what is known of what stays open.

A window is full with 20 turns, or 40 after 20 that were one segment; its time has come with at least 5 turns, of which
the last is more than 2 hours after the first. The last segment stays open and keeps its surprise. One segment of 20
waits; one of 40, or one whose time has come, is complete. A stream that has ended is all complete.
"""

from __future__ import annotations

from decimal import Decimal

from plain import table

LEVELS = {"low": "0.2", "high": "0.6", "extremely_high": "0.9"}

CASES = (
    ("", "no", ""),
    ("", "yes", ""),
    ("19*1", "no", ""),
    ("3*1", "yes", "3 low"),
    ("20*1", "no", "12 low 8 high"),
    ("20*1", "no", "20 low"),
    ("39*1", "no", "20 low"),
    ("40*1", "no", "20 low; 40 high"),
    ("40*1", "no", "20 low; 10 high 30 extremely_high; 20 low"),
    ("45*1", "no", "20 low; 40 high"),
    ("20*1", "yes", "20 low"),
    ("20*1", "yes", "5 low 15 high"),
    ("25*1", "yes", "20 low; 5 low 20 high"),
    ("45*1", "no", "15 low 5 high; 5 low 5 extremely_high 10 high; 1 low 19 low"),
    ("4*1 121", "no", "5 low"),
    ("4*1 121", "no", "4 low 1 extremely_high"),
    ("4*1 117", "no", ""),
    ("4*1 118", "no", "2 low 3 low"),
    ("3*1 300", "no", ""),
    ("3*1 300 1", "no", "3 low 2 high"),
    ("4*40 1", "no", "5 low"),
    ("20*1 300", "no", "20 low; 21 high"),
    ("20*1 300", "no", "20 low; 20 high 1 extremely_high"),
    ("5*1 300 4*1", "no", "5 low 1 high"),
)


def pauses(cell: str) -> list[Decimal]:
    found: list[Decimal] = []
    for word in cell.split():
        count, _, minutes = word.rpartition("*")
        found += [Decimal(minutes)] * int(count or 1)
    return found


def window(times: list[Decimal], *, doubled: bool) -> int | None:
    for count in range(1, len(times) + 1):
        if doubled and count <= 20:
            continue
        if count == (40 if doubled else 20) or (count >= 5 and times[count - 1] - times[0] > 120):
            return count
    return None


def worked_out(cell: str, ended: str, answers: str) -> tuple[str, str, str]:
    times = [sum(pauses(cell)[: number + 1], Decimal(0)) for number in range(len(pauses(cell)))]
    waiting = [answer.split() for answer in answers.split(";") if answer.strip()]
    begun, doubled, carried = 0, False, ""
    asked: list[str] = []
    told: list[str] = []
    while begun < len(times):
        count = window(times[begun:], doubled=doubled)
        final = ended == "yes" and count in {None, len(times) - begun}
        if count is None and not final:
            break
        count = count or len(times) - begun
        asked.append(f"{begun}-{begun + count}")
        answer = waiting.pop(0)
        sizes, levels = [int(size) for size in answer[::2]], [LEVELS[level] for level in answer[1::2]]
        levels[0] = carried or levels[0]
        if len(sizes) == 1 and count == 20 and not doubled and not final:
            doubled = True
            continue
        complete = len(sizes) if final or len(sizes) == 1 else len(sizes) - 1
        for size, level in zip(sizes[:complete], levels, strict=False):
            told.append(f"{begun}-{begun + size}:{level}")
            begun += size
        doubled, carried = False, "" if complete == len(sizes) else levels[-1]
    left = " ".join(part for part in ("doubled" if doubled else "", carried) if part)
    return " ".join(asked), " ".join(told), left


if __name__ == "__main__":
    table(
        ("turns", "ended", "answers", "asked", "expected", "left"),
        (
            dict(
                zip(
                    ("turns", "ended", "answers", "asked", "expected", "left"), (*case, *worked_out(*case)), strict=True
                )
            )
            for case in CASES
        ),
    )
