"""exp(-hours / (24 x days)) in 50 digits. Mnemosyne's temporal proximity is exp(-age in hours / 168)."""

from __future__ import annotations

from plain import exact, shown, table

HOURS = ("-876600", "-1", "0", "1", "12", "24", "84", "116.44472", "168", "336", "386.834312", "8760", "876600")

if __name__ == "__main__":
    table(
        ("days", "age", "expected"),
        (
            {
                "days": days,
                "age": shown(exact(hours) / 24),
                "expected": shown((-max(exact(0), exact(hours)) / (24 * exact(days))).exp()),
            }
            for days in ("7", "0.5", "36500")
            for hours in HOURS
        ),
    )
