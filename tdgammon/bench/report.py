"""Figures and tables as plain text."""

from __future__ import annotations

import math
from collections.abc import Sequence


def table(rows: Sequence[Sequence[str]]) -> str:
    """Aligned columns, the first to the left and the others to the right; no newline at the end."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return "\n".join(
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        ).rstrip()
        for row in rows
    )


def interval(mean: float, half_width: float | None, digits: int = 3, sign: str = "+") -> str:
    """`+0.512 +- 0.034`; without a half-width (None or NaN) the mean alone.

    sign is "+" to write it always, "" for negative numbers only.
    """
    written = f"{mean:{sign}.{digits}f}"
    if half_width is None or math.isnan(half_width):
        return written
    return f"{written} +- {half_width:.{digits}f}"


def or_none(number: float) -> float | None:
    """The number as JSON can hold it: NaN becomes None."""
    return None if math.isnan(number) else number
