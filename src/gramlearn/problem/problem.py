"""minimize over PSD X    D_phi(X, X0) + sum_k loss_k(t_k),      t_k = offset_k + <A_k, X>.

A `Problem` is a regularizer, a prior and a list of terms. It checks them against each other, restricts them
to the space X lives in, and states the dual that solvers work on.
"""

from collections.abc import Iterable, Sequence
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, final

from gramlearn._base.arrays import (
    Array,
    as_real,
    clipped,
    every_row,
    is_array,
    machine_eps,
    namespace,
    read,
)
from gramlearn._base.validation import (
    as_numbers,
    check_choice,
    check_finite,
    check_positive,
    describe_value,
)
from gramlearn.problem.constraints import Constraints
from gramlearn.problem.dual import Dual, Origin, Part
from gramlearn.problem.linear_maps import LinearMap
from gramlearn.problem.losses import Loss
from gramlearn.problem.pool import Pool, PoolHere
from gramlearn.problem.prior import Space
from gramlearn.problem.spectral import Regularizer

_CALL = "Problem(LogDet(), np.eye(n), terms)"


@final
@dataclass(frozen=True, eq=False)
class Term:
    """sum_k loss(t_k) over the constraints t_k = offset_k + <A_k, X>."""

    constraints: Constraints
    loss: Loss

    def __repr__(self) -> str:
        kinds = type(self.constraints).__name__, type(self.loss).__name__
        return f"<Term: {kinds[0]} with {kinds[1]}, {self.constraints.size:,} in all>"

    def __post_init__(self) -> None:
        parts: tuple[object, object] = (self.constraints, self.loss)
        if not (isinstance(parts[0], Constraints) and isinstance(parts[1], Loss)):
            raise TypeError(
                "`Term(constraints, loss)` takes constraints, such as SquaredDistances(i, j), and a loss, "
                f"such as Hinge(upper=1.0); got {type(self.constraints).__name__} and "
                f"{type(self.loss).__name__}."
            )


