"""A kernel from end to end: K ~= G G', learned from labels, then clusters, neighbors and a linear SVM.

The Gaussian kernel of half of the digits is factored by incomplete Cholesky, G n x 100. The kernel nearest to
G G' in LogDet divergence that brings pairs of one digit together and holds others apart has the factor
G A. Rows of G, or of G A, are coordinates; so k-means on them is kernel k-means, and a linear SVM is a
kernel SVM. Digits held out get their rows by comparison with the 100 pivots.
"""

import numpy as np
from gramlearn.losses import LogDetSlack
from matplotlib.figure import Figure
from scipy.spatial.distance import cdist
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from gramlearn import Factor, KernelKMeans, LogDet, Pairs, Problem, solve
from gramlearn.evaluation import normalized_mutual_information
from gramlearn.kernels import incomplete_cholesky
from gramlearn.side_information import percentile_bounds

SEED = 100  # gamma, rank and slack were chosen on the splits of seeds 0 and 1

pixels, digits = load_digits(return_X_y=True)
train, held_out, train_digits, held_out_digits = train_test_split(
    pixels / 16, digits, test_size=0.5, stratify=digits, random_state=SEED
)

kernel = incomplete_cholesky(train, "rbf", gamma=0.05, rank=100)
pairs = Pairs.from_labels(train_digits, random_state=SEED)
bounds = percentile_bounds(kernel.factor, random_state=SEED)
terms = pairs.bind(LogDetSlack(C=1.0), bounds=bounds)
solution = solve(Problem(LogDet(), Factor(kernel.factor), terms))
A = np.linalg.lstsq(kernel.factor, solution.factor)[0]

new = kernel.transform(held_out)
before = kernel.factor, new
after = kernel.factor @ A, new @ A


def measure(rows: np.ndarray, new_rows: np.ndarray) -> dict[str, float]:
    """Judge coordinates by the digits held out."""
    scale = np.sqrt(np.mean(np.vecdot(rows, rows)))  # one number: the SVM's C then means the same
    clusters = KernelKMeans(10, random_state=0).fit_predict(new_rows)
    nearest = KNeighborsClassifier(5).fit(rows, train_digits)
    svm = LinearSVC(C=10.0).fit(rows / scale, train_digits)
    return {
        "NMI of kernel k-means": normalized_mutual_information(held_out_digits, clusters),
        "5 nearest neighbors": nearest.score(new_rows, held_out_digits),
        "linear SVM": svm.score(new_rows / scale, held_out_digits),
    }


print(kernel)
print(solution)
plain, learned = measure(*before), measure(*after)
print(f"{'digits held out':<24}{'before':>8}{'after':>8}")
for name, value in plain.items():
    print(f"{name:<24}{value:>8.3f}{learned[name]:>8.3f}")

figure = Figure(figsize=(9.6, 5.0), layout="constrained")
order = np.argsort(held_out_digits, kind="stable")
middles = [np.mean(np.flatnonzero(held_out_digits[order] == digit)) for digit in range(10)]
for ax, (_, rows), title in zip(
    figure.subplots(1, 2), (before, after), ("Gaussian kernel", "learned kernel"), strict=True
):
    squared = cdist(rows[order], rows[order], "sqeuclidean")
    ax.imshow(squared, cmap="gray", vmax=np.percentile(squared, 90))
    ax.set(title=f"{title}, squared distances", xticks=middles, yticks=middles)
    ax.set(xticklabels=range(10), yticklabels=range(10))
figure.savefig("low_rank_kernel.png", dpi=110)
