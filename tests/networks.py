"""The slow twin of the value network, in plain Python and float64 torch, and weights for tests.

The inputs are written down anew from `value/features.py`'s words and the layers from
`value/tables.py`'s; of the package only the names of the weights are used.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from numpy.typing import NDArray

from tdgammon.value.tables import Architecture

Weights = dict[str, NDArray[np.float32]]

ARCHITECTURES = {
    "tesauro-relu": Architecture(encoding="tesauro", hidden=(20,), activation="relu"),
    "tesauro-sigmoid": Architecture(encoding="tesauro", hidden=(7,), activation="sigmoid"),
    "counts-relu": Architecture(encoding="counts", hidden=(16, 9), activation="relu"),
    "counts-sigmoid": Architecture(encoding="counts", hidden=(9, 17, 5), activation="sigmoid"),
    "one-unit": Architecture(encoding="counts", hidden=(1,), activation="relu"),
    "pairs-sigmoid": Architecture(encoding="pairs", hidden=(13,), activation="sigmoid"),
    "windows-relu": Architecture(encoding="windows", hidden=(18, 5), activation="relu"),
    "shots-sigmoid": Architecture(encoding="shots", hidden=(21,), activation="sigmoid"),
    "shots-relu": Architecture(encoding="shots", hidden=(19, 6), activation="relu"),
    "specialists": Architecture(encoding="shots", hidden=(11,), activation="sigmoid", specialists=True),
    "deep-specialists": Architecture(hidden=(12, 5), activation="relu", specialists=True),
}
"""All encodings and activations, one and several layers, sizes that fill no vector register."""

ONE_NETWORK = [name for name in ARCHITECTURES if not ARCHITECTURES[name].specialists]


def random_weights(architecture: Architecture, seed: int = 1, scale: float = 1.0) -> Weights:
    """Normal weights of a size that gives all six outcomes chances worth comparing."""
    rng = np.random.default_rng(seed)
    weights = {}
    if architecture.specialists:
        each = [random_weights(architecture.specialist, 10 * seed + kind, scale) for kind in range(5)]
        return {name: np.stack([weights[name] for weights in each]) for name in each[0]}
    for name, shape in architecture.shapes.items():
        fan_in = 20 if name == "inputs.weight" else shape[-1]
        spread = scale / fan_in**0.5 if len(shape) == 2 else 0.3 * scale
        weights[name] = rng.normal(0, spread, shape).astype(np.float32)
    return weights


def _point(encoding: str, count: int) -> list[float]:
    if encoding == "tesauro":
        return [float(count >= 1), float(count >= 2), float(count >= 3), max(0, count - 3) / 2]
    return [*(float(count == n) for n in (1, 2, 3, 4, 5)), float(count >= 6), max(0, count - 6) / 4]


def inputs(board: Sequence[int], encoding: str) -> list[float]:
    """The F inputs of one board, for each side: its points from 1 to 24, its bar, its checkers off."""
    found: list[float] = []
    for sign, bar in ((1, 25), (-1, 0)):
        own = [max(0, sign * int(count)) for count in board]
        for place in range(1, 25):
            found += _point(encoding, own[place])
        off = 15 - sum(own)
        if encoding == "tesauro":
            found += [own[bar] / 2, off / 15]
        else:
            found += _point("counts", own[bar])
            found += [off / 15, *(float(off >= n) for n in (1, 3, 6, 9, 12, 14))]
    codes: list[int] = []
    if encoding in ("pairs", "windows", "shots"):
        few = [max(-2, min(2, int(count))) for count in board]
        codes += [5 * few[k] + few[k + 1] for k in range(25)]
    if encoding in ("windows", "shots"):
        codes += [_window_code(board[k : k + 8]) for k in range(19)]
    if encoding == "shots":
        codes += _shot_codes([int(count) for count in board])
    for code in codes:
        found += [float(code == n) for n in range(-15, 16) if n]
    return found


def rolls_that_hit(board: Sequence[int]) -> list[int]:
    """How many of the 36 rolls hit the opponent's blot on each point 1 .. 24, or any blot (place 0)."""
    rolls = [0] * 25
    own = {point for point in range(1, 25) if board[point] > 0}
    for die1 in range(1, 7):
        for die2 in range(1, 7):
            found = _hits(board, own, [die1, die2]) | _hits(board, own, [die2, die1])
            if die1 == die2:
                found = _hits(board, own, [die1] * 4)
            for point in found:
                rolls[point] += 1
            rolls[0] += bool(found)
    return rolls


