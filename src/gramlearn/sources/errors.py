"""What is wrong with a file, in one sentence: what was found, where, and what to do."""


class FileError(ValueError):
    """A file does not hold what was expected of it."""


def missing_package(package: str, extra: str, what: str) -> ImportError:
    """The error where an optional package is not installed."""
    return ImportError(
        f"{what} needs {package}, which is not installed; run `pip install 'gramlearn[{extra}]'`."
    )
