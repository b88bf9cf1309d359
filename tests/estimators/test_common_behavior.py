"""Callback, limits, Ctrl-C, status, history and gap behave alike in every estimator that solves a problem."""

import math

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from stress.fits import FITS, Fit, digest

from gramlearn import SolveInterrupted, Status, estimators
from gramlearn.problem.solution import CertifiedAnswer, Record

SIZE = 0.5
SOLVING = {name: fit for name, fit in FITS.items() if hasattr(fit.make(), "callback")}
WITHOUT_SOLVER = {"KernelKMeans", "ConstrainedKMeans", "OnlinePCA", "OnlineMetricLearner"}

every_fit = pytest.mark.parametrize("fit", SOLVING.values(), ids=SOLVING)


def run_fit(fit: Fit, **options: object) -> object:
    estimator = fit.make().set_params(**options)
    return fit.run(estimator, fit.data(SIZE))


def test_every_estimator_is_here() -> None:
    known = {name.split()[0] for name in SOLVING} | WITHOUT_SOLVER
    assert known == set(estimators.__all__)


@every_fit
def test_an_answer_has_a_status_a_gap_and_a_history(fit: Fit) -> None:
    records: list[Record] = []
    answer = run_fit(fit, callback=records.append).solution_
    assert isinstance(answer, CertifiedAnswer)
    assert answer.status in (Status.OPTIMAL, Status.LOCAL)
    assert 0 <= answer.gap < math.inf
    assert 0 <= answer.relative_gap < 1
    assert answer.primal >= answer.dual
    assert answer.history == records
    assert [record.iteration for record in records] == list(range(len(records)))
    assert np.all(np.diff([record.seconds for record in records]) >= 0)
    assert answer.iterations == len(records) - 1
    assert answer.seconds >= records[-1].seconds


@every_fit
@pytest.mark.parametrize(
    ("options", "status", "words"),
    [
        ({"max_iter": 1}, Status.ITERATION_LIMIT, "max_iter=1"),
        ({"time_limit": 1e-9}, Status.TIME_LIMIT, "time_limit=1e-09"),
        ({"callback": lambda record: record.iteration == 1}, Status.STOPPED, "callback"),
        ({"callback": lambda record: record.iteration == 0}, Status.STOPPED, "callback"),
    ],
    ids=["max_iter", "time_limit", "callback", "callback at once"],
)
def test_a_fit_that_is_cut_short_warns_and_is_run_fit(fit: Fit, options, status, words) -> None:
    with pytest.warns(ConvergenceWarning, match=words):
        estimator = run_fit(fit, tol=1e-12, **options)
    answer = estimator.solution_
    assert answer.status is status
    assert answer.iterations <= 2  # the first may be without an answer
    assert all(np.all(np.isfinite(a)) for a in fit.answers(estimator, fit.data(SIZE)))


@every_fit
def test_ctrl_c_hands_over_the_best_answer_so_far(fit: Fit) -> None:
    def interrupt(record: Record) -> None:
        if record.iteration == 1:
            raise KeyboardInterrupt

    estimator, data = fit.make().set_params(callback=interrupt, tol=1e-12), fit.data(SIZE)
    with pytest.raises(SolveInterrupted) as stop:
        fit.run(estimator, data)
    answer = stop.value.solution
    assert answer.status is Status.INTERRUPTED
    if "is fitted with it" in str(stop.value):
        assert estimator.solution_ is answer
        assert all(np.all(np.isfinite(a)) for a in fit.answers(estimator, data))
    else:
        with pytest.raises(NotFittedError):
            estimator.transform(data[0])
        assert not hasattr(estimator, "solution_")


@every_fit
def test_an_error_in_the_callback_leaves_the_estimator_as_it_was(fit: Fit) -> None:
    def fail(record: Record) -> None:
        raise RuntimeError("it is the user's")

    estimator = fit.make().set_params(callback=fail)
    with pytest.raises(RuntimeError, match="it is the user's"):
        fit.run(estimator, fit.data(SIZE))
    assert not hasattr(estimator, "solution_")


@every_fit
def test_verbose_and_callback_do_not_change_the_answer(fit: Fit) -> None:
    data, records = fit.data(SIZE), []
    plain, watched = run_fit(fit), run_fit(fit, callback=records.append, verbose=1)
    assert records
    assert digest(fit.answers(plain, data)) == digest(fit.answers(watched, data))


@every_fit
@pytest.mark.parametrize("verbose", [0, 1])
def test_bad_limits_are_refused_by_name(fit: Fit, verbose: int) -> None:
    name = type(fit.make()).__name__
    with pytest.raises(
        ValueError, match=rf"`{name}\(time_limit=-1\)`: time_limit must be positive"
    ):
        run_fit(fit, time_limit=-1, verbose=verbose)
    with pytest.raises(TypeError, match="`callback` must be a function of a Record"):
        run_fit(fit, callback=5, verbose=verbose)
