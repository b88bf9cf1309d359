"""How instances, problems and numbers are written in tables and pictures."""

from typing import Any

__all__ = ["describe_instance", "format_number", "name_pair", "name_problem"]


def describe_instance(spec: dict[str, Any]) -> str:
    """Data and size, such as "usps, 10,000 pairs of 7,291 points, rank 100"."""
    title = (
        f"{spec['data']}, {spec['c']:,} {spec['kind']} of {spec['n']:,} points, rank {spec['r']}"
    )
    if spec["library"] != "numpy":
        title += f", on {spec['library']}"
    return title


def name_pair(spec: dict[str, Any]) -> str:
    """Regularizer and loss."""
    return f"{spec['regularizer']} + {spec['loss']}"


def name_problem(spec: dict[str, Any]) -> str:
    """Regularizer, loss and price."""
    return f"{name_pair(spec)}, C = {spec['price']:g}"


def format_number(x: float | None) -> str:
    """Two digits, or all of a whole number of hundreds and more; null stands for infinity."""
    if x is None:
        return "infinite"
    if x == 0 or 1e-3 <= abs(x) < 1e6:
        return f"{x:,.0f}" if abs(x) >= 100 else f"{x:.2g}"
    return f"{x:.1e}"
