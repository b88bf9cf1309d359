"""Jain, Kulis, Davis and Dhillon, JMLR 2012: metric and kernel learning using a linear transformation."""
