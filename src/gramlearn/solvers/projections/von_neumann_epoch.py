"""X <- exp(log X - delta A): Bregman projections for the von Neumann divergence, one after another (K09 5.2).

X = W diag(exp theta) W' with W orthogonal. For A = weight z z' with w = W'z the new theta are the eigenvalues
of diag(theta) - weight delta w w', and W <- W U with their vectors (`secular`). delta solves

    t(delta) = offset + <A, exp(log X - delta A)> = s(lam + delta)

by Newton's method within a shrinking bracket, on the logarithms of both sides, which are nearly linear, or on
t itself where it may be negative. Every evaluation costs O(r^2). A constraint of several directions takes one
eigenvalue problem for each.

`approximate_epoch` takes the steps of DefiniteBoost, shorter but in closed form, from the bound of Golden and
Thompson: tr exp(log X - delta zz') <= tr X - (1 - exp(-delta |z|^2)) z'Xz / |z|^2.
"""

import math

import numpy as np

from gramlearn._base.compilation import compiled
from gramlearn._base.eigen.secular import rank_one_eigen, rank_one_roots
from gramlearn.solvers.projections.line import CONSTANT, EXPONENTIAL, constant_delta, curve

_STEPS = 200
_FAR = 20.0  # how far a tangent of an exponential is trusted, in units of the exponent
_BIG = 700.0  # exp of more overflows
_TOLERANCE = 1e-12
_REFRESH = 50  # projections after which W is made orthogonal again


@compiled()
def _dot(a, b):  # type: ignore[no-untyped-def]
    total = 0.0
    for q in range(a.shape[0]):
        total += a[q] * b[q]
    return total


@compiled()
def _divided_difference(a, b, top):  # type: ignore[no-untyped-def]
    """(exp a - exp b) / (a - b) / exp(top)."""
    half = (a - b) / 2.0
    if abs(half) > 300.0:
        return math.exp(max(a, b) - top) / abs(2.0 * half)
    ratio = math.sinh(half) / half if abs(half) > 1e-4 else 1.0 + half * half / 6.0
    return math.exp((a + b) / 2.0 - top) * ratio


@compiled()
def _slope(theta, seen):  # type: ignore[no-untyped-def]
    """sum_ij Phi_ij seen_i seen_j over exp(largest theta), Phi the divided differences of exp."""
    r = theta.shape[0]
    top = theta.max()
    total = 0.0
    for i in range(r):
        if seen[i] == 0.0:
            continue
        for j in range(i + 1):
            phi = _divided_difference(theta[i], theta[j], top)
            total += (1.0 if i == j else 2.0) * phi * seen[i] * seen[j]
    return total


@compiled()
def _one(theta, w, weight, delta):  # type: ignore[no-untyped-def]
    """(log t, -(log t)') of t = <A, exp(theta - delta A)> at delta, for A = weight w w' and weight > 0."""
    roots, seen = rank_one_roots(theta, w, -weight * delta)
    top = roots.max()
    total = 0.0
    for j in range(roots.shape[0]):
        total += math.exp(roots[j] - top) * seen[j]
    if total <= 0.0:
        return -math.inf, 0.0
    return top + math.log(weight * total), weight * _slope(roots, seen) / total


@compiled()
def _several(theta, ws, weights, delta):  # type: ignore[no-untyped-def]
    """(t, -t') of t = <A, exp(theta - delta A)> at delta, for A = sum_s weight_s w_s w_s'."""
    size, r = ws.shape
    roots = theta
    turned = ws.copy()
    for s in range(size):
        roots, U = rank_one_eigen(roots, turned[s].copy(), -weights[s] * delta)
        turned = turned @ U
    if roots[r - 1] > _BIG:  # they ascend
        return math.copysign(math.inf, -delta), 0.0
    t, fall = 0.0, 0.0
    for i in range(r):
        for j in range(r):
            entry = 0.0
            for s in range(size):
                entry += weights[s] * turned[s, i] * turned[s, j]
            if i == j:
                t += math.exp(roots[i]) * entry
            fall += _divided_difference(roots[i], roots[j], 0.0) * entry * entry
    return t, fall


@compiled()
def _log_curve(kind, bound, strength, lam):  # type: ignore[no-untyped-def]
    """(log s, (log s)') of loss*' at lam."""
    if kind == EXPONENTIAL:
        return math.log(bound) + lam / strength, 1.0 / strength
    s, rise = curve(kind, bound, strength, lam)
    if s <= 0.0:
        return -math.inf, math.inf
    if s == math.inf:
        return math.inf, 0.0
    return math.log(s), rise / s


@compiled()
def _misses(theta, ws, weights, offset, number, lam, delta, in_logs):  # type: ignore[no-untyped-def]
    """(t - s, minus its derivative) at delta, or the same of their logarithms."""
    kind, bound, strength = number
    if in_logs:
        t, fall = _one(theta, ws[0], weights[0], delta)
        s, rise = _log_curve(kind, bound, strength, lam + delta)
    else:
        t, fall = _several(theta, ws, weights, delta)
        t += offset
        s, rise = curve(kind, bound, strength, lam + delta)
    return t - s, fall + rise


