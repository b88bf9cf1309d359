"""v with sum_k v_k A_k >= 0 and sum_k v_k b_k < 0: the search for a proof of infeasibility, see `refutation`.

Where a problem is infeasible the dual grows without end, and lam, or its last step, approaches such a v up to
scale; a few corrections make it one, up to rounding.

Two bounds on the same quantity, <A_a, X> >= l > u >= <A_b, X> with A_a = A_b, need no such search: with
v_a = -1 and v_b = 1 the sum of v_k A_k is zero, so that the proof holds for an X of any size.
"""

from dataclasses import replace
from typing import Any

from gramlearn._base.arrays import (
    Array,
    concat,
    constant,
    every_row,
    eye,
    is_array,
    machine_eps,
    namespace,
    read,
    rows_of,
    scatter,
    where_true,
)
from gramlearn._base.matrices import cholesky_or_none, symmetric_part, transpose
from gramlearn.problem.certificate import Certificate
from gramlearn.problem.dual import Dual, Part
from gramlearn.problem.linear_maps import LinearMap
from gramlearn.problem.problem import Problem
from gramlearn.problem.refutation import Refutation, domain_of
from gramlearn.problem.status import Status
from gramlearn.solvers.solver import Answer

INF = float("inf")
_NEARLY = 0.1  # a least eigenvalue above minus this share of the largest is worth correcting
_CANCELED = 1e-6  # an entry of S below this share of its terms is nearly zero
_CORRECTIONS = 12
_HOPELESS = 0.999
_SHARES = (0.0, 1e-4, 1e-2)  # of its largest entry: smaller entries of a direction are left out
_ROUNDINGS = 16  # two bounds that oppose each other by fewer rounding errors are equal
_NAMED_SHARE = 1e-3  # a constraint with less than this share of the largest v is not named


def find_contradiction(dual: Dual, factor: Array, directions: tuple[Array, ...]) -> Array | None:
    """Turn a direction into a v that proves the constraints contradictory, or None if none proves anything.

    X = F F' gives the usual size, see `Refutation`. Only the prices of constraints that contradict each other
    grow without end, so the large entries alone are tried, too.
    """
    for direction in directions:
        xp = namespace(direction)
        size = xp.abs(direction)
        tried = size > 0
        for share in _SHARES:
            large = size > share * xp.max(size)
            if share and bool(xp.all(large == tried)):
                continue  # no entry is between these shares
            proof = _correct_to_proof(
                dual, factor, xp.where(large, direction, xp.zeros_like(direction))
            )
            if proof is not None:
                return proof
            tried = large
    return None


def _correct_to_proof(dual: Dual, factor: Array, direction: Array) -> Array | None:
    """Correct a direction until it is a proof, or None."""
    xp = namespace(direction)
    low, high = domain_of(dual)
    prior = dual.regularizer.conjugate_derivative(dual.origin.slope)
    usual = prior + xp.sum(factor**2, axis=1)
    v = direction
    for _ in range(_CORRECTIONS):
        # Idle rows are left to `find_impossible`.
        provable = (xp.where(v > 0, high, -low) < INF) & ~dual.idle
        v = xp.where(provable, v, xp.zeros_like(v))
        size = read(xp.max(xp.abs(v)))
        if not 0 < size < INF:
            return None
        v = v / size
        proof = Refutation(dual, v, usual)
        room, terms = proof.room
        if room > 1e-13 * terms:
            return None  # whatever the eigenvalues are
        S = symmetric_part(dual.adjoint(v))
        # Scaled to a unit diagonal, so that a feature in small units counts as much as any other. An entry that
        # is nearly zero relative to its terms stays small, and is corrected whatever its sign.
        size = xp.maximum(xp.abs(xp.linalg.diagonal(S)), _CANCELED * dual.spread(v))
        unit = 1 / xp.sqrt(xp.where(size > 0, size, xp.ones_like(size)))
        S = S * unit[:, None] * unit[None, :]
        if _is_far_from_definite(S):
            return None
        if proof.holds:
            return v
        spectrum, U = xp.linalg.eigh(S)
        below = spectrum < 0
        if -read(spectrum[0]) > _NEARLY * max(read(spectrum[-1]), 1.0) or not bool(xp.any(below)):
            return None
        v = v + _correction(dual, v, unit[:, None] * U[:, below], spectrum[below])
    return None


