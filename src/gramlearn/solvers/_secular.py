"""D + rho w w' = U diag(theta) U': the eigenvalues of a diagonal matrix plus a matrix of rank one, in O(r^2).

theta are the roots of the secular equation 1 + rho sum_i w_i^2 / (d_i - theta) = 0, one between each two of the
sorted d (Golub 1973). What makes no difference is deflated: entries of w that are nothing, and equal d, which a
rotation leaves with one entry. Each root is kept as its distance from the nearest d, so that d_i - theta_j has
all its digits; eigenvectors come from the w for which the computed theta are exact (Gu and Eisenstat 1994),
which makes them orthogonal to rounding however close the roots are.
"""

import math

import numba
import numpy as np

__all__ = ["rank_one_eigen", "rank_one_roots"]

_EPS = 2.220446049250313e-16
_STEPS = 60


@numba.njit(cache=True)
def _deflate(d, w, rho):  # type: ignore[no-untyped-def]
    """(kept, rotations): indices that matter, and rotations that leave nearly equal d with one w.

    d and w change with the rotations.
    """
    r = d.shape[0]
    size = 0.0
    for i in range(r):
        size += w[i] * w[i]
    scale = max(abs(d[0]), abs(d[r - 1]), abs(rho) * size)
    tol = 8.0 * _EPS * scale
    kept = np.empty(r, np.int64)
    rotations = np.empty((r, 4))
    n_kept, n_rotations = 0, 0
    for i in range(r):
        if abs(rho * w[i]) * math.sqrt(size) <= tol:
            continue
        if n_kept > 0:
            j = kept[n_kept - 1]
            length = math.hypot(w[i], w[j])
            c, s = w[i] / length, w[j] / length
            if abs((d[i] - d[j]) * c * s) <= tol:
                # Turned so that all of w stands at i; j is an eigenvector now.
                w[i], w[j] = length, 0.0
                d[i], d[j] = c * c * d[i] + s * s * d[j], c * c * d[j] + s * s * d[i]
                rotations[n_rotations, 0], rotations[n_rotations, 1] = j, i
                rotations[n_rotations, 2], rotations[n_rotations, 3] = c, s
                n_rotations += 1
                n_kept -= 1
        kept[n_kept] = i
        n_kept += 1
    return kept[:n_kept], rotations[:n_rotations]


@numba.njit(cache=True, fastmath={"reassoc", "contract", "nsz", "arcp"})
def _sums(gaps, squares, split, x):  # type: ignore[no-untyped-def]
    """sum w^2/(gap - x) and its derivative, over the poles up to `split` and over those after it."""
    below, below_slope, above, above_slope = 0.0, 0.0, 0.0, 0.0
    for i in range(split + 1):
        q = 1.0 / (gaps[i] - x)
        part = squares[i] * q
        below += part
        below_slope += part * q
    for i in range(split + 1, gaps.shape[0]):
        q = 1.0 / (gaps[i] - x)
        part = squares[i] * q
        above += part
        above_slope += part * q
    return below, below_slope, above, above_slope


@numba.njit(cache=True)
def _root(d, squares, rho, j, gaps):  # type: ignore[no-untyped-def]
    """(origin, x) with the j-th root at d[origin] + x, for rho > 0; `gaps` is left as d - d[origin]."""
    n = d.shape[0]
    total = 0.0
    for i in range(n):
        total += squares[i]
    width = d[j + 1] - d[j] if j + 1 < n else rho * total
    # The sign at the middle tells which pole is nearer.
    for i in range(n):
        gaps[i] = d[i] - d[j]
    origin = j
    if j + 1 < n:
        b, _, a, _ = _sums(gaps, squares, j, width / 2.0)
        if 1.0 + rho * (a + b) < 0.0:
            origin = j + 1
            for i in range(n):
                gaps[i] = d[i] - d[origin]
    low, high = (0.0, width / 2.0) if origin == j else (-width / 2.0, 0.0)
    if j + 1 == n:
        high = width
    x = (low + high) / 2.0
    for _ in range(_STEPS):
        below, below_slope, above, above_slope = _sums(gaps, squares, j, x)
        value = 1.0 + rho * (below + above)
        if value < 0.0:
            low = x
        else:
            high = x
        noise = _EPS * n * (1.0 + rho * (abs(below) + abs(above)))
        if abs(value) <= noise:
            break
        # Match value and slope on both sides by constant + weight / (pole - x), and solve the quadratic.
        left = gaps[j] - x
        s_low = rho * below_slope * left * left
        rest = 1.0 + rho * below - s_low / left
        if j + 1 < n:
            right = gaps[j + 1] - x
            s_high = rho * above_slope * right * right
            rest += rho * above - s_high / right
            # rest (left - y)(right - y) + s_low (right - y) + s_high (left - y) = 0, for the step y.
            a = rest
            b = -(rest * (left + right) + s_low + s_high)
            c = value * left * right
            root = math.sqrt(max(b * b - 4.0 * a * c, 0.0))
            q = -0.5 * (b + math.copysign(root, b))
            step = c / q if q != 0.0 else math.nan
        else:
            rest += rho * above
            step = left + s_low / rest if rest != 0.0 else math.nan
        trial = x + step
        if not low < trial < high:
            trial = low + (high - low) / 2.0
        if trial == x or high - low <= _EPS * abs(x):
            break
        if abs(trial - x) <= 2.0 * _EPS * abs(trial):
            x = trial
            break
        x = trial
    return origin, x


