"""What exposures add, in 50 digits: nothing, 1 + log2(exposures + 1) / divisor (Crewship: 8), or 1 + exposures."""

from __future__ import annotations

from plain import exact, log2, shown, table

EXPOSURES = ("0", "1", "2", "3", "7", "26", "255", "1000000", "2147483647")

if __name__ == "__main__":
    table(
        ("gain", "divisor", "exposures", "expected"),
        [
            *({"gain": "none", "divisor": "", "exposures": count, "expected": "1"} for count in EXPOSURES),
            *(
                {
                    "gain": "logarithmic",
                    "divisor": divisor,
                    "exposures": count,
                    "expected": shown(1 + log2(exact(count) + 1) / exact(divisor)),
                }
                for divisor in ("8", "0.5", "1000")
                for count in EXPOSURES
            ),
            *(
                {"gain": "linear", "divisor": "", "exposures": count, "expected": shown(1 + exact(count))}
                for count in EXPOSURES
            ),
        ],
    )
