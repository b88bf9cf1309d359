"""The process beside that learns."""

from typing import Any, final


@final
class Learning:
    """Nothing is learned yet."""

    learned: Any = None
    problem: str | None = None

    def notice(self) -> None:
        """There are answers."""
