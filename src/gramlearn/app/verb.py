"""A verb of the command: a line of help, its arguments, and the work, which is loaded when it is asked for."""

from abc import ABC, abstractmethod
from argparse import ArgumentParser, Namespace
from typing import ClassVar


class Verb(ABC):
    """One of `gramlearn VERB`."""

    name: ClassVar[str]
    help: ClassVar[str]  # a line in the list of verbs
    description: ClassVar[str]
    example: ClassVar[
        str
    ]  # commands that run, one a line, on the files of `gramlearn demo --files`

    @abstractmethod
    def add_arguments(self, parser: ArgumentParser) -> None:
        """Declare what can be given; nothing numerical is loaded here."""

    @abstractmethod
    def run(self, given: Namespace) -> int:
        """Do it, and return the exit code."""
