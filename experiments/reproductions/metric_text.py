"""J12 Figure 2 (a, b): 10 nearest texts under W = I + R (F - I) R', by the size of the basis R, beside LSA.

R are the means of k of the c classes, of all of them, or of k / c clusters of each (J12 6.2). LSA measures
distances in the k leading singular directions; Euclidean distances know no k.
"""

import time
from collections.abc import Sequence
from typing import Any, final

import numpy as np
from sklearn.decomposition import TruncatedSVD

from experiments.experiment import Claim, Experiment, Part, Result
from experiments.judging import Spread, doubt, listed, prose, span, spread_of
from experiments.reproductions._halves import GAMMAS, PERCENTILES, Half, halves
from experiments.reproductions._texts import squared_distances, text_vectors, vote
from gramlearn import MetricLearner

__all__ = ["EXPERIMENT"]

_SIZES = {"classic3": (2, 3, 6, 12, 24, 48), "newsgroups20": (5, 10, 20, 40, 80, 160)}
_WORDS = {"classic3": "Classic3", "newsgroups20": "20 newsgroups"}
_METHODS = {"logdet": "LogDet Linear", "lsa": "LSA", "euclidean": "Euclidean"}
_DRAWS = {"classic3": 2, "newsgroups20": 1}
_HALF = {"classic3": 1945, "newsgroups20": 9423}  # texts
_NEIGHBORS = 10
_TOL = 1e-3
_SIMILAR = 0.02  # accuracies


@final
class MetricText(Experiment):
    paper: str = "Jain, Kulis, Davis, Dhillon (2012), section 6.2, Figure 2 (a, b)"
    claim: str = (
        "with a small basis the learned metric is as accurate as Euclidean distances, with a larger one "
        "significantly more so, and it outperforms LSA."
    )
    title: str = "Texts, with bases of several sizes"
    setup: str = prose(f"""
        tf-idf vectors of the 5,000 words that are in most texts, stop words left out; Classic3 comes with 4,303
        words. Words are not stemmed, as they are in the paper. A draw splits the texts in halves; pairs, bounds
        and gamma are as for the UCI sets, from one half, whose texts are the neighbors of those of the other.
        The basis is that of the paper: means of k classes drawn at random, of all classes, or of clusters of
        each. LSA is scikit-learn's TruncatedSVD. {_NEIGHBORS} neighbors, {_DRAWS["classic3"]} draws of Classic3
        and {_DRAWS["newsgroups20"]} of all 18,846 messages of 20 newsgroups; mean and standard deviation.
        """)
    version: int = 1
    data: tuple[str, ...] = ("classic3", "newsgroups20")

    def parts(self, quick: bool) -> list[Part]:
        if quick:
            given = {"set": "classic3", "sizes": (3, 6), "draw": 0, "of_a_class": 60}
            return [Part("classic3-d0", given)]
        return [
            Part(
                f"{name}-d{draw}",
                {"set": name, "sizes": sizes, "draw": draw, "of_a_class": None},
            )
            for name, sizes in _SIZES.items()
            for draw in range(_DRAWS[name])
        ]

    def compute(self, part: Part) -> dict[str, Any]:
        rng = part.generator()
        X, y = text_vectors(part.parameters["set"], part.parameters["of_a_class"])
        half = next(halves(X, y, rng))
        within = list(halves(half.points, half.labels, rng))
        tables = [squared_distances(h.others, h.points) for h in (half, *within)]
        found: dict[str, Any] = {"euclidean": _right(half, tables[0]), "sizes": {}}
        for size in part.parameters["sizes"]:
            began = time.process_time()
            basis = [_basis(h, size, rng) for h in (half, *within)]
            wrong = [
                sum(
                    1 - _learned(*of, gamma)[0]
                    for of in zip(within, tables[1:], basis[1:], strict=True)
                )
                for gamma in GAMMAS
            ]
            gamma = GAMMAS[int(np.argmin(wrong))]
            accuracy, gap = _learned(half, tables[0], basis[0], gamma)
            reduced = TruncatedSVD(size, random_state=part.seed).fit(half.points)
            places = reduced.transform(half.others), reduced.transform(half.points)
            found["sizes"][str(size)] = {
                "logdet": accuracy,
                "lsa": _right(half, squared_distances(*places)),
                "gamma": gamma,
                "relative_gap": gap,
                "seconds": time.process_time() - began,
            }
        return found

    def table(self, results: Sequence[Result]) -> list[dict[str, str]]:
        rows = []
        for name, found in _accuracies(results).items():
            for size in found["logdet"]:
                of_set = [r.value for r in results if r.parameters["set"] == name]
                gammas = [value["sizes"][str(size)]["gamma"] for value in of_set]
                row = {"set": _WORDS[name], "basis": str(size)}
                for method, words in _METHODS.items():
                    row[words] = "{:.3f} ± {:.3f}".format(*found[method][size])
                row["gamma"] = ", ".join(sorted({f"{gamma:g}" for gamma in gammas}, key=float))
                rows.append({**row, "the paper": _told(size, found["logdet"])})
        return rows

    def claims(self, results: Sequence[Result]) -> list[Claim]:
        return [
            claim
            for name, found in _accuracies(results).items()
            for claim in _claims(_WORDS[name], found, _HALF[name] * _DRAWS[name])
        ]

    def figure(self, results: Sequence[Result]) -> Any:
        from matplotlib.figure import Figure

        accuracies = _accuracies(results)
        figure = Figure(figsize=(4.5 * len(accuracies), 4), layout="constrained")
        for axes, (name, found) in zip(
            np.atleast_1d(figure.subplots(1, len(accuracies))), accuracies.items(), strict=True
        ):
            for k, (method, words) in enumerate(_METHODS.items()):
                sizes = list(found[method])
                means, deviations = zip(*found[method].values(), strict=True)
                axes.errorbar(
                    sizes,
                    means,
                    deviations,
                    marker="o",
                    ms=3,
                    capsize=2,
                    color=f"C{k}",
                    label=words,
                )
            axes.set_xscale("log", base=2)
            axes.set_xticks(sizes, [str(size) for size in sizes])
            axes.minorticks_off()
            axes.set(xlabel="size of the basis", ylabel="accuracy", title=_WORDS[name])
            axes.grid(alpha=0.3)
            axes.legend(fontsize="small")
        return figure


