"""time_limit, callback and Ctrl-C of the estimators that learn a metric: alike for all of them."""

import warnings

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from gramlearn import (
    POLA,
    KernelLearner,
    MetricLearner,
    SemiSupervisedEmbedding,
    SolveInterrupted,
    Status,
)

X, Y = load_iris(return_X_y=True)
X = (X - X.mean(axis=0)) / X.std(axis=0)
LEARNERS = [
    MetricLearner(random_state=0),
    MetricLearner(rank=2, random_state=0),
    MetricLearner("von_neumann", regularize="kernel", random_state=0),
    KernelLearner(random_state=0),
    KernelLearner("linear", regularizer="frobenius", random_state=0),
    SemiSupervisedEmbedding(random_state=0),
    POLA(0.01, random_state=0),
]
every = pytest.mark.parametrize("learner", LEARNERS, ids=str)


def interrupt(record):
    raise KeyboardInterrupt


@every
def test_ctrl_c_leaves_the_estimator_as_it_was(learner):
    fresh = clone(learner).set_params(callback=interrupt)
    with pytest.raises(SolveInterrupted) as caught:
        fresh.fit(X, Y)
    solution = caught.value.solution
    assert solution.status is Status.INTERRUPTED
    with pytest.raises(NotFittedError):
        fresh.transform(X)

    fitted = clone(learner).fit(X, Y)
    before = dict(vars(fitted))
    fitted.callback = interrupt
    with pytest.raises(SolveInterrupted):
        fitted.fit(X[::2, :3], Y[::2])
    assert vars(fitted) == {**before, "callback": interrupt}
    assert all(vars(fitted)[name] is value for name, value in before.items() if name != "callback")
    assert np.isfinite(fitted.transform(X)).all()


@every
def test_an_error_in_the_callback_leaves_the_estimator_as_it_was(learner):
    def fail(record):
        raise RuntimeError("it is the user's")

    fresh = clone(learner).set_params(callback=fail)
    with pytest.raises(RuntimeError, match="the user's"):
        fresh.fit(X, Y)
    with pytest.raises(NotFittedError):
        fresh.transform(X)


@every
@pytest.mark.parametrize("verbose", [0, 1])
def test_a_callback_sees_every_record_and_stops_the_fit(learner, verbose):
    records = []

    def stop(record):
        records.append(record)
        return record.iteration == 1

    stopped = clone(learner).set_params(callback=stop, verbose=verbose, tol=1e-12)
    with pytest.warns(ConvergenceWarning, match="stopped by the callback"):
        stopped.fit(X, Y)
    assert stopped.solution_.status is Status.STOPPED
    assert [record.iteration for record in records] == [0, 1]
    assert stopped.n_iter_ == 1
    assert np.isfinite(stopped.transform(X)).all()


@every
def test_a_callback_that_only_looks_changes_nothing(learner):
    records = []
    watched = clone(learner).set_params(callback=records.append).fit(X, Y)
    plain = clone(learner).fit(X, Y)
    assert len(records) == len(watched.solution_.history)
    np.testing.assert_array_equal(watched.transform(X), plain.transform(X))


@every
@pytest.mark.parametrize(
    ("limit", "status"),
    [({"time_limit": 1e-9}, Status.TIME_LIMIT), ({"max_iter": 0}, Status.ITERATION_LIMIT)],
    ids=["time_limit", "max_iter"],
)
def test_a_limit_ends_a_fit_with_a_warning(learner, limit, status):
    with pytest.warns(ConvergenceWarning, match=next(iter(limit))):
        cut = clone(learner).set_params(**limit).fit(X, Y)
    assert cut.solution_.status is status
    assert np.isfinite(cut.transform(X)).all()
    with warnings.catch_warnings():
        warnings.simplefilter("error", ConvergenceWarning)
        enough = clone(learner).set_params(time_limit=600.0).fit(X, Y)
    assert enough.solution_.status is Status.OPTIMAL


@every
@pytest.mark.parametrize("verbose", [0, 1])
def test_bad_limits_are_named(learner, verbose):
    name = type(learner).__name__
    with pytest.raises(
        ValueError, match=rf"`{name}\(time_limit=-1\)`: time_limit must be positive"
    ):
        clone(learner).set_params(time_limit=-1, verbose=verbose).fit(X, Y)
    with pytest.raises(TypeError, match="`callback` must be a function of a Record"):
        clone(learner).set_params(callback=5, verbose=verbose).fit(X, Y)