@compiled()
def _delta(theta, ws, weights, offset, number, lam, lo, hi, counts):  # type: ignore[no-untyped-def]
    """delta of the projection, with lam + delta inside [lo, hi]; counts[0] grows by the evaluations."""
    kind, bound, strength = number
    size, matrix = 0.0, 0.0
    for s in range(ws.shape[0]):
        size += abs(weights[s]) * _dot(ws[s], ws[s])
        for q in range(ws.shape[0]):
            matrix += weights[s] * weights[q] * _dot(ws[s], ws[q]) ** 2
    if matrix <= (1e-14 * size) ** 2:
        # No direction, or directions that cancel each other: X does not matter.
        return constant_delta(offset, kind, bound, strength, lam, lo, hi)
    in_logs = ws.shape[0] == 1 and weights[0] > 0.0 and offset == 0.0 and bound > 0.0
    miss, slope = _misses(theta, ws, weights, offset, number, lam, 0.0, in_logs)
    if miss == 0.0 or math.isnan(miss) or (miss > 0.0 and lam >= hi) or (miss < 0.0 and lam <= lo):
        return 0.0
    left, right = (0.0, hi - lam) if miss > 0.0 else (lo - lam, 0.0)
    delta, reach = 0.0, 1.0 / size
    tried_end, before = False, math.inf
    for _ in range(_STEPS):
        trial = delta + miss / slope if slope > 0.0 and abs(miss) < math.inf else math.nan
        if not in_logs:
            # A tangent is wrong far away on an exponential; where it makes no progress, bisect.
            trial = min(max(trial, delta - _FAR / size), delta + _FAR / size)
            if abs(miss) > 0.5 * before and not math.isinf(right - left):
                trial = left + (right - left) / 2.0
            before = abs(miss)
        end = right if miss > 0.0 else left
        if not left <= trial <= right:
            beyond = trial > right or trial < left
            if beyond and not tried_end and not math.isinf(end):
                trial, tried_end = end, True
            elif left == -math.inf:
                trial = right - reach
                reach *= 4.0
            elif right == math.inf:
                trial = left + reach
                reach *= 4.0
            else:
                trial = left + (right - left) / 2.0
        if abs(trial - delta) <= _TOLERANCE * abs(trial) or trial == delta:
            return trial
        delta = trial
        miss, slope = _misses(theta, ws, weights, offset, number, lam, delta, in_logs)
        counts[0] += 1
        if miss == 0.0 or (miss > 0.0 and delta == hi - lam) or (miss < 0.0 and delta == lo - lam):
            return delta
        if miss > 0.0:
            left = delta
        else:
            right = delta
        if abs(miss) <= 0.1 * _TOLERANCE and in_logs:
            return delta
    return delta


@compiled()
def _orthogonal(W):  # type: ignore[no-untyped-def]
    """One step of Newton and Schulz towards the nearest orthogonal matrix, W (3 I - W'W) / 2."""
    gram = np.ascontiguousarray(W.T) @ W
    return W @ (1.5 * np.eye(W.shape[0]) - 0.5 * gram)


@compiled()
def _directions(rows, first, second, sign, begin, end, W):  # type: ignore[no-untyped-def]
    r = rows.shape[1]
    Z = np.empty((end - begin, r))
    for d in range(begin, end):
        for q in range(r):
            Z[d - begin, q] = rows[first[d], q]
            if sign[d] != 0.0:
                Z[d - begin, q] += sign[d] * rows[second[d], q]
    return Z @ W


@compiled()
def epoch(order, table, numbers, theta, W, lam, counts):  # type: ignore[no-untyped-def]
    """Project on the constraints in this order: (theta, W) of the last X; lam is changed in place.

    counts[0] grows by the evaluations of t, counts[1] by the projections that needed any.
    """
    rows, start, first, second, sign, weight = table
    kind, offset, bound, strength, lo, hi = numbers
    since = 0
    for k in order:
        begin, end = start[k], start[k + 1]
        ws = _directions(rows, first, second, sign, begin, end, W)
        number = (kind[k], bound[k], strength[k])
        before = counts[0]
        weights = weight[begin:end]
        delta = _delta(theta, ws, weights, offset[k], number, lam[k], lo[k], hi[k], counts)
        counts[1] += 1 if counts[0] > before else 0
        if delta == 0.0:
            continue
        lam[k] = min(max(lam[k] + delta, lo[k]), hi[k])
        for s in range(end - begin):
            theta, U = rank_one_eigen(theta, ws[s].copy(), -weights[s] * delta)
            W = W @ U
            ws = ws @ U
        since += 1
        if since == _REFRESH:
            W = _orthogonal(W)
            since = 0
    return theta, _orthogonal(W)


@compiled()
def approximate_epoch(order, table, numbers, theta, W, lam):  # type: ignore[no-untyped-def]
    """The same with the steps of DefiniteBoost, for one direction a constraint of weight 1."""
    rows, start, first, second, sign, _ = table
    kind, _, bound, strength, lo, hi = numbers
    since = 0
    for k in order:
        w = _directions(rows, first, second, sign, start[k], start[k] + 1, W)[0]
        size, seen = _dot(w, w), 0.0
        for q in range(w.shape[0]):
            seen += math.exp(min(theta[q], _BIG)) * w[q] * w[q]
        if size == 0.0 or seen == 0.0:
            continue
        rate = size if kind[k] == CONSTANT else size + 1.0 / strength[k]
        target = math.log(bound[k]) + (0.0 if kind[k] == CONSTANT else lam[k] / strength[k])
        after = min(max(lam[k] + (math.log(seen) - target) / rate, lo[k]), hi[k])
        delta = after - lam[k]
        if delta == 0.0:
            continue
        lam[k] = after
        theta, U = rank_one_eigen(theta, w, -delta)
        W = W @ U
        since += 1
        if since == _REFRESH:
            W = _orthogonal(W)
            since = 0
    return theta, _orthogonal(W)
