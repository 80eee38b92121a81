"""What the scripts of this folder share: exact arithmetic, and how a table is printed.

Each script prints the table of its name. It takes nothing from the code that is tested, which is held against it.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterable, Mapping, Sequence
from decimal import Decimal, getcontext
from fractions import Fraction
from pathlib import Path

getcontext().prec = 50

Number = Decimal | Fraction | int | str


def exact(value: Number) -> Decimal:
    """The number in 50 digits."""
    if isinstance(value, Fraction):
        return Decimal(value.numerator) / Decimal(value.denominator)
    return Decimal(value)


def power(base: Number, exponent: Number) -> Decimal:
    """The power of a base above 0."""
    return (exact(exponent) * exact(base).ln()).exp()


def log2(value: Number) -> Decimal:
    return exact(value).ln() / Decimal(2).ln()


def shown(value: Number | None, digits: int = 15) -> str:
    """As many significant digits as a double holds; nothing for what is absent."""
    if value is None or exact(value) == 0:
        return "" if value is None else "0"
    mantissa, exponent, size = f"{exact(value):.{digits}g}".partition("e")
    return (mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa) + exponent + size


def several(values: Iterable[Number | None]) -> str:
    """Numbers in one cell; `-` for what is absent."""
    return " ".join(shown(value) or "-" for value in values)


def table(columns: Sequence[str], rows: Iterable[Mapping[str, str]]) -> None:
    """Print the rows as CSV, `source` (the script that runs) last."""
    source = Path(sys.argv[0]).name
    writer = csv.DictWriter(sys.stdout, [*columns, "source"], lineterminator="\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({**row, "source": source})
