"""Names are loaded when they are asked for, and each is what it is where it lives."""

import ast
import subprocess
import sys
from importlib import import_module
from pathlib import Path

import pytest

import gramlearn

HEAVY = ("numpy", "scipy", "sklearn", "numba", "highspy", "tqdm")


def names_for_type_checkers():
    """name -> module, of the imports that only type checkers see."""
    tree = ast.parse(Path(gramlearn.__file__).read_text())
    block = next(node for node in tree.body if isinstance(node, ast.If))
    imports = [node for node in block.body if isinstance(node, ast.ImportFrom)]
    return {alias.name: node.module for node in imports for alias in node.names}


def test_all_lists_of_names_agree():
    assert set(names_for_type_checkers()) == set(gramlearn.__all__)
    assert {*gramlearn.__all__, "__version__"} == set(dir(gramlearn))


@pytest.mark.parametrize("name", gramlearn.__all__)
def test_a_name_is_what_it_is_where_it_lives(name):
    home = import_module(names_for_type_checkers()[name])
    there = import_module(f"gramlearn.{name}") if home is gramlearn else getattr(home, name)
    assert getattr(gramlearn, name) is there


@pytest.mark.parametrize("name", ["losses", "constraints"])
def test_a_short_name_is_the_same_module(name):
    one, other = (import_module(f"gramlearn.{long}{name}") for long in ("", "problem."))
    assert one is other is getattr(gramlearn, name)


def test_a_name_that_is_not_there_is_an_attribute_error():
    with pytest.raises(AttributeError, match="module 'gramlearn' has no attribute 'MetricLearned'"):
        gramlearn.MetricLearned  # noqa: B018
    with pytest.raises(ModuleNotFoundError):
        import_module("gramlearn.loss")


def test_importing_it_loads_no_numerical_library():
    code = f"import sys, gramlearn; print([m for m in {HEAVY} if m in sys.modules])"
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
