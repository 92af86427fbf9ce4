"""Sets of places as the bits of an int64."""

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
def lowest_bit(typingctx, word):
    """Number of the lowest bit that is set in an int64 other than 0."""

    def build(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 1))

    return types.int64(types.int64), build


@intrinsic
def highest_bit(typingctx, word):
    """Number of the highest bit that is set in an int64 other than 0."""

    def build(context, builder, signature, args):
        zeros = builder.ctlz(args[0], ir.Constant(ir.IntType(1), 1))
        return builder.sub(ir.Constant(ir.IntType(64), 63), zeros)

    return types.int64(types.int64), build
