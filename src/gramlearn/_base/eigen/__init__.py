"""Eigenvalues for one purpose each: positive parts of large sparse matrices, and updates of rank one."""
