"""What is wrong with a place that is written to; what is wrong with a file that is read is a `FileError`."""


class UnwritableFileError(OSError):
    """A file could not be written; what stood there before is still there."""
