"""A metric for real data: minimize D(X, I) + sum of slacks, X = F F', and compare x with x F.

The points are split in two. Labels of the first half give pairs that are alike and pairs that are not;
the metric is learned from those pairs alone, and judged on the other half by the nearest neighbor.
"""

import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.datasets import load_digits, load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.preprocessing import StandardScaler
from tqdm import tqdm

from gramlearn.plots import plot_before_after
from gramlearn.problem.losses import LogDetSlack
from gramlearn.problem.problem import Problem
from gramlearn.problem.regularizers import LogDet
from gramlearn.problem.solution import Record, Solution
from gramlearn.side_information import Pairs, percentile_bounds
from gramlearn.solvers.progress import progress_bar
from gramlearn.solvers.solve import solve

PICTURE = "demo.png"
_SPLITS = 10
_TOL = 1e-6


@final
@dataclass(frozen=True)
class Data:
    """A data set that comes with scikit-learn, and how the demo treats it."""

    load: Callable[[], Any]
    words: str
    class_name: str
    train_size: int
    n_pairs: int
    C: float


DATA = {
    "wine": Data(
        load_wine,
        "{n} wines of {c} growers, {d} chemical measurements in their raw units",
        "grower {}",
        train_size=89,
        n_pairs=1000,
        C=10.0,
    ),
    "digits": Data(
        load_digits,
        "{n} handwritten digits of {c} classes, {d} pixels",
        "a {}",
        train_size=300,
        n_pairs=20_000,
        C=0.01,
    ),
}


class UnwritableError(Exception):
    """The folder for the picture, or the picture in it, cannot be written."""


class Setting(NamedTuple):
    """Training and held-out points of one split, and what is known about the training points."""

    train: np.ndarray
    held_out: np.ndarray
    train_labels: np.ndarray
    held_out_labels: np.ndarray
    pairs: Pairs
    bounds: tuple[float, float]


def run_demo(name: str, out: Path, seed: int) -> None:
    """Learn a metric for the data called `name`, print what it is worth, and draw it into `out`."""
    with writing_to(out):
        # Now, not after the work.
        out.mkdir(parents=True, exist_ok=True)
        tempfile.TemporaryFile(dir=out).close()
    data = DATA[name]
    bunch = data.load()
    points, labels = np.asarray(bunch.data, dtype=float), np.asarray(bunch.target)
    classes = [data.class_name.format(str(c).split("_")[-1]) for c in bunch.target_names]

    setting = prepare(data, points, labels, seed)
    print_input(data, classes, setting)
    with progress_bar("solving", _TOL) as callback:
        solution = learn(data, setting, callback)
    print_certificate(solution)

    accuracies = [accuracy(setting, solution.factor)]
    with tqdm(total=_SPLITS - 1, desc="other splits", disable=None, leave=False) as bar:
        for other in range(seed + 1, seed + _SPLITS):
            again = prepare(data, points, labels, other)
            accuracies.append(accuracy(again, learn(data, again).factor))
            bar.update()
    print_accuracy(accuracies)
    print_picture(setting, solution, accuracies[0], classes, out / PICTURE)


def prepare(data: Data, points: np.ndarray, labels: np.ndarray, seed: int) -> Setting:
    """Split the points, and draw pairs from the labels of the training part."""
    train, held_out, train_labels, held_out_labels = train_test_split(
        points, labels, train_size=data.train_size, stratify=labels, random_state=seed
    )
    pairs = Pairs.from_labels(train_labels, data.n_pairs, random_state=seed)
    bounds = percentile_bounds(train, random_state=seed)
    return Setting(train, held_out, train_labels, held_out_labels, pairs, bounds)


def learn(
    data: Data, setting: Setting, callback: Callable[[Record], object] | None = None
) -> Solution:
    """Learn a metric from the pairs."""
    loss = LogDetSlack(C=data.C)
    terms = setting.pairs.bind(loss, points=setting.train, bounds=setting.bounds)
    prior = np.eye(setting.train.shape[1])
    return solve(Problem(LogDet(), prior, terms), tol=_TOL, callback=callback)


