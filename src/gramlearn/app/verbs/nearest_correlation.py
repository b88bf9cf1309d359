"""gramlearn nearest-correlation: the nearest correlation matrix, with weights, fixed entries and bounds."""

from argparse import ArgumentParser, Namespace
from typing import TYPE_CHECKING, Any, final

from gramlearn.app.arguments import add_answer, add_output
from gramlearn.app.output import DONE, LOOK, aligned, say, show
from gramlearn.app.verb import Verb

if TYPE_CHECKING:
    from gramlearn.files.matrices import Matrix


_ROUNDED = 1e-6


@final
class NearestCorrelation(Verb):
    """See the module."""

    name = "nearest-correlation"
    help = "the nearest correlation matrix, with weights, fixed entries and bounds"
    description = (
        "Write the correlation matrix that is nearest to a matrix, in the Frobenius norm. Empty cells are\n"
        "unknown. Names in the first row and column are kept."
    )
    example = "gramlearn nearest-correlation example/correlations.csv -o nearest.csv"

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("matrix", metavar="MATRIX", help="a square matrix, .csv or .npy")
        parser.add_argument(
            "--weights", metavar="FILE", help="a matrix of how much each entry counts; 0 is unknown"
        )
        parser.add_argument(
            "--fixed", metavar="FILE", help="a matrix with 1 where an entry is kept"
        )
        parser.add_argument("--lower", type=float, metavar="L", help="no entry is less")
        parser.add_argument("--upper", type=float, metavar="U", help="no entry is larger")
        parser.add_argument(
            "--min-eigenvalue", type=float, metavar="E", help="no eigenvalue is less (default: 0)"
        )
        parser.add_argument("--tol", type=float, default=1e-8, help="(default: 1e-8)")
        parser.add_argument("--time-limit", type=float, metavar="SECONDS")
        add_output(parser, "the matrix to write, .csv or .npy")
        add_answer(parser)

    def run(self, given: Namespace) -> int:
        import numpy as np

        from gramlearn import nearest_correlation
        from gramlearn.app.files_or_pipes import check_places
        from gramlearn.files.matrices import Matrix, read_matrix, write_matrix

        check_places(given)
        matrix = _filled(read_matrix(given.matrix))

        def like_it(path: str | None, of_truths: bool = False) -> np.ndarray | None:
            if path is None:
                return None
            return _aligned_with(matrix, read_matrix(path, of_truths=of_truths), path)

        fixed = like_it(given.fixed, of_truths=True)
        bounds = None
        if given.lower is not None or given.upper is not None:
            bounds = (given.lower, given.upper)
        answer: Any = nearest_correlation(
            matrix.values,
            regularizer="frobenius",
            weights=like_it(given.weights),
            fixed=None if fixed is None else np.nan_to_num(fixed) != 0,
            bounds=bounds,
            min_eigenvalue=given.min_eigenvalue,
            tol=given.tol,
            time_limit=given.time_limit,
            return_solution=True,
        )
        X = _rounded(np.asarray(answer.matrix), matrix.values, fixed)
        write_matrix(given.out, Matrix(X, matrix.names))
        known = np.isfinite(matrix.values)
        found = {
            "matrix": given.out,
            "rows": len(X),
            "status": answer.status.name,
            "relative_gap": answer.relative_gap,
            "largest_change": float(np.max(np.abs(X - matrix.values)[known], initial=0.0)),
            "least_eigenvalue": float(np.linalg.eigvalsh(X)[0]),
            "seconds": answer.seconds,
        }
        lines = aligned(
            [
                ("rows", f"{len(X):,}"),
                ("certificate", f"{answer.status.name}, relative gap {answer.relative_gap:.1e}"),
                ("largest change", f"{found['largest_change']:.6g}"),
                ("least eigenvalue", f"{found['least_eigenvalue']:.3g}"),
                ("written to", given.out),
            ]
        )
        show(found, lines, given.json, to_stderr=given.out == "-")
        return DONE if answer.status.name == "OPTIMAL" else LOOK


def _filled(matrix: "Matrix") -> "Matrix":
    """With an entry that is known on one side of the diagonal alone on the other, too."""
    import numpy as np

    from gramlearn.files.matrices import Matrix

    C = matrix.values
    filled = np.where(np.isnan(C), C.T, C)
    if (count := int(np.sum(np.isnan(C) & ~np.isnan(C.T)))) > 0:
        say(f"gramlearn: note: {count} entries are taken from the other side of the diagonal.")
    diagonal = filled.diagonal()[np.isfinite(filled.diagonal())]
    if np.any(np.abs(diagonal - 1) > _ROUNDED) or np.any(np.abs(filled) > 1 + _ROUNDED):
        say(
            "gramlearn: note: some entries are beyond 1, or those on the diagonal are not 1, as of a "
            "covariance: divide by the deviations first if it is one."
        )
    return Matrix(filled, matrix.names)


def _rounded(X: Any, C: Any, fixed: Any) -> Any:
    """X with what must hold exactly: symmetric, 1 on the diagonal, and fixed entries as given."""
    import numpy as np

    X = (X + X.T) / 2
    if fixed is not None:
        kept = (np.nan_to_num(fixed) != 0) | (np.nan_to_num(fixed.T) != 0)
        X = np.where(kept & (np.abs(X - C) < _ROUNDED), C, X)
    np.fill_diagonal(X, 1.0)
    return X


def _aligned_with(matrix: "Matrix", other: "Matrix", path: str) -> Any:
    """The entries of another file, which must be about the same rows."""
    from gramlearn.sources.errors import FileError

    if other.values.shape != matrix.values.shape:
        raise FileError(
            f"{path} has {len(other.values)} rows, but the matrix has {len(matrix.values)}; they must be the "
            "same."
        )
    if matrix.names is not None and other.names is not None and matrix.names != other.names:
        raise FileError(
            f"{path} has other names than the matrix, or in another order; they must be the same."
        )
    return other.values


VERB = NearestCorrelation()
