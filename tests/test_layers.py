"""The order of the packages, as the README tells it, and the places that may load torch."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1] / "tdgammon"
README = ROOT.parent / "README.md"
LAYERS = [
    "kernels",
    "game",
    "notation",
    "value",
    "decide",
    "learn",
    "bench",
    "analysis",
    "serve",
    "cli",
]
MODULES = sorted(ROOT.rglob("*.py"))


def layer_of(path: Path) -> str:
    """The package a module is in; the package's own front (`__init__`, `__main__`) is in none."""
    parts = path.relative_to(ROOT).parts
    return parts[0] if len(parts) > 1 else ""


def imports(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything a module imports, also inside functions."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                yield node.lineno, alias.name
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"line {node.lineno}: write imports in full"
            for alias in node.names:
                yield node.lineno, f"{node.module}.{alias.name}"


def name_of(path: Path) -> str:
    return str(path.relative_to(ROOT.parent))


def test_the_readme_lists_the_packages_there_are_in_the_order_of_layers() -> None:
    listed = re.findall(r"^\| `(\w+)/` \|", README.read_text(encoding="utf-8"), re.MULTILINE)
    packages = {path.parent.name for path in ROOT.glob("*/__init__.py")}
    assert listed == [layer for layer in LAYERS if layer in packages]
    assert packages <= set(LAYERS)


@pytest.mark.parametrize("path", [path for path in MODULES if layer_of(path)], ids=name_of)
def test_a_package_imports_only_from_the_layers_above_it(path: Path) -> None:
    layer = layer_of(path)
    for line, name in imports(ast.parse(path.read_text(encoding="utf-8"))):
        words = name.split(".")
        if words[0] != "tdgammon":
            continue
        imported = words[1] if len(words) > 1 else ""
        if imported not in LAYERS:
            # the public names pull in any layer: only the command line may use them
            assert layer == "cli" or imported == "__version__", f"{path}:{line} imports {name}"
        else:
            assert LAYERS.index(imported) <= LAYERS.index(layer), f"{path}:{line} imports {name}"


@pytest.mark.parametrize("path", MODULES, ids=name_of)
def test_torch_is_imported_only_where_networks_are_made(path: Path) -> None:
    allowed = layer_of(path) == "learn" or path == ROOT / "value" / "network.py"
    for line, name in imports(ast.parse(path.read_text(encoding="utf-8"))):
        if name.split(".")[0] in ("torch", "tensorboard"):
            assert allowed, f"{path}:{line} imports {name}"


def test_no_module_outside_network_and_learn_loads_torch_when_imported() -> None:
    names = [
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts)
        for path in MODULES
        if layer_of(path) != "learn"
        and path.stem not in ("__init__", "__main__")
        and path != ROOT / "value" / "network.py"
    ]
    code = (
        "import importlib, sys\n"
        f"for name in {names!r}:\n"
        "    importlib.import_module(name)\n"
        "    assert 'torch' not in sys.modules, name\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
