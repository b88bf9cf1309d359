"""How many answers to chosen questions are worth 500 answers to random ones?

    OMP_NUM_THREADS=1 GRAMLEARN_DATA=folder python -m benchmarks.scripts.questions --workers 16

Three fifths of at most 2,000 points are asked about, the rest are unseen. Pairs are alike that have the same
label; the score is the share of the 10 nearest unseen points with the label of an unseen point. Triplets and
odd ones out are answered by a hidden metric, of a random matrix with a third as many columns as rows; the score
is the share of 2,000 triplets of unseen points that it agrees on. None or a tenth of the answers is wrong.

Questions come in batches of 25, and MetricLearner learns from all answers after each, chosen or random, at the
same price C: of 0.001, 0.01, 0.1 and 1 the one at which 500 random answers score best on the unseen points, so
that no learner would serve random answers better. Comparisons have half the mean squared distance as margin. Of
the questions that `gramlearn.evaluation.questions` chooses, 15 % are drawn at random instead and not learned
from, as somebody would who judges by them; they count as asked. A curve is the mean of the seeds. The number of
answers is the first, of 25, 50, ..., 500, at which it reaches what 500 random answers reach; where those are no
better than the plain distance there is nothing to reach, and the set does not count in the median.
"""

import argparse
import warnings
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from itertools import product
from typing import Any, NamedTuple, final

import numpy as np

__all__ = ["Judge", "ask_chosen", "ask_random", "load", "main"]

_SETS = (
    "wine",
    "glass",
    "ionosphere",
    "breast_cancer_wdbc",
    "balance_scale",
    "pendigits_389_317",
    "spambase",
    "usps",
    "mnist",
    "classic3",
)
_SEEDS = {"pair": 8, "triplet": 3, "odd": 2}  # the scores of pairs scatter most
_ASKED, _BATCH, _NOT_LEARNED = 500, 25, 0.15
_SIZES = range(_BATCH, _ASKED + 1, _BATCH)
_PRICES = (0.001, 0.01, 0.1, 1.0)
_POINTS, _COLUMNS, _SCORED, _TRIPLETS, _NEAREST = 2000, 50, 800, 2000, 10


Case = tuple[str, float]  # kind, share of wrong answers


class Task(NamedTuple):
    """Two curves: of random questions, and of chosen ones."""

    kind: str
    wrong: float
    name: str
    seed: int


def main() -> None:
    """Print a table for each kind of question and share of wrong answers, as soon as it is known."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sets", nargs="+", choices=_SETS, default=list(_SETS))
    parser.add_argument("--kinds", nargs="+", choices=list(_SEEDS), default=list(_SEEDS))
    parser.add_argument("--wrong", nargs="+", type=float, default=[0.0, 0.1])
    parser.add_argument("--seeds", type=int, help="default: 8 of pairs, 3 of triplets, 2")
    parser.add_argument("--first-seed", type=int, default=0, help="default: 0")
    parser.add_argument("--workers", type=int, default=1, help="processes; default: 1")
    options = parser.parse_args()
    cases = list(product(options.kinds, options.wrong))
    # The long ones of a table first, so that no worker waits for one at the end.
    names = sorted(options.sets, key=_SETS.index, reverse=True)
    needed = {}
    with ProcessPoolExecutor(options.workers) as pool:
        found = pool.map(run, (task for case in cases for task in _tasks(case, names, options)))
        for case in cases:
            curves: dict[str, list[np.ndarray]] = {name: [] for name in options.sets}
            for task in _tasks(case, names, options):
                curves[task.name].append(next(found))
            needed[case] = _print_case(
                case, {name: np.mean(each, axis=0) for name, each in curves.items()}
            )
    _print_all(options.sets, needed)


def _tasks(case: Case, names: list[str], options: argparse.Namespace) -> Iterator[Task]:
    count = options.seeds or _SEEDS[case[0]]
    seeds = range(options.first_seed, options.first_seed + count)
    return (Task(*case, name, seed) for name, seed in product(names, seeds))


def _print_case(case: Case, curves: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Scores, and how many answers, random and chosen, reach that of 500 random ones; these counts."""
    title = f"{case[0]}, {case[1]:.0%} wrong"
    print(f"\n| {title} | plain | 500 random | 500 chosen | random | chosen |\n{'|---' * 6}|")
    needed = {}
    for name, both in curves.items():
        (plain, *_, best), after = both[0], both[1][-1]
        count = np.array([_reach(curve[1:], best) if best > plain else np.nan for curve in both])
        cells = [f"{score:.3f}" for score in (plain, best, after)] + [_say(k) for k in count]
        print(f"| {name} | {' | '.join(cells)} |")
        needed[name] = count
    medians = [_say(count) for count in _medians(needed)]
    print(f"| median | | | | {' | '.join(medians)} |", flush=True)
    return needed


