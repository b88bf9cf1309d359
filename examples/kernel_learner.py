"""A learned Gaussian kernel of handwritten digits, for support vectors and clusters of new digits.

The learner sees 600 pairs of 300 digits. Its kernel is one of all digits: the classifier and the clusters use
digits that no pair spoke of.
"""

from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from sklearn.svm import SVC

from gramlearn import KernelLearner, Pairs
from gramlearn.evaluation import normalized_mutual_information

X, y = load_digits(return_X_y=True)
X_train, X_new, y_train, y_new = train_test_split(
    X, y, train_size=300, test_size=500, stratify=y, random_state=0
)
side = Pairs.from_labels(y_train, 600, random_state=0)
learner = KernelLearner("rbf", {"gamma": 5e-4}, C=1.0).fit(X_train, side=side)
print(learner.solution_)

svc = SVC(kernel="precomputed").fit(learner.kernel_matrix(X_train), y_train)
print(
    f"support vectors: {svc.score(learner.kernel_matrix(X_new, X_train), y_new):.3f} of new digits right"
)

clusters = KMeans(10, n_init=10, random_state=0)
before = normalized_mutual_information(y_new, clusters.fit(X_new).labels_)
after = normalized_mutual_information(y_new, clusters.fit(learner.transform(X_new)).labels_)
print(
    f"clusters of new digits: {before:.3f} before, {after:.3f} after (normalized mutual information)"
)
