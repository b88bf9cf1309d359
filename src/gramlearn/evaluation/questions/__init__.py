"""Which questions to ask a person next: candidates, what is not known of their answers, and a choice."""

from gramlearn.evaluation.questions.asking import questions

__all__ = ["questions"]
