"""Larger networks that begin with the judgement of a smaller one.

More inputs begin with weights of 0, more units with outgoing weights of 0. A layer more begins with
some of its units carrying the six logits on: `relu` units in pairs, l = relu(l) - relu(-l), and
`sigmoid` ones on the almost straight middle of their curve. So growing changes no chance of relu
networks and those of sigmoid ones by at most some 1e-3, and only where a layer is added.
Source: Chen, Goodfellow and Shlens, Net2Net (2016), for the idea.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from tdgammon.value.features import input_blocks
from tdgammon.value.outcome import NUM_OUTCOMES
from tdgammon.value.tables import Architecture, Weights, check_weights, of_class, stacked

_SLOPE = 0.03
"""Of logits carried through a sigmoid: 10 becomes 0.3, where the curve is straight to 0.8 %."""

_SPREAD = 0.5
"""Of the weights of new units, as a share of 1 / sqrt(inputs that are on at a time, about 30)."""


def grown(
    weights: Weights, small: Architecture, large: Architecture, generator: np.random.Generator
) -> dict[str, NDArray[np.float32]]:
    """Weights of `large` that judge as those of `small` do.

    `large` has the inputs of `small` or more, its layers at least as wide, and at most one layer more;
    specialists all begin as the one network that they come from.
    ValueError if it cannot be grown from `small`, naming what differs.
    """
    check_weights(small, weights)
    if large.specialists:
        each = [
            grown(
                of_class(weights, kind) if small.specialists else weights,
                small.specialist,
                large.specialist,
                generator,
            )
            for kind in range(large.num_classes)
        ]
        return stacked(each)
    _check(small, large)
    found = {name: np.array(weight) for name, weight in weights.items()}
    found["inputs.weight"] = _more_inputs(found["inputs.weight"], small.encoding, large.encoding)
    depth = len(small.hidden)
    for layer, units in enumerate(large.hidden[:depth]):
        _widen(found, layer, depth, units, generator)
    if len(large.hidden) > depth:
        _deepen(found, depth, large, generator)
    result = {name: np.ascontiguousarray(found[name], np.float32) for name in large.shapes}
    check_weights(large, result)
    return result


def _check(small: Architecture, large: Architecture) -> None:
    known = dict(input_blocks(large.encoding))
    if not all(known.get(block) == size for block, size in input_blocks(small.encoding)):
        raise ValueError(
            f"network.encoding: {large.encoding!r} lacks inputs of {small.encoding!r}, grown from"
        )
    for name in ("activation", "num_checkers", "specialists"):
        if getattr(small, name) != getattr(large, name):
            have, wanted = getattr(small, name), getattr(large, name)
            raise ValueError(f"network.{name}: {wanted!r} cannot be grown from {have!r}")
    depth = len(small.hidden)
    wide = all(b >= a for a, b in zip(small.hidden, large.hidden, strict=False))
    carriers = NUM_OUTCOMES * (2 if large.activation == "relu" else 1)
    room = len(large.hidden) == depth or (
        len(large.hidden) == depth + 1 and large.hidden[-1] >= carriers
    )
    if not (wide and room):
        raise ValueError(
            f"network.hidden: {large.hidden} cannot be grown from {small.hidden}: layers at least as "
            f"wide, and at most one more, of {carriers} units or more, expected"
        )


def _more_inputs(weight: NDArray[np.float32], old: str, new: str) -> NDArray[np.float32]:
    """Rows of the inputs that both encodings have, and rows of 0 for the others."""
    blocks = input_blocks(new)
    rows = np.zeros((sum(size for _, size in blocks), weight.shape[1]), np.float32)
    begins, at = {}, 0
    for name, size in blocks:
        begins[name] = at
        at += size
    at = 0
    for name, size in input_blocks(old):
        rows[begins[name] : begins[name] + size] = weight[at : at + size]
        at += size
    return rows


def _widen(
    weights: dict[str, NDArray[np.float32]],
    layer: int,
    depth: int,
    units: int,
    generator: np.random.Generator,
) -> None:
    """New units of a layer: random weights in, 0 out."""
    here = "inputs" if layer == 0 else f"hidden.{layer - 1}"
    following = f"hidden.{layer}" if layer + 1 < depth else "output"
    into = weights[f"{here}.weight"] if layer else weights["inputs.weight"].T
    extra = units - len(into)
    spread = _SPREAD / np.sqrt(30 if layer == 0 else into.shape[1])
    fresh = generator.uniform(-spread, spread, (extra, into.shape[1])).astype(np.float32)
    into = np.concatenate([into, fresh])
    weights[f"{here}.weight"] = into if layer else into.T
    weights[f"{here}.bias"] = np.pad(weights[f"{here}.bias"], (0, extra))
    weights[f"{following}.weight"] = np.pad(weights[f"{following}.weight"], ((0, 0), (0, extra)))


def _deepen(
    weights: dict[str, NDArray[np.float32]],
    depth: int,
    large: Architecture,
    generator: np.random.Generator,
) -> None:
    """A last hidden layer whose first units carry the logits on."""
    units, fan_in = large.hidden[-1], large.hidden[-2]
    spread = _SPREAD / np.sqrt(fan_in)
    into = generator.uniform(-spread, spread, (units, fan_in)).astype(np.float32)
    bias = np.zeros(units, np.float32)
    out = np.zeros((NUM_OUTCOMES, units), np.float32)
    out_bias = np.zeros(NUM_OUTCOMES, np.float32)
    logits, logit_bias = weights["output.weight"], weights["output.bias"]
    for k in range(NUM_OUTCOMES):
        if large.activation == "relu":
            for unit, sign in ((2 * k, 1), (2 * k + 1, -1)):
                into[unit], bias[unit], out[k, unit] = sign * logits[k], sign * logit_bias[k], sign
        else:
            into[k], bias[k] = _SLOPE * logits[k], _SLOPE * logit_bias[k]
            out[k, k], out_bias[k] = 4 / _SLOPE, -2 / _SLOPE
    weights[f"hidden.{depth - 1}.weight"], weights[f"hidden.{depth - 1}.bias"] = into, bias
    weights["output.weight"], weights["output.bias"] = out, out_bias
