"""A metric for wine in a pipeline of scikit-learn, and what it is worth on held-out wines.

The features come in different units. The learner sees the classes of half of the wines; C is chosen by
cross-validation among them, and the score is that of the other half.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from gramlearn import MetricLearner

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

plain = KNeighborsClassifier(4).fit(X_train, y_train)
pipeline = make_pipeline(MetricLearner(random_state=0), KNeighborsClassifier(4))
search = GridSearchCV(pipeline, {"metriclearner__C": [0.01, 0.1, 1.0, 10.0]}, cv=5)
search.fit(X_train, y_train)

learner = search.best_estimator_[0]
print(
    f"held-out accuracy: {plain.score(X_test, y_test):.3f} before, {search.score(X_test, y_test):.3f} after"
)
print(f"C={learner.C:g}; {learner.solution_}")
print(f"alike means nearer than {learner.threshold_:.3g}")
