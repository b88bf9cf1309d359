"""maximize sum_t margin_t lam_t: the dual of F07's linear programs (4) and (7), where a cut is one more column.

    sum_t lam_t D_tp + sum_c mu_c C_cp + u_p - v_p = g2 tr K_p     for each kernel p: its price is alpha_p
    sum_c mu_c = g2 |S|                                            the identity: its price is beta
    sum_{p in f} (u_p + v_p) <= g1                                 for each group f: its price is s_f
    0 <= lam_t <= w_t,  mu, u, v >= 0

D_tp = K_p(x_i, x_j) - K_p(x_i, x_k) of comparison t, and C_c alpha + beta >= 0 is a cut. There are as many
rows as kernels and groups, however many comparisons: HiGHS works on a small basis, and goes on from the last
one when columns are added or g1 and g2 change.
"""

import threading
from dataclasses import dataclass
from typing import Any, final

import numpy as np

_OPTIONS = {"output_flag": False, "parallel": "off", "small_matrix_value": 1e-12}
# Small prices are of the size of the usual tolerance, 1e-7; larger ones are for programs that fail otherwise.
_TOLERANCES = (1e-10, 1e-9, 1e-7, 1e-5)
_MOMENT, _PATIENCE = 0.1, 0.5  # seconds


@final
@dataclass(frozen=True, eq=False)
class Prices:
    """An optimal vertex: alpha and beta, and the lam and mu that bound the value from below."""

    alpha: np.ndarray
    beta: float
    lam: np.ndarray
    mu: np.ndarray


@final
@dataclass(frozen=True, eq=False)
class Coefficients:
    """The numbers of the program.

    Attributes
    ----------
    differences, margin, weight :
        D, a row a comparison, what it should be at least, and its price.
    traces, n_points :
        tr K_p over S, and |S|.
    groups, sizes : vectors of m
        The group of each kernel, and the size of its values: what its row is divided by.
    has_identity, nonnegative : bool
        Whether the identity is in the family, and whether all weights must be at least 0.
    """

    differences: np.ndarray
    margin: np.ndarray
    weight: np.ndarray
    traces: np.ndarray
    n_points: int
    groups: np.ndarray
    sizes: np.ndarray
    has_identity: bool
    nonnegative: bool

    def largest_of_groups(self, values: np.ndarray) -> np.ndarray:
        """max_{p in f} values_p of each group f, for values of at least 0."""
        largest = np.zeros(int(self.groups.max()) + 1)
        np.maximum.at(largest, self.groups, values)
        return largest


