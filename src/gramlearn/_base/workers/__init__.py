"""Who does the work: this process, or the workers of a cluster. Parts stay where they are; answers travel."""

from gramlearn._base.workers.crew import Crew, Maker, PartsLostError, Worker
from gramlearn._base.workers.here import Here

__all__ = ["Crew", "Here", "Maker", "PartsLostError", "Worker"]
