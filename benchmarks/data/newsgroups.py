"""Latent semantic vectors of 18,846 messages of 20 newsgroups: TF-IDF, then a truncated SVD of r columns.

Read from `newsgroups20.jsonl.gz`, one message a line with `text` and `group`. The vectors are made once and
kept under tools/.cache/.
"""

import gzip
import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from tools import environments

from benchmarks.data._draw import Draw
from benchmarks.data._real import choose_rows, data_file
from benchmarks.instance import Spec

__all__ = ["points"]

_SEED = 0  # of the SVD, whatever the seed of the pairs


def points(spec: Spec, draw: Draw) -> tuple[Any, Any]:
    """Vectors and their newsgroups."""
    vectors, y = _read_vectors(data_file("newsgroups20.jsonl.gz"), spec.r)
    rows = choose_rows(spec, *vectors.shape)
    return draw.array(vectors[rows]), draw.array(y[rows])


def _read_vectors(source: Path, r: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn import __version__

    name = f"newsgroups-r{r}-{source.stat().st_size}-sklearn{__version__}.npz"
    kept = environments.CACHE / name
    if not kept.exists():
        vectors, y = _make_vectors(source, r)
        kept.parent.mkdir(parents=True, exist_ok=True)
        unnamed = kept.with_name(f".{name}.{os.getpid()}")
        with unnamed.open("wb") as file:
            np.savez(file, vectors=vectors, y=y)
        unnamed.replace(kept)  # complete, or absent
    with np.load(kept) as file:
        return file["vectors"], file["y"]


def _make_vectors(source: Path, r: int) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.decomposition import TruncatedSVD
    from sklearn.feature_extraction.text import TfidfVectorizer

    with gzip.open(source, "rt", encoding="utf-8") as lines:
        messages = [json.loads(line) for line in lines]
    words = TfidfVectorizer(sublinear_tf=True, min_df=5, max_df=0.5, stop_words="english")
    table = words.fit_transform(message["text"] for message in messages)
    vectors = TruncatedSVD(r, random_state=_SEED).fit_transform(table)
    _, y = np.unique([message["group"] for message in messages], return_inverse=True)
    return vectors, y
