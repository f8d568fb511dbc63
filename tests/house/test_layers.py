"""Imports go downwards only, and methods that must meet in experiments do not know of one another."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import reident

PACKAGE = Path(reident.__file__).parent

# From bottom to top. A module not named here belongs to the layer of its package.
LAYERS = [
    {"errors", "_typing", "_random", "_validation", "_paths", "_machine", "_code", "_progress", "papers", "_classes"},
    {"kernels"},
    {"_areas", "_in_classes", "_order", "datasets", "people", "simulate", "networks", "network_files"},
    {"anonymisers", "mechanisms", "attacks", "metrics"},
    {"registry"},
    {"experiments", "rumap", "plotting"},
    {"runner", "workbench"},
    {"cli"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

#: Metrics measure what the others make, so anonymisers, mechanisms and attacks may use them, not the other way round.
APART = {
    "anonymisers": {"attacks"},
    "attacks": {"anonymisers"},
    "metrics": {"anonymisers", "attacks", "mechanisms"},
    # Studies lay out risk-utility frames with `rumap`, but draw nothing: their figures read results.
    "experiments": {"plotting"},
    "rumap": {"experiments"},
}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imports(path):
    """Yield the first part below reident of everything that a module imports from the package."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            names = (
                [f"{node.module}.{alias.name}" for alias in node.names] if node.module == "reident" else [node.module]
            )
        else:
            continue
        for name in names:
            if name.startswith("reident."):
                yield name.split(".")[1]


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_downwards(path):
    own = path.relative_to(PACKAGE).parts[0].removesuffix(".py")
    assert own in LEVEL, f"{own} has no layer: add it to LAYERS"
    for other in imports(path):
        if other not in LEVEL:
            assert other in dir(reident), f"{own} imports {other}, which has no layer"
            continue
        assert LEVEL[other] <= LEVEL[own], f"{own} imports {other}, which lies above it"
        assert other not in APART.get(own, ()), f"{own} imports {other}: they meet in experiments"


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("kernels/*.py")), ids=lambda path: path.stem)
def test_kernels_know_arrays_only(path):
    text = path.read_text()
    assert "pandas" not in text
    # Of what fast arithmetic may do only the fusing of a product and a sum, which rounds less.
    assert "fastmath" not in text.replace("no fastmath", "").replace('fastmath={"contract"}', "")
    if path.stem not in ("__init__", "_jit"):
        assert set(imports(path)) <= {"kernels", "_typing"}


RIVALS = {"igraph", "recordlinkage", "pycanon", "anonypy", "diffprivlib", "opendp", "anjana", "pyproj", "hypothesis"}


@pytest.mark.parametrize("path", modules(), ids=lambda path: str(path.relative_to(PACKAGE)))
def test_rivals_are_never_imported(path):
    for node in ast.walk(ast.parse(path.read_text())):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module or ""] if isinstance(node, ast.ImportFrom) else []
        assert not RIVALS & {name.split(".")[0] for name in names}


def test_importing_the_package_is_light():
    code = "import reident, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numba", "matplotlib", "pandas", "numpy", "scipy", "sklearn", "dask", "papermill", "rich", "geopandas"}
    assert not heavy & set(loaded)


def test_the_command_line_is_light():
    code = "import reident.cli, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert not {"numba", "matplotlib", "pandas", "numpy", "scipy", "dask", "papermill"} & set(loaded)


def test_every_public_name_is_there_and_explained():
    for name in reident.__all__:
        thing = getattr(reident, name)
        assert callable(thing) or thing is not None
        assert thing.__doc__, name
    assert set(reident.__all__) <= set(dir(reident))
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        reident.nonsense  # noqa: B018