def _hits(board: Sequence[int], own: set[int], dice: list[int]) -> set[int]:
    """Points of blots that one checker hits with the dice in this order, entering before if it must."""
    found = set()

    def move(point: int, die: int) -> int:
        point -= die
        if point < 1 or board[point] < -1:
            return 0
        if board[point] == -1:
            found.add(point)
        return point

    movers = own
    if board[25] > 0:
        entered = move(25, dice[0])
        if board[25] > 1 or not entered:
            return found
        movers, dice = own | {entered}, dice[1:]
    for point in movers:
        at = point
        for die in dice:
            at = at and move(at, die)
    return found


def _shot_codes(board: list[int]) -> list[int]:
    by_player = rolls_that_hit(board)
    by_opponent = rolls_that_hit([-count for count in reversed(board)])

    def code(rolls: int) -> int:
        return min((rolls + 1) // 2, 15)

    codes = [code(by_player[p]) - code(by_opponent[25 - p]) for p in range(1, 25)]
    return [*codes, code(by_player[0]), -code(by_opponent[0])]


BOTH_HELD = {
    held: code
    for held, code in zip(
        [(a, total - a) for total in range(2, 7) for a in range(1, total)],
        [7, 8, 9, 10, 11, 12, 13, 14, 15, -7, -8, -9, -10, -11, -12],
        strict=True,
    )
}
"""The codes of windows that hold (points against the player, points against the opponent)."""


def _window_code(eight: Sequence[int]) -> int:
    """Of six points with the place below and the place above them."""
    below, *six, above = (int(count) for count in eight)
    against_player = sum(count < -1 for count in six) if above > 0 else 0
    against_opponent = sum(count > 1 for count in six) if below < 0 else 0
    if against_player and against_opponent:
        return BOTH_HELD[against_player, against_opponent]
    return against_player - against_opponent


def outcome(board: Sequence[int]) -> list[float] | None:
    """Chances of the six outcomes of a finished game, or None while it goes on (R12)."""
    own = [max(0, int(count)) for count in board]
    opposing = [max(0, -int(count)) for count in board]
    if sum(own) and sum(opposing):
        return None
    won = not sum(own)
    loser = opposing if won else own
    deep = loser[0:7] if won else loser[19:26]  # the winner's home board and the loser's bar
    size = 1 if sum(loser) < 15 else 3 if any(deep) else 2
    return [float(k == (3 - size if won else 2 + size)) for k in range(6)]


def possible(board: Sequence[int]) -> list[bool]:
    """Which outcomes can still come: a side that has borne off loses no gammon (R12)."""
    own_off = sum(max(0, int(c)) for c in board) < 15
    opposing_off = sum(max(0, -int(c)) for c in board) < 15
    return [not opposing_off] * 2 + [True] * 2 + [not own_off] * 2


def logits(x: torch.Tensor, weights: Mapping[str, torch.Tensor], activation: str) -> torch.Tensor:
    """The network's last layer for inputs [B, F], before anything impossible is left out."""
    act = torch.relu if activation == "relu" else torch.sigmoid
    values = act(x @ weights["inputs.weight"] + weights["inputs.bias"])
    layer = 0
    while f"hidden.{layer}.weight" in weights:
        values = act(values @ weights[f"hidden.{layer}.weight"].T + weights[f"hidden.{layer}.bias"])
        layer += 1
    return values @ weights["output.weight"].T + weights["output.bias"]


def position_class(board: Sequence[int]) -> int:
    """Which specialist a position is for: by the checkers in the other side's home and on the bar."""
    own = sum(max(0, int(count)) for count in board[19:26])
    opposing = sum(max(0, -int(count)) for count in board[0:7])
    if own >= 3 or opposing >= 3:
        return 3 if own >= opposing else 4
    return 2 if not own else 0 if opposing else 1


def probabilities(
    boards: Sequence[Sequence[int]], architecture: Architecture, weights: Mapping[str, NDArray]
) -> NDArray[np.float64]:
    """Chances of the six outcomes of boards, [B, 6]; exact where the game is over."""
    if architecture.specialists:
        each = [
            probabilities(boards, architecture.specialist, {n: w[kind] for n, w in weights.items()})
            for kind in range(5)
        ]
        return np.array([each[position_class(board)][row] for row, board in enumerate(boards)])
    exact = {name: torch.from_numpy(value).double() for name, value in weights.items()}
    x = torch.tensor([inputs(board, architecture.encoding) for board in boards], dtype=torch.float64)
    last = logits(x, exact, architecture.activation)
    rule_out = ~torch.tensor([possible(board) for board in boards])
    found = torch.softmax(last.masked_fill(rule_out, -torch.inf), dim=1).numpy()
    for row, board in enumerate(boards):
        over = outcome(board)
        if over is not None:
            found[row] = over
    return found
