"""Compiled loops over arrays. Importing this package does not compile anything: the first call does.

Numba's cache looks only at the file a function stands in, so a change in one kernel would leave
stale machine code in those that call it. Here the cache folder is named after all kernel sources.
"""

from __future__ import annotations

import hashlib
import os
from pathlib import Path

import numba


def _cache_folder() -> Path:
    sources = sorted(Path(__file__).parent.glob("*.py"))
    digest = hashlib.sha256(b"\0".join(source.read_bytes() for source in sources)).hexdigest()
    base = (
        os.environ.get("NUMBA_CACHE_DIR") or os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    )
    return Path(base) / "tdgammon" / f"kernels-{digest[:16]}"


_before = numba.config.CACHE_DIR
numba.config.CACHE_DIR = str(_cache_folder())
try:  # functions pick their cache folder when they are decorated, that is, here
    from tdgammon.kernels import (
        bearoff,
        caucasian,
        cubeful,
        dice,
        entering,
        forward,
        learning,
        linear,
        movegen,
        one_side,
        one_sided,
        racing,
        returns,
        rollout,
        search,
        selfplay,
        side_rows,
        two_sided,
    )
finally:
    numba.config.CACHE_DIR = _before

__all__ = [
    "bearoff",
    "caucasian",
    "cubeful",
    "dice",
    "entering",
    "forward",
    "learning",
    "linear",
    "movegen",
    "one_side",
    "one_sided",
    "racing",
    "returns",
    "rollout",
    "search",
    "selfplay",
    "side_rows",
    "two_sided",
]
