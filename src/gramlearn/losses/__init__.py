"""What a constraint costs when it is violated: one convex function of t for each constraint."""

from gramlearn.losses._base import Curve, Loss
from gramlearn.losses._bounded import BoundedLoss
from gramlearn.losses.linear import Linear
from gramlearn.losses.margins import Hard, Hinge, Square, SquaredHinge
from gramlearn.losses.slack import KLSlack, LogDetSlack

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
