"""Damaged files and identifiers: a right reading, warnings, or a NotationError, and nothing else."""

import random
import resource
import subprocess
import sys
import time
from pathlib import Path

import pytest
from matches import random_match

from tdgammon.notation import columns, document, sgf
from tdgammon.notation.detect import MATCH_WRITERS, POSITION_WRITERS, read_text, record_positions
from tdgammon.notation.plays import NotationError
from tdgammon.notation.reading import MAX_BYTES, Reading, decoded

WRITERS = (columns.write_mat, columns.write_xg, sgf.write_sgf, document.write_json)
JUNK = b'()[];:/*0123456789BWxyz ABCDE-+=\n\r\t\\"\x00\xff\xe9,'
HINTS = [
    b"Wins 9 points",
    b"????",
    b"Illegal play (",
    b"; Set Pos=",
    b"Doubles => 2",
    b"Takes",
    b" Game 2\n",
]
HINTS += [
    b"bar/20*",
    b"24/18(2)",
    b"Beavers => 4",
    b"9" * 5000,
    b"(" * 300,
    b"[",
    b"XGID=",
    b"Losses 1 point",
]


def seeds(shared: Path | None) -> list[bytes]:
    """Small sound files of every format, and the samples where they are."""
    found: list[bytes] = []
    for seed in range(12):
        match = random_match(seed, (0, 1, 3)[seed % 3], num_games=1)
        found += [write(match).encode() for write in WRITERS]
        lines = [write(position) for _, position in record_positions(match)[::7] for write in POSITIONS]
        found += [line.encode() for line in lines[:40]]
        found.append("\n".join(lines[:20]).encode())
    if shared is not None:
        samples = sorted((shared / "files").glob("*.*"))
        found += [path.read_bytes()[:4000] for path in samples if path.suffix != ".md"]
    return found


POSITIONS = tuple(POSITION_WRITERS.values())


def mutated(data: bytes, rng: random.Random) -> bytes:
    """The file with up to four kinds of damage."""
    for _ in range(rng.randint(1, 4)):
        kind = rng.randrange(7)
        if not data:
            return data
        at = rng.randrange(len(data))
        if kind == 0:
            data = data[:at]
        elif kind == 1:
            data = data[:at] + bytes([rng.choice(JUNK)]) + data[at + 1 :]
        elif kind == 2:
            data = data[:at] + data[at + rng.randint(1, 30) :]
        elif kind == 3:
            data = data[:at] + rng.choice(HINTS) + data[at:]
        else:
            lines = data.splitlines(keepends=True)
            one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
            if kind == 4:
                lines[one], lines[other] = lines[other], lines[one]
            elif kind == 5:
                lines[one:one] = lines[other : other + 3]
            else:
                del lines[one]
            data = b"".join(lines)
    return data


def check(data: bytes) -> Reading | None:
    """Read it; what is read must also be writable in every format, and read back the same as JSON."""
    try:
        reading = read_text(decoded(data))
    except NotationError:
        return None
    if reading.record is not None:
        for write in MATCH_WRITERS.values():
            write(reading.record)
        again = document.read_json(document.write_json(reading.record))
        assert again.record == reading.record
    return reading


def fuzz(num: int, seed: int, corpus: list[bytes]) -> tuple[int, float]:
    """How many of `num` damaged files could still be read, and the most CPU time that one took."""
    rng = random.Random(seed)
    num_read, slowest_s = 0, 0.0
    for index in range(num):
        data = mutated(rng.choice(corpus), rng)
        start = time.process_time()
        try:
            num_read += check(data) is not None
        except Exception as error:
            raise AssertionError(f"seed {seed}, file {index}: {error!r} for {data[:3000]!r}") from error
        slowest_s = max(slowest_s, time.process_time() - start)
    return num_read, slowest_s


@pytest.fixture(scope="module")
def corpus() -> list[bytes]:
    shared = Path(__file__).parents[2] / "shared"
    return seeds(shared if shared.is_dir() else None)


def test_damaged_files_end_in_a_reading_or_a_notation_error(corpus: list[bytes]) -> None:
    num_read, slowest_s = fuzz(800, 1, corpus)
    assert 0 < num_read < 800
    assert slowest_s < 5  # no hang: a sound file of this size takes milliseconds


@pytest.mark.slow
def test_100_000_damaged_files_end_in_a_reading_or_a_notation_error(corpus: list[bytes]) -> None:
    num_read, slowest_s = fuzz(100_000, 2, corpus)
    assert 0 < num_read < 100_000
    assert slowest_s < 5


HUGE = {
    "one line of digits": b"7" * 1000,
    "one row": b" 7 point match\n\n Game 1\n A : 0   B : 0\n  1) 31: " + b"8/5 " * 1000,
    "one value": b"(;FF[4]GM[6]C[" + b"x" * 1000,
    "brackets": b"(;GM[6]" + b"(" * 1000,
    "JSON": b'{"format": "tdgammon-match/1", "games": [' + b"[" * 1000,
    "blanks": b" 7 point match" + b" " * 1000,
}


@pytest.mark.parametrize("name", ["one row", pytest.param("JSON", marks=pytest.mark.slow)])
def test_a_line_of_a_hundred_megabytes_is_refused_in_little_memory(name: str, tmp_path: Path) -> None:
    path = tmp_path / "huge"
    start, unit = HUGE[name][:-1000], HUGE[name][-1000:]
    with path.open("wb") as file:
        file.write(start)
        for _ in range(1000):
            file.write(unit * 100)
    code = (
        "import resource, sys\n"
        "from tdgammon.notation.detect import read_file\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try:\n    read_file(sys.argv[1])\nexcept ValueError as error:\n    print(error)\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)\n"
    )
    start_s = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", code, str(path)], capture_output=True, text=True, check=True, timeout=60
    )
    message, kilobytes = done.stdout.splitlines()
    assert f"larger than the {MAX_BYTES >> 20} MiB" in message
    assert int(kilobytes) < 200_000
    assert time.perf_counter() - start_s < 30


@pytest.mark.slow
@pytest.mark.parametrize("name", HUGE)
def test_a_line_just_below_the_limit_is_read_in_bounded_memory_and_time(name: str) -> None:
    start, unit = HUGE[name][:-1000], HUGE[name][-1000:]
    data = start + unit * ((MAX_BYTES - len(start)) // 1000)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    start_s = time.process_time()
    check(data)
    assert time.process_time() - start_s < 60
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 12 * (MAX_BYTES >> 10)
