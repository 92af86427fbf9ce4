"""A board drawn in text, for people at a terminal."""

from __future__ import annotations

from collections.abc import Sequence

from numpy.typing import ArrayLike

from tdgammon.game.board import (
    NUM_CHECKERS,
    OPPONENT_BAR,
    OWN_BAR,
    checked_boards,
    checked_rolls,
    off_counts,
    pip_counts,
)

OWN, OPPOSING = "●", "○"
_HEIGHT = 5
_PANEL = 32  # columns beside the board, within 80


def diagram(
    board: ArrayLike,
    roll: ArrayLike | None = None,
    names: tuple[str, str] = ("player", "opponent"),
    on_roll: int | None = 0,
    notes: Sequence[str] = (),
    num_checkers: int = NUM_CHECKERS,
) -> str:
    """The board seen by the player, whose points are numbered: 15 lines of at most 80 columns.

    `names` are those of the player (● below) and the opponent (○ above). `on_roll` says whose turn
    it is, 0 or 1 (None: nobody's, the game is over), and `roll` [2] what was rolled. Up to four
    `notes` (cube, score) stand below that. Stacks of more than five end in their number. A side has
    `num_checkers`. Raises ValueError as `checked_boards` and `checked_rolls` do.
    """
    rows = checked_boards(board)
    if len(rows) != 1:
        raise ValueError(f"board: one board of 26 numbers expected, got {len(rows)}")
    if on_roll not in (0, 1, None):
        raise ValueError(f"on_roll: must be 0 (player), 1 (opponent) or None, got {on_roll!r}")
    if len(notes) > _HEIGHT - 1:
        raise ValueError(f"notes: at most {_HEIGHT - 1} lines, got {len(notes)}")
    cells = rows[0].tolist()
    turn = ""
    if on_roll is not None:
        dice = [] if roll is None else checked_rolls(roll, 1)[0].tolist()
        to_do = f"to play {dice[0]}-{dice[1]}" if dice else "to roll"
        turn = f"{(OWN, OPPOSING)[on_roll]} {_short(names[on_roll], _PANEL - 14)} {to_do}"
    opponent, player = (
        (f"{mark} {_short(name, _PANEL - 2)}", f"  {pips} pips, {off} off")
        for mark, name, pips, off in zip(
            (OPPOSING, OWN),
            names[::-1],
            pip_counts(rows)[0, ::-1],
            off_counts(rows, num_checkers)[0, ::-1],
            strict=True,
        )
    )
    upper = _half(cells, range(13, 25), cells[OWN_BAR])
    lower = _half(cells, range(12, 0, -1), cells[OPPONENT_BAR])[::-1]
    beside = [_short(note, _PANEL) for note in notes] + [""] * (_HEIGHT - 1 - len(notes))
    edge = "─" * 18
    lines = [
        (_numbers(range(13, 25)), ""),
        (f" ┌{edge}┬───┬{edge}┐", opponent[0]),
        (upper[0], opponent[1]),
        *((line, "") for line in upper[1:]),
        (f" │{'':18}│BAR│{'':18}│", turn),
        *zip(lower[:-1], beside, strict=True),
        (lower[-1], player[1]),
        (f" └{edge}┴───┴{edge}┘", player[0]),
        (_numbers(range(12, 0, -1)), ""),
    ]
    return "\n".join(f"{line}  {words}".rstrip() for line, words in lines)


def _half(cells: list[int], points: range, on_bar: int) -> list[str]:
    """Lines of one half from the edge to the middle; checkers on the bar start in the middle."""
    stacks = [_stack(cells[point]) for point in points]
    bar = _stack(on_bar)[::-1]
    return [
        f" │{''.join(stack[i] for stack in stacks[:6])}│{bar[i]}│"
        f"{''.join(stack[i] for stack in stacks[6:])}│"
        for i in range(_HEIGHT)
    ]


def _stack(count: int) -> list[str]:
    mark = OWN if count > 0 else OPPOSING
    height = abs(count)
    stack = [f" {mark} "] * min(height, _HEIGHT) + ["   "] * (_HEIGHT - height)
    if height > _HEIGHT:
        stack[-1] = f"{height:2} "
    return stack


def _numbers(points: range) -> str:
    words = [f"{point:2} " for point in points]
    return f"  {''.join(words[:6])}     {''.join(words[6:])}".rstrip()


def _short(name: str, width: int) -> str:
    return name if len(name) <= width else name[: width - 1] + "…"
