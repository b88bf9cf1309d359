"""How good is a similarity, a clustering, a judgment? Triplets kept, neighbors retrieved, labels agreed on."""

from gramlearn.evaluation.agreement import normalized_mutual_information, pair_accuracy
from gramlearn.evaluation.questions import questions
from gramlearn.evaluation.retrieval import average_precision, recall_at_k
from gramlearn.evaluation.suspects import suspects
from gramlearn.evaluation.triplets import TripletScorer, comparisons_kept

__all__ = [
    "TripletScorer",
    "average_precision",
    "comparisons_kept",
    "normalized_mutual_information",
    "pair_accuracy",
    "questions",
    "recall_at_k",
    "suspects",
]
