"""The verdict on a cube decision, in the words that players use."""

from __future__ import annotations

TIE = 1e-6
"""Equities closer than this are equal."""


def verdict(
    no_double: float,
    double_take: float,
    *,
    owned: bool = False,
    beaver: float | None = None,
    optional: float = TIE,
    nothing_to_lose: bool = False,
) -> str:
    """What both sides should do, by equities of the doubler in units of the cube before; a pass is 1.

    `double, take`, `double, pass`, `too good to double, pass`, `no double, take` or, where a beaver is
    allowed, which is worth `beaver`, `no double, beaver`. `optional double, take` (or pass) where
    doubling and not are within `optional`, unless the doubler has nothing to lose by doubling. With an
    owned cube the word is redouble.
    """
    double = "redouble" if owned else "double"
    beavers = beaver is not None and beaver < double_take - TIE
    doubled = min(double_take, 1.0) if beaver is None else min(double_take, beaver, 1.0)
    answer = "take" if double_take <= 1 + TIE else "pass"
    if beavers:
        answer = "beaver"
    apart = doubled - no_double
    if abs(apart) <= TIE and answer == "pass":
        return f"{double}, pass"
    if abs(apart) <= max(optional, TIE):
        return f"{double}, {answer}" if nothing_to_lose else f"optional {double}, {answer}"
    if apart > 0:
        return f"{double}, {answer}"
    return f"too good to {double}, pass" if answer == "pass" else f"no {double}, {answer}"
