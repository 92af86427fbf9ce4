"""The one random generator: SplitMix64 in counter mode, and dice made from it.

A stream is a 64-bit key; its k-th number is mix(key + (k + 1) * GAMMA), so any turn of any game
can be asked for directly and nothing has to be saved to resume. mix and GAMMA are those of
SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA 2014).
"""

import numba as nb
import numpy as np

GAMMA = np.uint64(0x9E3779B97F4A7C15)
_MIX1 = np.uint64(0xBF58476D1CE4E5B9)
_MIX2 = np.uint64(0x94D049BB133111EB)
_S27, _S30, _S31, _S11 = np.uint64(27), np.uint64(30), np.uint64(31), np.uint64(11)
_ONE = np.uint64(1)
_TO_UNIT = 2.0**-53


@nb.njit(cache=True, nogil=True, inline="always")
def mix(word):
    """SplitMix64's output function: a bijection of 64-bit words."""
    word = (word ^ (word >> _S30)) * _MIX1
    word = (word ^ (word >> _S27)) * _MIX2
    return word ^ (word >> _S31)


@nb.njit(cache=True, nogil=True)
def bits(key, count):
    """Number `count` (from 0) of stream `key`: 64 random bits."""
    return mix(key + (np.uint64(count) + _ONE) * GAMMA)


@nb.njit(cache=True, nogil=True)
def stream(seed, index):
    """Key of stream `index` of `seed`; different pairs give unrelated streams."""
    return mix(mix(np.uint64(seed) + GAMMA) ^ (np.uint64(index) * _MIX1 + GAMMA))


@nb.njit(cache=True, nogil=True)
def below(key, count, limit):
    """A number in 0 .. limit - 1; the bias is below limit / 2**53."""
    return np.int64(np.float64(bits(key, count) >> _S11) * _TO_UNIT * limit)


@nb.njit(cache=True, nogil=True)
def roll(key, turn):
    """The two dice of a turn. Turn 0 is the opening roll, which is never a double (R2)."""
    if turn == 0:
        pick = below(key, 0, 30)
        first = pick // 5
        second = pick % 5
        if second >= first:
            second += 1
        return first + 1, second + 1
    pick = below(key, turn, 36)
    return pick // 6 + 1, pick % 6 + 1


@nb.njit(cache=True, nogil=True)
def fill_rolls(keys, turns, rolls):
    """Write the roll of each (key, turn) into `rolls` int8 [B, 2]."""
    for i in range(len(keys)):
        first, second = roll(keys[i], turns[i])
        rolls[i, 0] = first
        rolls[i, 1] = second


@nb.njit(cache=True, nogil=True)
def fill_streams(seed, first_index, keys):
    """Write the keys of streams first_index, first_index + 1, ... of `seed`."""
    for i in range(len(keys)):
        keys[i] = stream(seed, np.uint64(first_index) + np.uint64(i))
