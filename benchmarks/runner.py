"""Run contestants on instances, one process each, and have every answer judged.

Whatever happens to a contestant is written down: "done", "failed" with its reason (an exception, a
signal, the limit), or "skipped" with the reason why it did not start. The file of an instance is
written anew after each contestant, so that an interrupted run keeps what it has, and the same command
goes on from there.
"""

import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tools.atomic_files import UnwritableError, write_atomically
from tools.environments import UnavailableError, find_interpreter
from tools.launch import launch
from tools.meter import describe_commit, describe_machine

from benchmarks import data
from benchmarks.contestants import find
from benchmarks.instance import Instance, Spec, save
from benchmarks.rating import judge_answers, rate_results
from benchmarks.reference import find_reference

__all__ = ["Limit", "run_contestant", "run_instance"]


class Limit(NamedTuple):
    """What one solve may take: so many seconds, and no more than so many passes."""

    seconds: float
    passes: float = math.inf


def run_instance(
    spec: Spec,
    contestants: Sequence[str],
    limit: Limit,
    out: Path,
    may_make: bool = True,
    report: Callable[[str], object] = lambda what: None,
    again: bool = False,
) -> dict[str, Any]:
    """Let the contestants answer one instance; write `out`/NAME.json and give its content.

    Results that the file holds from before stay, if they are of this machine: those of other contestants, and
    those of this commit with this limit, unless `again` is set. `may_make` allows to make the environments that
    contestants ask for.
    """
    path, commit = out / f"{spec.name}.json", describe_commit()
    run = _read_earlier(path, spec)
    done = (
        [] if again else [r["contestant"] for r in run["results"] if _is_current(r, commit, limit)]
    )
    left = [name for name in contestants if name not in done]
    for _ in range(len(contestants) - len(left)):
        report("")
    if not left:
        return run
    report(f"{spec.name}: the data")
    instance, absent = None, ""
    try:
        instance = data.make(spec)
        bounds = {"upper": instance.upper, "lower": instance.lower}
        if run["instance"] != run["instance"] | bounds:  # new here, or of other data
            run = _start_anew(spec, bounds)
    except UnavailableError as reason:
        absent = str(reason)
    run["results"] = [r for r in run["results"] if r["contestant"] not in left]
    for name in left:
        if instance is None:
            result = _skipped(absent)
        else:
            if _needs_reference(name, spec) and run["reference"] is None:
                report(f"{spec.name}: the lower bound")
                run["reference"] = asdict(find_reference(instance))
            report(f"{spec.name}: {name}")
            result = run_contestant(name, instance, limit, may_make)
        facts = {
            "contestant": name,
            "limit": _replace_infinity(list(limit)),
            "limit_seconds": limit.seconds,
            "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "commit": commit,
        }
        run["results"].append({**facts, **result})
        rate_results(run)
        write_atomically(path, json.dumps(_replace_infinity(run), indent=1) + "\n")
        report("")
    return _replace_infinity(run)


def run_contestant(
    name: str, instance: Instance, limit: Limit, may_make: bool = True
) -> dict[str, Any]:
    """One contestant on one instance; its answers judged, and not yet rated."""
    contestant, spec = find(name), instance.spec
    refusal = _find_refusal(name, spec)
    if refusal:
        return _skipped(refusal)
    try:
        python = find_interpreter(contestant.requirements, may_make)
    except UnavailableError as reason:
        return _skipped(str(reason))
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place)
        try:
            save(instance, folder)
        except OSError as error:  # NumPy gives no reason for what was not written
            raise UnwritableError(
                f"{folder}, for temporary files, could not be written ({error}); make room, or set TMPDIR to a "
                "folder that has some, and the same command goes on from what is finished."
            ) from error
        alone = bool(contestant.requirements)
        passes = (str(limit.passes),)
        ending = launch(
            "benchmarks.worker",
            python,
            folder,
            name,
            limit.seconds,
            contestant.solves,
            alone,
            passes,
        )
        if not (folder / "report.json").exists():
            return {**_skipped(ending), "status": "failed"}
        result = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        with np.load(folder / "answers.npz") as arrays:
            curve = judge_answers(result.pop("answers"), arrays, instance)
    return {**result, "curve": curve}


def _find_refusal(name: str, spec: Spec) -> str | None:
    contestant = find(name)
    if spec.library not in contestant.libraries:
        return f"it does not work on arrays of {spec.library}"
    return contestant.refuses(spec)


def _needs_reference(name: str, spec: Spec) -> bool:
    """Whether it takes part, and has no duals to be judged by."""
    return not find(name).certifies and not _find_refusal(name, spec)


def _is_current(result: dict[str, Any], commit: str | None, limit: Limit) -> bool:
    """Whether it need not be run again: neither code nor limit has changed, and it took part."""
    is_known = commit is not None and not commit.endswith("-dirty")
    is_same = result["commit"] == commit and result["limit"] == _replace_infinity(list(limit))
    return is_known and is_same and result["status"] != "skipped"


def _skipped(reason: str) -> dict[str, Any]:
    return {"status": "skipped", "reason": reason, "curve": []}


def _start_anew(spec: Spec, bounds: dict[str, Any]) -> dict[str, Any]:
    try:
        data.make_generator(spec.library, spec.seed)
        machine = describe_machine(spec.library)
    except UnavailableError:  # the device is not here
        machine = {}
    instance = {"name": spec.name, **asdict(spec), **bounds}
    return {"instance": instance, "machine": machine, "reference": None, "results": []}


def _read_earlier(path: Path, spec: Spec) -> dict[str, Any]:
    """What an earlier run of the same instance found on the same machine."""
    run = _start_anew(spec, {})
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        is_same = run["instance"].items() <= before["instance"].items()
        if is_same and run["machine"] == before["machine"]:
            rate_results(before)  # all that is needed of it is there
            return before
    except FileNotFoundError:
        pass
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} is no result of a benchmark, or a damaged one ({type(error).__name__}); move it away, and "
            "run again."
        ) from error
    return run


def _replace_infinity(x: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(x, dict):
        return {key: _replace_infinity(value) for key, value in x.items()}
    if isinstance(x, list):
        return [_replace_infinity(value) for value in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x
