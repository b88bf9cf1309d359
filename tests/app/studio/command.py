"""`gramlearn studio` as people start it: a process of its own, stopped by Ctrl-C."""

import signal
import subprocess
import sys
from urllib.parse import urlsplit

# Whoever runs tests in the background of a shell has it ignore Ctrl-C, and so would the process.
_MAIN = (
    "import signal, sys; signal.signal(signal.SIGINT, signal.default_int_handler); "
    "from gramlearn.app.command import main; sys.exit(main())"
)


class Command:
    """Serves until it is stopped, or the `with` ends."""

    def __init__(self, *words, folder):
        line = [sys.executable, "-c", _MAIN, "studio", *map(str, words)]
        self.process = subprocess.Popen(
            line, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder
        )
        self.lines = []
        while not (self.lines and "token=" in self.lines[-1]):
            self.lines.append(self.process.stdout.readline())
            assert self.lines[-1], f"the studio did not start: {self.lines}"
        self.address = self.lines[-1].split()[-1]
        self.port = urlsplit(self.address).port

    def __enter__(self):
        return self

    def __exit__(self, *raised):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()

    def stop(self):
        """By Ctrl-C; its status, and what it said."""
        self.process.send_signal(signal.SIGINT)
        said = self.process.stdout.read()
        return self.process.wait(), said
