"""Settings of every test, and the material that lies beside some checkouts."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parents[1]

for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
    os.environ[name] = "1"  # before numpy and torch are loaded
# a job in the background of a shell ignores Ctrl-C, and so would the processes that tests interrupt
signal.signal(signal.SIGINT, signal.default_int_handler)
os.environ["PYTHONPATH"] = str(ROOT)  # processes that tests start find the package from any folder


@pytest.fixture(scope="session")
def shared() -> Path:
    """The reference material beside the repository; skips the test where it is absent."""
    folder = ROOT.parent / "shared"
    if not folder.is_dir():
        pytest.skip("../shared does not lie beside this checkout")
    return folder


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[Any, list[Any]]]:
    """A Ray cluster of this machine: a head without CPUs and two nodes with one each."""
    pytest.importorskip("ray", reason="Ray is not installed (the extra `ray`)")
    from ray.cluster_utils import Cluster

    path = os.pathsep.join([os.path.dirname(__file__), os.environ["PYTHONPATH"]])
    monkeypatch.setenv("PYTHONPATH", path)  # the nodes' workers find the tests and the package
    found = Cluster(initialize_head=True, head_node_args={"num_cpus": 0})
    try:
        yield found, [found.add_node(num_cpus=1) for _ in range(2)]
    finally:
        found.shutdown()
