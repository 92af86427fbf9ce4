"""Sets of places as the bits of an int64."""

import numba as nb
from llvmlite import ir
from numba.core import types
from numba.extending import intrinsic


@intrinsic
def num_bits(typingctx, word):
    """How many bits of an int64 are set."""

    def build(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.int64), build


@intrinsic
def reversed_bits(typingctx, word):
    """An int64 with its bits in the opposite order."""

    def build(context, builder, signature, args):
        return builder.bitreverse(args[0])

    return types.int64(types.int64), build


@intrinsic
def lowest_bit(typingctx, word):
    """Number of the lowest bit that is set in an int64 other than 0."""

    def build(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


@nb.njit(cache=True, nogil=True, inline="always")
def from_other_side(places):
    """Places 0 .. 25 of a board as the other side numbers them: p becomes 25 - p."""
    return reversed_bits(places) >> 38 & ((1 << 26) - 1)
