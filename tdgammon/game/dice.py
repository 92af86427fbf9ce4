"""Dice: the 21 rolls and their weights, and reproducible streams of rolls.

Every roll comes from the generator in `kernels/dice.py`, addressed by (seed, game, turn): two
games with the same stream see the same dice turn by turn, whoever is on roll.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdgammon.game.board import Rolls
from tdgammon.kernels import dice as kernel

_PAIRS = [(high, low) for high in range(1, 7) for low in range(1, high + 1)]

ROLLS: Rolls = np.array(_PAIRS, np.int8)
"""The 21 distinct rolls, higher die first: [21, 2]."""

ROLL_WEIGHTS: NDArray[np.float64] = np.array([1 if a == b else 2 for a, b in _PAIRS]) / 36
"""Chance of each of `ROLLS`: 1/36 for a double, 2/36 for any other."""

BLOCK = 36
"""Trials over which `stratified_rolls` has every first and every second roll once."""

_BEFORE_OPENING = 1 << 40  # turns from here on are the throws that may be equal

_SHUFFLES = 1 << 62  # the stream of a seed that orders stratified rolls; no game's index comes near

ROLLS.setflags(write=False)
ROLL_WEIGHTS.setflags(write=False)


def streams(seed: int, num_streams: int, first: int = 0) -> NDArray[np.uint64]:
    """Keys of the dice streams first .. first + num_streams - 1 of `seed`: uint64 [B].

    Raises ValueError unless 0 <= seed < 2**63.
    """
    if not 0 <= seed < 2**63:
        raise ValueError(f"seed: must be 0 .. 2**63 - 1, got {seed}")
    keys = np.empty(num_streams, np.uint64)
    kernel.fill_streams(np.uint64(seed), np.uint64(first), keys)
    return keys


def rolls_at(keys: NDArray[np.uint64], turns: int | NDArray[np.int64]) -> Rolls:
    """The roll of each stream at a turn: int8 [B, 2]. Turn 0 is the opening roll, never a double.

    The opening roll has the die of the player who starts first and the other's second; a
    higher second die means that the other seat would have started, and the dice are the same.
    """
    rolls = np.empty((len(keys), 2), np.int8)
    kernel.fill_rolls(keys, np.broadcast_to(np.asarray(turns, np.int64), keys.shape), rolls)
    return rolls


def substream(key: np.uint64, index: int) -> np.uint64:
    """Key of stream `index` of a stream, for one more level such as the games of a match."""
    return np.uint64(kernel.stream(key, np.uint64(index)))


def opening_throw(key: np.uint64, num_equal: int) -> tuple[int, int]:
    """The next throw of an opening where equal dice count (R21): one die of each player.

    After `num_equal` equal throws of the game comes one more, or the opening roll of turn 0.
    """
    keys = np.array([key], np.uint64)
    first, second = rolls_at(keys, _BEFORE_OPENING + num_equal)[0].tolist()
    if first != second:
        first, second = rolls_at(keys, 0)[0].tolist()
    return first, second


def stratified_rolls(seed: int, first: int, num_trials: int) -> Rolls:
    """First and second rolls of the trials first, first + 1, ... of a rollout: int8 [B, 2, 2].

    Among 36 trials that begin at a multiple of 36 each of the 36 rolls comes first once and second
    once; among 36 x 36 each pair of them comes once. The pair of a single trial is random.
    """
    trials = np.arange(first, first + num_trials)
    pairs = np.empty((num_trials, 2), np.int64)
    for cycle in np.unique(trials // BLOCK**2):
        firsts, seconds, shifts = (_shuffled(seed, 3 * int(cycle) + which) for which in range(3))
        here = trials // BLOCK**2 == cycle
        place, block = trials[here] % BLOCK, trials[here] // BLOCK % BLOCK
        pairs[here, 0] = firsts[place]
        pairs[here, 1] = seconds[(place + shifts[block]) % BLOCK]
    return np.stack([pairs // 6 + 1, pairs % 6 + 1], axis=-1).astype(np.int8)


def _shuffled(seed: int, index: int) -> NDArray[np.int64]:
    """0 .. 35 in an order that depends on seed and index."""
    shuffling = streams(seed, 1, _SHUFFLES)[0]
    words = [kernel.bits(substream(shuffling, index), count) for count in range(BLOCK)]
    return np.argsort(np.array(words, np.uint64), kind="stable")
