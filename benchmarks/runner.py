"""Run contestants on instances, one process each, and have every answer judged.

Whatever happens to a contestant is written down: "done", "failed" with its reason (an exception, a
signal, the limit), or "skipped" with the reason why it did not start. The file of an instance is
written anew after each contestant, so that an interrupted run keeps what it has.
"""

import json
import math
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from tools.atomic_files import UnwritableError, write_atomically
from tools.environments import UnavailableError, find_interpreter
from tools.launch import launch
from tools.meter import describe_commit, describe_machine

from benchmarks import data, judge
from benchmarks.contestants import find
from benchmarks.instance import Instance, Spec, save
from benchmarks.reference import Reference, find_reference

__all__ = ["GAPS", "run_contestant", "run_instance"]

GAPS = (1e-2, 1e-4, 1e-6)
_MOST_JUDGED = 100  # answers of one contestant


def run_instance(
    spec: Spec,
    contestants: Sequence[str],
    limit: float,
    out: Path,
    may_make: bool = True,
    report: Callable[[str], object] = lambda what: None,
) -> dict[str, Any]:
    """Let the contestants answer one instance; write `out`/NAME.json and give its content.

    Results of other contestants that the file holds from before stay, if they are of this machine.
    `may_make` allows to make the environments that contestants ask for.
    """
    instance, absent = None, ""
    run: dict[str, Any] = {"instance": {"name": spec.name, **asdict(spec)}, "machine": {}}
    report(f"{spec.name}: the data")
    try:
        instance = data.make(spec)
        run["instance"] |= {"upper": instance.upper, "lower": instance.lower}
        run["machine"] = describe_machine(spec.library)
    except UnavailableError as reason:
        absent = str(reason)
    path = out / f"{spec.name}.json"
    run |= _read_earlier(path, run, contestants)
    bounds: dict[str, Reference] = {}
    for name in contestants:
        objective = find(name).objective
        if instance is None:
            result = _skipped(absent)
        else:
            if objective not in bounds:
                report(f"{spec.name}: the lower bound")
                bounds[objective] = find_reference(instance, objective, 5 * limit)
                run["references"][objective] = asdict(bounds[objective])
            report(f"{spec.name}: {name}")
            result = run_contestant(name, instance, limit, bounds[objective], may_make)
        facts = {
            "contestant": name,
            "objective": objective,
            "limit_seconds": limit,
            "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
            "commit": describe_commit(),
        }
        run["results"].append({**facts, **result})
        write_atomically(path, json.dumps(_replace_infinity(run), indent=1) + "\n")
        report("")
    return _replace_infinity(run)


def run_contestant(
    name: str, instance: Instance, limit: float, bound: Reference, may_make: bool = True
) -> dict[str, Any]:
    """One contestant on one instance, judged."""
    contestant, spec = find(name), instance.spec
    if spec.library not in contestant.libraries:
        return _skipped(f"it does not work on arrays of {spec.library}")
    refusal = contestant.refuses(spec)
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
        ending = launch("benchmarks.worker", python, folder, name, limit, contestant.solves, alone)
        if not (folder / "report.json").exists():
            return {**_skipped(ending), "status": "failed"}
        result = json.loads((folder / "report.json").read_text(encoding="utf-8"))
        with np.load(folder / "answers.npz") as matrices:
            curve = _judge_answers(
                result.pop("answers"), matrices, instance, contestant.objective, bound
            )
    return {**result, "curve": curve, "reached": _seconds_to_gaps(curve)}


def _judge_answers(
    answers: list[dict[str, Any]],
    matrices: Any,
    instance: Instance,
    objective: str,
    bound: Reference,
) -> list[dict[str, Any]]:
    """Give every answer its gap: the judge's, or the certificate of a contestant that has one."""
    chosen = sorted(int(k) for k in matrices)
    if len(chosen) > _MOST_JUDGED:
        places = np.linspace(0, len(chosen) - 1, _MOST_JUDGED).round().astype(int)
        chosen = [chosen[place] for place in places]
    curve = []
    for k, answer in enumerate(answers):
        entry = dict(answer)
        if k in chosen:
            X = matrices[str(k)]
            if instance.spec.library != "numpy":
                X = instance.xp.asarray(X, device=instance.points.device)
            value = judge.primal(instance, X, objective)
            entry |= {"primal": value, "judged_gap": judge.relative_gap(value, bound.dual)}
            if entry["relative_gap"] is None:
                entry["relative_gap"] = entry["judged_gap"]
        if entry["relative_gap"] is not None:
            curve.append(entry)
    return curve


def _seconds_to_gaps(curve: list[dict[str, Any]]) -> dict[str, float | None]:
    """The least seconds of an answer within each gap."""
    return {
        f"{gap:.0e}": min((a["seconds"] for a in curve if a["relative_gap"] <= gap), default=None)
        for gap in GAPS
    }


def _skipped(reason: str) -> dict[str, Any]:
    return {"status": "skipped", "reason": reason, "curve": [], "reached": _seconds_to_gaps([])}


def _read_earlier(path: Path, run: dict[str, Any], contestants: Sequence[str]) -> dict[str, Any]:
    """What an earlier run of the same instance on the same machine found with other contestants."""
    try:
        before = json.loads(path.read_text(encoding="utf-8"))
        if all(before[key] == run[key] for key in ("instance", "machine")):
            others = [r for r in before["results"] if r["contestant"] not in contestants]
            return {"references": before["references"], "results": others}
    except FileNotFoundError:
        pass
    except (OSError, ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise ValueError(
            f"{path} is no result of a benchmark, or a damaged one ({type(error).__name__}); move it away, and "
            "run again."
        ) from error
    return {"references": {}, "results": []}


def _replace_infinity(x: Any) -> Any:
    """JSON has no infinity: null stands for it."""
    if isinstance(x, dict):
        return {key: _replace_infinity(value) for key, value in x.items()}
    if isinstance(x, list):
        return [_replace_infinity(value) for value in x]
    return None if isinstance(x, float) and not math.isfinite(x) else x
