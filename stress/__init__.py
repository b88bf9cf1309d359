"""Random problems, unusual calls and faults that try to break the library, a judge, and a report."""

from importlib.util import find_spec

_MISSING = [name for name in ("mpmath", "cvxpy", "clarabel") if find_spec(name) is None]
if _MISSING:
    raise SystemExit(
        f"the stress tests need {', '.join(_MISSING)}; `python3 run.py tests` makes an environment that has "
        'all, .venv, and so does `pip install ".[test]"` in another.'
    )
