"""Who does the work: this process, or the workers of a cluster. Parts stay where they are; answers travel."""

from gramlearn.workers.crew import Crew, PartsLostError, Worker
from gramlearn.workers.here import Here

__all__ = ["Crew", "Here", "PartsLostError", "Worker"]