def _is_far_from_definite(S: Array) -> bool:
    """Whether the least eigenvalue is too negative to correct, by one Cholesky factorization.

    (sum e^4)^1/4 = |S^2|_F^1/2 is at least the largest eigenvalue, so S plus a share of it must be definite.
    """
    xp = namespace(S)
    most = max(read(xp.linalg.matrix_norm(S @ S)) ** 0.5, 1.0)
    return cholesky_or_none(S + _NEARLY * most * eye(int(S.shape[0]), S)) is None


def _correction(dual: Dual, v: Array, N: Array, negative: Array) -> Array:
    """Give a d with N'(sum_k d_k A_k)N = -diag(negative): it lifts the negative eigenvalues to zero.

    It is the least one in units of v, so that rows with v_k = 0 stay out. The error is of second order, so that
    a few corrections reach rounding.
    """
    xp = namespace(N)
    stack = concat([part.map.restrict(N).matrices() for part in dual.parts if part.size], N)
    weight = xp.abs(v)
    flat = xp.reshape(stack, (stack.shape[0], -1)) * weight[:, None]
    target = xp.reshape(-eye(N.shape[1], N) * negative, (-1,))
    return weight * (transpose(xp.linalg.pinv(flat)) @ target)


def end_infeasible(
    problem: Problem,
    state: Any,
    rows: list[Array],
    proof: Array,
    found: tuple[Array, float, float] | None = None,
) -> Any:
    """End a state with a proof over these rows that no X satisfies the constraints; the proof is its duals.

    `found` are the factor, value and violation to report, by default those of the DualPoint of the state.
    """
    point, xp = state.point, namespace(proof)
    factor, value, violation = found or (point.conjugate.factor, point.value, point.violation)
    sizes = [int(chosen.shape[0]) for chosen in rows]
    pieces = [proof[sum(sizes[:k]) : sum(sizes[: k + 1])] for k in range(len(sizes))]
    certificate = Certificate(INF, value, INF, violation)
    names = []
    for position, (chosen, v) in enumerate(zip(rows, pieces, strict=True)):
        named = chosen[xp.abs(v) > _NAMED_SHARE]
        names += [problem.describe(position, int(named[k])) for k in range(int(named.shape[0]))]
    return replace(
        state,
        certificate=certificate,
        candidate=Answer(certificate, factor, rows, pieces),
        ending=Status.INFEASIBLE,
        conflict=tuple(names),
    )


def pick_hopeless(part: Part, rows: Array, severity: Array) -> Array:
    """Rows that perhaps no X can satisfy: violated as much as possible; all rows where there is an offset."""
    return rows if is_array(part.offset) or part.offset else rows[severity > _HOPELESS]


def find_impossible(problem: Problem, rows: list[Array]) -> Array | None:
    """Find those of `rows` that no X can change (A_k = 0 on the space) and that cost infinity as they are."""
    xp = namespace(problem.dual.like)
    proof = []
    for part, chosen in zip(problem.dual.parts, rows, strict=True):
        if not part.loss.has_domain or chosen.shape[0] == 0:
            proof.append(constant(0.0, problem.dual.like, part.size))
            continue
        fixed = chosen[_are_zero(part.map, chosen, problem.space.dimension)]
        t = constant(0.0, problem.dual.like, fixed.shape[0]) + rows_of(part.offset, fixed)
        loss = part.loss.take(fixed)
        side = xp.where(t > loss.domain()[1], xp.ones_like(t), -xp.ones_like(t))
        lost = xp.isinf(loss.value(t))
        proof.append(scatter(side[lost], fixed[lost], part.size))
    v = concat(proof, problem.dual.like)
    return v if bool(xp.any(v != 0)) else None


