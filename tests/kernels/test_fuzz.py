import ast
import os
from pathlib import Path

import numba
import pytest

import fuzz
import reident

PACKAGE = Path(reident.__file__).parent
CASES = fuzz.cases()
KERNEL_ROOMS = {"reident.kernels", *(f"reident.kernels.{room.name}" for room in PACKAGE.glob("kernels/[a-z]*"))}
COVERED = {kernel for case in CASES.values() for kernel in case.kernels}

#: Of each case; `make fuzz` goes on from there.
INPUTS = int(os.environ.get("REIDENT_INPUTS", "20"))


def called_from_outside():
    """Yield the kernels, as module.function, that any module outside `kernels` imports or calls."""
    kernels = {
        (path.stem, node.name)
        for path in PACKAGE.glob("kernels/*/*.py")
        for node in ast.parse(path.read_text()).body
        if isinstance(node, ast.FunctionDef)
    }
    for path in PACKAGE.rglob("*.py"):
        if "kernels" in path.relative_to(PACKAGE).parts:
            continue
        tree, modules = ast.parse(path.read_text()), {}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and node.module in KERNEL_ROOMS:
                modules |= {alias.asname or alias.name: alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("reident.kernels."):
                module = node.module.rpartition(".")[2]
                yield from (f"{module}.{alias.name}" for alias in node.names if (module, alias.name) in kernels)
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                name = modules.get(node.value.id, ""), node.attr
                if name in kernels:
                    yield ".".join(name)


def test_every_kernel_that_the_package_calls_has_a_case():
    wanted = set(called_from_outside())
    assert len(wanted) > 80
    assert wanted - COVERED == set()
    modules = {path.stem for path in PACKAGE.glob("kernels/*/[a-z]*.py")}
    # Reached by the cases of their callers only: tangents inside the circles and cones of a map.
    assert modules - {name.partition(".")[0] for name in COVERED} == {"tangents"}


@pytest.fixture
def _one_thread():
    before = numba.get_num_threads()
    numba.set_num_threads(1)  # to wake a second thread takes longer than a small input
    yield
    numba.set_num_threads(before)


@pytest.mark.usefixtures("_one_thread")
@pytest.mark.parametrize("name", CASES)
def test_generated_inputs_equal_the_naive_twin(name):
    for index in range(INPUTS):
        assert not CASES[name].failure(0, index)
