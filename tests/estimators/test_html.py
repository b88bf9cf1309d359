"""In a notebook a fitted MetricLearner says first whether it helps, then how near it is to the optimum."""

import numpy as np

from gramlearn import MetricLearner

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


def test_what_is_said_is_escaped() -> None:
    learner = MetricLearner(C=1.0, random_state=0).fit(RNG.normal(size=(20, 2)), np.arange(20) % 2)
    assert "Certificate" in learner._repr_html_()
    learner.verdict_ = "<script>"
    assert "&lt;script&gt;" in learner._repr_html_()
    assert "<strong><script>" not in learner._repr_html_()
