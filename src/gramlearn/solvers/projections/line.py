"""t(delta) = s(lam + delta): how far a projection goes, in compiled code.

When the dual lam of one constraint moves by delta, its t falls: for LogDet as

    t(delta) = offset + sum_i mu_i / (1 + delta mu_i),      mu_i the eigenvalues of X^1/2 A X^1/2

while s = loss*' rises. Where they meet, the dual is at its maximum along lam; where that is outside the box,
the answer is the end of the box. One mu and a loss of K09 have a closed form, two mu and a bound without slack
a quadratic equation; Newton's method within a shrinking bracket solves the others.
"""

import math

from gramlearn._base.compilation import compiled

# The forms of loss*', by number: see `losses.Curve`.
CONSTANT, RATIONAL, EXPONENTIAL, AFFINE = range(4)
_STEPS = 100
_INSIDE = 1.0 - 1e-15  # as near as delta comes to where X is no longer positive definite
_INF = math.inf


@compiled()
def curve(kind, bound, strength, lam):  # type: ignore[no-untyped-def]
    """(s, s') of loss*' at lam; +inf where it overflows or ends."""
    if kind == RATIONAL:
        left = 1.0 - lam * bound / strength
        if left <= 0.0:
            return _INF, _INF
        s = bound / left
        return s, s * s / strength
    if kind == EXPONENTIAL:
        power = lam / strength
        if power > 700.0:
            return _INF, _INF
        s = bound * math.exp(power)
        return s, s / strength
    if kind == AFFINE:
        return bound + lam / strength, 1.0 / strength
    return bound, 0.0


@compiled()
def _falling(mu, offset, delta):  # type: ignore[no-untyped-def]
    """(t, -t') at delta, inside the region of positive definiteness."""
    t, fall = offset, 0.0
    for m in mu:
        part = m / (1.0 + delta * m)
        t += part
        fall += part * part
    return t, fall


@compiled()
def _closed_form(mu, offset, kind, bound, strength, lam):  # type: ignore[no-untyped-def]
    """The root where a formula gives it, NaN where none does."""
    target = bound - offset
    if len(mu) == 1 and offset == 0.0 and mu[0] > 0.0 and bound > 0.0:
        if kind == CONSTANT:
            return 1.0 / bound - 1.0 / mu[0]
        if kind == RATIONAL:
            return (1.0 / bound - lam / strength - 1.0 / mu[0]) / (1.0 + 1.0 / strength)
    if len(mu) == 2 and kind == CONSTANT:
        # target (1 + delta T + delta^2 D) = T + 2 delta D with T the sum and D the product of both.
        total, product = mu[0] + mu[1], mu[0] * mu[1]
        a, half, c = target * product, target * total / 2.0 - product, target - total
        root = math.sqrt(max(half * half - a * c, 0.0))
        # Both roots without cancellation; the one inside the region of positive definiteness is asked for.
        q = -(half + math.copysign(root, half))
        for above, below in ((q, a), (c, q)):
            delta = above / below if below != 0.0 else math.nan
            if 1.0 + delta * mu[0] > 0.0 and 1.0 + delta * mu[1] > 0.0:
                return delta
    return math.nan


@compiled()
def constant_delta(t, kind, bound, strength, lam, lo, hi):  # type: ignore[no-untyped-def]
    """delta for a constant t: to the price of t, or to an end of the box; 0 where that is infinite."""
    if kind == AFFINE:
        price = (t - bound) * strength
    elif kind == EXPONENTIAL and t <= 0.0:
        price = min(lam, -40.0 * strength)  # the price of 0 is minus infinity; this one is as good
    elif kind == CONSTANT or t <= 0.0:
        price = lam if t == bound else (_INF if t > bound else -_INF)
    elif kind == RATIONAL:
        price = strength / bound * (1.0 - bound / t)
    else:
        price = strength * math.log(t / bound)
    price = min(max(price, lo), hi)
    return 0.0 if math.isinf(price) else price - lam


@compiled()
def logdet_delta(mu, offset, kind, bound, strength, lam, lo, hi):  # type: ignore[no-untyped-def]
    """delta of the projection, with lam + delta inside [lo, hi]; 0 where no step helps."""
    least, most, largest = lo - lam, hi - lam, 0.0
    for m in mu:
        largest = max(largest, abs(m))
        if m > 0.0:
            least = max(least, -_INSIDE / m)
        elif m < 0.0:
            most = min(most, -_INSIDE / m)
    if largest == 0.0:
        return constant_delta(offset, kind, bound, strength, lam, lo, hi)
    closed = _closed_form(mu, offset, kind, bound, strength, lam)
    if not math.isnan(closed) and not math.isinf(closed):
        return min(max(closed, least), most)
    t, _ = _falling(mu, offset, 0.0)
    s, _ = curve(kind, bound, strength, lam)
    if t == s:
        return 0.0
    # The root lies between 0 and an end of the box, which is the answer where the root lies beyond it, or an
    # end of the region of positive definiteness, where t is infinite.
    left, right = (0.0, most) if t > s else (least, 0.0)
    end = right if t > s else left
    if end == (hi - lam if t > s else lo - lam) and not math.isinf(end):
        t_end, _ = _falling(mu, offset, end)
        s_end, _ = curve(kind, bound, strength, lam + end)
        if (t_end >= s_end) == (t > s):
            return end
    delta, step = 0.0, 1.0 / largest
    for _ in range(_STEPS):
        t, fall = _falling(mu, offset, delta)
        s, rise = curve(kind, bound, strength, lam + delta)
        miss = t - s
        if miss > 0.0:
            left = delta
        elif miss < 0.0:
            right = delta
        else:
            break
        trial = delta + miss / (fall + rise) if fall + rise > 0.0 and s < _INF else math.nan
        if not left < trial < right:
            trial = _between(left, right, step)
            step *= 4.0
        if abs(trial - delta) <= 4e-16 * abs(trial):
            break
        delta = trial
    return delta


@compiled()
def _between(left, right, step):  # type: ignore[no-untyped-def]
    if left == -_INF:
        return right - step
    if right == _INF:
        return left + step
    return left + (right - left) / 2.0