@final
class Program:
    """The linear program, inside HiGHS; comparisons are added as columns, some at a time."""

    def __init__(self, data: Coefficients) -> None:
        import highspy

        self._library, self._data = highspy, data
        groups, sizes, has_identity = data.groups, data.sizes, data.has_identity
        # In which margins, and weights of kernels, are measured.
        self._unit = float(data.margin.max()) or 1.0
        self._largest = data.largest_of_groups(sizes)
        self._m, self._n_groups = len(sizes), len(self._largest)
        self._highs = highspy.Highs()
        # Whether HiGHS should stop, and whether its thread was left running because it did not.
        self._is_cancelled, self._is_lost = False, False
        self._highs.cbSimplexInterrupt += self._watch
        for option, value in _OPTIONS.items():
            self._highs.setOptionValue(option, value)
        n_rows = self._m + has_identity + self._n_groups
        unbounded = np.full(n_rows, highspy.kHighsInf)
        nothing = np.zeros(0, dtype=np.int32)
        self._highs.addRows(
            n_rows, -unbounded, unbounded, 0, np.zeros(n_rows, dtype=np.int32), nothing, nothing
        )
        # Which columns are comparisons and which are cuts: both come in several batches.
        self._lam, self._mu = nothing, nothing
        for sign in (-1.0,) if data.nonnegative else (1.0, -1.0):
            shares = np.zeros((self._m, n_rows))
            shares[np.arange(self._m), np.arange(self._m)] = sign
            shares[np.arange(self._m), self._m + has_identity + groups] = (
                sizes / self._largest[groups]
            )
            self._add(shares, np.zeros(self._m), np.full(self._m, highspy.kHighsInf))

    def set_prices(self, sparsity: float, trace_price: float) -> None:
        """Set the right side."""
        data = self._data
        traces = trace_price * data.traces / data.sizes
        identity = [trace_price * data.n_points] * data.has_identity
        upper = np.concatenate([traces, identity, sparsity / self._largest])
        lower = np.full(len(upper), -self._library.kHighsInf)
        if not data.nonnegative:
            lower[: -self._n_groups] = upper[: -self._n_groups]
        rows = np.arange(len(upper), dtype=np.int32)
        self._highs.changeRowsBounds(len(rows), rows, lower, upper)

    def add_comparisons(
        self, which: np.ndarray, weight: np.ndarray, is_violated: np.ndarray
    ) -> None:
        """Add columns lam_t of some comparisons; those that are violated begin at their upper end."""
        columns = np.zeros((len(which), self._n_rows))
        columns[:, : self._m] = self._data.differences[which] / self._data.sizes
        margin = self._data.margin[which] / self._unit
        self._lam = np.concatenate([self._lam, self._add(columns, -margin, weight, is_violated)])

    def set_weights(self, weight: np.ndarray) -> None:
        """Set the upper ends of all lam."""
        self._highs.changeColsBounds(len(weight), self._lam, np.zeros(len(weight)), weight)

    def add_cuts(self, C: np.ndarray) -> None:
        """Add columns mu_c, for C alpha + beta >= 0."""
        columns = np.zeros((len(C), self._n_rows))
        columns[:, : self._m] = C / self._data.sizes
        if self._data.has_identity:
            columns[:, self._m] = 1.0
        infinite = np.full(len(C), self._library.kHighsInf)
        self._mu = np.concatenate([self._mu, self._add(columns, np.zeros(len(C)), infinite)])

    def solve(self) -> Prices:
        """Go on to the optimum. Both programs have one, so anything else is an error, of HiGHS or of ours."""
        for tolerance in _TOLERANCES:
            for name in ("primal_feasibility_tolerance", "dual_feasibility_tolerance"):
                self._highs.setOptionValue(name, tolerance)
            self._run()
            status = self._highs.getModelStatus()
            if status == self._library.HighsModelStatus.kOptimal:
                break
            self._highs.clearSolver()  # the basis may have become singular
        else:
            words = self._highs.modelStatusToString(status)
            raise RuntimeError(
                f"the linear program of the kernel design ended as {words!r}, though it always has an "
                "optimum; please report it, with the data."
            )
        return self._prices()

    def last_prices(self) -> Prices | None:
        """Where HiGHS was stopped, if it had begun: not an optimum, so its prices may break their equations."""
        if self._is_lost or self._highs.getInfo().simplex_iteration_count <= 0:
            return None
        now = self._prices()
        is_finite = all(np.isfinite(part).all() for part in (now.alpha, now.lam, now.mu))
        return now if is_finite else None

    def _prices(self) -> Prices:
        solution = self._highs.getSolution()
        prices = -self._unit * np.asarray(solution.row_dual)
        columns = np.asarray(solution.col_value)
        beta = float(prices[self._m]) if self._data.has_identity else 0.0
        alpha = prices[: self._m] / self._data.sizes
        return Prices(alpha, beta, columns[self._lam], columns[self._mu])

    def _run(self) -> None:
        """HiGHS, in a thread of its own: the main thread does not hear Ctrl-C while it is inside a library."""
        if threading.current_thread() is not threading.main_thread():
            self._highs.run()
            return
        over, failed = threading.Event(), list[BaseException]()

        def work() -> None:
            try:
                self._highs.run()
            except BaseException as error:
                failed.append(error)
            finally:
                over.set()

        self._is_cancelled = False
        try:
            # Not a daemon: a thread that Python ends inside C++ aborts the process.
            threading.Thread(target=work, name="HiGHS", daemon=False).start()
            # A signal that another thread received does not wake this one: so it looks now and then.
            while not over.wait(_MOMENT):
                pass
        except BaseException:  # Ctrl-C, or what another signal's handler raises
            # HiGHS stops at its next step. The first may be long: then its thread is left running.
            self._is_cancelled, self._is_lost = True, True
            self._is_lost = not over.wait(_PATIENCE)
            raise
        if failed:
            raise failed[0]

    def _watch(self, event: Any) -> None:
        if self._is_cancelled:
            event.interrupt()

    @property
    def _n_rows(self) -> int:
        return int(self._highs.getNumRow())

    def _add(
        self, columns: np.ndarray, cost: np.ndarray, upper: np.ndarray, at_upper: Any = None
    ) -> np.ndarray:
        """Add columns, each a row of the array, from 0 to `upper`; give their numbers."""
        first = int(self._highs.getNumCol())
        basis = self._highs.getBasis()
        where, rows = np.nonzero(columns)
        starts = np.searchsorted(where, np.arange(len(columns))).astype(np.int32)
        values = columns[where, rows]
        self._highs.addCols(
            len(columns),
            cost,
            np.zeros(len(columns)),
            upper,
            len(values),
            starts,
            rows.astype(np.int32),
            values,
        )
        if at_upper is not None and basis.valid:
            ends = self._library.HighsBasisStatus
            added = [ends.kUpper if is_high else ends.kLower for is_high in at_upper]
            basis.col_status = [*basis.col_status, *added]
            self._highs.setBasis(basis)
        return np.arange(first, first + len(columns), dtype=np.int32)