def _are_zero(linear: LinearMap, rows: Array, dimension: int) -> Array:
    """Say which A_k of these rows vanish.

    In units of the largest of each column, so that a feature in small units counts as much as any other. Equal
    points may differ by rounding in another basis: a sum of squares below that is zero. Where squares are
    subtracted, q' A_k q has to be exactly zero, for two generic q.
    """
    sizes = linear.sizes()
    xp = namespace(sizes)
    one, unit = xp.ones_like(sizes), 1 / xp.where(sizes > 0, sizes, xp.ones_like(sizes))
    chosen = linear.index_rows(rows)
    if linear.is_nonnegative:
        rounding = 16 * machine_eps(sizes) * dimension**0.5
        return chosen.restrict(eye(int(sizes.shape[0]), sizes) * unit).traces(one) <= rounding**2
    first, second = _probe(chosen, unit)
    return (first == 0) & (second == 0)


def find_opposed_bounds(dual: Dual) -> Array | None:
    """Find the v of two hard rows that oppose each other most, or None."""
    zero = constant(0.0, dual.like, dual.size)
    xp = namespace(zero)
    hard = dual.each(lambda part, z: z + (1.0 if part.loss.is_hard else 0.0), zero)
    unit = constant(1.0, dual.like, dual.rank)
    probed = [_probe(part.map, unit) for part in dual.parts if part.size]
    first, second = (concat([pair[k] for pair in probed], dual.like) for k in (0, 1))
    rows = where_true((hard > 0) & (first != 0))  # A_k = 0 is left to `find_impossible`
    if rows.shape[0] < 2:
        return None
    offset = dual.each(lambda part, z: z + part.offset, zero)
    low, high = (end - offset for end in domain_of(dual))
    kinds = xp.take(first, rows)
    asking = xp.take(rows, _least_of_each(kinds, -xp.take(low, rows)))
    allowing = xp.take(rows, _least_of_each(kinds, xp.take(high, rows)))
    asked, allowed = xp.take(low, asking), xp.take(high, allowing)
    sizes = xp.abs(asked) + xp.abs(allowed)
    sizes = sizes + xp.abs(xp.take(offset, asking)) + xp.abs(xp.take(offset, allowing))
    comparable = xp.isfinite(sizes) & (xp.take(second, asking) == xp.take(second, allowing))
    safe = xp.where(comparable & (sizes > 0), sizes, xp.ones_like(sizes))
    excess = xp.where(comparable, (asked - allowed) / safe, xp.zeros_like(sizes))
    worst = xp.argmax(excess)
    if not read(excess[worst]) > _ROUNDINGS * machine_eps(zero):
        return None
    every = every_row(dual.size, zero)
    below = xp.astype(every == asking[worst], zero.dtype)
    return xp.astype(every == allowing[worst], zero.dtype) - below


def _least_of_each(kinds: Array, values: Array) -> Array:
    """The row with the least value of each kind, the kinds ascending."""
    xp = namespace(kinds)
    by_value = xp.argsort(values, stable=True)
    order = xp.take(by_value, xp.argsort(xp.take(kinds, by_value), stable=True))
    ordered = xp.take(kinds, order)
    is_new = xp.concat([ordered[:1] == ordered[:1], ordered[1:] != ordered[:-1]])
    return xp.take(order, where_true(is_new))


def _probe(linear: LinearMap, unit: Array) -> tuple[Array, Array]:
    """(q' A_k q)_k for two generic q, in these units: 0 where A_k is, and the same bits for equal A_k."""
    xp, one = namespace(unit), constant(1.0, unit, 1)
    numbers = xp.astype(every_row(int(unit.shape[0]), unit) + 1, unit.dtype)
    probes = [(xp.cos(numbers * k) * unit)[:, None] for k in (1.0, 2.0)]
    first, second = (linear.restrict(q).traces(one) for q in probes)
    return first, second
