"""X <- (X^-1 + delta A)^-1 = X + beta X z z' X: Bregman projections for LogDet, one after another (K09 5.1).

X = B B' with B lower triangular. For A = weight z z' with w = B'z and p = |w|^2

    beta = -weight delta / (1 + weight delta p),      B <- B L with L L' = I + beta w w'

and `cholupdatemult` (Algorithm 1) does the second in 3 r^2 + 2 r operations, without forming L. A constraint
of several directions takes one update for each. B is kept as its transpose, so that columns of B are
contiguous and vector instructions apply.

`blocked_epoch` computes the same iterates for k constraints at once, with X itself and matrix products: within
a block X_t = X + X Z E Z' X, where Z holds the directions as columns, and only the k x k matrix E changes.
"""

import numpy as np

from gramlearn._base.compilation import compiled
from gramlearn.solvers.projections.blas import add_product
from gramlearn.solvers.projections.line import logdet_delta

_FAST = {"reassoc", "contract", "nsz", "arcp"}


@compiled(fastmath=_FAST)
def cholupdatemult(beta, w, transposed, h, tail, room):  # type: ignore[no-untyped-def]
    """B <- B L with L L' = I + beta w w', for B lower triangular, given and changed as its transpose.

    Column j of B L is (B_j + beta_(j+1) w_j sum_(q > j) w_q B_q) h_j, with h_j^2 = 1 + beta_j w_j^2 and
    beta_(j+1) = beta_j / h_j^2. `h`, `tail` and `room` have space for r numbers.
    """
    r = w.shape[0]
    for j in range(r):
        t = 1.0 + beta * w[j] * w[j]
        h[j] = np.sqrt(t)
        beta = beta / t
        tail[j] = beta * w[j]
        room[j] = 0.0
    for back in range(r):
        j = r - 1 - back
        # Only loops that begin at 0 become vector instructions.
        column, sums = transposed[j, j:], room[j:]
        scale, along, weight = h[j], tail[j], w[j]
        for i in range(column.shape[0]):
            old = column[i]
            column[i] = (old + along * sums[i]) * scale
            sums[i] += weight * old


@compiled(fastmath=_FAST)
def _direction(rows, first, second, sign, d, z):  # type: ignore[no-untyped-def]
    a, b, s = first[d], second[d], sign[d]
    if s == 0.0:
        for q in range(z.shape[0]):
            z[q] = rows[a, q]
    else:
        for q in range(z.shape[0]):
            z[q] = rows[a, q] + s * rows[b, q]


@compiled(fastmath=_FAST)
def _apply_factor(transposed, z, w):  # type: ignore[no-untyped-def]
    """w = B'z, and |w|^2."""
    r = z.shape[0]
    p = 0.0
    for j in range(r):
        total = 0.0
        column, below = transposed[j, j:], z[j:]
        for i in range(column.shape[0]):
            total += column[i] * below[i]
        w[j] = total
        p += total * total
    return p


@compiled()
def spectrum_of(gram, weights):  # type: ignore[no-untyped-def]
    """The eigenvalues of diag(weights) gram, for a positive semidefinite gram."""
    size = weights.shape[0]
    if size <= 1:
        return weights * gram[0, 0] if size else weights
    # Where directions cancel each other only rounding is left: there is no constraint.
    scale, matrix = 0.0, 0.0
    for a in range(size):
        scale += abs(weights[a]) * gram[a, a]
        for b in range(size):
            matrix += weights[a] * weights[b] * gram[a, b] * gram[a, b]
    if matrix <= (1e-14 * scale) ** 2:
        return np.zeros(size)
    if size == 2:
        total = weights[0] * gram[0, 0] + weights[1] * gram[1, 1]
        determinant = gram[0, 0] * gram[1, 1] - gram[0, 1] * gram[1, 0]
        product = weights[0] * weights[1] * max(determinant, 0.0)
        # Half the difference, from squares that do not cancel where the weights differ in sign.
        spread = weights[0] * gram[0, 0] - weights[1] * gram[1, 1]
        cross = weights[0] * weights[1] * gram[0, 1] * gram[1, 0]
        half = np.sqrt(max(0.25 * spread * spread + cross, 0.0))
        large = total / 2.0 + (half if total >= 0.0 else -half)
        return np.array([large, product / large if large != 0.0 else 0.0])
    e, U = np.linalg.eigh(gram)
    root = (U * np.sqrt(np.maximum(e, 0.0))) @ U.T
    return np.linalg.eigvalsh(np.ascontiguousarray(root * weights) @ root)