def _print_all(sets: list[str], needed: dict[Case, dict[str, np.ndarray]]) -> None:
    """The chosen answers that are worth 500 random ones."""
    titles = [f"{kind}, {wrong:.0%} wrong" for kind, wrong in needed]
    print(f"\n| chosen answers | {' | '.join(titles)} |\n{'|---' * (len(titles) + 1)}|")
    for name in sets:
        print(f"| {name} | {' | '.join(_say(of[name][1]) for of in needed.values())} |")
    medians = [_say(_medians(of)[1]) for of in needed.values()]
    print(f"| median | {' | '.join(medians)} |", flush=True)


def _medians(needed: dict[str, np.ndarray]) -> np.ndarray:
    """Over the sets where there is something to reach."""
    counts = np.array([count for count in needed.values() if not np.isnan(count).any()])
    return np.median(counts, axis=0) if len(counts) else np.full(2, np.nan)


def run(task: Task) -> np.ndarray:
    """The scores of the plain distance, and those after 25, 50, ... answers, random and chosen: 2 x 21."""
    warnings.simplefilter("ignore")
    X, y = load(task.name)
    order = np.random.default_rng(1000 + task.seed).permutation(len(X))
    pool, unseen = np.split(order, [int(0.6 * len(X))])
    judges = [Judge.of(task.kind, X[pool], y[pool], task.wrong, task.seed) for _ in range(3)]
    score = judges[0].scored_by(X[unseen], y[unseen])
    price = _best_price(judges[0], score)
    curves = [ask_random(judges[1], price), ask_chosen(judges[2], price)]
    return np.array([[score(None), *map(score, models)] for models in curves])


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """At most 2,000 points: standardized features, or principal components where they are more than 100."""
    from sklearn.decomposition import PCA, TruncatedSVD

    from gramlearn import datasets

    data = datasets.load(name)
    rows = np.random.default_rng(0).permutation(len(data.y))[:_POINTS]
    X, y = data.X[rows], np.unique(data.y, return_inverse=True)[1][rows]
    if not isinstance(X, np.ndarray):
        return TruncatedSVD(_COLUMNS, random_state=0).fit_transform(X), y
    if X.shape[1] > 2 * _COLUMNS:
        return PCA(_COLUMNS, random_state=0).fit_transform(X), y
    deviation = X.std(axis=0)
    return (X - X.mean(axis=0)) / np.where(deviation > 0, deviation, 1.0), y


