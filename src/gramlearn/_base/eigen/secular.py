"""D + rho w w' = U diag(theta) U': the eigenvalues of a diagonal matrix plus a matrix of rank one, in O(r^2).

theta are the roots of the secular equation 1 + rho sum_i w_i^2 / (d_i - theta) = 0, one between each two of the
sorted d (Golub 1973). Zero entries of w are deflated, and so are equal d, which a rotation leaves with one
entry. Each root is kept as its distance from the nearest d, so that d_i - theta_j has all its digits;
eigenvectors come from the w for which the computed theta are exact (Gu and Eisenstat 1994), which makes them
orthogonal to rounding however close the roots are.
"""

import math

import numpy as np

from gramlearn._base.compilation import compiled

_EPS = 2.220446049250313e-16
_STEPS = 60


@compiled()
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


@compiled(fastmath={"reassoc", "contract", "nsz", "arcp"})
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


@compiled()
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


@compiled()
def _upward(d, w, rho):  # type: ignore[no-untyped-def]
    """For rho > 0 and ascending d with no w zero: (origins, x), the j-th root being d[origins[j]] + x[j]."""
    n = d.shape[0]
    origins, x = np.empty(n, np.int64), np.empty(n)
    gaps, squares = np.empty(n), np.empty(n)
    for i in range(n):
        squares[i] = w[i] * w[i]
    for j in range(n):
        origins[j], x[j] = _root(d, squares, rho, j, gaps)
    return origins, x


@compiled()
def _poles(d, w, kept, rho):  # type: ignore[no-untyped-def]
    """(ascending, poles, weights): kept, and d and w there, turned over where rho < 0, so that poles ascend."""
    n = kept.shape[0]
    ascending, poles, weights = np.empty(n, np.int64), np.empty(n), np.empty(n)
    for i in range(n):
        k = kept[i] if rho > 0.0 else kept[n - 1 - i]
        ascending[i], poles[i], weights[i] = k, d[k] if rho > 0.0 else -d[k], w[k]
    return ascending, poles, weights


@compiled(fastmath={"reassoc", "contract", "nsz", "arcp"})
def _squared_length(gaps, w, x):  # type: ignore[no-untyped-def]
    """sum w^2 / (gap - x)^2; `gaps` are given, for here (d - base) - x would lose its order and its digits."""
    total = 0.0
    for i in range(gaps.shape[0]):
        part = w[i] / (gaps[i] - x)
        total += part * part
    return total


@compiled()
def _exact(d, w, origins, x, rho):  # type: ignore[no-untyped-def]
    """w, with the signs it had, for which these roots are exact.

    rho w_i^2 = prod_j (theta_j - d_i) / prod_(j != i) (d_j - d_i)
    """
    n = d.shape[0]
    products = np.empty(n)
    for i in range(n):
        products[i] = x[n - 1] - (d[i] - d[origins[n - 1]])
    # Each ratio is between 0 and 1, so no product on the way is smaller than the last.
    for j in range(n - 1):
        base, away, upper, lower = d[origins[j]], x[j], d[j + 1], d[j]
        for i in range(j + 1):
            products[i] *= (away - (d[i] - base)) / (upper - d[i])
        for i in range(j + 1, n):
            products[i] *= (away - (d[i] - base)) / (lower - d[i])
    for i in range(n):
        products[i] = math.copysign(math.sqrt(max(products[i] / rho, 0.0)), w[i])
    return products


@compiled()
def rank_one_roots(d, w, rho):  # type: ignore[no-untyped-def]
    """(theta, (u_j'w)^2): eigenvalues of D + rho w w' for ascending d, and how much of w each vector sees."""
    theta, seen = d.copy(), w.copy()
    n = 0
    if rho != 0.0:
        kept, _ = _deflate(theta, seen, rho)
        ascending, poles, weights = _poles(theta, seen, kept, rho)
        n = kept.shape[0]
    for i in range(seen.shape[0]):
        seen[i] *= seen[i]
    if n > 0:
        origins, x = _upward(poles, weights, abs(rho))
        gaps = np.empty(n)
        for j in range(n):
            k, base = ascending[j], poles[origins[j]]
            for i in range(n):
                gaps[i] = poles[i] - base
            theta[k] = base + x[j] if rho > 0.0 else -(base + x[j])
            seen[k] = 1.0 / (rho * rho * _squared_length(gaps, weights, x[j]))
    return theta, seen