@compiled()
def epoch(order, table, numbers, transposed, lam):  # type: ignore[no-untyped-def]
    """Project on the constraints in this order; `transposed` (B') and lam are changed in place."""
    rows, start, first, second, sign, weight = table
    kind, offset, bound, strength, lo, hi = numbers
    r = rows.shape[1]
    z, w, h, tail, room = np.empty(r), np.empty(r), np.empty(r), np.empty(r), np.empty(r)
    one = np.empty(1)
    most = 1
    for k in range(start.shape[0] - 1):
        most = max(most, start[k + 1] - start[k])
    images = np.empty((most, r))
    for k in order:
        begin, end = start[k], start[k + 1]
        size = end - begin
        for d in range(begin, end):
            _direction(rows, first, second, sign, d, z)
            p = _apply_factor(transposed, z, images[d - begin])
        if size == 1:
            mu = one
            mu[0] = weight[begin] * p
        else:
            mu = spectrum_of(images[:size] @ images[:size].T, weight[begin:end])
        delta = logdet_delta(mu, offset[k], kind[k], bound[k], strength[k], lam[k], lo[k], hi[k])
        if delta == 0.0:
            continue
        lam[k] = min(max(lam[k] + delta, lo[k]), hi[k])
        if size == 1:
            beta = -weight[begin] * delta / (1.0 + weight[begin] * delta * p)
            cholupdatemult(beta, images[0], transposed, h, tail, room)
            continue
        # Directions that add to the inverse come first, so that X stays positive definite in between.
        for adds in (True, False):
            for d in range(begin, end):
                if (delta * weight[d] > 0.0) != adds:
                    continue
                _direction(rows, first, second, sign, d, z)
                p = _apply_factor(transposed, z, w)
                beta = -weight[d] * delta / (1.0 + weight[d] * delta * p)
                cholupdatemult(beta, w, transposed, h, tail, room)


@compiled(fastmath=_FAST)
def _along(M, E, a, q):  # type: ignore[no-untyped-def]
    """q with X_t z_a = X Z q, and z_a' X_t z_a."""
    count = q.shape[0]
    seen = M[a]
    for b in range(count):
        q[b] = 0.0
    for b in range(count):
        row, size = E[b], seen[b]
        for c in range(count):
            q[c] += size * row[c]
    q[a] += 1.0
    p = 0.0
    for b in range(count):
        p += q[b] * seen[b]
    return p


@compiled(fastmath=_FAST)
def _grow(E, beta, q):  # type: ignore[no-untyped-def]
    """E <- E + beta q q'."""
    for b in range(q.shape[0]):
        row, size = E[b], beta * q[b]
        for c in range(q.shape[0]):
            row[c] += size * q[c]


@compiled()
def blocked_epoch(order, table, numbers, X, lam, width, dgemm):  # type: ignore[no-untyped-def]
    """Project on the constraints in this order, `width` directions at a time; X and lam change in place."""
    rows, start, first, second, sign, weight = table
    kind, offset, bound, strength, lo, hi = numbers
    r = rows.shape[1]
    one = np.empty(1)
    at = 0
    while at < order.shape[0]:
        # At least one constraint, and as many as have `width` directions together.
        until, count = at, 0
        while until < order.shape[0]:
            size = start[order[until] + 1] - start[order[until]]
            if until > at and count + size > width:
                break
            count += size
            until += 1
        Z = np.empty((r, count))
        place = 0
        for n in range(at, until):
            for d in range(start[order[n]], start[order[n] + 1]):
                _direction(rows, first, second, sign, d, Z[:, place])
                place += 1
        images = X @ Z
        M = Z.T @ images
        E, q = np.zeros((count, count)), np.empty(count)
        changed = False
        place = 0
        for n in range(at, until):
            k = order[n]
            begin, size = start[k], start[k + 1] - start[k]
            if size == 1:
                p = _along(M, E, place, q)
                one[0] = weight[begin] * p
                delta = logdet_delta(
                    one, offset[k], kind[k], bound[k], strength[k], lam[k], lo[k], hi[k]
                )
                if delta != 0.0:
                    changed = True
                    lam[k] = min(max(lam[k] + delta, lo[k]), hi[k])
                    _grow(E, -weight[begin] * delta / (1.0 + weight[begin] * delta * p), q)
                place += 1
                continue
            # Row a of `along` is q with X_t z_a = X Z q.
            along = M[place : place + size] @ E
            for a in range(size):
                along[a, place + a] += 1.0
            gram = along @ M[place : place + size].T
            weights = weight[begin : begin + size]
            mu = spectrum_of(gram, weights)
            delta = logdet_delta(
                mu, offset[k], kind[k], bound[k], strength[k], lam[k], lo[k], hi[k]
            )
            if delta != 0.0:
                changed = True
                lam[k] = min(max(lam[k] + delta, lo[k]), hi[k])
                for adds in (True, False):
                    for a in range(size):
                        if (delta * weights[a] > 0.0) != adds:
                            continue
                        p = _along(M, E, place + a, q)
                        _grow(E, -weights[a] * delta / (1.0 + weights[a] * delta * p), q)
            place += size
        if changed:
            add_product(dgemm, images @ E, images, X)
        at = until
