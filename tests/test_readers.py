"""Files that are not what they should be are refused in a sentence, and nothing in them is run."""

import pytest
from stress.readers import READERS, fuzz


@pytest.mark.parametrize("name", READERS)
def test_every_reader_names_the_file_and_runs_nothing(name: str) -> None:
    found = fuzz(name, 300, 0)
    assert found["troubles"] == []
    assert sum(found.get(key, 0) for key in ("read", "refused")) == 300
