"""A metric for wine in a pipeline of scikit-learn, and what it is worth on held-out wines.

The features come in different units. The learner sees the classes of half of the wines, chooses by holding some
of them back, and says whether that helps; the score is that of the other half.
"""

from sklearn.datasets import load_wine
from sklearn.model_selection import train_test_split
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline

from gramlearn import MetricLearner

X, y = load_wine(return_X_y=True)
X_train, X_test, y_train, y_test = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)

plain = KNeighborsClassifier(4).fit(X_train, y_train)
pipeline = make_pipeline(MetricLearner(random_state=0), KNeighborsClassifier(4))
pipeline.fit(X_train, y_train)

learner = pipeline[0]
before, after = (model.score(X_test, y_test) for model in (plain, pipeline))
print(learner.verdict_)
print(f"held-out accuracy: {before:.3f} before, {after:.3f} after")
print(f"prior: {learner.prior_}; learned from: {learner.statements_}; {learner.solution_}")
print(f"alike means nearer than {learner.threshold_:.3g}")
