"""Where the rules and the two channels cut, turn after turn, without a model; worked out in 50 digits.

`turns`: a word each, `minutes since the turn before:characters:place of its vector on a circle` (a letter of PLACES, or
`-` without a vector), `3*word` for three of them. `began`: the surprise of the turn that began what is open.
`expected`: `start-end:reason:surprise` for each segment; `left`: the surprise of the turn that began what stays open.

The rules, the first that speaks: fewer than 3 turns never; 50 always; more than 15 minutes; fewer than 100 characters,
or a turn of fewer than 5, never; surprise, 1 - the cosine with the mean of the segment, above 0.65; a cosine of at
least 0.5 with a mean that rolls by 0.2, never; otherwise it cuts. Where length or time cut, the next begins without
surprise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from plain import exact, shown, table

PLACES = {
    "a": ("1", "0"),
    "b": ("0.8", "0.6"),
    "c": ("0.6", "0.8"),
    "d": ("0.352", "0.936"),
    "e": ("0.28", "0.96"),
    "f": ("0", "1"),
    "g": ("-0.6", "0.8"),
    "h": ("-1", "0"),
    "-": None,
}

CASES = (
    ("", "no", "0"),
    ("", "yes", "0"),
    ("0:60:a", "yes", "0.7"),
    ("0:60:a 1:60:h 1:60:h", "no", "0"),
    ("0:60:a 1:60:h 1:60:h 1:60:a", "no", "0"),
    ("3*1:60:a 1:60:h", "no", "0"),
    ("3*1:60:a 1:60:e", "no", "0.4"),
    ("3*1:60:a 1:60:d", "no", "0"),
    ("3*1:60:a 1:60:c", "no", "0"),
    ("3*1:60:a 1:60:f 1:60:f 1:60:f 1:60:a", "yes", "0"),
    ("3*1:33:a 1:60:h", "no", "0"),
    ("2*1:33:a 1:34:a 1:60:h", "no", "0"),
    ("3*1:60:a 1:4:h 1:60:a", "no", "0"),
    ("3*1:60:a 1:5:h 1:60:a", "no", "0"),
    ("3*1:60:a 15:60:a", "no", "0"),
    ("3*1:60:a 15.5:60:a", "no", "0.9"),
    ("3*1:10:a 16:4:a", "no", "0"),
    ("2*1:60:a 600:60:a 600:60:a", "no", "0"),
    ("3*1:60:a -600:60:a 1:60:a", "no", "0"),
    ("50*1:60:a", "no", "0"),
    ("51*1:60:a", "no", "0.3"),
    ("50*1:60:a 1:60:h", "no", "0"),
    ("3*1:60:a 1:60:b 1:60:c 1:60:c 1:60:c 1:60:c 1:60:c 1:60:f", "no", "0"),
    ("3*1:60:a 1:60:b 1:60:c 1:60:g", "no", "0"),
    ("8*1:60:a 4*1:60:c 1:60:d", "no", "0"),
    ("3*1:60:- 1:60:a 1:60:h", "no", "0"),
    ("3*1:60:a 1:60:- 1:60:h", "no", "0"),
    ("60*1:60:-", "yes", "0"),
    ("3*1:60:a 1:60:h 2*1:60:h 20:60:h 2*1:60:a 1:60:f", "yes", "0.2"),
)


@dataclass
class Segment:
    """What is open."""

    start: int
    began: Decimal
    characters: int = 0
    vectors: list[tuple[Decimal, Decimal]] = field(default_factory=list[tuple[Decimal, Decimal]])
    rolling: tuple[Decimal, Decimal] | None = None


def unit(x: Decimal, y: Decimal) -> tuple[Decimal, Decimal]:
    length = (x * x + y * y).sqrt()
    return x / length, y / length


def cosine(one: tuple[Decimal, Decimal], other: tuple[Decimal, Decimal]) -> Decimal:
    (x, y), (p, q) = unit(*one), unit(*other)
    return x * p + y * q


def unfolded(cell: str) -> list[list[str]]:
    turns: list[list[str]] = []
    for word in cell.split():
        count, _, turn = word.rpartition("*")
        turns += [turn.split(":")] * int(count or 1)
    return turns


def cut(segment: Segment, count: int, pause: Decimal, characters: int, place: str) -> tuple[str, Decimal] | None:
    """The reason why a turn begins a new segment, and its surprise."""
    if count < 3:
        return None
    if count >= 50:
        return "length", Decimal(0)
    if pause > 15:
        return "time gap", Decimal(0)
    vector = PLACES[place]
    if segment.characters < 100 or characters < 5 or vector is None or segment.rolling is None:
        return None
    here = (exact(vector[0]), exact(vector[1]))
    total = (sum((x for x, _ in segment.vectors), Decimal(0)), sum((y for _, y in segment.vectors), Decimal(0)))
    surprise = 1 - cosine(total, here)
    held = min(max(surprise, Decimal(0)), Decimal(1))
    if surprise > Decimal("0.65"):
        return "surprise", held
    return None if cosine(segment.rolling, here) >= Decimal("0.5") else ("topic", held)


def worked_out(cell: str, ended: str, began: str) -> tuple[str, str]:
    turns, told = unfolded(cell), list[str]()
    segment = Segment(0, exact(began))
    for number, (minutes, characters, place) in enumerate(turns):
        begins = cut(segment, number - segment.start, exact(minutes), int(characters), place)
        if begins is not None:
            told.append(f"{segment.start}-{number}:{begins[0]}:{shown(segment.began)}")
            segment = Segment(number, begins[1])
        segment.characters += int(characters)
        vector = PLACES[place]
        if vector is not None:
            x, y = exact(vector[0]), exact(vector[1])
            segment.vectors.append((x, y))
            if segment.rolling is None:
                segment.rolling = (x, y)
            else:
                p, q = segment.rolling
                segment.rolling = unit(Decimal("0.8") * p + Decimal("0.2") * x, Decimal("0.8") * q + Decimal("0.2") * y)
    if ended == "yes" and turns:
        told.append(f"{segment.start}-{len(turns)}:end of the stream:{shown(segment.began)}")
        return "; ".join(told), "0"
    return "; ".join(told), shown(segment.began)


if __name__ == "__main__":
    table(
        ("turns", "ended", "began", "expected", "left"),
        (
            dict(zip(("turns", "ended", "began", "expected", "left"), (*case, *worked_out(*case)), strict=True))
            for case in CASES
        ),
    )
