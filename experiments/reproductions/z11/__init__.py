"""Zhuang, Tsang and Hoi, JMLR 2011: a family of simple non-parametric kernel learning algorithms."""
