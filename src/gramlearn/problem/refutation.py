"""S = sum_k v_k A_k >= 0 and sum_k v_k b_k < 0 prove that no PSD X satisfies the constraints (Farkas).

Here b_k is the end of the domain of loss_k on the side that v_k pushes to, less the offset: such an X would
have 0 <= <S, X> <= sum_k v_k b_k < 0. Equality is impossible, too, where X must be positive definite and S is
not zero, or where some t_k may not reach its end.

In floating point S is definite up to a share `error` of the terms it is the sum of, and the sum of the v_k b_k
is known up to a rounding of its terms. So the proof is that any X that satisfies the constraints is a million
times larger than the prior, the present X and the bounds, or singular up to rounding.
"""

from dataclasses import dataclass
from functools import cached_property
from typing import final

from gramlearn._base.arrays import Array, constant, machine_eps, namespace, read
from gramlearn._base.matrices import symmetric_part
from gramlearn.problem.dual import Dual

INF = float("inf")
# Powers of rounding, so that single precision proves what it can: of 2e-16, a million, 1e-11, a millionth.
_BEYOND = -0.4  # an X this many times larger than the bounds does not count
_DEFINITE = 0.7  # an error of S below this share of it leaves it semidefinite
_SUBSTANTIAL = 0.15  # an S above this share of its terms is not zero
_SHARE = 0.4  # open ends count if they have more than this share of all


@final
@dataclass(frozen=True, eq=False)
class Refutation:
    """v over the constraints of a dual, as a proof that they contradict each other.

    `usual` is the diagonal of an X of the expected size: the proof is that no X of that size is feasible.
    """

    dual: Dual
    v: Array
    usual: Array

    @property
    def holds(self) -> bool:
        """Whether it is a proof, whatever rounding may have done."""
        room, terms = self.room
        if not terms < INF:
            return False
        eps = machine_eps(self.v)
        noise = 16 * eps * terms
        least, largest = self.spectrum
        error = 4 * eps * self.dual.rank + max(-least, 0.0)
        xp = namespace(self.v)
        term_sizes = read(xp.sum(self.dual.spread(self.v) * self.usual))
        if room < -noise and -room - noise >= eps**_BEYOND * error * max(terms, term_sizes):
            return True
        if room > noise:
            return False
        # <S, X> = sum_k v_k b_k is impossible as well where X > 0, or where some t_k may not reach its end.
        definite = eps**_DEFINITE
        counts = self.dual.regularizer.needs_interior and largest > eps**_SUBSTANTIAL
        return (counts and error <= definite * largest) or (
            error <= definite and self._has_open_end
        )

    @cached_property
    def room(self) -> tuple[float, float]:
        """(sum_k v_k b_k, the sum of the sizes of its terms); the second is infinite where some b_k is."""
        xp, v = namespace(self.v), self.v
        low, high = domain_of(self.dual)
        end = xp.where(v > 0, high, xp.where(v < 0, low, xp.zeros_like(v)))
        offset = self.dual.each(lambda p, z: z + p.offset, xp.zeros_like(v))
        terms = read(xp.sum(xp.abs(v) * (xp.abs(end) + xp.abs(offset))))
        return (read(xp.sum(v * (end - offset))) if terms < INF else INF), terms

    @cached_property
    def spectrum(self) -> tuple[float, float]:
        """The least and the largest eigenvalue of S, in units of what each of its rows is the sum of."""
        xp = namespace(self.v)
        s = self.dual.spread(self.v)
        unit = 1 / xp.sqrt(xp.where(s > 0, s, xp.ones_like(s)))
        S = symmetric_part(self.dual.adjoint(self.v)) * unit[:, None] * unit[None, :]
        e = xp.linalg.eigvalsh(S)
        return read(e[0]), read(e[-1])

    @property
    def _has_open_end(self) -> bool:
        """Whether some t_k that counts may not reach the end that v_k pushes it to."""
        xp = namespace(self.v)
        # As large as t is before it cancels: an A_k that is zero but for rounding proves nothing.
        sizes = self.dual.each(lambda p, v: xp.abs(v) * p.map.magnitudes(self.usual), self.v)
        is_open = self.dual.each(lambda p, w: w * (1.0 if p.loss.has_open_domain else 0.0), sizes)
        return read(xp.sum(is_open)) > machine_eps(self.v) ** _SHARE * read(xp.sum(sizes)) > 0


def domain_of(dual: Dual) -> tuple[Array, Array]:
    """(least, largest) t at which the losses are finite."""
    zero = constant(0.0, dual.like, dual.size)
    low = dual.each(lambda part, z: z + part.loss.domain()[0], zero)
    high = dual.each(lambda part, z: z + part.loss.domain()[1], zero)
    return low, high