@final
@dataclass(frozen=True, eq=False)
class Problem:
    """minimize over PSD X    D_phi(X, X0) + sum_k loss_k(offset_k + <A_k, X>).

    Parameters
    ----------
    regularizer : Regularizer
        phi: LogDet(), VonNeumann(), Frobenius(), Schatten(p).
    prior : array n x n or n x r, Factor or Zeros
        X0, or a factor G of X0 = G G'. With a factor, and for LogDet and von Neumann always, X is sought
        within the range of X0. `Zeros(n)` is n x n and not written out.
    terms : sequence of Term
        Constraints, each with its loss.
    dtype : {"float64", "float32"}
        The precision of the computation, whatever the type of the data. Where single precision fails, `solve`
        continues in double unless a solver is named.
    capacity : float, optional
        A bound, tr X^p <= capacity, in place of the price tr X^p / p (p = 2 with Frobenius), from `Zeros(n)`.
        For constraints with few entries each: "quasi_newton" solves it, and `solve` takes that.
    """

    regularizer: Regularizer
    prior: Any
    terms: Sequence[Term] = ()
    dtype: str = "float64"
    capacity: float | None = None

    def __post_init__(self) -> None:
        regularizer: object = self.regularizer
        if not isinstance(regularizer, Regularizer):
            swapped = isinstance(self.prior, Regularizer)
            raise TypeError(
                f"`regularizer` must be an object such as LogDet(); got {describe_value(regularizer)}. "
                + (f"Pass it first: {_CALL}." if swapped else "Its name or its class will not do.")
            )
        check_choice(self.dtype, "dtype", {"float64": None, "float32": None})
        given: Any = self.terms
        if not isinstance(given, Term | Iterable) or getattr(given, "ndim", 1) == 0:
            raise TypeError(
                f"`terms` must be a list of Term(constraints, loss); got {type(given).__name__}. Side "
                "information becomes one by its method: pairs.bind(loss, points=X)."
            )
        terms: tuple[Any, ...] = (given,) if isinstance(given, Term) else tuple(given)
        for k, term in enumerate(terms):
            if not isinstance(term, Term):
                hint = " Leave out the outer brackets." if _are_terms(term) else ""
                raise TypeError(
                    f"`terms[{k}]` must be a Term(constraints, loss); got {describe_value(term)}.{hint}"
                )
        if isinstance(self.prior, Term) or _are_terms(self.prior):
            raise TypeError(f"`prior` must be a matrix; got terms, which come after it: {_CALL}.")
        object.__setattr__(self, "terms", terms)
        if self.capacity is not None:
            self._check_capacity()
        _ = self.dual  # parts that do not fit together are refused here, not at the first solve

    def _check_capacity(self) -> None:
        check_positive(self.capacity, "capacity", "Problem")
        s = self.space.spectrum
        if self.regularizer.keeps_range or read(namespace(s).max(s)) > 0:
            raise ValueError(
                "`capacity` bounds tr X^p of a matrix that begins at zero; pass Frobenius() or Schatten(p), "
                "and Zeros(n) as `prior`."
            )

    @cached_property
    def space(self) -> Space:
        """The space X lives in."""
        return Space.of(self.prior, self.regularizer.keeps_range, self.dtype)

    @property
    def n(self) -> int:
        """The number of rows of X."""
        basis = self.space.basis
        return self.space.dimension if basis is None else int(basis.shape[0])

    @cached_property
    def parts(self) -> tuple[Part, ...]:
        """The terms, restricted to the space."""
        space, parts = self.space, []
        for term in self.terms:
            size = term.constraints.size
            offset = term.constraints.offset
            offset = as_real(offset, space.spectrum) if is_array(offset) else offset
            linear = term.constraints.restricted_map(space.basis, space.dimension, space.spectrum)
            loss = term.loss.prepare(size, space.spectrum)
            parts.append(Part(linear, loss, offset, self._unit(linear, offset)))
        return tuple(parts)

    def _unit(self, linear: LinearMap, offset: Any) -> float:
        """Give the usual size of t: its mean at the prior, on a sample; at the identity if that is 0."""
        xp = namespace(self.space.spectrum)
        if linear.size == 0:
            return 1.0
        some = linear.index_rows(every_row(min(linear.size, 1000), self.space.spectrum))
        offset = offset[: some.size] if is_array(offset) else offset
        for x in (self.space.spectrum, xp.ones_like(self.space.spectrum)):
            mean = read(xp.mean(xp.abs(offset + some.traces(x))))
            if mean > 0:
                return mean
        return 1.0

    @cached_property
    def dual(self) -> Dual:
        """The dual over the terms that have something to solve for.

        A linear term has one possible price, so it moves Y0 and the constant instead.
        """
        xp = namespace(self.space.spectrum)
        s = self.space.spectrum
        slope = self.regularizer.derivative(s)
        start = read(xp.sum(self.regularizer.conjugate(slope)))
        fixed = []
        for part in self.parts:
            if part.loss.is_fixed and part.size:
                price, _ = part.loss.box(s, part.size)
                fixed.append((part, price))
                start = start + read(xp.sum(part.offset * price))
        free = tuple(part for part in self.parts if not part.loss.is_fixed)
        return Dual(self.regularizer, Origin(slope, tuple(fixed)), start, free)

    @cached_property
    def pool(self) -> Pool:
        """The constraints, for methods that need not have them in this process."""
        return PoolHere(self.dual)

    def with_pool(self, pool: Pool) -> "Problem":
        """The same problem with the constraints of a pool as well, which need not be in this process.

        Newton on X alone solves it, and the solution has no duals.
        """
        other = copy(self)
        vars(other).update(pool=pool)
        return other

    def at_price(self, price: float) -> "Problem":
        """The same problem with so many times the weight on all losses, except Hard and Linear ones."""
        price = float(check_positive(price, "price", "at_price"))
        terms, parts = list(self.terms), list(self.parts)
        for k, has_price in enumerate(self.has_price):
            if has_price:
                loss = replace(parts[k].loss, weight=parts[k].loss.weight * price)
                terms[k], parts[k] = replace(terms[k], loss=loss), replace(parts[k], loss=loss)
        other = copy(self)  # with its space and its maps
        vars(other).update(terms=tuple(terms), parts=tuple(parts))
        for made in ("dual", "pool"):
            vars(other).pop(made, None)
        return other

    @property
    def has_price(self) -> tuple[bool, ...]:
        """Which terms cost a price that can be changed: those with neither a Hard nor a Linear loss."""
        return tuple(not (term.loss.is_hard or term.loss.is_fixed) for term in self.terms)

    def duals(self, lam: list[Array]) -> tuple[Array, ...]:
        """One vector a term, from one vector a part of `dual`."""
        rest = iter(lam)
        like = self.space.spectrum
        return tuple(
            part.loss.box(like, part.size)[0] if part.loss.is_fixed else next(rest)
            for part in self.parts
        )

    def free_duals(self, duals: Sequence[Array] | None) -> list[Array] | None:
        """Invert `duals`: one vector a part of `dual`, from one vector a term."""
        if duals is None:
            return None
        given: object = duals
        is_named = isinstance(given, str) or hasattr(given, "_fields")  # such as a Record
        if is_named or not isinstance(given, Sequence):
            raise TypeError(
                "`start` must be a Solution, or its duals: a list of one vector for each term; got "
                f"{type(duals).__name__}."
            )
        if len(duals) != len(self.terms):
            raise ValueError(
                f"`start` has {len(duals)} vectors of duals, but the problem has {len(self.terms)} terms."
            )
        free = []
        for k, (part, vector) in enumerate(zip(self.parts, duals, strict=True)):
            lam = as_real(as_numbers(vector, f"start[{k}]"), self.space.spectrum)
            if tuple(lam.shape) != (part.size,):
                raise ValueError(
                    f"`start[{k}]` has shape {tuple(lam.shape)}, but term {k} has {part.size} constraints."
                )
            if not part.loss.is_fixed:
                free.append(check_finite(lam, f"start[{k}]"))
        return free

    def describe(self, position: int, k: int) -> str:
        """Name constraint k of part `position` of the dual, with its term and its bound."""
        free = [n for n, part in enumerate(self.parts) if not part.loss.is_fixed]
        words = self.terms[free[position]].constraints.describe(k)
        bound = self.dual.parts[position].loss.describe(k)
        return f"constraint {k} of term {free[position]} ({words} {bound})"

    def divergence(self, S: Array) -> float:
        """D_phi(X, X0) for X = V S V'."""
        xp = namespace(S)
        s = self.space.spectrum
        x = clipped(xp.linalg.eigvalsh(S), low=0.0)
        slope = self.regularizer.derivative(s)
        inner = xp.sum(slope * (xp.linalg.diagonal(S) - s))
        return read(xp.sum(self.regularizer.value(x)) - xp.sum(self.regularizer.value(s)) - inner)

    def divergence_of(self, factor: Array) -> float:
        """D_phi(X, X0) for X = V F F' V', even if nearly singular, plus a bound on its rounding error."""
        xp = namespace(factor)
        slope = self.regularizer.derivative(self.space.spectrum)
        terms = [
            self.regularizer.at_gradient(factor).potential,
            read(xp.sum(self.regularizer.conjugate(slope))),
            -read(xp.sum(slope * xp.sum(factor**2, axis=1))),
        ]
        return sum(terms) + 4 * machine_eps(factor) * sum(abs(t) for t in terms)

    def linear_value(self, S: Array) -> float:
        """The value of the linear terms at X = V S V'."""
        values = (p.loss.value(p.offset + p.map.apply(S)) for p, _ in self.dual.origin.fixed)
        return sum((read(namespace(S).sum(value)) for value in values), start=0.0)


def _are_terms(given: object) -> bool:
    """Whether these are terms in a list."""
    return isinstance(given, list | tuple) and bool(given) and isinstance(given[0], Term)
