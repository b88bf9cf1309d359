"""The primal point: gap, gradient and Newton direction against their definitions."""

import numpy as np
import pytest
from gramlearn.constraints import Similarities, SquaredDistances, Trace
from gramlearn.losses import Hard, Hinge, KLSlack, Linear, LogDetSlack, Square, SquaredHinge

import gramlearn.problem.costs as costs_module
import gramlearn.solvers.primal_newton.direction as direction
import gramlearn.solvers.primal_newton.memory as memory
from catalogue import LOSSES, REGULARIZERS, all_constraints, name_of
from conftest import Library
from gramlearn import Frobenius, LogDet, Problem, Term, VonNeumann, solve
from gramlearn._base.arrays import Array
from gramlearn.problem.constraints import Constraints
from gramlearn.problem.costs import CostsHere
from gramlearn.problem.curved import CurvedHere
from gramlearn.problem.linear_maps import LinearMap, joint_adjoint, joint_apply
from gramlearn.problem.linear_maps.directions import DirectionMap
from gramlearn.problem.primal import PrimalPoint
from gramlearn.problem.ramps import smoothed
from gramlearn.problem.scan import near_rows
from gramlearn.problem.spectral import Regularizer
from gramlearn.solvers import PrimalNewton
from gramlearn.solvers.primal_newton.barrier import BarrierPoint

N = 5
_rng = np.random.default_rng(0)
_square = _rng.standard_normal((N, N))
X0 = _square @ _square.T / N + 0.3 * np.eye(N)
F = np.linalg.cholesky(X0) @ (np.eye(N) + 0.1 * _rng.standard_normal((N, N)))
LOGDET = LogDet()
SMOOTH = [loss for loss in LOSSES if loss.is_smooth]


def point_of(
    constraints: Constraints, library: Library, regularizer: Regularizer = LOGDET
) -> PrimalPoint:
    """A point that all kinds of terms have a say in, close to the prior."""
    terms = [
        Term(constraints, Square(2.0, equal=0.3)),
        Term(Trace(offset=0.2), Linear(0.1)),
        Term(SquaredDistances([0, 1], [2, 3], offset=0.3), LogDetSlack(1.5, equal=0.9)),
        Term(SquaredDistances([0, 1], [3, 4]), SquaredHinge(0.7, upper=0.4)),
    ]
    problem = Problem(regularizer, library.array(X0), terms)
    V = library.numpy(problem.space.basis)
    x, U = np.linalg.eigh(V.T @ F @ F.T @ V)
    Y = (U * regularizer.derivative(x)) @ U.T
    return PrimalPoint.of(problem.dual, regularizer.at(library.array(Y)))


@pytest.mark.covering("constraints", "regularizer")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_the_gap_is_primal_less_dual(
    regularizer: Regularizer, constraints: Constraints, library: Library
) -> None:
    point = point_of(constraints, library, regularizer)
    certificate, lam = point.certify()
    dual = point.dual.at(lam)
    assert certificate.gap == pytest.approx(point.value - dual.value, rel=1e-10, abs=1e-11)
    assert point.value <= certificate.primal <= point.value + 1e-11 * (1 + abs(point.value))
    assert certificate.gap < np.inf
    if point.gap < np.inf:
        assert lam is point.costs.lam
        assert certificate.gap == pytest.approx(point.gap, rel=1e-10, abs=1e-11)


@pytest.mark.covering("constraints", "regularizer")
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_the_residual_is_the_slope_along_every_direction(
    regularizer: Regularizer, constraints: Constraints, library: Library
) -> None:
    x0 = library.array(np.linspace(0.5, 2.0, N))
    primal = point_of(constraints, library, regularizer)
    rng = np.random.default_rng(1)
    step = 1e-5  # balances eps / step against step^2
    for nu in (0.0, 0.7):
        point = BarrierPoint(primal, nu, x0)
        dX = rng.standard_normal((N, N))
        dX = step * (dX + dX.T)
        ray = point.along(library.array(dX))
        slope = (ray.at(1.0).value - ray.at(-1.0).value) / 2
        promised = np.sum(library.numpy(point.residual) * dX)
        assert slope == pytest.approx(promised, rel=1e-6, abs=1e-10)


def test_no_step_leaves_the_cone(library: Library) -> None:
    """And the curve is the straight line as long as no eigenvalue falls below half of what it was."""
    point = BarrierPoint(point_of(Trace(), library), 0.3, library.array(np.ones(N)))
    root = np.sqrt(library.numpy(point.primal.at.spectrum) * np.ones(N))
    s = np.array([-1e6, -3.0, -0.4, 0.0, 50.0])
    ray = point.along(library.array(root[:, None] * np.diag(s) * root))
    F, G = (library.numpy(p.primal.at.factor) for p in (point, ray.at(1.0)))
    ratios = np.sort(np.linalg.eigvalsh(np.linalg.solve(F, G) @ np.linalg.solve(F, G).T))
    assert ratios[0] > 0
    assert ratios[1] < 0.5
    np.testing.assert_allclose(ratios[2:], 1 + s[2:], rtol=1e-6)
    assert np.isfinite(ray.at(1.0).value)


