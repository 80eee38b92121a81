"""A bucket of tokens, in exact fractions: what is in it after each asking, and how long until the next token."""

from __future__ import annotations

from fractions import Fraction

from plain import shown, table

SEQUENCES = {
    "two at once": ("2", "2", "0 0 0 0.25 0.5 1 1 5 5 5"),
    "ten at once": ("1", "10", "0 0 0 0 0 0 0 0 0 0 0 1 1 60 60"),
    "one a minute": ("0.125", "1", "0 1 7 8 9 16 100"),
    "a clock that goes back": ("1", "1", "10 4 10.5 11 11"),
    "a bucket of parts": ("0.5", "1.5", "0 0 1 2 3"),
}


def rows() -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for name, (per_second, burst, times) in SEQUENCES.items():
        rate, room = Fraction(per_second), Fraction(burst)
        tokens, last = room, Fraction(times.split()[0])
        for at in map(Fraction, times.split()):
            now = max(last, at)
            tokens, last = min(room, tokens + (now - last) * rate), now
            wait = Fraction(0) if tokens >= 1 else (1 - tokens) / rate
            tokens -= 1 if not wait else 0
            found.append(
                {
                    "sequence": name,
                    "per_second": per_second,
                    "burst": burst,
                    "at": shown(at),
                    "wait": shown(wait),
                    "tokens": shown(tokens),
                }
            )
    return found


if __name__ == "__main__":
    table(("sequence", "per_second", "burst", "at", "wait", "tokens"), rows())