def accuracy(setting: Setting, factor: np.ndarray) -> tuple[float, float, float]:
    """The share of held-out points whose nearest training point has their label.

    By the plain distance, by that of standardized features, and by the learned one.
    """
    train, held_out = setting.train, setting.held_out
    scaler = StandardScaler().fit(train)
    nearest = KNeighborsClassifier(n_neighbors=1)

    def score(known: np.ndarray, new: np.ndarray) -> float:
        return float(nearest.fit(known, setting.train_labels).score(new, setting.held_out_labels))

    return (
        score(train, held_out),
        score(scaler.transform(train), scaler.transform(held_out)),
        score(train @ factor, held_out @ factor),
    )


def print_input(data: Data, classes: list[str], setting: Setting) -> None:
    """Say what goes in."""
    n, new, labels = len(setting.train), len(setting.held_out), setting.train_labels
    print("Points")
    print(f"  {data.words.format(n=n + new, c=len(classes), d=setting.train.shape[1])}")
    print(f"  {n} to learn from, {new} held out")
    print()
    print("Side information, from labels of the training points")
    pairs, (upper, lower) = setting.pairs, setting.bounds
    for table, word, relation, bound in (
        (pairs.similar, "alike", "at most", upper),
        (pairs.dissimilar, "unlike", "at least", lower),
    ):
        i, j = table[0]
        print(f"  {len(table):,} pairs {word}, squared distance {relation} {bound:,.0f}")
        print(f"    for example points {i} and {j}, {classes[labels[i]]} and {classes[labels[j]]}")
    print()


def print_certificate(solution: Solution) -> None:
    """Say how close to optimal the answer is."""
    rows = {
        "primal value": f"{solution.primal:.9g}",
        "dual value": f"{solution.dual:.9g}",
        "gap": f"{solution.gap:.1e}",
        "relative gap": f"{solution.relative_gap:.1e}",
        "largest violation": f"{solution.violation:.1e}",
        "status": f"{solution.status.name}: {solution.status.value}",
        "effort": f"{solution.iterations} iterations, {solution.seconds:.2f} seconds",
    }
    print("Certificate")
    for name, value in rows.items():
        print(f"  {name:<18} {value}")
    print()


def print_accuracy(accuracies: list[tuple[float, float, float]]) -> None:
    """Say what the metric is worth on points that it has not seen."""
    shown, mean = accuracies[0], np.mean(accuracies, axis=0)
    print("Held-out points whose nearest training point is of their class")
    print(f"  {'':<22} this split   mean of {len(accuracies)} splits")
    for name, here, average in zip(
        ("plain distance", "standardized features", "learned metric"), shown, mean, strict=True
    ):
        print(f"  {name:<22} {here:>9.1%} {average:>16.1%}")
    print()


def print_picture(
    setting: Setting,
    solution: Solution,
    accuracies: tuple[float, float, float],
    classes: list[str],
    path: Path,
) -> None:
    """Draw before and after into a file; without matplotlib, say what is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        print('No picture, for matplotlib is not installed: pip install "gramlearn[plot]"')
        return
    plain, _, learned = accuracies
    figure = plot_before_after(
        solution,
        setting.held_out,
        setting.held_out_labels,
        pairs=setting.pairs,
        pair_points=setting.train,
        bounds=setting.bounds,
        names=classes,
        titles=(f"Plain distance: {plain:.1%} right", f"Learned distance: {learned:.1%} right"),
        figure=Figure(figsize=(9.6, 7.4), layout="constrained"),
    )
    # To a temporary file first: a full disk then leaves an earlier picture as it was.
    with writing_to(path), tempfile.TemporaryDirectory(dir=path.parent, prefix=".") as place:
        temporary = Path(place) / path.name
        figure.savefig(temporary, dpi=110)
        temporary.replace(path)
    print(f"Picture: {path}")


@contextmanager
def writing_to(path: Path) -> Iterator[None]:
    """Say in one sentence why a file or a folder cannot be written to."""
    try:
        yield
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise UnwritableError(f"{path} cannot be written to ({reason})") from error