@pytest.mark.covering("regularizer", "constraints", "way")
@pytest.mark.parametrize("way", ["eliminated", "written out", "double", "single", "deflated"])
@pytest.mark.parametrize("regularizer", REGULARIZERS, ids=name_of)
@pytest.mark.parametrize("constraints", all_constraints(N), ids=name_of)
def test_the_direction_solves_the_newton_system(
    regularizer: Regularizer,
    constraints: Constraints,
    library: Library,
    way: str,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if way != "eliminated":
        monkeypatch.setattr(direction, "_DIRECT_ROWS", 0)
        monkeypatch.setattr(direction, "_DIRECT_SHARE", 0)
    if way != "written out":
        monkeypatch.setattr(direction, "_DIRECT_RANK", 0)
        monkeypatch.setattr(direction, "_DIRECT_PRODUCTS", 0)
    monkeypatch.setattr(direction, "_SINGLE_ACCURACY", 0.0 if way == "single" else 1.0)
    monkeypatch.setattr(direction, "_MANY_PRODUCTS", 1)
    monkeypatch.setattr(direction, "_MANY_ROWS", 0)
    point = BarrierPoint(
        point_of(constraints, library, regularizer), 0.2, library.array(np.ones(N))
    )
    accuracy = 1e-5 if way == "single" else 1e-9
    found, known = direction.newton_direction(point, direction.Accuracy(accuracy))
    if way == "deflated":
        assert known is not None
        found, _ = direction.newton_direction(point, direction.Accuracy(accuracy), known)
    dX = library.numpy(found)
    maps, curvature = point.curved.gathered()
    B = np.concatenate([library.numpy(m.matrices()) for m in maps])
    curvature = library.numpy(curvature)
    R, Phi = library.numpy(point.residual), library.numpy(point.softness)
    image = dX / Phi + np.tensordot(curvature * np.tensordot(B, dX, 2), B, 1)
    # The residual that is asked for, in the norm of Phi, and what single precision adds to it.
    slack = 3 if way == "single" else 1
    size = np.linalg.norm(np.sqrt(Phi) * R)
    assert np.linalg.norm(np.sqrt(Phi) * (image + R)) <= slack * accuracy * size + 1e-12
    np.testing.assert_allclose(dX, dX.T, atol=1e-12)


@pytest.mark.parametrize("sign", [0.0, -1.0], ids=["directions", "differences"])
def test_the_system_of_normal_directions_takes_few_products(
    sign: float, library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the sum of the B_k is next to zero."""
    rank, count = 15, 4000
    rng = np.random.default_rng(4)
    mix = rng.standard_normal((rank, rank)) * np.logspace(0, -2, rank)
    weights = (1.0, sign) if sign else (1.0,)
    z = rng.standard_normal((len(weights) * count, rank)) @ mix.T
    maps: list[LinearMap] = [DirectionMap(library.array(z), weights)]
    curvature, h = library.array(np.full(count, 10.0)), library.array(np.ones((1, 1)))
    curved = CurvedHere(maps, curvature, rank)
    inverse = direction._Preconditioner.of(curved, h, rank)
    system = direction._System(curved, h, inverse)
    products = []

    def counted(self: direction._System, S: Array) -> Array:
        products.append(1)
        return product(self, S)

    product = direction._System.product
    monkeypatch.setattr(direction._System, "product", counted)
    right = rng.standard_normal((rank, rank))
    right = library.array(right + right.T)
    S, _ = system.solve(right, 1e-3, lambda S: 1e-3)
    residual = library.numpy(product(system, S) - right)
    assert np.linalg.norm(residual) <= 1e-3 * np.linalg.norm(library.numpy(right))
    assert len(products) <= 12


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("first", [1, 50, 10_000])
def test_every_constraint_with_a_cost_is_kept(stride: int, first: int, library: Library) -> None:
    rng = np.random.default_rng(2)
    P = rng.standard_normal((60, 4))
    i, j = rng.integers(0, 30, 900), rng.integers(30, 60, 900)
    pairs = SquaredDistances(library.index(i), library.index(j), points=library.array(P))
    losses = [LogDetSlack(upper=6.0), SquaredHinge(lower=9.0), Square(equal=7.0)]
    terms = [Term(pairs, loss) for loss in losses]
    problem = Problem(LogDet(), library.array(np.eye(4)), terms)
    G = np.eye(4) + 0.2 * rng.standard_normal((4, 4))
    t = np.sum(((P[i] - P[j]) @ G) ** 2, axis=1)
    found = near_rows(problem.dual, LogDet().at_gradient(library.array(G)), stride, first)
    for rows, loss in zip(found, losses, strict=True):
        chosen = np.asarray(library.numpy(rows))
        assert np.all(np.diff(chosen) > 0)
        assert np.all(chosen % stride == 0)
        costly = np.flatnonzero(loss.value(t) > 0)
        assert np.isin(costly[costly % stride == 0], chosen).all()


def test_few_constraints_without_cost_are_kept() -> None:
    rng = np.random.default_rng(3)
    P = rng.standard_normal((400, 6))
    i, j = rng.integers(0, 200, 30_000), rng.integers(200, 400, 30_000)
    pairs = SquaredDistances(i, j, points=P)
    problem = Problem(LogDet(), np.eye(6), [Term(pairs, LogDetSlack(upper=20.0))])
    costly = np.sum(np.sum((P[i] - P[j]) ** 2, axis=1) > 20.0)
    (rows,) = near_rows(problem.dual, LogDet().at_gradient(np.eye(6)), 1, 10)
    assert costly < len(rows) <= 10 + 3 * costly < 30_000


# -- who may use it --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("regularizer", "term", "reason"),
    [
        (Frobenius(), Term(Trace(), Square(equal=1.0)), r"1 constraints, .* entries \(15\)"),
        (LogDet(), Term(Trace(), Hinge(upper=1.0)), r"1 constraints, .* entries \(15\)"),
        (
            LogDet(),
            Term(SquaredDistances([0] * 20, [1] * 20), Hard(upper=1.0)),
            "Hard has no derivative",
        ),
        (LogDet(), Term(Similarities([0], [1]), KLSlack(lower=1.0)), "infinite for some t"),
        (LogDet(), Term(Similarities([0], [1]), LogDetSlack(lower=1.0)), "infinite for some t"),
        (
            LogDet(),
            Term(SquaredDistances([0], [1], offset=[-1.0]), LogDetSlack(lower=1.0)),
            "infinite for some t",
        ),
    ],
)
def test_problems_it_cannot_solve_are_refused(regularizer, term, reason: str) -> None:
    problem = Problem(regularizer, np.eye(N), [term])
    with pytest.raises(ValueError, match=rf"primal_newton.*{reason}.*auto"):
        solve(problem, "primal_newton")
    assert solve(problem).iterations >= 0  # "auto" knows better


@pytest.mark.parametrize("loss", SMOOTH, ids=name_of)
def test_both_solvers_agree_with_each_other(loss) -> None:
    """Far from the prior, and with more constraints than X has entries."""
    rng = np.random.default_rng(4)
    P = rng.standard_normal((80, 6)) * np.geomspace(1, 100, 6)
    i, j = rng.integers(0, 40, 1500), rng.integers(40, 80, 1500)
    problem = Problem(LogDet(), np.eye(6), [Term(SquaredDistances(i, j, points=P), loss)])
    one, two = solve(problem, "working_set"), solve(problem, PrimalNewton(first=100))
    assert one.status.is_answer
    assert two.status.is_answer
    assert max(one.dual, two.dual) <= min(one.primal, two.primal) + 1e-9 * abs(one.primal)


@pytest.mark.parametrize("regularizer", [LogDet(), VonNeumann(), Frobenius()], ids=name_of)
def test_the_prices_of_the_next_step_certify_too(regularizer: Regularizer) -> None:
    """The gap is primal less dual there; they are in their box, and to first order the prices of X + dX."""
    rng = np.random.default_rng(3)
    P = rng.standard_normal((30, 4))
    i, j = rng.integers(15, size=80), rng.integers(15, 30, size=80)
    terms = [Term(SquaredDistances(i, j, points=P), Hinge(2.0, upper=3.0))]
    dual = Problem(regularizer, np.eye(4), terms).dual
    ramps = smoothed(dual, 0.5)
    at = regularizer.at_gradient(np.diag([1.0, 0.8, 0.9, 1.1]))
    point = PrimalPoint(dual, at, CostsHere(ramps, at.frame, at.spectrum, exact=dual))
    for size in (1e-6, 0.1, 100.0):
        dX = size * (np.diag([0.1, -0.1, 0.05, 0.02]) + 0.01)
        ahead = point.ahead(dX)
        lo, hi = dual.box
        assert np.all((lo <= ahead.costs.lam) & (ahead.costs.lam <= hi))
        assert ahead.value == point.with_kinks().value
        expected = ahead.value - dual.at(ahead.costs.lam).value
        assert ahead.gap == pytest.approx(expected, rel=1e-9, abs=1e-9)
    Q = point.at.frame
    step = 1e-6 * (np.diag([0.1, -0.1, 0.05, 0.02]) + 0.01)
    X = point.at.factor @ point.at.factor.T + Q @ step @ Q.T
    t = np.einsum("ki,ij,kj->k", P[i] - P[j], X, P[i] - P[j])
    prices = np.concatenate([part.loss.price(t) for part in ramps.parts])
    np.testing.assert_allclose(point.ahead(step).costs.lam, prices, atol=1e-9)


def test_a_sample_of_the_constraints_makes_the_same_preconditioner() -> None:
    """Each stands for those left out, also where they are curved differently."""
    rng = np.random.default_rng(0)
    rank, size = 4, 40_000
    maps: list[LinearMap] = [DirectionMap(rng.standard_normal((size, rank)), (1.0,))]
    curvature = rng.exponential(size=size)
    Phi = np.ones((1, 1))
    curved = CurvedHere(maps, curvature, rank)
    whole = direction._Preconditioner.of(curved, Phi, rank)
    some = curved.sample(4000)
    assert some.size == 4000
    sampled = direction._Preconditioner.of(some, Phi, rank)
    S = np.diag([1.0, 2.0, -1.0, 0.5]) + np.ones((rank, rank))
    np.testing.assert_allclose(sampled.apply(S), whole.apply(S), rtol=0.2, atol=0.05 / size)


@pytest.mark.parametrize("nearly_all", [0.0, 2.0])
def test_constraints_without_a_price_add_nothing(
    nearly_all: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether they are left out or taken along: lam and B* d B are those of the definition."""
    monkeypatch.setattr(costs_module, "_MANY", 0)
    monkeypatch.setattr(costs_module, "_NEARLY_ALL", nearly_all)
    rng = np.random.default_rng(1)
    P = rng.standard_normal((30, 4))
    i, j = rng.integers(15, size=80), rng.integers(15, 30, size=80)
    loss = SquaredHinge(2.0, upper=3.0)
    problem = Problem(LogDet(), np.eye(4), [Term(SquaredDistances(i, j, points=P), loss)])
    point = PrimalPoint.of(problem.dual, LOGDET.at_gradient(np.eye(4)))
    D = P[i] - P[j]
    t = np.sum(D**2, axis=1)
    costs = t > 3.0
    assert 0 < np.sum(costs) < len(t)
    weighted = (D.T * np.where(costs, point.costs.lam, 0.0)) @ D
    np.testing.assert_allclose(point.residual, weighted, atol=1e-12 * np.abs(weighted).max())
    maps, curvature = point.curved.gathered()
    S = np.diag([1.0, -1.0, 2.0, 0.5]) + np.ones((4, 4))
    # The loss is C (t - b)^2 / 2 or C (t - b)^2: its second derivative is the slope of the price.
    second = np.where(costs, point.costs.lam / np.where(costs, t - 3.0, 1.0), 0.0)
    expected = (D.T * (second * np.einsum("ki,ij,kj->k", D, S, D))) @ D
    found = joint_adjoint(maps, curvature * joint_apply(maps, S))
    np.testing.assert_allclose(found, expected, atol=1e-12 * np.abs(expected).max())


def test_a_system_that_is_known_is_solved_at_once(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With all its products remembered, from another frame, the preconditioner is the inverse."""
    monkeypatch.setattr(memory, "_INDEPENDENT", 1e-14)
    rank, count = 4, 200
    rng = np.random.default_rng(5)
    z = rng.standard_normal((count, rank))
    frame = rng.standard_normal((rank, rank))
    h = np.exp(rng.standard_normal((rank, rank)) / 3)
    h = library.array(h + h.T)
    curvature = library.array(rng.random(count))
    maps: list[LinearMap] = [DirectionMap(library.array(z @ frame), (1.0,))]
    curved = CurvedHere(maps, curvature, rank)
    usual = direction._Preconditioner.of(curved, h**2, rank)
    system = direction._System(curved, h, usual)
    entries = [np.zeros((rank, rank)) for _ in range(rank * (rank + 1) // 2)]
    for S, (i, j) in zip(entries, zip(*np.triu_indices(rank), strict=True), strict=True):
        S[i, j] = S[j, i] = 1.0
    pairs = [(library.array(S), system.product(library.array(S))) for S in entries]
    remembered = memory.Memory.of(pairs, usual, library.array(frame), h)
    turned = rng.standard_normal((rank, rank))
    curved = CurvedHere([DirectionMap(library.array(z @ turned), (1.0,))], curvature, rank)
    inverse = remembered.deflation(library.array(turned), h, usual)
    system = direction._System(curved, h, inverse)
    S = rng.standard_normal((rank, rank))
    S = S + S.T
    found = library.numpy(inverse.apply(system.product(library.array(S))))
    np.testing.assert_allclose(found, S, atol=1e-8 * np.abs(S).max())
