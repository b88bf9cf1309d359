"""Golden values of regularizers and losses at extreme arguments, by mpmath with 50 digits.

    python tests/golden/make.py        writes values.json beside this file

A row of the file is one function of one regularizer or loss, with arguments, the values there
rounded to the nearest double ("inf" for +inf), and the condition numbers |x f'(x) / f(x)|. The
formulas are written down anew from the papers; nothing of gramlearn is imported.
"""

import json
from pathlib import Path

from mpmath import exp, expm1, inf, isinf, log, log1p, mp, mpf

__all__ = ["PATH", "arguments_of", "rows", "values_of"]

PATH = Path(__file__).with_name("values.json")
DIGITS = 50
TINY, HUGE = 2.3e-308, 1.7e308  # beyond these a value is not a normal double, and is left out


# -- regularizers: name -> parameters -> five functions of one number -----------------------------


def log_det():
    return {
        "value": lambda x: -log(x),
        "derivative": lambda x: -1 / x,
        "conjugate": lambda y: -1 - log(-y) if y < 0 else inf,
        "conjugate_derivative": lambda y: -1 / y if y < 0 else None,
        "conjugate_second": lambda y: 1 / y**2 if y < 0 else None,
    }


def von_neumann():
    return {
        "value": lambda x: x * log(x) - x,
        "derivative": log,
        "conjugate": exp,
        "conjugate_derivative": exp,
        "conjugate_second": exp,
    }


def schatten(p=2):
    p = mpf(p)
    q = p / (p - 1)
    return {
        "value": lambda x: x**p / p,
        "derivative": lambda x: x ** (p - 1),
        "conjugate": lambda y: max(y, 0) ** q / q,
        "conjugate_derivative": lambda y: max(y, 0) ** (q - 1),
        "conjugate_second": lambda y: (q - 1) * y ** (q - 2) if y > 0 else mpf(0),
    }


REGULARIZERS = {
    "LogDet": log_det,
    "VonNeumann": von_neumann,
    "Frobenius": schatten,
    "Schatten": schatten,
}

# -- losses: (b, strength) -> penalty, conjugate and its derivatives, the reach of lam -------------


def hard(b, s):
    return (lambda t: mpf(0) if t == b else inf), *linear_conjugate(b), -inf, inf


def hinge(b, s):
    return (lambda t: s * abs(t - b)), *linear_conjugate(b), -s, s


def linear_conjugate(b):
    return (lambda lam: b * lam), (lambda lam: b), (lambda lam: mpf(0))


def square(b, s):
    conjugate = (
        (lambda lam: b * lam + lam**2 / (2 * s)),
        (lambda lam: b + lam / s),
        lambda lam: 1 / s,
    )
    return (lambda t: s / 2 * (t - b) ** 2), *conjugate, -inf, inf


def log_det_slack(b, s):
    def t(lam):
        return b / (1 - lam * b / s)

    conjugate = (lambda lam: -s * log1p(-lam * b / s)), t, (lambda lam: t(lam) ** 2 / s)
    penalty = lambda t: s * (t / b - log(t / b) - 1) if t > 0 else inf  # noqa: E731
    return penalty, *conjugate, -inf, s / b


def kl_slack(b, s):
    conjugate = (
        (lambda lam: s * b * expm1(lam / s)),
        (lambda lam: b * exp(lam / s)),
        (lambda lam: b / s * exp(lam / s)),
    )
    return (lambda t: s * (t * log(t / b) - t + b) if t > 0 else s * b), *conjugate, -inf, inf


LOSSES = {
    "Hard": (hard, None),
    "Hinge": (hinge, "C"),
    "Square": (square, "C"),
    "SquaredHinge": (square, "C"),
    "LogDetSlack": (log_det_slack, "C"),
    "KLSlack": (kl_slack, "C"),
}


