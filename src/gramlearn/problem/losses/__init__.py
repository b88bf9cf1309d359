"""What a constraint costs when it is violated: one convex function of t for each constraint."""

from gramlearn.problem.losses.base import Curve, Loss
from gramlearn.problem.losses.bounded import BoundedLoss
from gramlearn.problem.losses.linear import Linear
from gramlearn.problem.losses.margins import Hard, Hinge, Square, SquaredHinge
from gramlearn.problem.losses.slack import KLSlack, LogDetSlack

__all__ = [
    "BoundedLoss",
    "Curve",
    "Hard",
    "Hinge",
    "KLSlack",
    "Linear",
    "LogDetSlack",
    "Loss",
    "Square",
    "SquaredHinge",
]
