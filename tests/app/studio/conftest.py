"""One browser for all tests of the studio."""

from collections.abc import Iterator
from typing import Any

import pytest
from tests.browsers import starting


@pytest.fixture(scope="package")
def browser() -> Iterator[Any]:
    """Chromium without a window."""
    with starting() as browser:
        yield browser
