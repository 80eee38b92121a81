"""exp(-rate x age / (1 + spacing x exposures)) in 50 digits. Engram's rate is 0.03 a day, its spacing 0.1 an access."""

from __future__ import annotations

from plain import exact, shown, table

AGES = ("-36525", "-0.5", "0", "0.0416666666666667", "1", "7", "40.132427", "365", "36525")
EXPOSURES = ("0", "1", "10", "1000000")

if __name__ == "__main__":
    table(
        ("rate", "spacing", "age", "exposures", "expected"),
        (
            {
                "rate": rate,
                "spacing": spacing,
                "age": age,
                "exposures": exposures,
                "expected": shown(
                    (-exact(rate) * max(exact(0), exact(age)) / (1 + exact(spacing) * exact(exposures))).exp()
                ),
            }
            for rate, spacing in (("0.03", "0.1"), ("0.03", "0"), ("100", "0.1"), ("0.000001", "100"))
            for age in AGES
            for exposures in EXPOSURES
        ),
    )
