"""J12 Figure 2 (c, d): 2000 unseen USPS digits in two dimensions, learned from 100, beside kernel PCA.

    tau tr W + |W|^2 / 2 + sum_k hinge_k(d_W(i, j)) -> min over W,      x -> W^(1/2) p(x), two dimensions of it

p are coordinates of the feature space of a kernel that knows the shape of the data (Sindhwani et al., 2005). A
digit is separated, at a threshold, where that share of its points have their own kind around them.
"""

import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple, final

import numpy as np
from sklearn.decomposition import KernelPCA
from sklearn.neighbors import NearestNeighbors

from experiments.experiment import Claim, Experiment, Part, Result, panels
from experiments.intervals import Spread, compare_pairwise, listed, measure_spread, prose
from experiments.reproductions.j12._two_fold import PER_CLASS, PERCENTILES
from gramlearn import Pairs, SemiSupervisedEmbedding, datasets
from gramlearn.kernels import ManifoldKernel

_WORDS = {"trace": "Trace-SSIKDR", "pca": "kernel PCA", "plain": "kernel PCA, Gaussian kernel"}
_OF_A_DIGIT = 10
_WIDTHS, _STRENGTHS, _TAUS = (0.01, 0.03), (1.0, 10.0, 100.0), (0.01, 0.1, 0.5, 0.8)
_DRAWS = 10
_NEIGHBORS = 10
_THRESHOLDS = (0.5, 0.6, 0.7, 0.8)
_JUDGED = (0.6, 0.7)
_PAPER = {"trace": 7, "pca": 3}


class _Digits(NamedTuple):
    """Points to learn from, some whose shape counts, some to choose parameters by, and some to show."""

    points: np.ndarray
    labels: np.ndarray
    shape: np.ndarray
    trial: np.ndarray
    trial_labels: np.ndarray
    test: np.ndarray
    test_labels: np.ndarray
    pairs: Pairs


@final
class TraceEmbedding(Experiment):
    paper: str = "Jain, Kulis, Davis, Dhillon (2012), section 6.4, Figure 2 (c, d)"
    claim: str = (
        "two dimensions learned from 100 USPS digits separate seven digits of 2000 unseen ones reasonably "
        "well, kernel PCA only three."
    )
    title: str = "USPS digits in two dimensions"
    setup: str = prose(f"""
        SemiSupervisedEmbedding learns from {_OF_A_DIGIT} examples of each digit, 100 alike and 100 unlike pairs
        for each (as many as there are), and embeds 2,000 of the digits to test. The kernel is that of Sindhwani
        et al. on a Gaussian one, bent to the neighbor graph of the 100 and of 900 further digits without
        labels; kernel PCA, of the same 100, has the same choice of kernels, and for comparison the Gaussian
        one: the paper does not say which its kernel PCA has. It gives no parameters either: the width of the
        Gaussian ({_WIDTHS[0]:g} or {_WIDTHS[1]:g}), the strength of the graph (1, 10 or 100) and tau
        ({_TAUS[0]:g} to {_TAUS[-1]:g}) are those that do best on 1,000 other training digits, for each method
        apart; gamma is 1. So the labels of these 1,000 are used for tuning, where the paper names 100 examples
        alone. The paper counts by eye which digits are separated; here those are where a share of their points,
        {_THRESHOLDS[0]:.0%} to {_THRESHOLDS[-1]:.0%}, have, by vote, their own kind as {_NEIGHBORS} nearest
        neighbors in the plane. {_DRAWS} draws of the 100; mean and standard deviation.
        """)
    version: int = 3
    data: tuple[str, ...] = ("usps",)

    def parts(self, quick: bool) -> list[Part]:
        sizes = (60, 100, 150) if quick else (900, 1000, 2000)
        return [
            Part(f"d{draw}", {"draw": draw, "sizes": sizes, "widths": _WIDTHS[: 2 - quick]})
            for draw in range(1 if quick else _DRAWS)
        ]

    def compute(self, part: Part) -> dict[str, Any]:
        digits = _drawn(part.generator(), *part.parameters["sizes"])
        best: dict[str, tuple[float, dict[str, float], np.ndarray]] = {}
        for width in part.parameters["widths"]:
            for strength in (0.0, *_STRENGTHS):
                points = np.concatenate([digits.points, digits.shape])
                kernel = ManifoldKernel(points, "rbf", {"gamma": width}, strength=strength)
                for method, maps in _maps(digits, kernel, strength).items():
                    for tau, (trial, test) in maps.items():
                        score = float(np.mean(_votes(trial, digits.trial_labels)))
                        if method not in best or score > best[method][0]:
                            given = {"width": width, "strength": strength, "tau": tau}
                            best[method] = score, given, test
        labels = digits.test_labels
        return {
            "labels": labels.tolist(),
            **{
                method: {
                    "parameters": given,
                    "accuracy": float(np.mean(_votes(test, labels))),
                    "recalls": recalls(test, labels),
                    "points": [[float(f"{v:.4g}") for v in row] for row in test / test.std()],
                }
                for method, (_, given, test) in best.items()
            },
        }

    def kept(self, result: Result) -> dict[str, Any]:
        """Points of the first draw alone, which are drawn."""
        if result.parameters["draw"] == 0:
            return dict(result.value)
        value = {name: dict(result.value[name], points=[]) for name in _WORDS}
        return {"labels": [], **value}

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        told = {"trace": "seven separated reasonably well", "pca": "three", "plain": ""}
        rows = []
        for method, words in _WORDS.items():
            found = [result.value[method] for result in results]
            recall = np.mean([one["recalls"] for one in found], axis=0)
            accuracy = measure_spread([one["accuracy"] for one in found])
            row = {"method": words, f"{_NEIGHBORS}-NN in the plane": f"{accuracy:.3f}"}
            row |= {f"of {digit}": f"{share:.2f}" for digit, share in enumerate(recall)}
            rows.append(row)
        for method, words in _WORDS.items():
            row = {"digits separated": words}
            row |= {f"at {t:.0%}": f"{_separated(results, method, t):.1f}" for t in _THRESHOLDS}
            rows.append({**row, "the paper": told[method]})
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        of_methods = [
            Claim(
                words=f"{_WORDS[method]} separates {count} of the digits",
                paper=f"{count}, by eye",
                ours=listed(
                    f"{_separated(results, method, t):.1f} at {t:.0%}" for t in _THRESHOLDS
                ),
                reason="The paper counts by eye and gives no threshold, and the number follows from it.",
            )
            for method, count in _PAPER.items()
        ]
        return [*of_methods, _more(results)]

    def figure(self, results: Sequence[Result]) -> Any:
        shown = next((r.value for r in results if r.parameters["draw"] == 0), results[0].value)
        figure, three = panels((13, 4.6), 1, 3)
        labels = np.asarray(shown["labels"])
        for axes, (method, words) in zip(three, _WORDS.items(), strict=True):
            points = np.asarray(shown[method]["points"]).reshape(-1, 2)
            for digit in np.unique(labels):
                axes.plot(
                    *points[labels == digit].T, ".", ms=3, color=f"C{digit}", label=str(digit)
                )
            axes.set(title=words, xticks=[], yticks=[])
        axes.legend(markerscale=3, fontsize="small", loc="center left", bbox_to_anchor=(1, 0.5))
        return figure