@numba.njit(cache=True)
def _upward(d, w, rho):  # type: ignore[no-untyped-def]
    """For rho > 0 and ascending d with no w zero: (theta, D) with D[j, i] = d_i - theta_j to all its digits."""
    n = d.shape[0]
    theta, differences = np.empty(n), np.empty((n, n))
    gaps = np.empty(n)
    squares = w * w
    for j in range(n):
        origin, x = _root(d, squares, rho, j, gaps)
        theta[j] = d[origin] + x
        for i in range(n):
            differences[j, i] = gaps[i] - x
    return theta, differences


@numba.njit(cache=True)
def rank_one_roots(d, w, rho):  # type: ignore[no-untyped-def]
    """(theta, (u_j'w)^2): eigenvalues of D + rho w w' for ascending d, and how much of w each vector sees."""
    if rho == 0.0:
        return d.copy(), w * w
    d, turned = d.copy(), w.copy()
    kept, _ = _deflate(d, turned, rho)
    theta, seen = d.copy(), turned * turned
    if rho > 0.0:
        roots, differences = _upward(d[kept], turned[kept], rho)
    else:
        back = kept[::-1]
        roots, differences = _upward(-d[back], turned[back], -rho)
        roots, differences = -roots[::-1], differences[::-1, ::-1]
    squares = turned[kept] ** 2
    for n, k in enumerate(kept):
        total = 0.0
        for i in range(kept.shape[0]):
            total += squares[i] / (differences[n, i] * differences[n, i])
        theta[k] = roots[n]
        seen[k] = 1.0 / (rho * rho * total)
    return theta, seen


@numba.njit(cache=True)
def rank_one_eigen(d, w, rho):  # type: ignore[no-untyped-def]
    """(theta, U) with D + rho w w' = U diag(theta) U' for ascending d; theta ascends."""
    r = d.shape[0]
    U = np.eye(r)
    if rho == 0.0:
        return d.copy(), U
    d, turned = d.copy(), w.copy()
    kept, rotations = _deflate(d, turned, rho)
    theta = d.copy()
    n = kept.shape[0]
    if n > 0:
        ascending = kept if rho > 0.0 else kept[::-1]
        sign = 1.0 if rho > 0.0 else -1.0
        poles = sign * d[ascending]
        roots, differences = _upward(poles, turned[ascending], abs(rho))
        # The w for which these roots are exact has
        # rho w_i^2 = prod_j (theta_j - d_i) / prod_(j != i) (d_j - d_i).
        exact = np.empty(n)
        for i in range(n):
            product = -differences[n - 1, i]
            for j in range(n - 1):
                other = j if j < i else j + 1
                product *= -differences[j, i] / (poles[other] - poles[i])
            exact[i] = math.copysign(math.sqrt(max(product / abs(rho), 0.0)), turned[ascending[i]])
        for j in range(n):
            length = 0.0
            for i in range(n):
                length += (exact[i] / differences[j, i]) ** 2
            length = math.sqrt(length)
            column = ascending[j]
            theta[column] = sign * roots[j]
            U[column, column] = 0.0
            for i in range(n):
                U[ascending[i], column] = exact[i] / differences[j, i] / length
    for n_rotation in range(rotations.shape[0] - 1, -1, -1):
        j, i = int(rotations[n_rotation, 0]), int(rotations[n_rotation, 1])
        c, s = rotations[n_rotation, 2], rotations[n_rotation, 3]
        for q in range(r):
            upper, lower = U[i, q], U[j, q]
            U[i, q] = c * upper - s * lower
            U[j, q] = s * upper + c * lower
    order = np.argsort(theta)
    return theta[order], U[:, order]