@final
@dataclass
class Judge:
    """Answers questions about the points that are asked about."""

    kind: str
    X: np.ndarray
    y: np.ndarray
    hidden: np.ndarray
    wrong: float
    rng: np.random.Generator

    @classmethod
    def of(cls, kind: str, X: np.ndarray, y: np.ndarray, wrong: float, seed: int) -> "Judge":
        """The hidden metric is the same for all that a seed judges."""
        d = X.shape[1]
        hidden = np.random.default_rng(seed).standard_normal((d, max(2, d // 3)))
        return cls(kind, X, y, hidden, wrong, np.random.default_rng(seed))

    @property
    def width(self) -> int:
        return 2 if self.kind == "pair" else 3

    def answer(self, rows: np.ndarray) -> np.ndarray:
        """0 or 1 for unlike or alike, and for which of two is nearer; 0, 1 or 2 for the odd one out."""
        if self.kind == "pair":
            right = (self.y[rows[:, 0]] == self.y[rows[:, 1]]).astype(int)
        else:
            apart = _squared(self.X @ self.hidden, rows)
            right = np.argmin(apart[:, :2] if self.kind == "triplet" else apart[:, ::-1], axis=1)
        count = 3 if self.kind == "odd" else 2
        off = np.where(
            self.rng.random(len(rows)) < self.wrong, self.rng.integers(1, count, len(rows)), 0
        )
        return (right + off) % count

    def side(self, rows: np.ndarray, answers: np.ndarray) -> Any:
        """What was answered, to learn from."""
        from gramlearn import Pairs, Triplets

        n, margin = len(self.X), float(self.X.var(axis=0).sum())
        if self.kind == "pair":
            return Pairs(rows[answers == 1], rows[answers == 0], n_points=n)
        if self.kind == "triplet":
            order = np.array([[0, 1, 2], [0, 2, 1]])[answers]
            return Triplets(np.take_along_axis(rows, order, axis=1), n_points=n, margin=margin)
        order = np.array([[1, 2, 0], [0, 2, 1], [0, 1, 2]])[answers]
        return Triplets.from_odd_one_out(np.take_along_axis(rows, order, axis=1), n, margin)

    def draw(self, count: int, asked: np.ndarray) -> np.ndarray:
        """Questions at random, each as likely as any other that was not asked before."""
        known, found = {_key(self.kind, row) for row in asked}, []
        while len(found) < count:
            row = self.rng.choice(len(self.X), self.width, replace=False)
            if _key(self.kind, row) not in known:
                known.add(_key(self.kind, row))
                found.append(row)
        return np.array(found, dtype=int).reshape(-1, self.width)

    def scored_by(self, X: np.ndarray, y: np.ndarray) -> Callable[[Any], float]:
        """How good a model is on unseen points; None is the plain distance."""
        rng = np.random.default_rng(0)
        some = rng.permutation(len(X))[:_SCORED]
        X, y = X[some], y[some]
        triplets = np.array([rng.choice(len(X), 3, replace=False) for _ in range(_TRIPLETS)])
        right = np.argmin(_squared(X @ self.hidden, triplets)[:, :2], axis=1)

        def score(model: Any) -> float:
            Z = X if model is None else model.transform(X)
            if self.kind == "pair":
                return _precision(Z, y)
            return float(np.mean(np.argmin(_squared(Z, triplets)[:, :2], axis=1) == right))

        return score


def ask_random(judge: Judge, price: float) -> Iterator[Any]:
    """The models learned from 25, 50, ... answers to random questions."""
    rows, answers = _random(judge)
    for count in _SIZES:
        yield _learn(judge, rows[:count], answers[:count], price)


def _random(judge: Judge) -> tuple[np.ndarray, np.ndarray]:
    rows = judge.draw(_ASKED, np.empty((0, judge.width), dtype=int))
    return rows, judge.answer(rows)


def ask_chosen(judge: Judge, price: float) -> Iterator[Any]:
    """The models learned from chosen questions, after 25, 50, ... were asked, the random ones included."""
    from gramlearn.evaluation import questions

    rows = unlearned = np.empty((0, judge.width), dtype=int)
    answers, model = np.empty(0, dtype=int), None
    for turn, _ in enumerate(_SIZES):
        count = _BATCH - judge.rng.binomial(_BATCH, _NOT_LEARNED)
        known = judge.side(rows, answers) if len(rows) else None
        chosen = questions(
            model, judge.X, known, judge.kind, count, random_state=turn, asked=unlearned
        )
        rows = np.concatenate([rows, chosen])
        answers = np.concatenate([answers, judge.answer(chosen)])
        more = judge.draw(_BATCH - count, np.concatenate([rows, unlearned]))
        unlearned = np.concatenate([unlearned, more])
        model = _learn(judge, rows, answers, price)
        yield model


def _learn(judge: Judge, rows: np.ndarray, answers: np.ndarray, price: float) -> Any:
    """A metric; None, the plain distance, where all pairs are alike or all unlike."""
    from gramlearn import MetricLearner

    if judge.kind == "pair" and len(set(answers)) < 2:
        return None
    learner = MetricLearner(C=price, tol=1e-3, max_iter=300, random_state=0)
    return learner.fit(judge.X, side=judge.side(rows, answers))


def _best_price(judge: Judge, score: Callable[[Any], float]) -> float:
    rows, answers = _random(judge)
    return max(_PRICES, key=lambda price: score(_learn(judge, rows, answers, price)))


def _squared(Z: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """|z_0 - z_1|^2, |z_0 - z_2|^2, |z_1 - z_2|^2."""
    places = ((0, 1), (0, 2), (1, 2))
    return np.stack(
        [np.sum((Z[rows[:, a]] - Z[rows[:, b]]) ** 2, axis=1) for a, b in places], axis=1
    )


def _key(kind: str, row: np.ndarray) -> tuple[int, ...]:
    fixed = int(kind == "triplet")
    return (*row[:fixed].tolist(), *sorted(row[fixed:].tolist()))


def _precision(Z: np.ndarray, y: np.ndarray) -> float:
    """The share of the nearest points with the label of a point."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=_NEAREST).fit(Z).kneighbors(return_distance=False)
    return float(np.mean(y[found] == y[:, None]))


def _reach(curve: np.ndarray, score: float) -> float:
    reached = np.flatnonzero(curve >= score)
    return float(_SIZES[reached[0]]) if len(reached) else np.inf


def _say(count: float) -> str:
    if np.isnan(count):
        return "nothing to reach"
    return f"{count:.0f}" if np.isfinite(count) else f"more than {_ASKED}"


if __name__ == "__main__":
    main()