def _drawn(rng: np.random.Generator, free: int, trial: int, test: int) -> _Digits:
    data = datasets.load("usps")
    X, y = np.asarray(data.X, dtype=float), np.asarray(data.y).astype(int)
    assert data.y_test is not None
    rows = np.concatenate(
        [rng.permutation(np.flatnonzero(y == digit))[:_OF_A_DIGIT] for digit in range(10)]
    )
    rest = rng.permutation(np.setdiff1d(np.arange(len(y)), rows))
    tried = rest[free : free + trial]
    seen = rng.permutation(len(data.y_test))[:test]
    return _Digits(
        X[rows],
        y[rows],
        X[rest[:free]],
        X[tried],
        y[tried],
        np.asarray(data.X_test, dtype=float)[seen],
        np.asarray(data.y_test).astype(int)[seen],
        Pairs.from_classes(y[rows], PER_CLASS, random_state=rng),
    )


def _maps(
    digits: _Digits, kernel: ManifoldKernel, strength: float
) -> dict[str, dict[float, tuple[np.ndarray, np.ndarray]]]:
    """By method and tau: the trial points and those to show, in two dimensions."""
    pca = KernelPCA(2, kernel="precomputed").fit(kernel(digits.points, digits.points))
    flat = {
        0.0: tuple(pca.transform(kernel(A, digits.points)) for A in (digits.trial, digits.test))
    }
    if not strength:
        return {"plain": flat}
    learned = {}
    for tau in _TAUS:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # a tau that leaves less than two dimensions
            embedding = SemiSupervisedEmbedding(
                2, tau=tau, kernel=kernel, percentiles=PERCENTILES, tol=1e-4, random_state=0
            ).fit(digits.points, side=digits.pairs)
        if embedding.eigenvalues_.size == 2:
            learned[tau] = tuple(embedding.transform(A) for A in (digits.trial, digits.test))
    return {"pca": flat, "trace": learned}


def _votes(points: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Of each point, whether most of its nearest others are of its kind."""
    nearest = NearestNeighbors(n_neighbors=_NEIGHBORS).fit(points).kneighbors(return_distance=False)
    votes = labels[nearest][:, :, None] == np.arange(labels.max() + 1)
    return np.argmax(votes.sum(axis=1), axis=1) == labels


def recalls(points: np.ndarray, labels: np.ndarray) -> list[float]:
    """Of each digit, the share of its points whose neighbors vote for it."""
    right = _votes(points, labels)
    return [float(np.mean(right[labels == digit])) for digit in range(10)]


def _counts(results: Sequence[Result], method: str, threshold: float) -> list[int]:
    """Of each draw, how many digits are separated."""
    return [sum(r >= threshold for r in result.value[method]["recalls"]) for result in results]


def _separated(results: Sequence[Result], method: str, threshold: float) -> Spread:
    return measure_spread(_counts(results, method, threshold))


def _more(results: Sequence[Result]) -> Claim:
    ahead = {
        t: compare_pairwise(_counts(results, "trace", t), _counts(results, "pca", t))
        for t in _JUDGED
    }
    plain = listed(f"{_separated(results, 'plain', t).center:.1f} at {t:.0%}" for t in _JUDGED)
    return Claim(
        words="Trace-SSIKDR separates more digits than kernel PCA",
        paper=f"{_PAPER['trace']} against {_PAPER['pca']}",
        ours=listed(f"{d.interval:+.1f} at {t:.0%}" for t, d in ahead.items())
        + " (half of the 95 % interval)",
        criterion=f"at {listed(f'{t:.0%}' for t in _JUDGED)}, the 95 % interval of the difference, draw by "
        "draw, is above zero",
        agrees=all(d.is_above_zero for d in ahead.values()),
        reason=f"Kernel PCA has the kernel that knows the shape of the data here; with the Gaussian one it "
        f"separates {plain}.",
    )


EXPERIMENT = TraceEmbedding()