def _basis(half: Half, size: int, rng: np.random.Generator) -> dict[str, Any]:
    """What MetricLearner is told of it."""
    classes = np.unique(half.labels)
    if size >= classes.size:
        return {"rank": size, "basis": "class_means"}
    drawn = rng.choice(classes, size=size, replace=False)
    means = [np.asarray(half.points[half.labels == c].mean(axis=0)).reshape(-1) for c in drawn]
    return {"basis": np.stack(means, axis=1)}


def _learned(
    half: Half, squared: np.ndarray, basis: dict[str, Any], gamma: float
) -> tuple[float, float]:
    """Accuracy and relative gap; `squared` are the plain distances."""
    learner = MetricLearner(
        gamma=gamma, percentiles=PERCENTILES, tol=_TOL, random_state=0, **basis
    ).fit(half.points, half.labels, side=half.pairs)
    p, q = (np.asarray(A @ learner.basis_) for A in (half.others, half.points))
    change = learner.inner_ - np.eye(len(learner.inner_))
    moved = p @ change
    lengths = np.sum(moved * p, axis=1)[:, None] + np.sum((q @ change) * q, axis=1)
    return _right(half, squared + lengths - 2 * moved @ q.T), learner.solution_.relative_gap


def _right(half: Half, squared: np.ndarray) -> float:
    wrong = half.wrong(vote(squared, half.labels, _NEIGHBORS))
    return 1 - wrong / len(half.others_labels)


def _accuracies(results: Sequence[Result]) -> dict[str, dict[str, dict[int, Spread]]]:
    """By set, method and size of the basis."""
    found: dict[str, dict[str, dict[int, Spread]]] = {}
    for name in dict.fromkeys(result.parameters["set"] for result in results):
        values = [r.value for r in results if r.parameters["set"] == name]
        sizes = [int(size) for size in values[0]["sizes"]]
        found[name] = {
            method: {k: spread_of([v["sizes"][str(k)][method] for v in values]) for k in sizes}
            for method in ("logdet", "lsa")
        }
        plain = spread_of([value["euclidean"] for value in values])
        found[name]["euclidean"] = dict.fromkeys(sizes, plain)
    return found


def _told(size: int, sizes: dict[int, Spread]) -> str:
    if size == min(sizes):
        return "similar to the Euclidean measure"
    return "significantly higher accuracy than Euclidean" if size == max(sizes) else ""


def _claims(name: str, found: dict[str, dict[int, Spread]], tested: int) -> list[Claim]:
    """`tested` texts were classified, over all draws."""
    learned, lsa, plain = (found[method] for method in _METHODS)
    few, many = min(learned), max(learned)
    ahead = [size for size in learned if learned[size].center > lsa[size].center]
    gains = [learned[size].center - lsa[size].center for size in learned]
    gain = learned[many].center - plain[many].center
    error = doubt((learned[many].center, plain[many].center), tested)
    above = [size for size in learned if learned[size].center > plain[size].center]
    return [
        Claim(
            words=f"{name}: with small bases, accuracy is similar to Euclidean distances",
            paper="a figure without numbers",
            ours=f"{learned[few].center:.3f} with a basis of {few}, Euclidean {plain[few].center:.3f}",
            criterion=f"with the smallest basis, they differ by at most {_SIMILAR:g}",
            agrees=abs(learned[few].center - plain[few].center) <= _SIMILAR,
            reason=f"They differ by {abs(learned[few].center - plain[few].center):.3f}.",
        ),
        Claim(
            words=f"{name}: with larger bases, accuracy is significantly higher",
            paper="a figure without numbers",
            ours=f"{learned[many].center:.3f} with a basis of {many}, Euclidean {plain[many].center:.3f}",
            criterion="with the largest basis, the gain is more than twice the standard error that two "
            "shares of so many texts have",
            agrees=gain > 2 * error,
            reason=f"The gain is {gain:.4f} with a standard error of {error:.4f}, for Euclidean distances "
            f"leave few errors; it is above them with bases of {listed(map(str, above))}.",
        ),
        Claim(
            words=f"{name}: the learned metric significantly outperforms LSA",
            paper="a figure without numbers",
            ours=f"it is ahead with bases of {listed(map(str, ahead))}, by {span(gains, '+.3f')}",
            criterion="its mean is higher at every size of the basis",
            agrees=len(ahead) == len(learned),
            reason=f"With the other bases LSA is ahead, by {-min(gains):.3f} at most.",
        ),
    ]


EXPERIMENT = MetricText()
