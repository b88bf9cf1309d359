"""`python3 run.py tests --machines`: which machines, which packages, and how reports are read."""

import tomllib

import pytest
from run import ROOT, Environment
from tools import machines
from tools.machines import (
    Loops,
    choose_cores,
    find_oldest_versions,
    group_by_test,
    lower_bound,
    read_outcome,
)

OWN = Loops("", "SkylakeX", ["X86_V3"])


def found(**architectures):
    return {
        core: None if name is None else Loops(core, name, ["X86_V3"])
        for core, name in architectures.items()
    }


def test_every_dependency_has_a_lower_bound_and_is_tried_at_it():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"].values()
    names = {
        lower_bound(r).split("==")[0] for some in [project["dependencies"], *extras] for r in some
    }
    assert {"numpy", "scipy", "pynndescent", "matplotlib", "pytest"} <= names
    assert {pin.split("==")[0] for pin in find_oldest_versions(project)} == names


@pytest.mark.parametrize(
    ("requirement", "least"),
    [
        ("numpy>=2.0", "numpy==2.0"),
        ("import-linter>=2.16,<3", "import-linter==2.16"),
        ("scs < 4, >= 3.2.4.post1", "scs==3.2.4.post1"),
        ("ruff==0.17.*", "ruff==0.17.*"),
        ("dask[array]>=2024.12", "dask[array]==2024.12"),
    ],
)
def test_the_oldest_version_is_the_lower_bound(requirement, least):
    assert lower_bound(requirement) == least


@pytest.mark.parametrize("requirement", ["numpy", "numpy<3", "numpy!=2.1", "numpy>2"])
def test_a_requirement_without_a_lower_bound_is_refused(requirement):
    with pytest.raises(ValueError, match=f"`{requirement}` .* has no lower bound; write `numpy>="):
        lower_bound(requirement)


def test_cores_are_told_apart_by_the_loops_that_they_give(capsys):
    given = found(Prescott="Katmai", Haswell="Haswell", Zen="Haswell", SkylakeX="SkylakeX")
    assert [loops.core for loops in choose_cores(OWN, given)] == ["Prescott", "Haswell", "SkylakeX"]
    assert capsys.readouterr().out.startswith("Zen is left out: OpenBLAS takes the loops of Hasw")


def test_cores_that_the_processor_or_a_library_lacks_are_left_out(capsys):
    given = found(Prescott="Katmai", Haswell=None, Nehalem="Nehalem and SkylakeX")
    # This processor's own loops are tried under whichever name they have.
    assert [loops.core for loops in choose_cores(OWN, given)] == ["Prescott", "SkylakeX"]
    said = capsys.readouterr().out
    assert "Haswell is left out: this processor cannot run its loops" in said
    assert "Nehalem is left out: NumPy and SciPy take different loops" in said


def test_an_environment_variable_without_effect_is_an_error(monkeypatch):
    monkeypatch.setattr(machines, "detect_loops", lambda environment, settings: OWN)
    monkeypatch.setattr(machines.platform, "machine", lambda: "x86_64")
    with pytest.raises(SystemExit, match="OPENBLAS_CORETYPE makes no difference here"):
        machines.plan_machines(Environment(".venv"), None)
    monkeypatch.setattr(machines, "detect_loops", lambda environment, settings: Loops("", "", []))
    with pytest.raises(SystemExit, match="whose BLAS is OpenBLAS; this is another"):
        machines.plan_machines(Environment(".venv"), None)


def test_the_plan_covers_cores_threads_and_package_versions(monkeypatch):
    names = {"Prescott": "Katmai", "Haswell": "Haswell", "SkylakeX": "SkylakeX", "": "SkylakeX"}

    def look(environment, settings):
        core = settings.get("OPENBLAS_CORETYPE", "")
        return Loops(core, names[core], ["AVX2"]) if core in names else None

    monkeypatch.setattr(machines, "detect_loops", look)
    monkeypatch.setattr(machines.platform, "machine", lambda: "x86_64")
    planned = machines.plan_machines(
        Environment(".venv"), Environment(".venv-oldest", ("numpy==2.0",))
    )
    assert [machine.name for machine in planned] == [
        "Prescott, 1 thread, newest packages",
        "SkylakeX, 2 threads, newest packages",
        "SkylakeX, 1 thread, oldest packages",
        "Prescott, 2 threads, oldest packages",
        "Haswell, 1 thread, newest packages",
        "SkylakeX, 1 thread, newest packages",
    ]
    least = planned[0].settings
    assert least["OPENBLAS_CORETYPE"] == "Prescott"
    assert least["OPENBLAS_NUM_THREADS"] == "1"
    assert least["NPY_DISABLE_CPU_FEATURES"] == "AVX2"
    assert "NPY_DISABLE_CPU_FEATURES" not in planned[4].settings


REPORT = """...F..
=========================== short test summary info ============================
FAILED tests/test_solve.py::test_a[1-2] - assert 1.8e-15 == 0.0
ERROR tests/test_b.py - ImportError: no module
2 failed, 9400 passed in 350.12s (0:05:50)
"""


def test_a_report_lists_failures_by_machine():
    line, failed = read_outcome(REPORT)
    assert line == "2 failed, 9400 passed in 350.12s (0:05:50)"
    assert failed == ["tests/test_solve.py::test_a[1-2]", "tests/test_b.py"]
    assert read_outcome("....\n3 passed in 0.1s\n").failed == []
    where = group_by_test({"one": failed, "two": failed[:1], "three": []})
    assert where == {
        "tests/test_b.py": ["one"],
        "tests/test_solve.py::test_a[1-2]": ["one", "two"],
    }


@pytest.mark.parametrize("report", ["", "Illegal instruction", "no tests ran in 0.1s"])
def test_an_incomplete_run_counts_as_failed(report):
    assert read_outcome(report).failed == ["(the whole run)"]
