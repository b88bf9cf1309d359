"""In a notebook a fitted MetricLearner says first whether it helps, then how near it is to the optimum."""

import numpy as np

from gramlearn import MetricLearner, Pairs

RNG = np.random.default_rng(1)


def test_the_verdict_and_the_certificate_stand_before_the_diagram() -> None:
    X = RNG.normal(size=(90, 4)) * [1, 1, 5, 5]
    y = (X[:, 0] > 0).astype(int)
    learner = MetricLearner(random_state=0)
    diagram = learner._repr_html_()
    assert "Certificate" not in diagram
    learner.fit(X, y)
    for text in (learner._repr_html_(), learner._repr_mimebundle_()["text/html"]):
        verdict, certificate = text.index(learner.verdict_), text.index("Certificate: OPTIMAL")
        assert verdict < certificate < text.index("sk-")
        assert text.count(learner.verdict_) == 1


def test_a_metric_that_is_mixed_with_the_prior_says_so_beside_its_certificate() -> None:
    X = RNG.normal(size=(60, 6)) * [1, 1, 1, 5, 5, 5]
    X[:, :3] += 4 * np.eye(3)[np.arange(60) % 3]
    alike = [(k, k + 3) for k in range(0, 54)]
    learner = MetricLearner(random_state=0).fit(X, side=Pairs(alike, n_points=60))
    assert learner.statements_ == "others"
    assert learner.prior_share_ == 0.25
    words = "The metric is this answer mixed with a quarter of the prior, so that groups which no statement"
    for text in (learner._repr_html_(), learner._repr_mimebundle_()["text/html"]):
        assert text.index("Certificate: ") < text.index(words) < text.index("sk-")
    learner.set_params(C=1.0).fit(X, side=Pairs(alike, [(0, 1)], n_points=60))
    assert "mixed with" not in learner._repr_html_()


def test_what_is_said_is_escaped() -> None:
    learner = MetricLearner(C=1.0, random_state=0).fit(RNG.normal(size=(20, 2)), np.arange(20) % 2)
    assert "Certificate" in learner._repr_html_()
    learner.verdict_ = "<script>"
    assert "&lt;script&gt;" in learner._repr_html_()
    assert "<strong><script>" not in learner._repr_html_()
