import ast
import re
import subprocess
import sys
from pathlib import Path

import networkx as nx
import pytest

import public
import reident

PACKAGE = Path(reident.__file__).parent

# From bottom to top. A module not named here belongs to the layer of its folder.
LAYERS = [
    {"base"},
    {"kernels"},
    {"data"},
    {"places", "cliques", "tables", "networks", "queries"},
    {"location"},
    {"methods", "pages"},
    {"plotting", "rumap"},
    {"experiments"},
    {"workbench"},
    {"runner"},
    {"cli", "__main__"},
]
LEVEL = {name: level for level, names in enumerate(LAYERS) for name in names}

KINDS = {"places", "cliques", "tables", "networks", "queries"}

#: The only imports from one kind of data to another, and from the data up to the kind that reads its files.
PAIRS = {
    ("places/compatibility.py", "cliques.adjacency"), ("places/common_subgraph.py", "cliques.cliques"),
    ("places/common_subgraph.py", "cliques.quasi"), ("cliques/quasi.py", "places.compatibility"),
    ("tables/k_epsilon.py", "queries.laplace"), ("queries/query_failures.py", "tables.classes"),
    ("data/networks.py", "networks.files"), ("data/networks.py", "networks.graph"),
}  # fmt: skip


#: Public names, ``tables.t_closeness``, and their modules, as the stubs list them.
HOMES = {
    ".".join([*folder, alias.name]): ".".join([*folder, node.module])
    for stub in PACKAGE.rglob("__init__.pyi")
    for folder in [stub.parent.relative_to(PACKAGE).parts]
    for node in ast.parse(stub.read_text()).body
    if isinstance(node, ast.ImportFrom) and node.module
    for alias in node.names
}


def modules():
    return sorted(path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py")


def imports(path):
    """Yield everything below reident that a module imports from the package: ``places.masks``."""
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            inner = (PACKAGE.parent / node.module.replace(".", "/")).is_dir() if node.module else False
            names = [f"{node.module}.{alias.name}" for alias in node.names] if inner else [node.module]
        else:
            continue
        yield from (_home(name.removeprefix("reident.")) for name in names if name.startswith("reident."))


def _home(name):
    """Return where a public name lives, ``places.masks.mask_disc``; anything else as it is."""
    return f"{HOMES[name]}.{name.rpartition('.')[2]}" if name in HOMES else name


@pytest.mark.parametrize("own", sorted(LEVEL))
def test_imports_go_downwards(own):
    for path in modules():
        here = path.relative_to(PACKAGE)
        assert here.parts[0].removesuffix(".py") in LEVEL, f"{here} has no layer: add it to LAYERS"
        for name in imports(path) if here.parts[0].removesuffix(".py") == own else ():
            other = name.split(".")[0]
            assert other in LEVEL, f"{here} imports {other}, which has no layer"
            if (here.as_posix(), name) in PAIRS:
                continue
            assert LEVEL[other] <= LEVEL[own], f"{here} imports {other}, which lies above it"
            apart = {own, other} <= KINDS and own != other
            assert not apart, f"{here} imports {name}: a kind of data imports no other, but for PAIRS"


def test_no_modules_import_one_another_in_a_circle():
    """Neither at the top nor inside a function, nor for types alone."""
    names = {".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__") for path in modules()}
    graph = nx.DiGraph()
    for path in modules():
        own = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reident"):
                module = node.module.removeprefix("reident").removeprefix(".")
                found = {f"{module}.{alias.name}".removeprefix(".") for alias in node.names}
                graph.add_edges_from((own, one if one in names else module) for one in found)
    graph.remove_edges_from([(one, one) for one in graph if graph.has_edge(one, one)])
    assert [sorted(circle) for circle in nx.strongly_connected_components(graph) if len(circle) > 1] == []


def test_at_most_eight_imports_lead_from_one_kind_to_another():
    assert len(PAIRS) <= 8
    for path, name in PAIRS:
        assert name in set(imports(PACKAGE / path)), f"{path} no longer imports {name}: take it off the list"


def test_kernels_know_arrays_only():
    for path in sorted(PACKAGE.rglob("kernels/**/*.py")):
        text = path.read_text()
        assert "pandas" not in text, path
        # Of what fast arithmetic may do only the fusing of a product and a sum, which rounds less.
        assert "fastmath" not in text.replace("no fastmath", "").replace('fastmath={"contract"}', ""), path
        if path.stem not in ("__init__", "_numba"):
            assert {name.split(".")[0] for name in imports(path)} <= {"kernels", "base"}, path


RIVALS = {"igraph", "recordlinkage", "pycanon", "anonypy", "diffprivlib", "opendp", "anjana", "hypothesis"}


def test_rivals_are_never_imported():
    named = re.compile(rf"^\s*(?:import|from) (?:{'|'.join(RIVALS)})\b", re.MULTILINE)
    assert [path.name for path in modules() if named.search(path.read_text())] == []


def test_importing_the_package_and_its_command_line_is_light():
    code = "import reident, reident.cli, sys; print(*sorted(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"numba", "matplotlib", "pandas", "numpy", "scipy", "sklearn", "dask", "papermill", "geopandas"}
    assert not heavy & set(loaded)


def test_every_public_name_is_there_and_explained():
    for name in public.HOMES:
        thing = public.named(name)
        assert callable(thing) or thing is not None
        assert thing.__doc__, name
    assert set(reident.__all__) <= set(dir(reident))
    with pytest.raises(AttributeError, match=r"it is `reident.tables.t_closeness`"):
        getattr(reident, "t_closeness")  # noqa: B009
    with pytest.raises(AttributeError, match=r"`reident.nonsense` does not exist"):
        reident.nonsense  # noqa: B018
