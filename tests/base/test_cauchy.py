"""The product with a Cauchy matrix of eigenvectors, in blocks of low rank: it is the dense one, to rounding."""

import numpy as np
import pytest

from gramlearn._base.eigen.cauchy import Rows, compressed, times
from gramlearn._base.eigen.secular import cauchy_block, rank_one_cauchy, rotate

P = 200
RNG = np.random.default_rng(0)
HALF = np.geomspace(1e-12, 1.0, P // 2)
POLES = {
    "evenly spaced": np.linspace(-3.0, 3.0, P),
    "any": np.sort(RNG.standard_normal(P)),
    "clusters": np.sort(np.repeat(RNG.standard_normal(8), P // 8) + 1e-7 * RNG.standard_normal(P)),
    "nearly equal": 1.0 + 1e-12 * np.arange(P),
    "crowded at one end": np.geomspace(1e-12, 1.0, P),
    "crowded in the middle": np.sort(np.concatenate([-HALF, HALF])),
    "equal": np.repeat(np.arange(P // 4), 4).astype(float),
}
WEIGHTS = {
    "alike": RNG.standard_normal(P) / P**0.5,
    "uneven": RNG.standard_normal(P) * 10.0 ** RNG.uniform(-7, 0, P),
}


def numbers_of(rows: Rows) -> int:
    """How many numbers a tree of blocks holds."""
    if hasattr(rows, "matrix"):
        return rows.matrix.size
    return sum(numbers_of(part) + (0 if R is None else R.size) for part, _, R in rows.halves)


@pytest.mark.parametrize("d", POLES.values(), ids=POLES)
@pytest.mark.parametrize("w", WEIGHTS.values(), ids=WEIGHTS)
@pytest.mark.parametrize("rho", [-1e-3, -1.0, 50.0])
def test_blocks_of_low_rank_give_the_eigenvectors(d, w, rho):
    """V = (C beside I) G has orthonormal rows, and V (D + rho w w') V' is diagonal."""
    theta, rotations, kept, cauchy = rank_one_cauchy(d, w, rho)
    n = len(kept)
    dense = cauchy_block(cauchy, (0, n), (0, n))
    V = np.eye(P)
    rotate(V, rotations)
    turned = V.copy()
    for leaf in (25, 50):
        product = times(compressed(cauchy, leaf), turned[kept])
        np.testing.assert_allclose(product, dense @ turned[kept], atol=1e-14)
    V[kept] = product
    np.testing.assert_allclose(V @ V.T, np.eye(P), atol=3e-14)
    A = np.diag(d) + rho * np.outer(w, w)
    np.testing.assert_allclose(V @ A @ V.T, np.diag(theta), atol=1e-13 * np.linalg.norm(A, 2))


@pytest.mark.parametrize("spread", ["even", "any"])
@pytest.mark.parametrize("p", [500, 1000, 2000])
def test_blocks_hold_p_log_p_numbers(p, spread):
    """Zolotarev: a block is of rank log(16 g) log(4 / eps) / pi^2 to eps, g the cross-ratio of d and theta."""
    d = np.linspace(0, 1, p) if spread == "even" else np.sort(RNG.standard_normal(p))
    *_, kept, cauchy = rank_one_cauchy(d, RNG.standard_normal(p), -1.0)
    assert len(kept) == p
    rank = np.log(16 * (d[-1] - d[0]) / np.diff(d).min()) * np.log(4 / 2e-15) / np.pi**2
    levels = np.log2(p / 125)
    assert numbers_of(compressed(cauchy, leaf=125)) < p * (125 + 2 * levels * rank)


def test_one_leaf_is_the_dense_product():
    *_, cauchy = rank_one_cauchy(POLES["any"], WEIGHTS["alike"], -1.0)
    X = RNG.standard_normal((P, 3))
    dense = cauchy_block(cauchy, (0, P), (0, P)) @ X
    np.testing.assert_array_equal(times(compressed(cauchy, leaf=P), X), dense)


def test_the_same_input_gives_the_same_bits():
    *_, cauchy = rank_one_cauchy(POLES["any"], WEIGHTS["alike"], -1.0)
    X = RNG.standard_normal((P, 3))
    first, second = (times(compressed(cauchy, leaf=50), X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
