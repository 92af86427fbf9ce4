"""Settings of every test, and the material that lies beside some checkouts."""

import os
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy and torch are loaded
os.environ["PYTHONPATH"] = str(ROOT)  # processes that tests start find the package from any folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference material beside the repository; skips the test where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("../shared does not lie beside this checkout")
    return folder
