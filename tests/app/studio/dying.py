"""What works in the process beside, and ends it at once: of few imports, so that it starts soon."""

import os
import signal


def die(kind, P, rows):
    """As a process that the system ends for lack of memory."""
    os.kill(os.getpid(), signal.SIGKILL)
