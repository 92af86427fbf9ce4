"""The names of `tdgammon` that users rely on."""

import subprocess
import sys

import numpy as np
import pytest

import tdgammon


@pytest.mark.parametrize("name", tdgammon.__all__)
def test_every_public_name_loads_and_has_a_docstring(name: str) -> None:
    value = getattr(tdgammon, name)
    assert isinstance(value, np.ndarray) or value.__doc__


def test_every_public_name_is_listed_and_has_a_home() -> None:
    assert set(tdgammon.__all__) == set(tdgammon._HOMES) <= set(dir(tdgammon))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="nonsense"):
        tdgammon.nonsense  # noqa: B018


def test_the_installed_version_is_the_one_of_the_package() -> None:
    from importlib import metadata

    try:
        installed = metadata.version("tdgammon")
    except metadata.PackageNotFoundError:
        pytest.skip("tdgammon is not installed, only found on the path")
    assert installed == tdgammon.__version__


def test_the_start_position_is_symmetric_and_cannot_be_written_to() -> None:
    assert (tdgammon.flip(tdgammon.START) == tdgammon.START).all()
    assert (tdgammon.parse(tdgammon.text(tdgammon.START)) == tdgammon.START).all()
    with pytest.raises(ValueError, match="read-only"):
        tdgammon.START[0] = 1


def test_a_roll_of_three_and_one_leaves_sixteen_boards() -> None:
    rows, offsets = tdgammon.afterstates(tdgammon.START, [3, 1])
    assert rows.shape == (16, 26)
    assert offsets.tolist() == [0, 16]
    assert len(tdgammon.plays(tdgammon.START, [3, 1])) == 16


def loaded_after(code: str) -> set[str]:
    """The top-level packages in memory after a fresh interpreter ran `code`."""
    code += "\nimport sys; print(*{name.partition('.')[0] for name in sys.modules})"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


def test_importing_the_package_loads_neither_torch_nor_numba() -> None:
    assert not {"torch", "numba", "numpy"} & loaded_after("import tdgammon")


def test_playing_and_evaluating_do_not_load_torch() -> None:
    loaded = loaded_after(
        "import tdgammon\n"
        "tdgammon.bot('default').choose(tdgammon.START, [3, 1])\n"
        "tdgammon.load().probabilities(tdgammon.START)\n"
        "tdgammon.plays(tdgammon.START, [3, 1])\n"
    )
    assert "numba" in loaded
    assert "torch" not in loaded
