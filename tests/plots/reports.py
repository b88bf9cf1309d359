"""Reports that several tests look at: points of three classes in two of six features, and texts that bite."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from gramlearn import MetricLearner, Pairs

CLASSES = np.array(["round", "square", "</script><b>odd"])
TEXTS = [
    "</script><script>window.bitten = 1</script>",
    "<img src=x onerror='window.bitten = 2'>",
    "quotes \" and ' and ` and ${window.bitten = 3} and \\u003c and &lt;b&gt;",
    "<!-- <script> --> ]]> \u2028 \u2029 \u0000 \u001b[31m",
    "\u202eright to left \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "\U0001f600\U0001f469\u200d\U0001f680 emoji, and half of one \ud83d",
    "m" * 2**20,
    "",
]


def blobs(n: int = 90, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """Three classes that differ in two of six features, the others being louder."""
    rng = np.random.default_rng(seed)
    kind = np.arange(n) % 3
    X = rng.normal(size=(n, 6)) * [1, 1, 4, 4, 4, 4]
    X[:, :2] += 3.0 * np.array([[0, 0], [1, 0], [0, 1]])[kind]
    return X, kind


def learned() -> tuple[MetricLearner, np.ndarray, np.ndarray, Pairs, Pairs]:
    """(learner, X, classes, statements learned from, others)."""
    X, kind = blobs()
    rest, held = Pairs.from_labels(kind, 300, random_state=0).split(0.3, random_state=0)
    return MetricLearner(C=1.0, random_state=0).fit(X, side=rest), X, kind, rest, held


def texts(n: int = 90) -> list[str]:
    """Texts that bite, and then others."""
    return [*TEXTS, *(f"item {k}" for k in range(len(TEXTS), n))]


def content(path: Path) -> dict[str, Any]:
    """What a page holds for its script."""
    page = path.read_text(encoding="utf-8")
    block = page.split('<script id="data" type="application/json">')[1].split("</script>")[0]
    assert not set(block) & set("<>&\u2028\u2029")
    found: dict[str, Any] = json.loads(block)
    return found
