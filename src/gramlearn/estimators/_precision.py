"""float32 in, float32 out: learning is done in double precision, and what it gives follows the points."""

from typing import Any

import numpy as np

__all__ = ["FLOATS", "KeepsPrecision"]

FLOATS = (np.float64, np.float32)  # what `transform` takes as it is; all else becomes the first


class KeepsPrecision:
    """A transformer that gives float32 for float32, as embeddings and the indexes they go to mostly are."""

    def __sklearn_tags__(self) -> Any:
        # Of a mixin, only the class that takes it knows what comes next.
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
