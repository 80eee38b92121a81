"""Which texts fit into a block, and the share of evidence among them, counted text by text.

A line is two characters, the text and a line's end. What does not fit is passed over whole. Texts are so many letters.
"""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

CASES = (
    ("a:5 b:5 c:5", "a b c", 24, "a b c"),
    ("a:5 b:5 c:5", "a b c", 23, "a b c"),
    ("a:5 b:20 c:5", "a b c", 16, "b c"),
    ("a:5 b:20 c:5", "b a c", 22, "b c"),
    ("a:5 b:20 c:5", "b a c", 23, "b c"),
    ("a:1 b:1 c:1 d:1", "d c b a", 8, "a d"),
    ("a:100", "a", 50, "a"),
    ("a:3 b:3", "", 50, "a b"),
    ("a:3 b:3", "a a b", 12, "a b"),
    ("a:3 b:3", "b", 12, "a"),
)


def row(texts: str, ranked: str, room: int, gold: str) -> dict[str, str]:
    lengths = {name: int(length) for name, length in (one.split(":") for one in texts.split())}
    left, held = room, list[str]()
    for name in ranked.split():
        if name not in held and lengths[name] + 3 <= left:
            left -= lengths[name] + 3
            held.append(name)
    wanted = gold.split()
    found = sum(name in held for name in wanted)
    return {
        "texts": texts,
        "ranked": ranked,
        "room": str(room),
        "gold": gold,
        "held": " ".join(held),
        "chars": str(room - left),
        "recall": shown(Fraction(found, len(wanted))),
        "all": str(int(found == len(wanted))),
    }


if __name__ == "__main__":
    table(("texts", "ranked", "room", "gold", "held", "chars", "recall", "all"), [row(*case) for case in CASES])