@compiled()
def rank_one_cauchy(d, w, rho):  # type: ignore[no-untyped-def]
    """(theta, rotations, kept, C): D + rho w w' for ascending d, its vectors as products of two.

    First the rotations (j, i, cosine, sine), then U with U[kept[i], kept[j]] = C_ji and the identity elsewhere;
    C_ji = weights[i] / ((poles[i] - bases[j]) - x[j]) / lengths[j], poles ascending; C is the tuple of these.
    theta stands in the order of the columns of U.
    """
    theta, turned = d.copy(), w.copy()
    kept, rotations = _deflate(theta, turned, rho)
    ascending, poles, weights = _poles(theta, turned, kept, rho)
    n, sign = kept.shape[0], math.copysign(1.0, rho)
    bases, x, lengths, gaps = np.empty(n), np.empty(n), np.empty(n), np.empty(n)
    if n > 0:
        origins, x = _upward(poles, weights, abs(rho))
        weights = _exact(poles, weights, origins, x, abs(rho))
        for j in range(n):
            bases[j] = poles[origins[j]]
            for i in range(n):
                gaps[i] = poles[i] - bases[j]
            lengths[j] = math.sqrt(_squared_length(gaps, weights, x[j]))
            theta[ascending[j]] = sign * (bases[j] + x[j])
    return theta, rotations, ascending, (poles, weights, bases, x, lengths)


@compiled()
def cauchy_block(cauchy, rows, columns):  # type: ignore[no-untyped-def]
    """C[rows, columns] for two ranges (first, last)."""
    poles, weights, bases, x, lengths = cauchy
    block = np.empty((rows[1] - rows[0], columns[1] - columns[0]))
    for j in range(rows[0], rows[1]):
        base, away, length = bases[j], x[j], lengths[j]
        for i in range(columns[0], columns[1]):
            block[j - rows[0], i - columns[0]] = weights[i] / (((poles[i] - base) - away) * length)
    return block


@compiled()
def rotate(V, rotations):  # type: ignore[no-untyped-def]
    """Turn rows of V, in place, as `rank_one_cauchy` turned w."""
    for n_rotation in range(rotations.shape[0]):
        j, i = int(rotations[n_rotation, 0]), int(rotations[n_rotation, 1])
        c, s = rotations[n_rotation, 2], rotations[n_rotation, 3]
        for q in range(V.shape[1]):
            upper, lower = V[i, q], V[j, q]
            V[i, q] = c * upper + s * lower
            V[j, q] = c * lower - s * upper


@compiled()
def _ascending(theta):  # type: ignore[no-untyped-def]
    """The order in which theta ascends. Each root lies between two of d, so few of them stand elsewhere."""
    order = np.arange(theta.shape[0])
    for i in range(1, theta.shape[0]):
        j = i
        while j > 0 and theta[order[j - 1]] > theta[i]:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    return order


@compiled()
def rank_one_eigen(d, w, rho):  # type: ignore[no-untyped-def]
    """(theta, U) with D + rho w w' = U diag(theta) U' for ascending d; theta ascends."""
    r = d.shape[0]
    U = np.eye(r)
    if rho == 0.0:
        return d.copy(), U
    theta, rotations, kept, cauchy = rank_one_cauchy(d, w, rho)
    n = kept.shape[0]
    C = cauchy_block(cauchy, (0, n), (0, n))
    for i in range(n):
        for j in range(n):
            U[kept[i], kept[j]] = C[j, i]
    back = rotations[::-1].copy()
    back[:, 3] *= -1.0
    rotate(U, back)
    order = _ascending(theta)
    values, vectors = np.empty(r), np.empty((r, r))
    for j in range(r):
        values[j] = theta[order[j]]
    for i in range(r):
        for j in range(r):
            vectors[i, j] = U[i, order[j]]
    return values, vectors