def loss_functions(name, parameters):
    make, strength = LOSSES[name]
    kind = next(k for k in ("upper", "lower", "equal") if k in parameters)
    side = {"upper": 1, "lower": -1, "equal": 0}[kind]
    b, s = mpf(parameters[kind]), mpf(parameters.get(strength, 1))
    penalty, conjugate, first, second, least, largest = make(b, s)

    def value(t):
        return penalty(t) if side == 0 or side * (t - b) > 0 else mpf(0)

    def on_the_box(f, outside):
        def g(lam):
            is_open = name == "LogDetSlack" and lam == largest
            within = least <= lam <= largest and side * lam >= 0 and not is_open
            return f(lam) if within else outside

        return g

    return {
        "value": value,
        "conjugate": on_the_box(conjugate, inf),
        "conjugate_derivative": on_the_box(first, None),
        "conjugate_second": on_the_box(second, None),
    }


# -- the table -------------------------------------------------------------------------------------

POSITIVE = [5e-324, 1e-300, 1e-150, 1e-16, 0.1, 1.0, 3.0, 1e16, 1e150, 1e300]
REAL = [-1e300, -700.0, -37.0, -1e-16, -1e-300, 0.0, 1e-300, 1e-16, 1.0, 37.0, 700.0, 1e150]
TIMES = [1e-307, 1e-300, 1e-16, 0.1, 0.9, 1.4, 3.0, 1e16, 1e150, 1e300]
PRICES = [-1e300, -1e16, -37.0, -0.25, -1e-16, -1e-300, 0.0, 1e-300, 1e-16, 0.25, 0.8, 1.3, 300.0]
PARAMETERS = {
    **{name: [{}] for name in ("LogDet", "VonNeumann", "Frobenius")},
    "Schatten": [{"p": 1.5}, {"p": 3.0}],
    "Hard": [{"upper": 1.5}, {"lower": 0.7}, {"equal": 1.2}],
    "Hinge": [{"C": 2.0, "upper": 1.5}, {"C": 0.5, "lower": 0.7}, {"equal": 1.2}],
    "Square": [{"C": 4.0, "equal": 1.2}],
    "SquaredHinge": [{"C": 2.0, "upper": 1.5}, {"C": 0.5, "lower": 0.7}],
    "LogDetSlack": [{"C": 2.0, "upper": 1.5}, {"C": 0.5, "lower": 0.7}, {"equal": 1.2}],
    "KLSlack": [{"C": 2.0, "upper": 1.5}, {"C": 0.5, "lower": 0.7}, {"equal": 1.2}],
}


def functions_of(name, parameters):
    if name in REGULARIZERS:
        return REGULARIZERS[name](**parameters)
    return loss_functions(name, parameters)


def arguments_of(name, function):
    if name in REGULARIZERS:
        return REAL if "conjugate" in function else POSITIVE
    return PRICES if "conjugate" in function else TIMES


def values_of(name, parameters, function, arguments):
    """Give the exact values (None: not defined there) and the condition numbers."""
    with mp.workdps(DIGITS):
        f = functions_of(name, parameters)[function]
        values, conditions = [f(mpf(x)) for x in arguments], []
        for x, value in zip(arguments, values, strict=True):
            step = mpf(10) ** (-DIGITS // 3)
            nearby = None if value in (None, inf, 0) else f(mpf(x) * (1 - step))
            known = nearby is not None and not isinf(nearby)
            conditions.append(float(abs(nearby / value - 1) / step) if known else 0.0)
        return values, conditions


def rows():
    """Yield the rows of the table."""
    for name, choices in PARAMETERS.items():
        for parameters in choices:
            for function in functions_of(name, parameters):
                arguments = arguments_of(name, function)
                values, conditions = values_of(name, parameters, function, arguments)
                kept = [
                    (x, float(v), round(c, 3))
                    for x, v, c in zip(arguments, values, conditions, strict=True)
                    if v is not None and (v in (0, inf) or TINY < abs(v) < HUGE)
                ]
                yield {
                    "class": name,
                    "parameters": parameters,
                    "function": function,
                    "arguments": [x for x, _, _ in kept],
                    "values": [v if v < HUGE else "inf" for _, v, _ in kept],
                    "conditions": [c for _, _, c in kept],
                }


if __name__ == "__main__":
    lines = ",\n".join(json.dumps(row) for row in rows())
    PATH.write_text(f"[\n{lines}\n]\n")
