"""A drawing of the market window: cubeful equities against the chance of winning, as SVG."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from tdgammon.analysis.positions import Analysis, life_at, shares_of, table_for
from tdgammon.decide.bots import NetworkBot
from tdgammon.decide.position_stakes import stakes_of
from tdgammon.decide.window import chances_of, equities_at
from tdgammon.game.board import checked_boards
from tdgammon.game.stakes import OWN

_WIDTH, _HEIGHT = 720, 460
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 20, 50, 50
_COLOURS = {"no double": "#1f6f9f", "double, take": "#b5442e", "double, pass": "#6b6b6b"}
_SHADE, _GRID, _INK = "#f3e3b3", "#e2e2e2", "#222222"
_POINTS = 201


def market_svg(analysis: Analysis, player: NetworkBot) -> str:
    """The equities of the three cube actions by the formulas, with the position's share of gammons, and
    the window in which doubling and taking are both right.

    Raises ValueError where the player on roll may not double.
    """
    if analysis.market is None:
        raise ValueError(f"--plot: there is no market window: {analysis.cube.reason}")
    stakes = stakes_of(analysis.position)
    table = table_for(stakes, player)
    wins = np.linspace(0, 1, _POINTS)
    chances = chances_of(wins, *shares_of(analysis.probabilities))
    life = life_at(checked_boards(analysis.position.board), table)
    owned = bool(stakes.cube_owners[0] == OWN)
    worths = equities_at(table, chances, life, owned=owned)
    win, lose = table.cash[0, 0], -table.cash[1, 0]
    no_double, take = (2 * (worth - lose) / (win - lose) - 1 for worth in worths)
    lines = {"no double": no_double, "double, take": take, "double, pass": np.ones(_POINTS)}
    low = max(-3.0, float(np.floor(min(line.min() for line in lines.values()))))
    high = min(3.0, float(np.ceil(max(line.max() for line in lines.values()))))
    return _drawn(analysis, wins, lines, low, high)


def _drawn(
    analysis: Analysis,
    wins: NDArray[np.float64],
    lines: dict[str, NDArray[np.float64]],
    low: float,
    high: float,
) -> str:
    market = analysis.market
    assert market is not None

    def x(win: float) -> float:
        return _LEFT + (_WIDTH - _LEFT - _RIGHT) * win

    def y(equity: float) -> float:
        return _TOP + (_HEIGHT - _TOP - _BOTTOM) * (high - equity) / (high - low)

    unit = "normalised match equity" if analysis.position.length else "equity, points"
    here, value = sum(analysis.probabilities[:3]), analysis.cube.no_double
    parts = [
        _rectangle(0, 0, _WIDTH, _HEIGHT, "white"),
        _rectangle(
            x(market.double_point),
            _TOP,
            x(market.cash_point) - x(market.double_point),
            y(low) - _TOP,
            _SHADE,
        ),
        _text(
            _LEFT, 20, f"Market window {market.double_point:.1%} to {market.cash_point:.1%}", size=15
        ),
        _text(_LEFT, 38, f"{analysis.cube.verdict}; the dot is the position", size=12),
        _text((_LEFT + _WIDTH - _RIGHT) / 2, _HEIGHT - 12, "chance of winning", anchor="middle"),
        f'<g transform="rotate(-90 16 {_HEIGHT / 2})">'
        + _text(16, _HEIGHT / 2, unit, anchor="middle")
        + "</g>",
    ]
    for tenth in range(0, 11, 2):
        parts.append(_line([(x(tenth / 10), y(low)), (x(tenth / 10), y(high))], _GRID))
        parts.append(_text(x(tenth / 10), y(low) + 16, f"{tenth * 10} %", anchor="middle"))
    for equity in np.arange(low, high + 0.5, 1.0):
        parts.append(_line([(x(0), y(equity)), (x(1), y(equity))], _GRID))
        parts.append(_text(_LEFT - 6, y(equity) + 4, f"{equity:+.0f}", anchor="end"))
    for number, (name, equities) in enumerate(lines.items()):
        seen = (equities >= low - 1e-9) & (equities <= high + 1e-9)
        points = [(x(float(w)), y(float(e))) for w, e in zip(wins[seen], equities[seen], strict=True)]
        parts.append(_line(points, _COLOURS[name], width=2))
        parts.append(_text(x(0.03), _TOP + 18 + 16 * number, name, colour=_COLOURS[name]))
    if low <= value <= high:
        parts.append(f'<circle cx="{x(here):.1f}" cy="{y(value):.1f}" r="4.5" fill="{_INK}"/>')
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{_WIDTH}" height="{_HEIGHT}" '
        f'viewBox="0 0 {_WIDTH} {_HEIGHT}" font-family="sans-serif">\n{body}\n</svg>\n'
    )


def _line(points: Sequence[tuple[float, float]], colour: str, width: float = 1) -> str:
    words = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
    return f'<polyline points="{words}" fill="none" stroke="{colour}" stroke-width="{width}"/>'


def _rectangle(left: float, top: float, width: float, height: float, colour: str) -> str:
    place = f'x="{left:.1f}" y="{top:.1f}" width="{width:.1f}" height="{height:.1f}"'
    return f'<rect {place} fill="{colour}"/>'


def _text(
    left: float, top: float, words: str, *, size: int = 12, anchor: str = "start", colour: str = _INK
) -> str:
    return (
        f'<text x="{left:.1f}" y="{top:.1f}" font-size="{size}" text-anchor="{anchor}" '
        f'fill="{colour}">{words}</text>'
    )
